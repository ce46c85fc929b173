"""Reading recorded episodes again: our demonstrations, the public ones, and trajectories.

Files may come from anywhere. Nothing in them is executed, nothing outside them is followed, and
nothing is loaded before its shape is known.
"""

import glob
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from pytest_robomem.demonstrations.layout import (
    DEMO,
    FAILED_FOLDER,
    FULL_FOLDER,
    OURS,
    RECORD,
    STATE_ARRAYS,
    episode_ending,
)
from pytest_robomem.policy import ACTION_SIZE
from pytest_robomem.results.records import EpisodeResult
from pytest_robomem.scene.recording import Trajectory

_LARGEST_ARRAY = 10_000_000  # numbers; 3,000 steps of the largest scene have some 200,000
_LONGEST_RECORD = 10_000_000  # bytes


class DemonstrationError(ValueError):
    """A demonstration file that cannot be read; the message says why."""


@dataclass(frozen=True)
class Recording:
    """A recorded episode.

    Attributes:
        path: its file.
        actions: [T, 7].
        trajectory: states and actions, if the file has them (public files do not).
        result: the episode's record, if there is one.
    """

    path: Path
    actions: NDArray[np.float64]
    trajectory: Trajectory | None
    result: EpisodeResult | None


def find_demonstration(folder: Path, task_id: int | str, seed: int) -> Path | None:
    """The full trajectory of an episode, anywhere below a folder.

    Raises:
        DemonstrationError: there are several.
    """
    pattern = f"*{glob.escape(episode_ending(task_id, seed))}"
    found = sorted(
        path
        for path in folder.rglob(pattern)
        if path.parent == folder or path.parent.name in (FULL_FOLDER, FAILED_FOLDER)
    )
    if len(found) > 1:
        raise DemonstrationError(
            f"{folder} holds several recordings of task {task_id}, seed {seed}: "
            f"{', '.join(str(path.relative_to(folder)) for path in found[:3])}"
        )
    return found[0] if found else None


def read_demonstration(path: Path) -> Recording:
    """Read all of a demonstration but its images.

    Raises:
        DemonstrationError: not a demonstration, or damaged.
    """
    try:
        with h5py.File(path, "r") as file:
            demo = _child(file, DEMO, h5py.Group)
            actions = _array(demo, "actions")
            if actions.ndim != 2 or actions.shape[1] != ACTION_SIZE:
                raise DemonstrationError(f"actions have the shape {actions.shape}, not [T, 7]")
            if not np.isfinite(actions).all():
                raise DemonstrationError("actions are not all finite")
            trajectory = result = None
            if OURS in demo:
                ours = _child(demo, OURS, h5py.Group)
                trajectory, result = _trajectory(ours, actions), _record(ours)
    except (OSError, RuntimeError, KeyError, TypeError) as error:
        raise DemonstrationError(f"{path}: not a demonstration ({error})") from error
    except DemonstrationError as error:
        raise DemonstrationError(f"{path}: {error}") from None
    return Recording(path, actions, trajectory, result)


def read_record(path: Path) -> EpisodeResult:
    """The record in one of our own demonstrations.

    Raises:
        DemonstrationError: not one of ours, or damaged.
    """
    result = read_demonstration(path).result
    if result is None:
        raise DemonstrationError(f"{path}: holds no record of its episode")
    return result


def _trajectory(ours: Any, actions: NDArray[np.float64]) -> Trajectory | None:
    if STATE_ARRAYS[0] not in ours:
        return None
    arrays = {name: _array(ours, name) for name in STATE_ARRAYS}
    steps = len(actions)
    for name in ("qpos", "kinematics_qpos", "end_effector"):
        if arrays[name].ndim != 2 or len(arrays[name]) != steps + 1:
            shape = arrays[name].shape
            raise DemonstrationError(f"{name} has the shape {shape}, with {steps} actions")
    return Trajectory(**arrays, actions=actions, events={})


def _record(ours: Any) -> EpisodeResult | None:
    if RECORD not in ours:
        return None
    dataset = _child(ours, RECORD, h5py.Dataset)
    if dataset.shape != () or h5py.check_string_dtype(dataset.dtype) is None:
        raise DemonstrationError("its record is no text")
    text = dataset[()]
    if len(text) > _LONGEST_RECORD:
        raise DemonstrationError("its record is too long")
    try:
        return EpisodeResult.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise DemonstrationError(f"its record cannot be read ({where}: {first['msg']})") from error


def _array(group: Any, name: str) -> NDArray[np.float64]:
    dataset = _child(group, name, h5py.Dataset)
    if dataset.dtype.kind not in "fiu" or dataset.size > _LARGEST_ARRAY:
        raise DemonstrationError(
            f"{name} has the type {dataset.dtype} and the shape {dataset.shape}"
        )
    return np.asarray(dataset[()], dtype=np.float64)


def _child(group: Any, name: str, kind: type) -> Any:
    """A group or dataset that really lies in this file: no link to another one is followed."""
    for part in name.split("/"):
        link = group.get(part, getlink=True)
        if link is None:
            raise DemonstrationError(f"it has no {name}")
        if not isinstance(link, h5py.HardLink):
            raise DemonstrationError(f"{name} is a link")
        group = group[part]
    outside = isinstance(group, h5py.Dataset) and (group.external or group.is_virtual)
    if not isinstance(group, kind) or outside:
        raise DemonstrationError(f"{name} is no {kind.__name__.lower()} of this file")
    return group
