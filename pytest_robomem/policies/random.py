"""Built-in policy ``random``: uniform actions, the same for the same episode."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_robomem.policy import ACTION_SIZE, PolicyAdapter


class RandomPolicy(PolicyAdapter):
    """Draws every action from [-1, 1].

    Args:
        seed: mixed with the episode's seed, so that different runs can be had.
        horizon: rows of a chunk.
    """

    def __init__(self, seed: int = 0, horizon: int = 10) -> None:
        self._seed = seed
        self._horizon = horizon
        self._generator = np.random.default_rng(seed)

    def episode_start(self, task_id: int | str, seed: int) -> None:
        """Start the sequence that belongs to this episode."""
        self._generator = np.random.default_rng([self._seed, seed, *str(task_id).encode()])

    def infer_actions(
        self,
        obs: Mapping[str, Any],
        prompt: str,
        resize_size: int,
    ) -> NDArray[np.float64]:
        """[horizon, 7], uniform in [-1, 1]."""
        return self._generator.uniform(-1.0, 1.0, (self._horizon, ACTION_SIZE))


def build_adapter(seed: int = 0, horizon: int = 10) -> RandomPolicy:
    """Factory of ``--policy=random``."""
    return RandomPolicy(seed, horizon)
