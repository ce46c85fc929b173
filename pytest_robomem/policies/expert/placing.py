"""Putting things into baskets, pans and drainers, onto plates and cabinets, and back."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from pytest_robomem.policies.expert.grasp import grasps
from pytest_robomem.policies.expert.handling import (
    DroppedError,
    level_rotation,
    pick,
    put_down,
    yaw_to,
)
from pytest_robomem.policies.expert.motion import Arm, Array, Motion, stay

PLACE_TRIES = 3
SETTLE_STEPS = 3  # before looking whether an object came to lie where it should

WORLD_X, WORLD_Y = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])

BASKET_DEPTH = 0.05  # m below the basket's rim where the object is let go
BASKET_RADIUS = 0.06  # m from the region's centre within which an object lies inside the walls

DROP = 0.004  # m above the surface where things are let go
PLATE_THICKNESS = 0.012  # m from a plate's origin to its upper face
PLATE_SPREAD = 0.024  # m from the middle of a plate to each of two things side by side
PLATE_RADIUS = 0.055  # m
CABINET_SPREAD = {1: 0.0, 2: 0.06, 3: 0.08}  # m between neighbours (two: from the middle)
ROOM_NEEDED = 0.002  # m beside the open hand; with less a neighbour is likely to be tipped
CABINET_EDGE = 0.02  # m from the edge of a cabinet's top within which an origin must not lie
PAN_FLOOR = 0.012  # m above a pan's origin
PAN_RADIUS = 0.06  # m from the pan's middle
DRAINER_FLOOR = 0.016  # m above a drainer's origin
DRAINER_TOWARDS_MIDDLE = 0.006  # m: the left site lies nearer to the rail than to the middle
DRAINER_ALONG = 0.004  # m along world -x: the middle of the free space between the rails
RAIL_CLEARANCE = 0.015  # m under the bottle while it is brought over a compartment
UPRIGHT = 0.35  # rad; a bottle that leans more has fallen over
BACK_RADIUS = 0.03  # m from where an object stood at the start

Place = Callable[[Arm, str], Motion[bool]]


def fetch(arm: Arm, name: str, place: Place, where: str) -> Motion[None]:
    """Take an object (if it is not in the hand yet) and put it somewhere, with retries.

    Args:
        place: puts the held object down and returns whether it lies where it should.
        where: the place's name, for memory and failures.

    Raises:
        ExpertFailure: it could not be taken, or never came to lie there.
    """
    skill = arm.skill
    for _ in range(PLACE_TRIES):
        try:
            if arm.holding != name:
                arm.skill = f"pick {name} for {skill}"
                yield from pick(arm, name)
            arm.skill = skill
            if (yield from place(arm, name)):
                arm.memory.put(name, where)
                return
        except DroppedError:
            continue
    raise arm.fail(f"{name} does not lie where it should after {PLACE_TRIES} tries")


def into_basket(arm: Arm, name: str, basket: str) -> Motion[bool]:
    """Let the held object fall into a basket from just below its rim."""
    centre = arm.view.site_pose(f"{basket}_contain_region").position[:2]
    rim = float(arm.layout.bounds(basket)[1][2])
    yield from put_down(
        arm, name, centre, rim - BASKET_DEPTH, rotation=arm.rotation, above=BASKET_DEPTH + 0.03
    )
    return (yield from _lies_near(arm, name, centre, BASKET_RADIUS))


def onto_plate(arm: Arm, name: str, plate: str, part: int, parts: int) -> Motion[bool]:
    """Put the held object on a plate: part ``part`` (from 0) of ``parts`` side by side."""
    origin = arm.view.body_position(plate)
    side = 0.0 if parts == 1 else PLATE_SPREAD * (2 * part - 1)
    yield from put_down(
        arm, name, origin[:2] + np.array([0.0, side]), float(origin[2]) + PLATE_THICKNESS + DROP
    )
    return (yield from _lies_near(arm, name, origin[:2], PLATE_RADIUS))


def onto_cabinet(arm: Arm, name: str, cabinet: str, part: int, parts: int) -> Motion[bool]:
    """Put the held object on top of a cabinet, in a row along world x.

    The fingers open across the row, so that they do not meet what stands there already.
    """
    top = arm.view.site_pose(f"{cabinet}_top_side")
    along = CABINET_SPREAD[parts] * (2 * part - (parts - 1)) * (0.5 if parts == 3 else 1.0)
    place = top.position[:2] + np.array([-along, 0.0])
    rotation = level_rotation(arm, name, yaw_to(arm, WORLD_Y))
    surface = float(top.position[2] + top.half_size[2])
    yield from put_down(arm, name, place, surface + DROP, rotation=rotation)
    yield from stay(arm, SETTLE_STEPS)
    offset = top.rotation.T @ (arm.layout.box(name).centre - top.position)
    on_top = np.abs(offset[:2]) < top.half_size[:2] - CABINET_EDGE
    return bool(np.all(on_top)) and offset[2] > 0 and _stands(arm, name)


def row_onto_cabinet(arm: Arm, names: Sequence[str], cabinet: str) -> Motion[None]:
    """Put objects in a row on a cabinet: in their order, but never one that is hemmed in.

    Raises:
        ExpertFailure: one could not be taken or put down.
    """
    waiting = list(names)
    while waiting:
        rooms = {name: _room(arm, name) for name in waiting}
        free = (name for name in waiting if rooms[name] >= ROOM_NEEDED)
        name = next(free, max(waiting, key=lambda name: rooms[name]))
        place = partial(onto_cabinet, cabinet=cabinet, part=names.index(name), parts=len(names))
        yield from fetch(arm, name, place, cabinet)
        waiting.remove(name)


def _room(arm: Arm, name: str) -> float:
    others = [other for other in arm.view.movable_objects() if other != name]
    return max((grasp.room for grasp in grasps(arm.layout, name, others)), default=-1.0)


def into_pan(arm: Arm, name: str, pan: str) -> Motion[bool]:
    """Put the held object into the middle of a pan."""
    origin = arm.view.body_position(pan)
    yield from put_down(arm, name, origin[:2], float(origin[2]) + PAN_FLOOR + DROP)
    return (yield from _lies_near(arm, name, origin[:2], PAN_RADIUS))


def into_drainer(arm: Arm, name: str, drainer: str) -> Motion[bool]:
    """Stand the held bottle in the nearer compartment of a drainer.

    The rails leave room for the fingers only along world x, and they stop the hand a little
    above the floor, from where the bottle drops.
    """
    site = arm.view.site_pose(f"{drainer}_left_region")
    origin = arm.view.body_position(drainer)
    inward = float(np.sign(origin[1] - site.position[1]))
    place = site.position[:2] + np.array([-DRAINER_ALONG, inward * DRAINER_TOWARDS_MIDDLE])
    rotation = level_rotation(arm, name, yaw_to(arm, WORLD_X))
    floor = float(origin[2]) + DRAINER_FLOOR
    rails = float(arm.layout.bounds(drainer)[1][2])
    yield from put_down(
        arm, name, place, floor, rotation=rotation, above=rails - floor + RAIL_CLEARANCE
    )
    yield from stay(arm, SETTLE_STEPS)
    offset = np.abs(site.rotation.T @ (arm.view.body_position(name) - site.position))
    return bool(np.all(offset < site.half_size))


def back_to_start(arm: Arm, name: str) -> Motion[bool]:
    """Put the held object back to where it stood at the start."""
    start = arm.layout.start(name)
    yield from put_down(arm, name, start.centre[:2], start.bottom + DROP)
    near = yield from _lies_near(arm, name, start.centre[:2], BACK_RADIUS)
    return near and _stands(arm, name)


def _stands(arm: Arm, name: str) -> bool:
    return arm.layout.lean(name) < UPRIGHT


def _lies_near(arm: Arm, name: str, xy: Array, radius: float) -> Motion[bool]:
    yield from stay(arm, SETTLE_STEPS)
    return float(np.linalg.norm(arm.layout.box(name).centre[:2] - xy)) < radius
