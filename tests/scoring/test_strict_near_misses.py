"""States that almost satisfy a strict stage, and must not.

Each case is a row of a table: a kind of stage, what is done instead, and what must be said of it.
The rows are applied to every stage of that kind in every task.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from pytest_robomem.scoring.strict.joints import DRAWER
from pytest_robomem.scoring.strict.regions import (
    BodyBox,
    Disc,
    Region,
    SiteBox,
    StartPlace,
    TableTop,
    TopOf,
)
from pytest_robomem.scoring.strict.stages import KeptShut, Opened, Placed, Poured, ShutAgain
from pytest_robomem.scoring.strict.tasks import TASKS, StrictStage
from tests.golden import Stage
from tests.scoring.acting import (
    REST_STEPS,
    Actor,
    drawer_of,
    full_opening,
    occupied_or_empty,
)
from tests.scoring.demanded import DEMANDED
from tests.scoring.puppet import FREE_SPOT, drop_point, radians

MARGIN = 0.003  # m, on either side of a border

Act = Callable[[Actor, StrictStage], None]


@dataclass(frozen=True)
class Miss:
    """Something that is almost what a stage demands; ``says`` is part of the explanation."""

    name: str
    act: Act
    says: str = ""
    applies: Callable[[StrictStage], bool] = lambda stage: True


def _region(actor: Actor, stage: Placed):
    return occupied_or_empty(actor.puppet, stage)


def _prepare(actor: Actor, stage: Placed) -> None:
    """Do what comes before, open what has to be open, and lift the object."""
    if stage.after:
        actor.before(stage.name)
    joint = drawer_of(_region(actor, stage))
    if joint is not None:
        actor.move_joint(joint, full_opening(joint))
    actor.lift(stage.obj)


def _lay_down(actor: Actor, stage: Placed) -> None:
    _prepare(actor, stage)
    actor.lay_down(stage)


def _hovering(actor: Actor, stage: Placed) -> None:
    _lay_down(actor, stage)
    actor.puppet.shift(stage.obj, z=0.004)
    actor.puppet.show(REST_STEPS)


def _touched(actor: Actor, stage: Placed) -> None:
    _lay_down(actor, stage)
    actor.puppet.reach(actor.puppet.state().centre(stage.obj))
    if actor.puppet.state().released(stage.obj):
        actor.puppet.grasp(stage.obj, sides="left")
    actor.puppet.show(REST_STEPS)


def _sliding(actor: Actor, stage: Placed) -> None:
    _lay_down(actor, stage)
    _slide(actor, stage, 1.05)


def _slide(actor: Actor, stage: Placed, factor: float) -> None:
    for _ in range(REST_STEPS + 4):
        actor.puppet.shift(stage.obj, x=factor * DEMANDED.rest_distance / DEMANDED.rest_steps)
        actor.puppet.show()


def _turning(actor: Actor, stage: Placed) -> None:
    _lay_down(actor, stage)
    _turn(actor, stage, 1.05)


def _turn(actor: Actor, stage: Placed, factor: float) -> None:
    position, _ = actor.puppet.pose(stage.obj)
    for number in range(REST_STEPS + 4):
        angle = number * factor * DEMANDED.rest_angle / DEMANDED.rest_steps
        turned = actor.puppet.turned(stage.obj, np.array([0.0, 0.0, 1.0]), angle)
        actor.puppet.put(stage.obj, position, turned)
        actor.puppet.show()


def _too_short(actor: Actor, stage: Placed) -> None:
    _lay_down(actor, stage)
    actor.puppet.show(DEMANDED.rest_steps)


def _from_the_start(actor: Actor, stage: Placed) -> None:
    joint = drawer_of(_region(actor, stage))
    if joint is not None:
        actor.move_joint(joint, full_opening(joint))
    actor.puppet.park(stage.obj)
    actor.lay_down(stage)
    actor.puppet.begin()
    actor.puppet.show(REST_STEPS)


def _wrong_object(actor: Actor, stage: Placed) -> None:
    _prepare(actor, stage)
    region = _region(actor, stage)
    unmovable = {stage.obj, region.support, "rack_1"}
    others = sorted(actor.puppet.view().movable_bodies() - unmovable)
    used = {entry.obj for entry in actor.task.stages if isinstance(entry, Placed)}
    other = next((name for name in others if name not in used), others[0])
    actor.puppet.park(other)
    actor.puppet.drop(other, drop_point(actor.puppet, region))
    actor.puppet.show(REST_STEPS)


def _wrong_place(actor: Actor, stage: Placed) -> None:
    _prepare(actor, stage)
    puppet, region = actor.puppet, _region(actor, stage)
    allowed = {place.region for place in actor.scorer._places[stage.name]}
    if drawer_of(region):
        actor.move_joint(drawer_of(region), 0.0)
        levels = ("top", "middle", "bottom")
        wrong = next(
            candidate
            for candidate in (
                SiteBox(f"wooden_cabinet_1_{level}_region", f"wooden_cabinet_1_cabinet_{level}")
                for level in levels
            )
            if candidate not in allowed
        )
        actor.move_joint(drawer_of(wrong), full_opening(drawer_of(wrong)))
        puppet.drop(stage.obj, drop_point(puppet, wrong, (0.05, 0.0)))
    elif region.support == "microwave_1":
        top = TopOf("microwave_1_top_side", "microwave_1")
        puppet.drop(stage.obj, drop_point(puppet, top))
    elif isinstance(region, TopOf):
        first = TopOf("wooden_cabinet_1_top_side", "wooden_cabinet_1_base")
        puppet.drop(stage.obj, drop_point(puppet, first, (0.0, 0.08)))
    elif region.support == "plate_2":
        puppet.drop(stage.obj, puppet.view().body_position("plate_1") + np.array([0.0, 0.0, 0.2]))
    elif isinstance(region, StartPlace):
        puppet.drop(stage.obj, np.array([*FREE_SPOT, 0.6]))
    elif isinstance(region, TableTop):
        place = TopOf("microwave_1_top_side", "microwave_1")
        puppet.drop(stage.obj, drop_point(puppet, place))
    else:
        puppet.drop(stage.obj, np.array([*FREE_SPOT, 0.6]))
    puppet.show(REST_STEPS)


def _outside(axis: int, sign: int) -> Act:
    def act(actor: Actor, stage: Placed) -> None:
        _prepare(actor, stage)
        puppet, region = actor.puppet, _region(actor, stage)
        puppet.centre_over(stage.obj, _border(actor, region, axis, sign, MARGIN))
        puppet.show(REST_STEPS)

    return act


def _border(actor: Actor, region, axis: int, sign: int, beyond: float):
    """A point that lies so far beyond the region's border along one of its axes."""
    view = actor.puppet.view()
    if isinstance(region, Disc):
        middle, half = np.array([*region.centre, 0.02]), np.array([region.radius] * 2 + [1.0])
    elif isinstance(region, BodyBox):
        middle, half = np.array(region.centre), np.array(region.half_size)
    else:
        pose = view.site_pose(region.site)
        local = np.zeros(3)
        if isinstance(region, TopOf):
            local[2] = 0.03
        local[axis] = sign * (pose.half_size[axis] + beyond)
        return pose.position + pose.rotation @ local
    local = middle.copy()
    local[axis] += sign * (half[axis] + beyond)
    return view.body_position(region.support) + view.body_rotation(region.support) @ local


