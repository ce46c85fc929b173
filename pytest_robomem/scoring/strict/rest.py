"""Whether an object lies still, from recorded poses alone."""

import math
from collections import deque
from functools import cached_property

import numpy as np

from pytest_robomem.scoring.state import Array
from pytest_robomem.scoring.strict.limits import Limits
from pytest_robomem.scoring.strict.scene import SceneState


class _Sample:
    """An object and its carrier at one step; their relative pose is worked out when asked for.

    Most objects are far from their place at most steps, where nobody asks.
    """

    def __init__(self, state: SceneState, obj: str, carrier: str) -> None:
        self._obj: tuple[Array, Array] = state.position(obj), state.rotation(obj)
        self._carrier: tuple[Array, Array] = state.position(carrier), state.rotation(carrier)

    @cached_property
    def offset(self) -> tuple[float, ...]:
        """Position [3] of the object in the carrier's frame, m."""
        in_frame: Array = (self._obj[0] - self._carrier[0]) @ self._carrier[1]
        return tuple(in_frame.tolist())

    @cached_property
    def turned(self) -> tuple[float, ...]:
        """Rotation matrix [9] of the object in the carrier's frame."""
        return tuple(np.ravel(self._carrier[1].T @ self._obj[1]).tolist())


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
        self._samples: deque[_Sample] = deque(maxlen=limits.rest_steps + 1)

    def update(self, state: SceneState) -> None:
        """Take in the next step."""
        self._samples.append(_Sample(state, self._obj, self._carrier))

    @property
    def displacement(self) -> float:
        """Largest distance of the last steps from the present one, m; at first infinite."""
        if len(self._samples) <= self._limits.rest_steps:
            return math.inf
        now = self._samples[-1].offset
        return max(math.dist(now, sample.offset) for sample in self._samples)

    @property
    def turn(self) -> float:
        """Largest turn of the last steps against the present one, rad; at first infinite."""
        if len(self._samples) <= self._limits.rest_steps:
            return math.inf
        now = self._samples[-1].turned
        return max(_angle_between(now, sample.turned) for sample in self._samples)

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
