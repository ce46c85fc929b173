"""Stage checks of the published scorer, as data.

Each check measures the state against limits and can say by how much it fails. Distances in m,
angles in rad, world frame. Definitions: RoboMemArena's scorer, revision 2026-06-02, read from its
behaviour on recorded states.
"""

import math
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pytest_robomem.scoring.state import Array, StateView

MICROWAVE_HINGE = "microwave_1_microjoint"
MICROWAVE_CLOSED_ANGLE = 0.15  # rad; revision 2026-06-29, which reads the real hinge


class Limit(NamedTuple):
    """One measured quantity and the bounds it has to keep."""

    quantity: str
    value: float
    low: float = -math.inf
    high: float = math.inf
    inclusive: bool = False
    unit: str = "m"

    @property
    def kept(self) -> bool:
        """Whether the value lies within the bounds."""
        if self.inclusive:
            return self.low <= self.value <= self.high
        return self.low < self.value < self.high

    def describe(self) -> str:
        """The value beside the bound that matters, for people."""
        if self.value <= self.low or self.high == math.inf:
            bound = f"needs {'>=' if self.inclusive else '>'} {self.low:g}"
        else:
            bound = f"needs {'<=' if self.inclusive else '<'} {self.high:g}"
        return f"{self.quantity} {self.value:.3f} {self.unit}, {bound}".replace(" , ", ", ")


@dataclass(frozen=True)
class Names:
    """Bodies, sites and joints that a check reads."""

    bodies: frozenset[str] = frozenset()
    sites: frozenset[str] = frozenset()
    joints: frozenset[str] = frozenset()

    def __or__(self, other: "Names") -> "Names":
        return Names(
            self.bodies | other.bodies, self.sites | other.sites, self.joints | other.joints
        )

    def missing_from(self, state: StateView) -> list[str]:
        """What the scene does not have, as ``kind 'name'``."""
        return [
            *(f"body {name!r}" for name in sorted(self.bodies) if not state.has_body(name)),
            *(f"site {name!r}" for name in sorted(self.sites) if not state.has_site(name)),
            *(f"joint {name!r}" for name in sorted(self.joints) if not state.has_joint(name)),
        ]


class StageTilts:
    """Tilts of the wrist since the current stage began, rad, one per policy step.

    Their extremes and counts are kept along, so that a step costs the same however long the stage
    has lasted.
    """

    def __init__(self) -> None:
        self._tilts: list[float] = []
        self._beyond: dict[float, tuple[int, int]] = {}  # angle: samples looked at, beyond it
        self._low, self._high = math.inf, -math.inf

    def __len__(self) -> int:
        return len(self._tilts)

    def append(self, tilt: float) -> None:
        """Add the tilt of a step."""
        self._tilts.append(tilt)
        self._low, self._high = min(self._low, tilt), max(self._high, tilt)

    @property
    def span(self) -> float:
        """Largest minus smallest tilt; 0 without samples."""
        return self._high - self._low if self._tilts else 0.0

    def beyond(self, angle: float) -> int:
        """Number of steps with a tilt above an angle."""
        seen, count = self._beyond.get(angle, (0, 0))
        count += sum(tilt > angle for tilt in self._tilts[seen:])
        self._beyond[angle] = len(self._tilts), count
        return count


@dataclass
class History:
    """What a check may know of the episode so far.

    Attributes:
        start_bodies, start_sites: positions [3] after settling, before the first action.
        stage_tilts: angles of the gripper's approach to world up since the current stage began.
    """

    start_bodies: dict[str, Array] = field(default_factory=dict)
    start_sites: dict[str, Array] = field(default_factory=dict)
    stage_tilts: StageTilts = field(default_factory=StageTilts)

    @classmethod
    def of(cls, names: "Names", state: StateView) -> "History":
        """A history that begins with a settled state."""
        return cls(
            start_bodies={name: state.body_position(name) for name in names.bodies},
            start_sites={name: state.site_pose(name).position for name in names.sites},
        )


class Check(Protocol):
    """One condition of a stage."""

    def names(self) -> Names:
        """Everything of the scene that the check reads."""
        ...

    def limits(self, state: StateView, history: History) -> tuple[Limit, ...]:
        """Measurements and their bounds; the check holds when all are kept."""
        ...


