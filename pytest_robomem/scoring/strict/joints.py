"""Drawers and doors, by their joints against their own ranges."""

from pytest_robomem.scoring.state import StateView
from pytest_robomem.scoring.strict.limits import Limits

DRAWER = "drawer"
DOOR = "door"


class JointTracker:
    """Follows one drawer or door that is shut at position 0 and opens towards its lower limit.

    It counts as opened when it passes from shut to open, and as shut again after that; what lies
    between is neither.

    Args:
        joint: name of the slide or hinge joint.
        kind: ``drawer`` or ``door``.
        limits: thresholds.
        start: the state at the start of the episode.

    Attributes:
        opened_at: step at which it last passed from shut to open.
        shut_at: step at which it last became shut after having been open.
    """

    def __init__(self, joint: str, kind: str, limits: Limits, start: StateView) -> None:
        self.joint = joint
        self._travel = -start.joint_range(joint)[0]
        self._open_from = limits.drawer_open if kind == DRAWER else limits.hinge_open
        self._shut_below = limits.closed
        self.part_open = 0.0
        self._was_open = False
        self.opened_at: int | None = None
        self.shut_at: int | None = None
        self.update(start, 0)

    def update(self, view: StateView, step: int) -> None:
        """Take in the state after a step (0: the start)."""
        # The range ends a little beyond shut on the other side, which is no way of opening.
        self.part_open = -view.joint_position(self.joint) / self._travel
        if self.is_open and not self._was_open:
            self._was_open = True
            self.opened_at = step
        elif self.is_shut and self._was_open:
            self._was_open = False
            self.shut_at = step

    @property
    def is_open(self) -> bool:
        """Whether it is open now."""
        return self.part_open >= self._open_from

    @property
    def is_shut(self) -> bool:
        """Whether it is shut now."""
        return self.part_open <= self._shut_below
