"""Recorded states and outcomes of the public scorer, and scenes to lay the states into."""

import json
import os
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_robomem.resources import resource_dir
from pytest_robomem.scene.model import Scene
from pytest_robomem.scene.replica import Replica, ReplicaView

ROOT = Path(__file__).resolve().parents[1]
REDUCED = ROOT / "tests" / "data" / "golden"
TASK_IDS = range(1, 27)
SETTLING_STEPS = 10  # of every recorded timeline; element 10 is the settled state
STEP_OFFSET = SETTLING_STEPS - 1  # the scorer numbers from the first settling step, 0
REFERENCE_SEED = 100  # of configurations, timelines and rollout


def golden_folder() -> Path:
    """The folder of recorded outcomes: as told, beside the repository, or the reduced copy."""
    told = os.environ.get("ROBOMEM_GOLDEN")
    if told:
        return Path(told)
    beside = ROOT.parent / "shared" / "golden"
    return beside if beside.is_dir() else REDUCED


@dataclass(frozen=True)
class Timeline:
    """One recorded episode: joint states [T, nq], gripper orientations [T, 4] xyzw, outcomes."""

    number: int
    qpos: NDArray[np.float64]
    gripper: NDArray[np.float64]
    outcomes: dict[str, Any]


class Golden:
    """The recorded file of one task."""

    def __init__(self, task_id: int) -> None:
        with np.load(golden_folder() / f"task{task_id:02d}.npz", allow_pickle=False) as archive:
            self.arrays: dict[str, NDArray[Any]] = {name: archive[name] for name in archive.files}

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.arrays[name]

    @cached_property
    def settled(self) -> NDArray[np.float64]:
        """Joint state after settling, for the reference seed."""
        return self["settled_qpos"][self["seeds"].tolist().index(REFERENCE_SEED)]

    @cached_property
    def timelines(self) -> list[Timeline]:
        """All recorded episodes."""
        return [
            Timeline(
                number,
                self[f"timeline_qpos/{number}"],
                self[f"timeline_eef_quat/{number}"],
                outcomes,
            )
            for number, outcomes in enumerate(json.loads(str(self["timelines"])))
        ]


class RecordedView(ReplicaView):
    """A laid-out state whose gripper orientation is the recorded one (timelines move no arm)."""

    gripper: NDArray[np.float64] | None = None  # x y z w

    def end_effector_quaternion(self) -> NDArray[np.float64]:
        if self.gripper is None:
            return super().end_effector_quaternion()
        x, y, z, w = self.gripper
        return np.array([w, x, y, z])


class Stage:
    """A task's scene for one seed, and a replica to lay states into."""

    def __init__(self, task_id: int) -> None:
        (path,) = resource_dir("bddl").glob(f"{task_id}_*.bddl")
        self.scene = Scene(path)
        self.grasps: dict[Any, Any] = {}  # found by puppets
        self.reset(REFERENCE_SEED)

    def reset(self, seed: int) -> None:
        """Place the scene for a seed."""
        self.seed = seed
        self.scene.reset(seed)
        self.replica = Replica(self.scene.model, RecordedView)
        assert isinstance(self.replica.view, RecordedView)
        self.recorded = self.replica.view

    def lay(
        self, qpos: NDArray[np.float64], gripper: NDArray[np.float64] | None = None
    ) -> RecordedView:
        """Lay out a joint state and the gripper's orientation."""
        self.replica.lay(qpos)
        self.recorded.gripper = gripper
        return self.recorded


KEPT_STAGES = 1  # a compiled scene takes up to a gigabyte; the mutation check keeps more
_kept: dict[int, Stage] = {}


def stage_for(task_id: int) -> Stage:
    """The task's scene for the reference seed; built once for tests that follow each other."""
    if task_id not in _kept:
        while len(_kept) >= KEPT_STAGES:
            _kept.pop(next(iter(_kept))).scene.close()
        _kept[task_id] = Stage(task_id)
    stage = _kept[task_id]
    if stage.seed != REFERENCE_SEED:
        stage.reset(REFERENCE_SEED)
    return stage


@lru_cache(maxsize=2)
def golden_for(task_id: int) -> Golden:
    """The task's recorded file."""
    return Golden(task_id)
