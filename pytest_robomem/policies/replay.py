"""Built-in policy ``replay``: the actions of recorded trajectories."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_robomem.policies.hold import STAND_STILL
from pytest_robomem.policy import PolicyAdapter
from pytest_robomem.scene.recording import read_trajectory, trajectory_name


class ReplayPolicy(PolicyAdapter):
    """Replays the trajectory that was recorded for the same task and seed, then stands still.

    Args:
        folder: holds the trajectories.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._remaining: NDArray[np.float64] = STAND_STILL[:0]

    def episode_start(self, task_id: int | str, seed: int) -> None:
        """Load the episode's trajectory.

        Raises:
            FileNotFoundError: there is none for this task and seed.
        """
        path = self._folder / trajectory_name(task_id, seed)
        if not path.is_file():
            raise FileNotFoundError(f"replay: {self._folder} holds no {path.name}")
        self._remaining = read_trajectory(path).actions

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


def build_adapter(dir: str) -> ReplayPolicy:
    """Factory of ``--policy=replay``; ``dir`` is the folder of the trajectories.

    Raises:
        NotADirectoryError: there is no such folder.
    """
    folder = Path(dir)
    if not folder.is_dir():
        raise NotADirectoryError(f"there is no folder {dir}")
    return ReplayPolicy(folder)
