"""The measured constants of the strict rules, against the compiled scenes."""

import numpy as np
import pytest

from pytest_robomem.scene.geometry import collision_box
from pytest_robomem.scoring.strict import tasks
from pytest_robomem.scoring.strict.limits import LIMITS
from pytest_robomem.scoring.strict.pouring import PourTarget
from pytest_robomem.scoring.strict.regions import Disc
from tests.golden import Stage, golden_for
from tests.scoring.puppet import Puppet

ROUNDING = 1.1e-5  # m; the constants have five decimals


def _wall_middles(stage: Stage, body: str, height: float) -> np.ndarray:
    """Positions of the upright boxes of a round vessel, without its handle."""
    model = stage.scene.model
    number = model.body(f"{body}_main").id
    positions = model.geom_pos[model.geom_bodyid == number]
    collides = model.geom_contype[model.geom_bodyid == number] > 0
    positions = positions[collides]
    return positions[np.abs(positions[:, 2] - height) < 5e-4]


@pytest.mark.parametrize(
    ("task_id", "place", "wall_height"),
    [
        (8, tasks.FRYPAN_BOWL, 0.0223),
        (8, tasks.FRYPAN, 0.0223),
        (10, tasks.WHITE_MUG, 0.05934),
        (16, tasks.RED_MUG, 0.0645),
    ],
)
def test_round_openings_go_through_the_walls(
    task_id: int, place: Disc | PourTarget, wall_height: float, stage: Stage
) -> None:
    body = place.support if isinstance(place, Disc) else place.body
    walls = _wall_middles(stage, body, wall_height)
    low, high = walls.min(axis=0), walls.max(axis=0)
    assert place.centre == pytest.approx(((low + high) / 2)[:2], abs=ROUNDING)
    assert place.radius == pytest.approx(((high - low) / 2)[:2].mean(), abs=ROUNDING)


@pytest.mark.parametrize("task_id", [6])
def test_the_cookies_are_as_wide_as_their_diagonal(task_id: int, stage: Stage) -> None:
    box = stage.lay(golden_for(task_id).settled).body_box("cookies_1")
    assert tasks.COOKIES.centre == pytest.approx(box.centre[:2], abs=ROUNDING)
    assert tasks.COOKIES.radius == pytest.approx(np.hypot(*box.half_size[:2]), abs=ROUNDING)


@pytest.mark.parametrize("task_id", [25])
def test_the_plate_is_as_wide_as_its_box(task_id: int, stage: Stage) -> None:
    box = stage.lay(golden_for(task_id).settled).body_box("plate_2")
    assert tasks.SECOND_PLATE.centre == pytest.approx(box.centre[:2], abs=ROUNDING)
    assert tasks.SECOND_PLATE.radius == pytest.approx(box.half_size[:2].mean(), abs=ROUNDING)


@pytest.mark.parametrize("task_id", [20])
def test_the_cavity_is_what_the_microwaves_walls_leave(task_id: int, stage: Stage) -> None:
    model = stage.scene.model
    walls = np.flatnonzero(
        (model.geom_bodyid == model.body("microwave_1_main").id) & (model.geom_conaffinity > 0)
    )
    cavity = tasks.MICROWAVE_CAVITY
    for axis in range(3):
        for sign in (-1.0, 1.0):
            point = np.array(cavity.centre)
            point[axis] += sign * cavity.half_size[axis]
            free, blocked = point.copy(), point.copy()
            free[axis] -= sign * 1e-4
            blocked[axis] += sign * 1e-4
            assert not _inside_any(model, walls, free)
            if (axis, sign) != (1, -1.0):  # the door closes the front
                assert _inside_any(model, walls, blocked)
    floor = min(model.geom_pos[geom][1] - model.geom_size[geom][1] for geom in walls[4:5])
    assert cavity.centre[1] - cavity.half_size[1] == pytest.approx(floor, abs=ROUNDING)


def _inside_any(model, geoms: np.ndarray, point: np.ndarray) -> bool:
    offsets = np.abs(point - model.geom_pos[geoms])
    return bool(np.any(np.all(offsets < model.geom_size[geoms], axis=1)))


@pytest.mark.parametrize(
    ("task_id", "dish", "food"),
    [(8, tasks.FRYPAN_BOWL, "chocolate_pudding_1"), (25, tasks.SECOND_PLATE, "butter_1")],
)
@pytest.mark.parametrize(
    ("height", "inside"), [(0.002, True), (-0.002, False), (0.057, True), (0.063, False)]
)
def test_the_height_of_a_dish(
    task_id: int, dish: Disc, food: str, height: float, inside: bool, stage: Stage
) -> None:
    puppet = Puppet(stage, golden_for(task_id).settled)
    base = puppet.view().body_position(dish.support)
    puppet.centre_over(food, base + np.array([0.0, 0.0, height]))
    outside = dish.outside(food, puppet.state(), base, LIMITS)
    assert (outside <= 0.0) is inside


@pytest.mark.parametrize("task_id", [18])
@pytest.mark.parametrize(
    ("height", "inside"), [(0.002, True), (-0.002, False), (0.097, True), (0.103, False)]
)
def test_the_room_above_the_second_cabinet(
    task_id: int, height: float, inside: bool, stage: Stage
) -> None:
    puppet = Puppet(stage, golden_for(task_id).settled)
    top = puppet.view().site_pose("wooden_cabinet_2_top_side").position
    puppet.centre_over("butter_1", top + np.array([0.0, 0.0, height]))
    outside = tasks.SECOND_CABINET.outside("butter_1", puppet.state(), top, LIMITS)
    assert (outside <= 0.0) is inside


@pytest.mark.parametrize("task_id", [22])
@pytest.mark.parametrize(("height", "inside"), [(0.028, True), (0.032, False)])
def test_the_table_top_ends_above_what_stands_on_it(
    task_id: int, height: float, inside: bool, stage: Stage
) -> None:
    puppet = Puppet(stage, golden_for(task_id).settled)
    lowest, _ = puppet.state().vertical_extent("tomato_sauce_1")
    table = puppet.state().vertical_extent("coffee_table")[1]
    puppet.shift("tomato_sauce_1", z=table - lowest + height)
    start = puppet.state().centre("tomato_sauce_1")
    outside = tasks.TableTop().outside("tomato_sauce_1", puppet.state(), start, LIMITS)
    assert (outside <= 0.0) is inside


@pytest.mark.parametrize("task_id", [8])
def test_a_body_without_collision_geometry_has_no_extent(task_id: int, stage: Stage) -> None:
    model = stage.scene.model
    box = collision_box(model, model.body("world").id)
    assert not box.half_size.any()