def holds(check: Check, state: StateView, history: History) -> bool:
    """Whether every limit of the check is kept."""
    for limit in check.limits(state, history):  # noqa: SIM110 - asked at every step, and faster
        if not limit.kept:
            return False
    return True


def wrist_tilt(quaternion: NDArray[np.float64]) -> float:
    """Angle between the gripper's approach direction and world up, rad in [0, pi].

    The published scorer reads the orientation in single precision, which decides samples that lie
    on a threshold; so does this.

    Args:
        quaternion: [4] (w, x, y, z) of the gripper frame.
    """
    _, x, y, _ = quaternion.astype(np.float32)
    upward = np.float32(1.0) - np.float32(2.0) * (x * x + y * y)
    return math.acos(min(1.0, max(-1.0, float(upward))))


def _horizontal(offset: Array) -> float:
    return math.hypot(float(offset[0]), float(offset[1]))


@dataclass(frozen=True)
class NearBody:
    """An object's origin near a body's origin: horizontal distance and height above it."""

    obj: str
    body: str
    xy: float
    dz: tuple[float, float]
    inclusive: bool = False

    def names(self) -> Names:
        """See :class:`Check`."""
        return Names(bodies=frozenset({self.obj, self.body}))

    def limits(self, state: StateView, history: History) -> tuple[Limit, ...]:
        """See :class:`Check`."""
        offset = state.body_position(self.obj) - state.body_position(self.body)
        return (
            Limit(
                f"horizontal distance of {self.obj} to {self.body}",
                _horizontal(offset),
                high=self.xy,
                inclusive=self.inclusive,
            ),
            Limit(
                f"height of {self.obj} above {self.body}",
                float(offset[2]),
                *self.dz,
                inclusive=self.inclusive,
            ),
        )


@dataclass(frozen=True)
class NearSite:
    """An object's origin near a site, in a box along the world axes.

    ``dx``, ``dy`` and ``dz`` are windows of the offset from the site's centre.
    """

    obj: str
    site: str
    dx: tuple[float, float]
    dy: tuple[float, float]
    dz: tuple[float, float]
    inclusive: bool = False

    def names(self) -> Names:
        """See :class:`Check`."""
        return Names(bodies=frozenset({self.obj}), sites=frozenset({self.site}))

    def limits(self, state: StateView, history: History) -> tuple[Limit, ...]:
        """See :class:`Check`."""
        offset = state.body_position(self.obj) - state.site_pose(self.site).position
        x, y, z = offset.tolist()
        what, inclusive = f"offset of {self.obj} from {self.site}", self.inclusive
        return (
            Limit(f"x {what}", x, *self.dx, inclusive),
            Limit(f"y {what}", y, *self.dy, inclusive),
            Limit(f"z {what}", z, *self.dz, inclusive),
        )


@dataclass(frozen=True)
class NearSiteRadius:
    """An object's origin near a site: horizontal distance and height either way."""

    obj: str
    site: str
    xy: float
    dz: float

    def names(self) -> Names:
        """See :class:`Check`."""
        return Names(bodies=frozenset({self.obj}), sites=frozenset({self.site}))

    def limits(self, state: StateView, history: History) -> tuple[Limit, ...]:
        """See :class:`Check`."""
        offset = state.body_position(self.obj) - state.site_pose(self.site).position
        return (
            Limit(
                f"horizontal distance of {self.obj} to {self.site}",
                _horizontal(offset),
                high=self.xy,
            ),
            Limit(f"height of {self.obj} from {self.site}", abs(float(offset[2])), high=self.dz),
        )


@dataclass(frozen=True)
class NearPoint:
    """An object's origin near a fixed point of the world."""

    obj: str
    point: tuple[float, float, float]
    xy: float
    dz: float

    def names(self) -> Names:
        """See :class:`Check`."""
        return Names(bodies=frozenset({self.obj}))

    def limits(self, state: StateView, history: History) -> tuple[Limit, ...]:
        """See :class:`Check`."""
        offset = state.body_position(self.obj) - np.array(self.point)
        place = "the place aside"
        return (
            Limit(
                f"horizontal distance of {self.obj} to {place}", _horizontal(offset), high=self.xy
            ),
            Limit(f"height of {self.obj} from {place}", abs(float(offset[2])), high=self.dz),
        )