def _bounded(stage: StrictStage) -> bool:
    return not isinstance(stage.regions[0], StartPlace | TableTop)


def _on_plate(stage: StrictStage) -> bool:
    return stage.regions[0].support == "plate_2"


def _three_dimensional(stage: StrictStage) -> bool:
    return isinstance(stage.regions[0], SiteBox | BodyBox)


def _has_predecessor(stage: StrictStage) -> bool:
    return bool(stage.after)


def _too_early(actor: Actor, stage: Placed) -> None:
    joint = drawer_of(_region(actor, stage))
    if joint is not None:
        actor.move_joint(joint, full_opening(joint))
    actor.lift(stage.obj)
    actor.lay_down(stage)
    actor.puppet.show(REST_STEPS)
    if joint is not None:
        actor.move_joint(joint, 0.0)
    actor.before(stage.name)
    actor.puppet.show(REST_STEPS)


def _alone(actor: Actor, stage: Placed) -> None:
    joint = drawer_of(_region(actor, stage))
    if joint is not None:
        actor.move_joint(joint, full_opening(joint))
    actor.place(stage)


def _taken_away(actor: Actor, stage: Placed) -> None:
    _lay_down(actor, stage)
    actor.puppet.show(REST_STEPS)
    assert actor.done(stage.name)
    actor.lift(stage.obj)


