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
    """A state with the contacts found once.

    Args:
        view: the state; its contacts must belong to the same instant as its positions.
        movable: bodies that nothing holds in place.
    """

    def __init__(self, view: StateView, movable: frozenset[str]) -> None:
        self.view = view
        self._movable = movable
        self._touching: Mapping[str, frozenset[str]] = view.touching()

    def touching(self, body: str) -> frozenset[str]:
        """Bodies that touch a body."""
        return self._touching.get(body, _NOTHING)

    def held(self, body: str) -> bool:
        """Whether both fingers touch a body."""
        touching = self.touching(body)
        return bool(touching & LEFT_FINGER) and bool(touching & RIGHT_FINGER)

    def released(self, body: str) -> bool:
        """Whether nothing of the robot touches a body."""
        return not any(name.startswith(_ROBOT_PREFIXES) for name in self.touching(body))

    def supported(self, body: str, support: str) -> bool:
        """Whether a body rests on a support: touching it, or by a chain of movable bodies.

        Whatever touches table or floor itself rests there, and on nothing else.
        """
        if support not in GROUND and self.touching(body) & GROUND:
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
        """Centre [3] of a body's extent, world frame."""
        box = self.view.body_box(body)
        return self.view.body_position(body) + self.view.body_rotation(body) @ box.centre

    def vertical_extent(self, body: str) -> tuple[float, float]:
        """Lowest and highest point of the box around a body, m."""
        box, upward = self.view.body_box(body), self.view.body_rotation(body)[2]
        middle = float(self.view.body_position(body)[2] + upward @ box.centre)
        half = float(np.abs(upward) @ box.half_size)
        return middle - half, middle + half

    def axis_tilt(self, body: str, axis: Array) -> float:
        """Angle between a body's axis [3] (body frame, unit length) and world up, rad."""
        upward = float(self.view.body_rotation(body)[2] @ axis)
        return math.acos(min(1.0, max(-1.0, upward)))

    def upward_axis(self, body: str) -> Array:
        """The body's axis [3] that points up now, body frame."""
        return np.array(self.view.body_rotation(body)[2])
