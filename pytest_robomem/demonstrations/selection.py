"""Which of the benchmark's tasks are recorded."""

from collections.abc import Collection

from pytest_robomem.resources import resource_dir
from pytest_robomem.session.collection import TASKS_FOLDER, load_packaged
from pytest_robomem.task import Task, task_of


def benchmark_tasks() -> list[Task]:
    """The 26 tasks, by number."""
    modules = (load_packaged(path) for path in resource_dir(TASKS_FOLDER).glob("test_*.py"))
    declared = (task_of(value) for module in modules for value in vars(module).values())
    numbered = {task.number: task for task in declared if task is not None}
    return [numbered[number] for number in sorted(number for number in numbered if number)]


def chosen_tasks(numbers: Collection[int], families: Collection[str]) -> list[Task]:
    """The tasks with one of these numbers, or of one of these families; all if none is given."""
    return [
        task
        for task in benchmark_tasks()
        if (not numbers and not families) or task.number in numbers or task.family in families
    ]
