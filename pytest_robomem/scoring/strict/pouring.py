"""Counting pours: hold, tilt over the target, turn back upright."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pytest_robomem.scoring.checks import Names
from pytest_robomem.scoring.strict.limits import Limits
from pytest_robomem.scoring.strict.scene import SceneState


@dataclass(frozen=True)
class PourTarget:
    """What is poured into or over.

    Attributes:
        body: the target's body; its highest point is the rim.
        centre: (x, y) of the middle of the opening, in the body's frame, m.
        radius: of the opening, m; both from the collision geometry, without handles.
    """

    body: str
    centre: tuple[float, float]
    radius: float


class Pour(NamedTuple):
    """Steps at which the container began to pour, and at which it was upright again."""

    began_at: int
    ended_at: int


class PourCounter:
    """Follows one container and counts its pours over a target.

    A pour is: held by both fingers and lifted, tilted beyond the limit with its top over the
    target for a number of steps, then, still held, upright again. Between the two angles nothing
    changes, so swinging about one of them counts nothing twice. There is no limit on time.

    Args:
        container: the body that pours; upright at the start, whatever its own axes are.
        target: what it pours over.
        limits: thresholds.
        start: the state at the start of the episode.
    """

    def __init__(
        self, container: str, target: PourTarget, limits: Limits, start: SceneState
    ) -> None:
        self._container = container
        self._target = target
        self._limits = limits
        self._up = start.upward_axis(container)
        box = start.view.body_box(container)
        self._top = box.centre + self._up * float(np.abs(self._up) @ box.half_size)
        self._start_height = start.vertical_extent(container)[0]
        self._began_at: int | None = None
        self._pouring_steps = 0
        self._tilted_at: int | None = None
        self.largest_tilt = 0.0
        self.pours: list[Pour] = []

    @staticmethod
    def names(container: str, target: PourTarget) -> Names:
        """Everything of the scene that counting reads."""
        return Names(bodies=frozenset({container, target.body}))

    @property
    def tilted(self) -> bool:
        """Whether the container has been tilted and was not upright since."""
        return self._tilted_at is not None

    def update(self, state: SceneState, step: int) -> None:
        """Take in the state after a step."""
        tilt = state.axis_tilt(self._container, self._up)
        self.largest_tilt = max(self.largest_tilt, tilt)
        if tilt >= self._limits.pour_tilt:
            self._tilted_at = step if self._tilted_at is None else self._tilted_at
            if self._pours_over_target(state):
                self._began_at = step if self._began_at is None else self._began_at
                self._pouring_steps += 1
        elif tilt <= self._limits.upright:
            self._upright_again(state, step)

    def _upright_again(self, state: SceneState, step: int) -> None:
        enough = self._pouring_steps >= self._limits.pour_steps
        if self._began_at is not None and enough:
            if not state.held(self._container):
                return  # a pour ends in the hand; one that was dropped stays open until regrasped
            self.pours.append(Pour(self._began_at, step))
        self._began_at = self._tilted_at = None
        self._pouring_steps = 0

    def _pours_over_target(self, state: SceneState) -> bool:
        return (
            state.held(self._container)
            and state.vertical_extent(self._container)[0] - self._start_height >= self._limits.lift
            and self._over_target(state)
        )

    def _over_target(self, state: SceneState) -> bool:
        target = self._target
        top = state.position(self._container) + state.rotation(self._container) @ self._top
        middle = state.position(target.body) + state.rotation(target.body) @ np.array(
            [*target.centre, 0.0]
        )
        away = math.hypot(float(top[0] - middle[0]), float(top[1] - middle[1]))
        rim = state.vertical_extent(target.body)[1]
        return away <= target.radius + self._limits.pour_reach and float(top[2]) > rim
