"""Drawers: pulling and pushing them by the handle bar, looking into them, putting things in."""

import numpy as np

from pytest_robomem.policies.expert.grasp import facing_down
from pytest_robomem.policies.expert.handling import (
    bottom_target,
    holding_on,
    release,
    set_opening,
    travel,
    yaw_to,
)
from pytest_robomem.policies.expert.layout import UP
from pytest_robomem.policies.expert.motion import (
    CLOSED,
    OPEN,
    Arm,
    Array,
    Motion,
    move,
    push,
    stay,
    turned,
)
from pytest_robomem.policies.expert.placing import WORLD_X

DRAWERS = ("top", "middle", "bottom")  # in the order in which they are checked
OCCUPIED, EMPTY, ANOTHER = "occupied", "empty", "another"  # drawers named by what is remembered

# The handle bar relative to the drawer's region site, m in the cabinet's frame.
BAR_FROM_REGION = {
    "top": np.array([-0.0061, -0.1129, -0.0017]),
    "middle": np.array([-0.0061, -0.1129, -0.0065]),
    "bottom": np.array([-0.0061, -0.1129, -0.0059]),
}
PITCH = 0.25  # rad that the hand points down: it clears the table at the bottom drawer
IN_FRONT = 0.09  # m before the bar, from where the hand goes straight to it
BAR_PULSES = 3  # closing steps from fully open: 0.05 m, narrower than the way to the next bars
BAR_CLOSING_STEPS = 10
BAR_OPENING_STEPS = 4
BAR_HELD = 0.010  # m of finger opening: less means that the bar (0.016 m) is not between them

OPENED, SHUT = -0.152, 0.003  # m of the slide joint: pulled out; pushed in (absolute)
SHUT_ENOUGH = 0.010  # m
PULL_SPEED = 0.8  # of the full command
PULL_STEPS = 45  # limit; 17 are usual
DRAWER_TRIES = 3

APPROACH_SIDE = 0.16  # m before the bar: where the hand is turned while it comes down
INSIDE_OFFSETS = (0.015, -0.06, 0.04, -0.075)  # m along the drawer, tried in this order
INSIDE_GAP = 0.004  # m between a thing and its neighbour in a drawer that are enough
INSIDE_FORWARD = 0.012  # m towards the front: room for the hand before the upper drawers
DROP_HEIGHT = 0.03  # m above the drawer's floor where things are let go
FLOOR_BELOW_SITE = 0.027  # m
PRESS_FROM, PRESS_DEPTH = 0.06, 0.04  # m over and under the high edge of what jams a drawer
PRESS_STEPS = 40
CARRY_HEIGHT = 0.80  # m of the grip site over the cabinet's edge


def region(cabinet: str, drawer: str) -> str:
    """Name of the site inside a drawer."""
    return f"{cabinet}_{drawer}_region"


def slide(arm: Arm, cabinet: str, drawer: str) -> float:
    """How far a drawer is pulled out: 0 shut, -0.16 fully open (m)."""
    return arm.view.joint_position(f"{cabinet}_{drawer}_level")


def contents(arm: Arm, cabinet: str, drawer: str) -> list[str]:
    """Objects inside a drawer as it stands now."""
    site = arm.view.site_pose(region(cabinet, drawer))
    found = []
    for name in arm.view.movable_objects():
        offset = site.rotation.T @ (arm.view.body_position(name) - site.position)
        if bool(np.all(np.abs(offset) < site.half_size)):
            found.append(name)
    return found


def resolve(arm: Arm, drawer: str) -> str:
    """The drawer that a program's word means, from memory.

    Raises:
        ExpertFailure: nothing is remembered that would tell.
    """
    memory = arm.memory
    if drawer == OCCUPIED:
        found = memory.occupied_drawer()
    elif drawer == EMPTY:
        found = memory.empty_drawer()
    elif drawer == ANOTHER:
        used = memory.used_drawers
        found = next((name for name in DRAWERS if name not in used), None)
    else:
        found = drawer
    if found is None:
        raise arm.fail(f"no {drawer} drawer is remembered")
    return found