@dataclass(frozen=True)
class Returned:
    """An object back near the place where it stood at the start, and on no floor or ceiling."""

    obj: str
    radius: float
    z: tuple[float, float] = (0.0, 0.80)

    def names(self) -> Names:
        """See :class:`Check`."""
        return Names(bodies=frozenset({self.obj}))

    def limits(self, state: StateView, history: History) -> tuple[Limit, ...]:
        """See :class:`Check`."""
        position = state.body_position(self.obj)
        moved = float(np.linalg.norm(position - history.start_bodies[self.obj]))
        return (
            Limit(f"distance of {self.obj} to its start", moved, high=self.radius),
            Limit(f"height of {self.obj}", float(position[2]), *self.z),
        )


@dataclass(frozen=True)
class Lifted:
    """An object's origin above the height at which it stood at the start."""

    obj: str
    height: float

    def names(self) -> Names:
        """See :class:`Check`."""
        return Names(bodies=frozenset({self.obj}))

    def limits(self, state: StateView, history: History) -> tuple[Limit, ...]:
        """See :class:`Check`."""
        raised = state.body_position(self.obj)[2] - history.start_bodies[self.obj][2]
        return (Limit(f"lift of {self.obj}", float(raised), self.height),)


@dataclass(frozen=True)
class DrawerOpen:
    """A drawer's region moved along world y from its start, either way."""

    site: str
    distance: float

    def names(self) -> Names:
        """See :class:`Check`."""
        return Names(sites=frozenset({self.site}))

    def limits(self, state: StateView, history: History) -> tuple[Limit, ...]:
        """See :class:`Check`."""
        return (Limit(f"way of {self.site}", _travel(self.site, state, history), self.distance),)


@dataclass(frozen=True)
class DrawerClosed:
    """A drawer's region near its start along world y."""

    site: str
    distance: float

    def names(self) -> Names:
        """See :class:`Check`."""
        return Names(sites=frozenset({self.site}))

    def limits(self, state: StateView, history: History) -> tuple[Limit, ...]:
        """See :class:`Check`."""
        travel = _travel(self.site, state, history)
        return (Limit(f"way of {self.site}", travel, high=self.distance),)


def _travel(site: str, state: StateView, history: History) -> float:
    return abs(float(state.site_pose(site).position[1] - history.start_sites[site][1]))


@dataclass(frozen=True)
class HingeOpen:
    """A door opened beyond an angle, either way."""

    joint: str
    angle: float

    def names(self) -> Names:
        """See :class:`Check`."""
        return Names(joints=frozenset({self.joint}))

    def limits(self, state: StateView, history: History) -> tuple[Limit, ...]:
        """See :class:`Check`."""
        angle = abs(state.joint_position(self.joint))
        return (Limit(f"angle of {self.joint}", angle, self.angle, unit="rad"),)


@dataclass(frozen=True)
class HingeClosed:
    """A door closed to within an angle."""

    joint: str
    angle: float

    def names(self) -> Names:
        """See :class:`Check`."""
        return Names(joints=frozenset({self.joint}))

    def limits(self, state: StateView, history: History) -> tuple[Limit, ...]:
        """See :class:`Check`."""
        angle = abs(state.joint_position(self.joint))
        return (Limit(f"angle of {self.joint}", angle, high=self.angle, unit="rad"),)


@dataclass(frozen=True)
class WristTilt:
    """The wrist tilted over a range since the stage began, whatever it held.

    Args:
        tilt_range: largest minus smallest tilt of the gripper, rad.
        min_samples: policy steps that the stage has to have lasted.
        hold_angle, hold_frames: more than so many steps tilted beyond the angle.
    """

    tilt_range: float
    min_samples: int
    hold_angle: float | None = None
    hold_frames: int = 0

    def names(self) -> Names:
        """See :class:`Check`."""
        return Names()

    def limits(self, state: StateView, history: History) -> tuple[Limit, ...]:
        """See :class:`Check`."""
        tilts = history.stage_tilts
        limits = [
            Limit("steps in this stage", len(tilts), self.min_samples, inclusive=True, unit=""),
            Limit("range of the wrist's tilt", tilts.span, self.tilt_range, unit="rad"),
        ]
        if self.hold_angle is not None:
            held = tilts.beyond(self.hold_angle)
            quantity = f"steps tilted beyond {self.hold_angle:g} rad"
            limits.append(Limit(quantity, held, self.hold_frames, unit=""))
        return tuple(limits)
