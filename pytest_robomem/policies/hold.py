"""Built-in policy ``hold``: stands still with the gripper open."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_robomem.policy import ACTION_SIZE, PolicyAdapter

STAND_STILL = np.array([[0.0] * (ACTION_SIZE - 1) + [-1.0]])


class HoldPolicy(PolicyAdapter):
    """Returns the action of standing still, once for each step."""

    def infer_actions(
        self,
        obs: Mapping[str, Any],
        prompt: str,
        resize_size: int,
    ) -> NDArray[np.float64]:
        """[1, 7]: zeros, gripper open."""
        return STAND_STILL.copy()


def build_adapter() -> HoldPolicy:
    """Factory of ``--policy=hold``."""
    return HoldPolicy()