def _leaning(degrees: float) -> Act:
    def act(actor: Actor, stage: Placed) -> None:
        _lay_down(actor, stage)
        puppet = actor.puppet
        turned = puppet.turned(stage.obj, np.array([1.0, 0.0, 0.0]), radians(degrees))
        above = puppet.state().centre(stage.obj) + np.array([0.0, 0.0, 0.05])
        puppet.drop(stage.obj, above, turned)
        puppet.show(REST_STEPS)

    return act


def _away_from_start(distance: float) -> Act:
    def act(actor: Actor, stage: Placed) -> None:
        _lay_down(actor, stage)
        actor.puppet.shift(stage.obj, x=0.6 * distance, y=0.8 * distance)
        actor.puppet.show(REST_STEPS)

    return act


def _back_to_start(stage: StrictStage) -> bool:
    return isinstance(stage.regions[0], StartPlace)


PLACED = (
    Miss("outside_x_low", _outside(0, -1), "outside", _bounded),
    Miss("outside_x_high", _outside(0, 1), "outside", _bounded),
    Miss("outside_y_low", _outside(1, -1), "outside", _bounded),
    Miss("outside_y_high", _outside(1, 1), "outside", _bounded),
    Miss("outside_z_low", _outside(2, -1), "outside", _three_dimensional),
    Miss("outside_z_high", _outside(2, 1), "outside", _three_dimensional),
    Miss("hovering", _hovering, "does not rest on"),
    Miss("touched_by_the_hand", _touched, "the robot still touches"),
    Miss("sliding", _sliding, "is not at rest"),
    Miss("turning", _turning, "is not at rest", lambda stage: not _on_plate(stage)),
    Miss("too_short", _too_short, "is not at rest"),
    Miss("from_the_start", _from_the_start),
    Miss("wrong_object", _wrong_object, "", lambda stage: not _back_to_start(stage)),
    Miss("wrong_place", _wrong_place),
    Miss("too_early", _too_early, "", _has_predecessor),
    Miss("without_what_comes_before", _alone, "waits for", _has_predecessor),
    Miss("taken_away", _taken_away),
    Miss("not_upright", _leaning(16.0), "does not stand upright", _back_to_start),
    Miss("lying", _leaning(90.0), "does not stand upright", _back_to_start),
    Miss("beside_its_place", _away_from_start(DEMANDED.returned + MARGIN), "out", _back_to_start),
)


def _part_open(actor: Actor, stage: Opened) -> None:
    _open_partly(actor, stage, -0.01)


def _open_partly(actor: Actor, stage: Opened, more: float) -> None:
    actor.before(stage.name)
    joint = actor._joint_to_open(stage)
    enough = DEMANDED.drawer_open if stage.kind == DRAWER else DEMANDED.hinge_open
    travel = actor.puppet.view().joint_range(joint)[0]
    actor.move_joint(joint, travel * (enough + more))


def _wrong_way(actor: Actor, stage: Opened) -> None:
    actor.before(stage.name)
    actor.move_joint(actor._joint_to_open(stage), 0.15)


