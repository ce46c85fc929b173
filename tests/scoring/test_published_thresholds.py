"""Every threshold of guide and official, tried from both sides.

The recorded configurations decide that the checks mean the right thing, but few of them lie near a
threshold. Here each stage of the published table is turned into states on either side of each of
its limits, and on the limit itself, without a simulator.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from pytest_robomem.scoring import guide, official
from pytest_robomem.scoring.checks import (
    MICROWAVE_CLOSED_ANGLE,
    MICROWAVE_HINGE,
    History,
    WristTilt,
    holds,
)
from pytest_robomem.scoring.pours import PourSample, TiltAndReturn
from pytest_robomem.scoring.stages import Stage, StageMachine
from pytest_robomem.scoring.state import Pose
from tests.golden import ROOT

PUBLISHED = json.loads((ROOT / "tests/data/published_stages.json").read_text(encoding="utf-8"))
TABLES = {"2026-06-02": guide.STAGES, "2026-07-21": official.STAGES}
NEAR = 1e-3  # relative step to either side of a limit
CEILING = 0.80  # m, the highest place at which an object counts as returned


@dataclass
class FakeState:
    """A state made of numbers."""

    bodies: dict[str, np.ndarray] = field(default_factory=dict)
    sites: dict[str, np.ndarray] = field(default_factory=dict)
    hinge: float = 0.0
    end_effector: np.ndarray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))

    def has_body(self, name: str) -> bool:
        return name in self.bodies

    def has_site(self, name: str) -> bool:
        return name in self.sites

    def has_joint(self, name: str) -> bool:
        return name == MICROWAVE_HINGE

    def body_position(self, name: str) -> np.ndarray:
        return self.bodies[name]

    def site_pose(self, name: str) -> Pose:
        return Pose(self.sites[name], np.eye(3), np.zeros(3))

    def end_effector_quaternion(self) -> np.ndarray:
        return self.end_effector

    def joint_position(self, name: str) -> float:
        assert name == MICROWAVE_HINGE
        return self.hinge


@dataclass(frozen=True)
class Probe:
    """A state near one limit, and whether the check has to hold in it."""

    state: FakeState
    history: History
    expected: bool


def _around(limit: float, *, upper: bool, inclusive: bool) -> Iterator[tuple[float, bool]]:
    """Values inside, on and outside a limit, and whether they are allowed."""
    inward = -abs(limit) * NEAR if upper else abs(limit) * NEAR
    yield limit + inward, True
    yield limit, inclusive
    yield limit - inward, False


def _limit(stage: dict[str, Any], name: str) -> tuple[float, bool]:
    """A limit by its name without ending, and whether it is allowed itself."""
    for ending, inclusive in (("_lt", False), ("_gt", False), ("_le", True), ("_ge", True)):
        if name + ending in stage:
            return stage[name + ending], inclusive
    raise KeyError(name)


def _upper(stage: dict[str, Any], name: str) -> Iterator[tuple[float, bool]]:
    value, inclusive = _limit(stage, name)
    yield from _around(value, upper=True, inclusive=inclusive)


def _window(stage: dict[str, Any], name: str) -> Iterator[tuple[float, bool]]:
    for low, upper in (("_gt", False), ("_ge", False), ("_lt", True), ("_le", True)):
        if name + low in stage:
            yield from _around(stage[name + low], upper=upper, inclusive="e" in low)


def _both_ways(stage: dict[str, Any], name: str) -> Iterator[tuple[float, bool]]:
    for value, expected in _upper(stage, name):
        yield value, expected
        yield -value, expected


def _offsets(stage: dict[str, Any]) -> Iterator[tuple[tuple[float, float, float], bool]]:
    kind = stage["kind"]
    if kind == "object_near_body":
        low, high = _limit_pair(stage)
        middle = (low + high) / 2
        yield from (((x, 0.0, middle), ok) for x, ok in _both_ways(stage, "xy"))
        yield from (((0.0, y, middle), ok) for y, ok in _both_ways(stage, "xy"))
        yield from (((0.0, 0.0, z), ok) for z, ok in _window(stage, "dz"))
    elif kind == "object_near_site_box":
        yield from (((x, 0.0, 0.0), ok) for x, ok in _both_ways(stage, "abs_dx"))
        yield from (((0.0, y, 0.0), ok) for y, ok in _both_ways(stage, "abs_dy"))
        yield from (((0.0, 0.0, z), ok) for z, ok in _window(stage, "dz"))
    elif kind == "object_near_site_y_window":
        yield from (((x, 0.0, 0.0), ok) for x, ok in _both_ways(stage, "abs_dx"))
        yield from (((0.0, y, 0.0), ok) for y, ok in _window(stage, "dy"))
        yield from (((0.0, 0.0, z), ok) for z, ok in _both_ways(stage, "abs_dz"))
    else:  # a radius and a height either way
        yield from (((x, 0.0, 0.0), ok) for x, ok in _both_ways(stage, "xy"))
        yield from (((0.0, 0.0, z), ok) for z, ok in _both_ways(stage, "abs_dz"))


def _limit_pair(stage: dict[str, Any]) -> tuple[float, float]:
    low = stage.get("dz_gt", stage.get("dz_ge"))
    return low, stage.get("dz_lt", stage.get("dz_le"))


def _probes(stage: dict[str, Any]) -> Iterator[Probe]:  # noqa: PLR0912 - one case a kind
    kind = stage["kind"]
    if kind.startswith("drawer"):
        site = stage["site"]
        history = History(start_sites={site: np.zeros(3)})
        upper = kind == "drawer_closed_abs_dy_lt"
        for way, expected in _around(stage["threshold"], upper=upper, inclusive=False):
            for y in (way, -way):
                yield Probe(FakeState(sites={site: np.array([1.0, y, 1.0])}), history, expected)
    elif kind.startswith("microwave"):
        upper = kind == "microwave_closed"
        limit = 0.15 if upper else stage["angle_rad"]  # closed: of the revision that reads it
        for angle, expected in _around(limit, upper=upper, inclusive=False):
            for way in (angle, -angle):
                yield Probe(FakeState(hinge=way), History(), expected)
    elif kind == "object_lifted_rel":
        history = History(start_bodies={stage["object"]: np.zeros(3)})
        for height, expected in _around(stage["dz_gt"], upper=False, inclusive=False):
            yield Probe(_at(stage, (1.0, 1.0, height)), history, expected)
        yield Probe(_at(stage, (0.0, 0.0, -1.0)), history, False)
    elif kind == "object_returned":
        yield from _returned(stage)
    elif kind == "eef_tilt_range":
        for tilts, expected in _wrist_tilts(stage):
            history = History()
            for tilt in tilts:
                history.stage_tilts.append(tilt)
            yield Probe(FakeState(), history, expected)
    else:
        origin = np.array(stage.get("point", (0.0, 0.0, 0.0)))
        for offset, expected in _offsets(stage):
            state = _at(stage, tuple(origin + offset))
            if "body" in stage:
                state.bodies[stage["body"]] = np.zeros(3)
            if "site" in stage:
                state.sites[stage["site"]] = np.zeros(3)
            if not (kind == "object_near_fixed_point" and _on_a_limit(stage, offset)):
                yield Probe(state, History(), expected)


def _on_a_limit(stage: dict[str, Any], offset: tuple[float, float, float]) -> bool:
    """A world point and an offset do not add up to the limit exactly."""
    return abs(offset[0]) == stage["xy_lt"] or abs(offset[2]) == stage["abs_dz_lt"]


def _at(stage: dict[str, Any], position: tuple[float, ...]) -> FakeState:
    return FakeState(bodies={stage["object"]: np.array(position)})


def _returned(stage: dict[str, Any]) -> Iterator[Probe]:
    limit = stage["dist3d_from_start_lt"]
    far, low = np.array([0.0, 0.0, 0.4]), np.array([0.0, 0.0, 0.01])
    high = np.array([0.0, 0.0, CEILING - 0.01])
    for away, expected in _around(limit, upper=True, inclusive=False):
        history = History(start_bodies={stage["object"]: far})
        if away != limit:
            yield Probe(_at(stage, (away, 0.0, far[2])), history, expected)
            yield Probe(_at(stage, (0.0, -away, far[2])), history, expected)
    for start, border, upper in ((low, 0.0, False), (high, CEILING, True)):
        history = History(start_bodies={stage["object"]: start})
        for step, expected in ((-1e-3, upper), (0.0, False), (1e-3, not upper)):
            yield Probe(_at(stage, (0.0, 0.0, border + step)), history, expected)


def _wrist_tilts(stage: dict[str, Any]) -> Iterator[tuple[list[float], bool]]:
    samples, span = stage["min_samples"], stage["tilt_range_gt"]
    hold, frames = stage.get("hold_angle"), stage.get("hold_frames", 0)
    base = 0.0 if hold is None else hold + 0.01
    low = base - span
    many = max(samples, frames + 2)
    for reach, expected in _around(span, upper=False, inclusive=False):
        if reach != span or base == 0.0:
            yield [base - reach] + [base] * (many - 1), expected
    yield [low - 0.01] + [base] * (samples - 1), True
    yield [low - 0.01] + [base] * (samples - 2), False
    if hold is not None:
        for angle, expected in _around(hold, upper=False, inclusive=False):
            yield [angle - span - 0.01] * samples + [angle] * (frames + 1), expected
        yield [low - 0.02] * samples + [base] * (frames + 1), True
        yield [low - 0.02] * samples + [base] * frames, False


STAGES = [
    pytest.param(revision, int(task), number, stage, id=f"{revision}-task{task}-{stage['name']}")
    for revision, tasks in PUBLISHED["revisions"].items()
    for task, stages in tasks.items()
    for number, stage in enumerate(stages)
]


@pytest.mark.parametrize(("revision", "task", "number", "published"), STAGES)
def test_limits_of_a_stage(
    revision: str, task: int, number: int, published: dict[str, Any]
) -> None:
    stage = TABLES[revision][task][number]
    assert stage.name == published["name"]
    if isinstance(stage.check, TiltAndReturn):
        _check_pour(stage.check, published)
        return
    probes = list(_probes(published))
    assert {probe.expected for probe in probes} == {True, False}
    for probe in probes:
        assert holds(stage.check, probe.state, probe.history) is probe.expected, probe


def _check_pour(check: TiltAndReturn, published: dict[str, Any]) -> None:
    target = published["target"]
    assert (check.obj, check.target) == (published["object"], target["name"])
    assert check.target_is_site is (target["kind"] == "site")
    tilt, back, radius = published["move_ge"], published["return_le"], target["xy_radius_le"]
    rest = [PourSample(0.0, 1.0)] * published["warmup"]
    length = published["min_samples"] - 1

    def pour(largest: float, smallest: float, distance: float, samples: int = length) -> bool:
        tilted = [PourSample(largest, distance)] * (samples - len(rest))
        return check.poured([*rest, *tilted, PourSample(smallest, 1.0)])

    assert pour(tilt, back, radius)
    for value, expected in _around(tilt, upper=False, inclusive=True):
        assert pour(value, back, radius) is expected
        assert pour(-value, -back, radius) is expected
    for value, expected in _around(back, upper=True, inclusive=True):
        assert pour(tilt, value, radius) is expected
    for value, expected in _around(radius, upper=True, inclusive=True):
        assert pour(tilt, back, value) is expected
    assert not pour(tilt, back, radius, length - 1)
    # Of five samples at rest two may be off, three may not; four or six would decide otherwise.
    for off, last, expected in ((2, 0.05, True), (3, 0.0, False)):
        settling = [PourSample(-0.2, 1.0)] * off + [PourSample(0.0, 0.0)] * (len(rest) - off)
        later = [PourSample(0.0, 0.0)] * length + [PourSample(0.16, 0.0), PourSample(last, 0.0)]
        assert check.poured([*settling, *later]) is expected


@pytest.mark.parametrize("task", official.STAGES)
def test_optional_final_stages_are_the_published_ones(task: int) -> None:
    optional = [stage.name for stage in official.STAGES[task] if not stage.required]
    published = PUBLISHED["optional_final_stages"].get(str(task))
    assert optional == ([published] if published else [])


def test_the_closing_angle_is_that_of_the_revision_that_reads_the_hinge() -> None:
    assert pytest.approx(0.15) == MICROWAVE_CLOSED_ANGLE


def test_what_the_wrist_did_before_a_stage_began_does_not_count() -> None:
    wrist = WristTilt(tilt_range=0.5, min_samples=2)
    machine = StageMachine([Stage("first", wrist), Stage("second", wrist)])
    level, tilted = (np.array([np.cos(a / 2), np.sin(a / 2), 0.0, 0.0]) for a in (3.0, 2.0))
    state = FakeState()
    machine.begin(state)
    for step, quaternion in enumerate((level, tilted, tilted, tilted, level), start=1):
        state.end_effector = quaternion
        machine.update(state, step)
    assert machine.completed_at == {"first": 2, "second": 5}
