"""Pours as the published scorer of 2026-07-21 counts them: tilt the object, then turn it back."""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pytest_robomem.scoring.checks import Limit, Names
from pytest_robomem.scoring.state import StateView


class PourSample(NamedTuple):
    """What one policy step says about a pour: tilt (rad), horizontal distance to the target (m)."""

    tilt: float
    distance: float


@dataclass(frozen=True)
class TiltAndReturn:
    """An object's body z axis leaves its resting angle and comes back, near a target.

    The angle at rest is the median of the window's first samples. Only the first excursion of a
    window is looked at: one that happened far from the target leaves the stage open for good. A
    window begins with the sample that completed the stage before, where that was a pour, too.

    Attributes:
        obj: the body that pours.
        target: body or site that it pours over; a site where ``target_is_site``.
        tilt: change of the angle that begins a pour, rad.
        back: change of the angle within which the object is back, rad.
        radius: largest horizontal distance to the target, m, kept at least once from the tilt to
            the return.
        min_samples: samples that the window has to have.
        warm_up: samples whose median is the angle at rest.
    """

    obj: str
    target: str
    target_is_site: bool = False
    tilt: float = 0.15
    back: float = 0.10
    radius: float = 0.20
    min_samples: int = 10
    warm_up: int = 5

    def names(self) -> Names:
        """Everything of the scene that the pour reads."""
        if self.target_is_site:
            return Names(bodies=frozenset({self.obj}), sites=frozenset({self.target}))
        return Names(bodies=frozenset({self.obj, self.target}))

    def sample(self, state: StateView) -> PourSample:
        """Measure the pour in one state.

        The vertical component of the axis is taken from the quaternion in this form because it
        decides samples that lie on a threshold to the last bit.
        """
        _, x, y, _ = state.body_quaternion(self.obj)
        upward = 1.0 - 2.0 * float(x * x + y * y)
        target = (
            state.site_pose(self.target).position
            if self.target_is_site
            else state.body_position(self.target)
        )
        offset = state.body_position(self.obj) - target
        return PourSample(
            tilt=math.acos(min(1.0, max(-1.0, upward))),
            distance=math.hypot(float(offset[0]), float(offset[1])),
        )

    def poured(self, samples: Sequence[PourSample]) -> bool:
        """Whether the samples of a window hold a complete pour."""
        return all(limit.kept for limit in self.limits(samples))

    def limits(self, samples: Sequence[PourSample]) -> tuple[Limit, ...]:
        """Measurements of a window and their bounds; it holds a pour when all are kept."""
        steps = Limit(
            "steps in this stage", len(samples), self.min_samples, inclusive=True, unit=""
        )
        if not samples:
            return (steps,)
        rest = statistics.median(sample.tilt for sample in samples[: self.warm_up])
        turns = [abs(sample.tilt - rest) for sample in samples]
        tilted = Limit(
            f"largest tilt of {self.obj}", max(turns), self.tilt, inclusive=True, unit="rad"
        )
        begin = next((i for i, turn in enumerate(turns) if turn >= self.tilt), None)
        if begin is None:
            return (steps, tilted)
        later = range(begin + 1, len(samples))
        end = next((i for i in later if turns[i] <= self.back), None)
        least = min((turns[i] for i in later), default=turns[begin])
        returned = Limit(
            f"smallest tilt of {self.obj} after that",
            least,
            high=self.back,
            inclusive=True,
            unit="rad",
        )
        until = len(samples) - 1 if end is None else end
        near = Limit(
            f"smallest horizontal distance of {self.obj} to {self.target} while tilted",
            min(sample.distance for sample in samples[begin : until + 1]),
            high=self.radius,
            inclusive=True,
        )
        return (steps, tilted, returned, near)


class PourWindow:
    """Samples since a stage began, looked at once each: a long window costs no more than a short.

    Args:
        pour: what is looked for.
        samples: with which the window begins.
    """

    def __init__(self, pour: TiltAndReturn, samples: Iterable[PourSample] = ()) -> None:
        self._pour = pour
        self.samples = list(samples)
        self._looked_at = 0
        self._nearest = math.inf
        self._begun = self._ended = False
        self._rest: float | None = None

    def append(self, sample: PourSample) -> None:
        """Add the sample of a step."""
        self.samples.append(sample)

    @property
    def poured(self) -> bool:
        """The same as :meth:`TiltAndReturn.poured` of the samples."""
        pour = self._pour
        if len(self.samples) < pour.warm_up:  # the angle at rest is not settled
            return pour.poured(self.samples)
        if self._rest is None:
            self._rest = statistics.median(s.tilt for s in self.samples[: pour.warm_up])
        for sample in self.samples[self._looked_at :]:
            self._look_at(sample, abs(sample.tilt - self._rest))
        self._looked_at = len(self.samples)
        enough = len(self.samples) >= pour.min_samples
        return enough and self._ended and self._nearest <= pour.radius

    def _look_at(self, sample: PourSample, turn: float) -> None:
        if self._ended or not (self._begun or turn >= self._pour.tilt):
            return
        self._nearest = min(self._nearest, sample.distance)
        self._ended = self._begun and turn <= self._pour.back
        self._begun = True