def _wrong_drawer(actor: Actor, stage: Opened) -> None:
    actor.before(stage.name)
    own = set(stage.joints)
    other = next(
        joint
        for level in ("bottom", "middle", "top")
        if (joint := f"wooden_cabinet_1_{level}_level") not in own
    )
    actor.move_joint(other, full_opening(other))


def _open_early(actor: Actor, stage: Opened) -> None:
    joint = actor._joint_to_open(stage)
    actor.move_joint(joint, full_opening(joint))
    actor.puppet.show(3)


def _open_from_the_start(actor: Actor, stage: Opened) -> None:
    _open_early(actor, stage)
    actor.puppet.begin()
    actor.puppet.show(3)


def _one_drawer(stage: StrictStage) -> bool:
    return len(stage.joints) < 3 and stage.kind == DRAWER


OPENED = (
    Miss("part_open", _part_open, "% open"),
    Miss("wrong_way", _wrong_way),
    Miss("wrong_drawer", _wrong_drawer, "", _one_drawer),
    Miss("open_before_its_turn", _open_early, "waits for", _has_predecessor),
    Miss("open_from_the_start", _open_from_the_start),
)


def _part_shut(actor: Actor, stage: ShutAgain | KeptShut) -> None:
    _shut_partly(actor, stage, 0.004)


def _shut_partly(actor: Actor, stage: ShutAgain | KeptShut, more: float) -> None:
    actor.before(stage.name)
    joint = stage.joints[0]
    travel = actor.puppet.view().joint_range(joint)[0]
    actor.move_joint(joint, full_opening(joint))
    for other in stage.joints[1:]:
        actor.move_joint(other, 0.0)
    actor.move_joint(joint, travel * (DEMANDED.closed + more))


def _never_opened(actor: Actor, stage: ShutAgain | KeptShut) -> None:
    actor.puppet.show(REST_STEPS)


SHUT = (Miss("part_shut", _part_shut, "% open"), Miss("never_opened", _never_opened, "waits for"))


def _pours_before(actor: Actor, stage: Poured) -> None:
    actor.before(stage.name)
    assert actor.scorer.card().details["pours"] == stage.number - 1


def _angles(*angles: float) -> Act:
    def act(actor: Actor, stage: Poured) -> None:
        _pours_before(actor, stage)
        for angle in angles:
            actor.tilt(angle)

    return act


def _off_target(actor: Actor, stage: Poured) -> None:
    _pours_before(actor, stage)
    _pour_beside(actor, MARGIN)


def _pour_beside(actor: Actor, beyond: float) -> None:
    """Pour with the container's top so far beyond what may be."""
    target = actor.task.pouring.target
    actor.tilt(60.0)
    top = _top(actor)
    view = actor.puppet.view()
    middle = view.body_position(target.body) + view.body_rotation(target.body) @ np.array(
        [*target.centre, 0.0]
    )
    away = target.radius + DEMANDED.pour_reach + beyond
    here = top[:2] - middle[:2]
    state = actor.puppet.state()
    food = [name for name in view.movable_bodies() if state.supported(name, target.body)]
    for name in (target.body, *food):
        actor.puppet.shift(name, here[0], here[1] + away)
    actor.pour()


def _below_rim(actor: Actor, stage: Poured) -> None:
    _pours_before(actor, stage)
    actor.tilt(60.0)
    target = actor.task.pouring.target
    rim = actor.puppet.state().vertical_extent(target.body)[1]
    actor.puppet.shift(target.body, z=_top(actor)[2] - rim + MARGIN)
    actor.pour()


def _top(actor: Actor):
    counter = actor.scorer._counter
    view = actor.puppet.view()
    container = actor.task.pouring.container
    return view.body_position(container) + view.body_rotation(container) @ counter._top


def _one_finger(actor: Actor, stage: Poured) -> None:
    _pours_before(actor, stage)
    for angle in (0.0, 60.0, 0.0):
        actor.puppet.in_hand(actor.task.pouring.container, radians(angle))
        actor.puppet.open_hand()
        actor.puppet.grasp(actor.task.pouring.container, sides="left")
        actor.puppet.show(DEMANDED.pour_steps + 2)


