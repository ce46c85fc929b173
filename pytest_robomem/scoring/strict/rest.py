"""Whether an object lies still, from recorded poses alone."""

import math
from collections import deque

import numpy as np

from pytest_robomem.scoring.strict.limits import Limits
from pytest_robomem.scoring.strict.scene import SceneState

_Pose = tuple[tuple[float, ...], tuple[float, ...]]  # position, the rotation's nine entries


class RestTracker:
    """An object's displacement over the last steps, as seen from what carries it.

    Displacements instead of velocities: they can be recomputed from recorded positions bit for
    bit, and a drawer that is pushed shut does not stir what lies still inside it.

    Args:
        obj: the object's body.
        carrier: the body in whose frame it has to lie still.
        limits: thresholds.
    """

    def __init__(self, obj: str, carrier: str, limits: Limits) -> None:
        self._obj = obj
        self._carrier = carrier
        self._limits = limits
        self._poses: deque[_Pose] = deque(maxlen=limits.rest_steps + 1)
        self.displacement = math.inf
        self.turn = math.inf

    def update(self, state: SceneState) -> None:
        """Take in the next step."""
        view = state.view
        frame = view.body_rotation(self._carrier)
        offset = (view.body_position(self._obj) - view.body_position(self._carrier)) @ frame
        turned = frame.T @ view.body_rotation(self._obj)
        pose: _Pose = tuple(offset.tolist()), tuple(np.ravel(turned).tolist())
        self._poses.append(pose)
        if len(self._poses) <= self._limits.rest_steps:
            self.displacement = self.turn = math.inf
            return
        self.displacement = max(math.dist(pose[0], earlier[0]) for earlier in self._poses)
        self.turn = max(_angle_between(pose[1], earlier[1]) for earlier in self._poses)

    @property
    def resting(self) -> bool:
        """Whether it lay still over the last steps."""
        return (
            self.displacement <= self._limits.rest_distance
            and self.turn <= self._limits.rest_angle
        )


def _angle_between(first: tuple[float, ...], second: tuple[float, ...]) -> float:
    # The chord between two rotation matrices is 2 sqrt(2) sin(angle / 2), which stays exact for
    # small angles, where the arc cosine of the trace does not.
    half_sine = math.dist(first, second) / (2.0 * math.sqrt(2.0))
    return 2.0 * math.asin(min(1.0, half_sine))
