"""One state as the strict rules see it: bodies with their extents, contacts, grasp, support."""

import math
from collections.abc import Mapping

import numpy as np

from pytest_robomem.scoring.state import Array, StateView

TABLE = "coffee_table"
GROUND = frozenset({TABLE, "floor"})
LEFT_FINGER = frozenset({"gripper0_leftfinger", "gripper0_finger_joint1_tip"})
RIGHT_FINGER = frozenset({"gripper0_rightfinger", "gripper0_finger_joint2_tip"})
_ROBOT_PREFIXES = ("robot0_", "gripper0_", "mount0_")
_NOTHING: frozenset[str] = frozenset()


class SceneState:
    """One state, in which contacts, poses and extents are each worked out once.

    It belongs to one instant: make a new one for the next.

    Args:
        view: the state; its contacts must belong to the same instant as its positions.
        movable: bodies that nothing holds in place.
    """

    def __init__(self, view: StateView, movable: frozenset[str]) -> None:
        self.view = view
        self._movable = movable
        self._touching: Mapping[str, frozenset[str]] | None = None
        self._positions: dict[str, Array] = {}
        self._rotations: dict[str, Array] = {}
        self._centres: dict[str, Array] = {}
        self._extents: dict[str, tuple[float, float]] = {}

    def position(self, body: str) -> Array:
        """Position [3] of a body's origin, not to be written to."""
        found = self._positions.get(body)
        if found is None:
            found = self._positions[body] = self.view.body_position(body)
        return found

    def rotation(self, body: str) -> Array:
        """Rotation matrix [3, 3] of a body, not to be written to."""
        found = self._rotations.get(body)
        if found is None:
            found = self._rotations[body] = self.view.body_rotation(body)
        return found

    def touching(self, body: str) -> frozenset[str]:
        """Bodies that touch a body."""
        if self._touching is None:
            self._touching = self.view.touching()
        return self._touching.get(body, _NOTHING)

    def held(self, body: str) -> bool:
        """Whether both fingers touch a body."""
        touching = self.touching(body)
        return bool(touching & LEFT_FINGER) and bool(touching & RIGHT_FINGER)

    def released(self, body: str) -> bool:
        """Whether nothing of the robot touches a body."""
        return not any(name.startswith(_ROBOT_PREFIXES) for name in self.touching(body))

    def grounded(self, body: str) -> bool:
        """Whether a body touches table or floor: it rests there, and on nothing else."""
        return bool(self.touching(body) & GROUND)

    def supported(self, body: str, support: str) -> bool:
        """Whether a body rests on a support: touching it, or by a chain of movable bodies."""
        if support not in GROUND and self.grounded(body):
            return False
        seen, reached = {body}, [body]
        while reached:
            touching = self.touching(reached.pop())
            if support in touching:
                return True
            new = (touching & self._movable) - seen
            seen |= new
            reached.extend(new)
        return False

    def centre(self, body: str) -> Array:
        """Centre [3] of a body's extent, world frame, not to be written to."""
        found = self._centres.get(body)
        if found is None:
            box = self.view.body_box(body)
            found = self.position(body) + self.rotation(body) @ box.centre
            self._centres[body] = found
        return found

    def vertical_extent(self, body: str) -> tuple[float, float]:
        """Lowest and highest point of the box around a body, m."""
        found = self._extents.get(body)
        if found is None:
            box, upward = self.view.body_box(body), self.rotation(body)[2]
            middle = float(self.position(body)[2] + upward @ box.centre)
            half = float(np.abs(upward) @ box.half_size)
            found = self._extents[body] = middle - half, middle + half
        return found

    def axis_tilt(self, body: str, axis: Array) -> float:
        """Angle between a body's axis [3] (body frame, unit length) and world up, rad."""
        upward = float(self.rotation(body)[2] @ axis)
        return math.acos(min(1.0, max(-1.0, upward)))

    def upward_axis(self, body: str) -> Array:
        """The body's axis [3] that points up now, body frame."""
        return np.array(self.rotation(body)[2])