def open_drawer(arm: Arm, cabinet: str, drawer: str) -> Motion[None]:
    """Pull a drawer out and let go of its handle.

    Args:
        drawer: its name, or a word that memory resolves.

    Raises:
        ExpertFailure: it does not open.
    """
    drawer = resolve(arm, drawer)
    yield from _pull(arm, cabinet, drawer)
    arm.memory.open_drawer = drawer
    yield from _let_go(arm)


def remembered_open(arm: Arm) -> str:
    """The drawer that was opened last.

    Raises:
        ExpertFailure: none is open.
    """
    if arm.memory.open_drawer is None:
        raise arm.fail("no drawer is open")
    return arm.memory.open_drawer


def close_drawer(arm: Arm, cabinet: str) -> Motion[None]:
    """Push the open drawer shut with closed fingers.

    What lies inside may stand against the edge above and jam it; then it is pressed down.

    Raises:
        ExpertFailure: it does not close.
    """
    drawer = remembered_open(arm)
    for attempt in range(DRAWER_TRIES):
        if attempt:
            yield from _press_down(arm, cabinet, drawer)
        arm.gripper = CLOSED
        yield from _to_front(arm, cabinet, drawer)
        yield from _push_in(arm, cabinet, drawer)
        yield from _back_off(arm)
        if abs(slide(arm, cabinet, drawer)) < SHUT_ENOUGH:
            arm.memory.open_drawer = None
            return
    raise arm.fail(f"the {drawer} drawer stands at {slide(arm, cabinet, drawer):.3f} m")


def _press_down(arm: Arm, cabinet: str, drawer: str) -> Motion[None]:
    """Open a jammed drawer again and press down what stands highest in it."""
    yield from _pull(arm, cabinet, drawer)
    yield from _let_go(arm)
    corners = {name: arm.layout.box(name).corners for name in contents(arm, cabinet, drawer)}
    if not corners:
        return
    highest = max(corners.values(), key=lambda box: float(box[:, 2].max()))
    corner = highest[np.argmax(highest[:, 2])]
    middle = highest.mean(axis=0)
    spot = np.array([*(corner[:2] + middle[:2]) / 2, corner[2]])  # inside of the high edge
    arm.gripper = CLOSED
    down = facing_down(WORLD_X, spot)
    yield from travel(arm, spot + UP * PRESS_FROM, down, tolerance=0.012)
    yield from move(arm, spot - UP * PRESS_DEPTH, down, speed=0.5, limit=PRESS_STEPS, patience=8)
    yield from move(arm, spot + UP * PRESS_FROM, down, tolerance=0.04, limit=30)


def check_drawers(arm: Arm, cabinet: str) -> Motion[None]:
    """Open each drawer in order, look into it, remember what it holds, and close it again.

    Raises:
        ExpertFailure: a drawer does not move.
    """
    for drawer in DRAWERS:
        for _ in range(DRAWER_TRIES):
            yield from _pull(arm, cabinet, drawer)
            arm.memory.saw_drawer(drawer, contents(arm, cabinet, drawer))
            yield from _push_in(arm, cabinet, drawer)
            yield from _let_go(arm)
            if abs(slide(arm, cabinet, drawer)) < SHUT_ENOUGH:
                break
        else:
            raise arm.fail(f"the {drawer} drawer stands at {slide(arm, cabinet, drawer):.3f} m")


def into_drawer(arm: Arm, name: str, cabinet: str) -> Motion[bool]:
    """Let the held object fall into the open drawer, beside what lies there."""
    drawer = remembered_open(arm)
    site = arm.view.site_pose(region(cabinet, drawer))
    along = _free_offset(arm, name, cabinet, drawer)
    place = site.position[:2] + np.array([along, -INSIDE_FORWARD])
    down = facing_down(WORLD_X, np.array([*place, site.position[2]]))
    # Of the two ways round, the one that the hand is nearer to.
    if down[:2, 0] @ turned(arm.rotation, UP, yaw_to(arm, WORLD_X))[:2, 0] < 0:
        down = turned(down, down[:, 2], np.pi)
    floor = float(site.position[2]) - FLOOR_BELOW_SITE
    over = bottom_target(arm, name, place, floor + DROP_HEIGHT + 0.05)
    yield from holding_on(arm, travel(arm, over, down, tolerance=0.012))
    low = bottom_target(arm, name, place, floor + DROP_HEIGHT)
    yield from holding_on(arm, move(arm, low, down, speed=0.5, limit=40, patience=6))
    yield from release(arm, name)
    rise = arm.position.copy()
    rise[2] = CARRY_HEIGHT
    yield from move(arm, rise, arm.rotation, tolerance=0.04, limit=30)
    inside = name in contents(arm, cabinet, drawer)
    if inside:
        arm.memory.used_drawers.append(drawer)
    return inside