def _not_lifted(actor: Actor, stage: Poured) -> None:
    _pours_before(actor, stage)
    container = actor.task.pouring.container
    actor.tilt(60.0)
    counter = actor.scorer._counter
    lowest = actor.puppet.state().vertical_extent(container)[0]
    counter._start_height = lowest - DEMANDED.lift + 0.001
    actor.pour()


def _dropped(actor: Actor, stage: Poured) -> None:
    _pours_before(actor, stage)
    for angle in (0.0, *[60.0] * DEMANDED.pour_steps):
        actor.tilt(angle)
    actor.puppet.open_hand()
    actor.puppet.put(actor.task.pouring.container, np.array([*FREE_SPOT, 0.5]))
    actor.puppet.show(REST_STEPS)


def _wrist_only(actor: Actor, stage: Poured) -> None:
    """The container stands where it stood; its target is beneath it; the hand is empty."""
    container = actor.task.pouring.container
    if stage.number > 1:
        actor.before(stage.name)
    at = actor.puppet._free(container)
    actor.puppet.put(container, actor.puppet.settled[at : at + 3])
    actor.puppet.open_hand()
    actor.puppet.show(30)


_UP = DEMANDED.pour_steps
POURED = (
    Miss("tilted_too_little", _angles(0, *[44.0] * (_UP + 3), 0)),
    Miss("tilted_too_short", _angles(0, *[60.0] * (_UP - 1), 0)),
    Miss("not_upright_again", _angles(0, *[60.0] * (_UP + 1), 16.0)),
    Miss("swings_about_the_angle", _angles(0, *[60.0, 30.0] * (_UP + 1))),
    Miss("not_over_the_target", _off_target),
    Miss("below_the_rim", _below_rim),
    Miss("one_finger", _one_finger),
    Miss("not_lifted", _not_lifted),
    Miss("dropped", _dropped),
    Miss("nobody_moves", _wrist_only),
)

KINDS = {Placed: PLACED, Opened: OPENED, ShutAgain: SHUT, KeptShut: SHUT, Poured: POURED}


def _cases(kinds: dict[type, tuple[Miss, ...]]) -> Iterator[object]:
    for task_id, task in TASKS.items():
        for stage in task.stages:
            for miss in kinds[type(stage)]:
                if miss.applies(stage):
                    identity = f"task{task_id:02d}-{stage.name}-{miss.name}"
                    yield pytest.param(task_id, stage, miss, id=identity)


def _over_the_edge(actor: Actor, stage: Poured) -> None:
    _pours_before(actor, stage)
    _pour_beside(actor, -MARGIN)


def _barely_lifted(actor: Actor, stage: Poured) -> None:
    _pours_before(actor, stage)
    actor.tilt(60.0)
    lowest = actor.puppet.state().vertical_extent(actor.task.pouring.container)[0]
    actor.scorer._counter._start_height = lowest - DEMANDED.lift - 0.001
    actor.pour()


def _creeping(actor: Actor, stage: Placed) -> None:
    _lay_down(actor, stage)
    _slide(actor, stage, 0.95)


def _turning_slowly(actor: Actor, stage: Placed) -> None:
    _lay_down(actor, stage)
    _turn(actor, stage, 0.95)


def _long_enough(actor: Actor, stage: Placed) -> None:
    _too_short(actor, stage)
    actor.puppet.show()


