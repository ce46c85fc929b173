"""An object put into its place: inside, carried by it, released, at rest."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from pytest_robomem.scoring.strict.limits import Limits
from pytest_robomem.scoring.strict.regions import Region
from pytest_robomem.scoring.strict.rest import RestTracker
from pytest_robomem.scoring.strict.scene import GROUND, SceneState


class Stay(NamedTuple):
    """An unbroken stay inside a place: steps at which it began, and at which all first held."""

    entered_at: int
    settled_at: int | None


class PlacingTracker:
    """Follows one object and one place.

    Args:
        obj: the object's body.
        region: the place.
        upright: whether it has to stand as it stood at the start.
        limits: thresholds.
        start: the state at the start of the episode.
    """

    def __init__(
        self, obj: str, region: Region, limits: Limits, start: SceneState, *, upright: bool = False
    ) -> None:
        self._obj = obj
        self.region = region
        self._limits = limits
        self._start = start.centre(obj)
        self._up = start.upward_axis(obj) if upright else None
        self._rest = RestTracker(obj, region.support, limits)
        self._quiet_steps = 0
        self._steps_without_support: float = math.inf
        self._outside = math.inf
        self._unsettled = ""
        self.settled = False
        self.stay: Stay | None = None
        self.update(start, 0)

    @property
    def shortfall(self) -> str:
        """What is missing, for people; empty when the object is in its place."""
        if self.settled:
            return ""
        if self._outside > 0.0:
            return f"{self._obj} is {self._outside:.3f} m outside {self.region.label}"
        return self._unsettled or (
            f"{self._obj} is not at rest in {self.region.label} (moved "
            f"{self._rest.displacement:.4f} m, turned {self._rest.turn:.3f} rad within "
            f"{self._limits.rest_steps} steps)"
        )

    def update(self, state: SceneState, step: int) -> None:
        """Take in the state after a step (0: the start)."""
        self._rest.update(state)
        self._outside = self.region.outside(self._obj, state, self._start, self._limits)
        if self._outside > 0.0:
            self.stay = None
            self._quiet_steps = 0
            self._steps_without_support = math.inf
            self.settled = False
            return
        if self.stay is None:
            self.stay = Stay(step, None)
        self._unsettled = self._what_unsettles(state)
        self._quiet_steps = 0 if self._unsettled else self._quiet_steps + 1
        quiet = self._quiet_steps >= self._limits.rest_steps
        self.settled = not self._unsettled and quiet and self._rest.resting
        if self.settled and self.stay.settled_at is None:
            self.stay = self.stay._replace(settled_at=step)

    def _what_unsettles(self, state: SceneState) -> str:
        obj, region = self._obj, self.region
        if not state.released(obj):
            self._steps_without_support = math.inf
            return f"the robot still touches {obj}"
        if not self._carried(state):
            return f"{obj} does not rest on {region.support}"
        if self._up is not None and state.axis_tilt(obj, self._up) > self._limits.upright:
            return f"{obj} does not stand upright ({state.axis_tilt(obj, self._up):.2f} rad)"
        return ""

    def _carried(self, state: SceneState) -> bool:
        """Whether the support carries the object; contacts of bodies at rest may flicker."""
        if state.supported(self._obj, self.region.support):
            self._steps_without_support = 0
        elif self.region.support not in GROUND and state.grounded(self._obj):
            self._steps_without_support = math.inf
        else:
            self._steps_without_support += 1
        return self._steps_without_support <= self._limits.contact_gap


def settled_in(trackers: Sequence[PlacingTracker]) -> PlacingTracker | None:
    """The first of several allowed places in which the object has settled."""
    return next((tracker for tracker in trackers if tracker.settled), None)