def _free_offset(arm: Arm, name: str, cabinet: str, drawer: str) -> float:
    """Where along the drawer the held object (its narrow side along it) has most room."""
    site = arm.view.site_pose(region(cabinet, drawer))
    box = arm.layout.box(name)
    half = float(sorted(np.delete(box.half_size, box.upright_axis()))[0])
    taken = []
    for other in contents(arm, cabinet, drawer):
        corners = arm.layout.box(other).corners[:, 0] - site.position[0]
        taken.append((float(corners.min()), float(corners.max())))

    def gap(offset: float) -> float:
        gaps = [max(low - offset - half, offset - half - high) for low, high in taken]
        return min(min(gaps, default=INSIDE_GAP), INSIDE_GAP)

    return max(INSIDE_OFFSETS, key=gap)


def hand_rotation() -> Array:
    """Hand pointing at the cabinet (world +y) and a little down, one finger above the other."""
    approach = np.array([0.0, np.cos(PITCH), -np.sin(PITCH)])
    fingers = np.array([0.0, np.sin(PITCH), np.cos(PITCH)])
    return np.column_stack([fingers, np.cross(approach, fingers), approach])


def bar(arm: Arm, cabinet: str, drawer: str) -> Array:
    """Middle of a drawer's handle bar, [3] m; it moves with the drawer."""
    turn = arm.view.body_rotation(cabinet)
    site = arm.view.site_pose(region(cabinet, drawer)).position
    return np.asarray(site + turn @ BAR_FROM_REGION[drawer])


def _to_front(arm: Arm, cabinet: str, drawer: str) -> Motion[bool]:
    """Bring the hand, turned towards the cabinet, before a drawer's bar."""
    rotation = hand_rotation()
    front = bar(arm, cabinet, drawer) - rotation[:, 2] * IN_FRONT
    if float(np.linalg.norm((arm.position - front)[:2])) > APPROACH_SIDE:
        side = np.array([front[0], front[1] - APPROACH_SIDE, max(front[2], arm.position[2])])
        yield from move(arm, side, rotation, tolerance=0.08, rotation_tolerance=0.5)
    return (yield from move(arm, front, rotation, tolerance=0.01, rotation_tolerance=0.08))


def _pull(arm: Arm, cabinet: str, drawer: str) -> Motion[None]:
    rotation = hand_rotation()
    for _ in range(DRAWER_TRIES):
        yield from set_opening(arm, BAR_PULSES)
        yield from _to_front(arm, cabinet, drawer)
        yield from move(arm, lambda: bar(arm, cabinet, drawer), rotation, limit=30, patience=6)
        arm.gripper = CLOSED
        yield from stay(arm, BAR_CLOSING_STEPS)
        if arm.view.gripper_opening() > BAR_HELD:
            opened = yield from push(
                arm,
                np.array([0.0, -PULL_SPEED, 0.0]),
                PULL_STEPS,
                lambda: slide(arm, cabinet, drawer) < OPENED,
            )
            if opened:
                return
        yield from _let_go(arm)
    raise arm.fail(f"the {drawer} drawer stands at {slide(arm, cabinet, drawer):.3f} m")


def _push_in(arm: Arm, cabinet: str, drawer: str) -> Motion[bool]:
    return (
        yield from push(
            arm,
            np.array([0.0, PULL_SPEED, 0.0]),
            PULL_STEPS,
            lambda: abs(slide(arm, cabinet, drawer)) < SHUT,
        )
    )


def _let_go(arm: Arm) -> Motion[None]:
    arm.gripper = OPEN
    yield from stay(arm, BAR_OPENING_STEPS)
    yield from _back_off(arm)


def _back_off(arm: Arm) -> Motion[None]:
    rotation = arm.rotation
    back = arm.position - rotation[:, 2] * IN_FRONT
    yield from move(arm, back, rotation, tolerance=0.02, limit=25)