JUST_ENOUGH = {
    Placed: (
        Miss("creeping", _creeping),
        Miss("turning_slowly", _turning_slowly, applies=lambda stage: not _on_plate(stage)),
        Miss("long_enough", _long_enough),
        Miss("leaning", _leaning(20.0), applies=lambda stage: not stage.upright),
        Miss("nearly_upright", _leaning(14.0), applies=_back_to_start),
        Miss("near_its_place", _away_from_start(0.97 * DEMANDED.returned), "", _back_to_start),
    ),
    Opened: (Miss("open", lambda actor, stage: _open_partly(actor, stage, 0.01)),),
    ShutAgain: (Miss("shut", lambda actor, stage: _shut_partly(actor, stage, -0.004)),),
    KeptShut: (Miss("shut", lambda actor, stage: _shut_partly(actor, stage, -0.004)),),
    Poured: (
        Miss("tilted_enough", _angles(0, *[46.0] * _UP, 14.0)),
        Miss("slowly", _angles(0, *[60.0, 30.0] * _UP, *[20.0] * 60, 0)),
        Miss("barely_over_the_target", _over_the_edge),
        Miss("barely_lifted", _barely_lifted),
    ),
}


@pytest.mark.parametrize(("task_id", "strict_stage", "enough"), _cases(JUST_ENOUGH))
def test_just_enough(task_id: int, strict_stage: StrictStage, enough: Miss, stage: Stage) -> None:
    actor = Actor(task_id, stage)
    enough.act(actor, strict_stage)
    assert actor.done(strict_stage.name), actor.scorer.explain(actor.puppet.view())


def _somewhere_in(actor: Actor, region: Region) -> np.ndarray:
    start_or_table = isinstance(region, StartPlace | TableTop)
    return np.array([*FREE_SPOT, 0.43]) if start_or_table else _border(actor, region, 0, 1, -0.02)


@pytest.mark.parametrize(
    ("task_id", "strict_stage"),
    [
        pytest.param(task_id, stage, id=f"task{task_id:02d}-{stage.name}")
        for task_id, task in TASKS.items()
        for stage in task.stages
        if isinstance(stage, Placed) and task_id not in (4, 5)
    ],
)
def test_a_place_stays_allowed_whether_something_is_there_at_the_start_or_not(
    task_id: int, strict_stage: Placed, stage: Stage
) -> None:
    actor = Actor(task_id, stage)
    others = actor.puppet.view().movable_bodies() - {strict_stage.obj}
    for region in strict_stage.regions:
        other = min(others - {region.support})
        actor.puppet.centre_over(other, _somewhere_in(actor, region))
        actor.puppet.begin()
        allowed = [place.region for place in actor.scorer._places[strict_stage.name]]
        assert allowed == list(strict_stage.regions)
    for other in others - {region.support for region in strict_stage.regions}:
        actor.puppet.park(other)
    actor.puppet.begin()
    allowed = [place.region for place in actor.scorer._places[strict_stage.name]]
    assert allowed == list(strict_stage.regions)


@pytest.mark.parametrize(("task_id", "strict_stage", "miss"), _cases(KINDS))
def test_near_miss(task_id: int, strict_stage: StrictStage, miss: Miss, stage: Stage) -> None:
    actor = Actor(task_id, stage)
    miss.act(actor, strict_stage)
    assert not actor.done(strict_stage.name)
    assert not actor.scorer.card().stage_success
    assert miss.says in actor.scorer._shortfall(strict_stage)


@pytest.mark.parametrize(
    ("task_id", "strict_stage"),
    [
        pytest.param(task_id, stage, id=f"task{task_id:02d}-{stage.name}")
        for task_id, task in TASKS.items()
        for stage in task.stages
        if isinstance(stage, Placed)
    ],
)
def test_just_inside_the_border_is_inside(task_id: int, strict_stage: Placed, stage: Stage) -> None:
    actor = Actor(task_id, stage)
    region = occupied_or_empty(actor.puppet, strict_stage)
    if isinstance(region, StartPlace | TableTop):
        pytest.skip("no border along axes")
    axes = (0, 1, 2) if isinstance(region, SiteBox | BodyBox) else (0, 1)
    start = actor.puppet.state().centre(strict_stage.obj)
    for axis in axes:
        for sign in (-1, 1):
            point = _border(actor, region, axis, sign, -MARGIN)
            actor.puppet.centre_over(strict_stage.obj, point)
            outside = region.outside(strict_stage.obj, actor.puppet.state(), start, DEMANDED)
            assert outside == pytest.approx(-MARGIN, abs=1e-6)
