"""Built-in policy ``replay``: the actions of recorded episodes, and how far the replay is off."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_robomem.demonstrations.comparison import compare_episodes
from pytest_robomem.demonstrations.reader import (
    Recording,
    find_demonstration,
    read_demonstration,
)
from pytest_robomem.policies.hold import STAND_STILL
from pytest_robomem.policy import PolicyAdapter
from pytest_robomem.results.records import EpisodeResult, ReplayComparison
from pytest_robomem.results.stored import JOURNAL_NAME, stored_records
from pytest_robomem.scene.recording import Trajectory, read_trajectory, trajectory_name
from pytest_robomem.scene.view import SimulatorView


class ReplayPolicy(PolicyAdapter):
    """Replays what was recorded for the same task and seed, then stands still.

    Args:
        folder: holds trajectories of a run (``.npz``), or demonstrations (``.hdf5``) at any depth.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._records: dict[tuple[int | str, int], EpisodeResult] | None = None
        self._recording: Recording | None = None
        self._view: SimulatorView | None = None
        self._remaining: NDArray[np.float64] = STAND_STILL[:0]

    def attach_simulator(self, view: SimulatorView) -> None:
        """Remember the scene: its objects are compared at the end."""
        self._view = view

    def episode_start(self, task_id: int | str, seed: int) -> None:
        """Load the episode's recording.

        Raises:
            FileNotFoundError: there is none for this task and seed.
            TrajectoryError, DemonstrationError: it cannot be read.
            StoredRunError: the journal beside a trajectory cannot be read.
        """
        self._recording = self._load(task_id, seed)
        self._remaining = self._recording.actions

    def infer_actions(
        self,
        obs: Mapping[str, Any],
        prompt: str,
        resize_size: int,
    ) -> NDArray[np.float64]:
        """[1, 7], the next recorded action."""
        if not len(self._remaining):
            return STAND_STILL.copy()
        chunk, self._remaining = self._remaining[:1], self._remaining[1:]
        return chunk

    def compare_with_recording(
        self, result: EpisodeResult, trajectory: Trajectory
    ) -> ReplayComparison | None:
        """How far the episode that has just ended is from the recording."""
        recording, view = self._recording, self._view
        if recording is None or view is None:
            return None
        return compare_episodes(
            recording.trajectory,
            len(recording.actions),
            recording.result,
            trajectory,
            result,
            view.object_positions,
        )

    def _load(self, task_id: int | str, seed: int) -> Recording:
        path = self._folder / trajectory_name(task_id, seed)
        if path.is_file():
            trajectory = read_trajectory(path)
            record = self._records_beside().get((task_id, seed))
            return Recording(path, trajectory.actions, trajectory, record)
        demonstration = find_demonstration(self._folder, task_id, seed)
        if demonstration is None:
            raise FileNotFoundError(
                f"replay: {self._folder} holds neither {path.name} nor a demonstration of task "
                f"{task_id}, seed {seed}"
            )
        return read_demonstration(demonstration)

    def _records_beside(self) -> dict[tuple[int | str, int], EpisodeResult]:
        """Records of the run that the trajectories belong to, if its journal is there."""
        if self._records is None:
            run = self._folder.resolve().parent
            found = stored_records(run) if (run / JOURNAL_NAME).is_file() else []
            self._records = {(record.task_id, record.seed): record for record in found}
        return self._records


def build_adapter(dir: str) -> ReplayPolicy:
    """Factory of ``--policy=replay``; ``dir`` is the folder of trajectories or demonstrations.

    Raises:
        NotADirectoryError: there is no such folder.
    """
    folder = Path(dir)
    if not folder.is_dir():
        raise NotADirectoryError(f"there is no folder {dir}")
    return ReplayPolicy(folder)
