"""Tasks: what a test function declares about the episode it checks."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import pytest

from pytest_robomem.resources import resource_dir

if TYPE_CHECKING:
    from pytest_robomem.scoring.stages import Stage

FAMILIES = {
    "basket": "food into a basket, in order",
    "cabinet": "items from one cabinet top to the other",
    "drawer": "food into the right drawer of a cabinet",
    "microwave": "food into a microwave, one item after the other",
    "plate": "food from one plate to the other",
    "pour": "pour twice, then put the bottle away",
}
MEMORY_TYPES = {
    "sequence": "remember the order",
    "counting": "remember how often",
    "occlusion": "remember what is out of sight",
    "transferring": "remember what came from where",
}
BENCHMARK_TASKS = range(1, 27)
TASK_ATTRIBUTE = "__robomem_task__"

Wording = Literal["ours", "published", "stem"]
TestFunction = TypeVar("TestFunction", bound=Callable[..., Any])


@dataclass(frozen=True)
class Task:
    """One task.

    Attributes:
        name: name of its test function.
        number: 1 to 26 for the benchmark's tasks, ``None`` for others.
        scene: BDDL scene file.
        prompt: the instruction, in our words.
        published_prompt: the instruction of the public evaluator, if there is one.
        family: family marker, or a word of the user's.
        memory: memory types that the task is about.
        stages: own stages; the benchmark's tasks take theirs from the rulebook.
        max_steps: own limit of policy steps.
    """

    name: str
    number: int | None
    scene: Path
    prompt: str
    published_prompt: str | None
    family: str
    memory: tuple[str, ...]
    stages: "tuple[Stage, ...]" = ()
    max_steps: int | None = None

    @property
    def task_id(self) -> int | str:
        """Number of a benchmark task, else its name."""
        return self.name if self.number is None else self.number

    @property
    def label(self) -> str:
        """Start of file names: ``task07``, or the name."""
        return self.name if self.number is None else f"task{self.number:02d}"

    def worded(self, wording: Wording) -> str:
        """The instruction in the wording asked for."""
        if wording == "published" and self.published_prompt is not None:
            return self.published_prompt
        if wording == "stem":
            words = self.scene.stem.split("_")
            return " ".join(words[1:] if words[0].isdigit() else words)
        return self.prompt


def task(
    number: int | None = None,
    *,
    scene: str,
    prompt: str,
    published: str | None = None,
    family: str = "",
    memory: Sequence[str] = (),
    stages: "Sequence[Stage]" = (),
    max_steps: int | None = None,
) -> Callable[[TestFunction], TestFunction]:
    """Declare a test function to be a robot-memory task.

    The test gets one item for each seed. It takes the ``episode`` fixture, which runs the policy
    and hands over the result.

    Args:
        number: number of a benchmark task; leave it out for your own.
        scene: scene file; a bare stem names one of the benchmark's, a path with ``.bddl`` is
            relative to the test's own file.
        prompt: the instruction that the policy is given.
        published: the public evaluator's wording of it.
        family, memory: become markers where they are the benchmark's words.
        stages: ordered stages (needed for tasks of your own).
        max_steps: limit of policy steps, if it differs from the rulebook's.

    Raises:
        ValueError: an unknown number, memory type, or a task of your own without stages.
    """
    if number is not None and number not in BENCHMARK_TASKS:
        raise ValueError(f"task number {number} is not one of 1 to {BENCHMARK_TASKS[-1]}")
    if number is None and not stages:
        raise ValueError("a task of your own needs stages=[Stage(...), ...]")
    for word in memory:
        if word not in MEMORY_TYPES:
            raise ValueError(f"memory type {word!r} is none of {', '.join(MEMORY_TYPES)}")

    def declare(function: TestFunction) -> TestFunction:
        declared = Task(
            name=function.__name__.removeprefix("test_"),
            number=number,
            scene=_scene_path(scene, function),
            prompt=prompt,
            published_prompt=published,
            family=family,
            memory=tuple(memory),
            stages=tuple(stages),
            max_steps=max_steps,
        )
        markers = [word for word in (family, *memory) if word in FAMILIES or word in MEMORY_TYPES]
        if number is not None:
            markers.append(declared.label)
        for marker in markers:
            function = getattr(pytest.mark, marker)(function)
        setattr(function, TASK_ATTRIBUTE, declared)
        return function

    return declare


def task_of(function: Any) -> Task | None:
    """The task that a test function declares, if it does."""
    declared = getattr(function, TASK_ATTRIBUTE, None)
    return declared if isinstance(declared, Task) else None


def _scene_path(scene: str, function: Callable[..., Any]) -> Path:
    if scene.endswith(".bddl"):
        return Path(inspect.getfile(function)).parent / scene
    return resource_dir("bddl") / f"{scene}.bddl"
