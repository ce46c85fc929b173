"""The record of an episode whose worker died: only the item's id is left."""

import re

import pytest

from pytest_robomem.resources import resource_dir
from pytest_robomem.results.records import EpisodeResult
from pytest_robomem.session.collection import TASKS_FOLDER, load_packaged
from pytest_robomem.session.transfer import error_record, repeat_command
from pytest_robomem.settings import Settings
from pytest_robomem.task import Task, task_of

_ITEM = re.compile(r"^(?P<path>[^:]+)::(?:.*::)?(?P<function>test_\w+)\[(?:.*-)?seed(?P<seed>\d+)")


def crash_record(
    node_id: str, settings: Settings, config: pytest.Config, reason: str, since: float
) -> EpisodeResult | None:
    """Error record of a crashed item; ``None`` if it was no episode.

    Args:
        node_id: of the item.
        settings: of the run.
        config: pytest's.
        reason: what is known of the crash.
        since: when the run began (``time.time``); what is older was left by another run.
    """
    item = _ITEM.match(node_id)
    if item is None:
        return None
    task, seed = _task(item["path"], item["function"]), int(item["seed"])
    repeat = repeat_command(config, node_id, seed)
    partial = _partial(settings, task, seed, since)
    recorded = f"what it had recorded: {partial}\n" if partial else ""
    message = (
        f"the worker process died while it ran this episode ({reason})\n{recorded}"
        f"task {task.task_id} ({task.name}), seed {seed}\nrepeat with: {repeat}"
    )
    record = error_record(task, seed, node_id, settings, message, repeat)
    return record.model_copy(update={"trajectory": partial})


def _partial(settings: Settings, task: Task, seed: int, since: float) -> str:
    """The trajectory up to its last whole block, if the dead worker left one."""
    from pytest_robomem.scene.recording import (  # noqa: PLC0415 - numpy, only after a crash
        TRAJECTORY_FOLDER,
        partial_name,
    )

    name = f"{TRAJECTORY_FOLDER}/{partial_name(task.task_id, seed)}"
    try:
        return name if (settings.results / name).stat().st_mtime >= since else ""
    except FileNotFoundError:
        return ""


def _task(path: str, function: str) -> Task:
    folder, _, file_name = path.rpartition("/")
    packaged = resource_dir(TASKS_FOLDER) / file_name
    if folder == TASKS_FOLDER and packaged.is_file():
        declared = task_of(getattr(load_packaged(packaged), function, None))
        if declared is not None:
            return declared
    # A task of the user's own: its module is not imported here, where nobody asked for it.
    return Task(
        name=function.removeprefix("test_"),
        number=None,
        scene=packaged,
        prompt="",
        published_prompt=None,
        family="",
        memory=(),
    )
