"""Taking an object, carrying it and letting it go."""

from typing import TypeVar

import numpy as np
from scipy.spatial.transform import Rotation

from pytest_robomem.policies.expert.grasp import Grasp, grasps
from pytest_robomem.policies.expert.layout import UP
from pytest_robomem.policies.expert.motion import (
    CLOSED,
    KEEP,
    LAST_JOINT,
    OPEN,
    PASSING_TOLERANCE,
    POSITION_TOLERANCE,
    Arm,
    Array,
    Motion,
    Target,
    move,
    stay,
    turned,
    value,
)

Result = TypeVar("Result")

PICK_TRIES = 4
APPROACH_HEIGHT = 0.03  # m above the grasp, where the descent begins
DESCENT_SPEED = 0.5  # of the full command: a bumped object moves less
DESCENT_STEPS = 30
CLOSING_STEPS = 14  # the fingers close fully in 10 to 12
OPENING_STEPS = 10  # fully open: half open, an object is more likely to cling to one finger
NARROW_PULSES = 1  # closing steps from fully open that make the fingers half open
FULLY_OPEN = 0.075  # m
LIFT_HEIGHT = 0.06  # m, where a grasp is checked
LIFT_CHECK = 0.03  # m that the object must have come up with the hand
SLIP_ALLOWED = 0.035  # m that the object may move in the hand before it counts as lost

TRAVEL_HEIGHT = 0.56  # m, lowest height of the grip site between two places
TRAVEL_CLEARANCE = 0.05  # m between what hangs lowest and what stands highest below
HIGHEST_TRAVEL = 0.95  # m: higher, the far corners of the table are out of reach
RISING_SLACK = 0.03  # m below the travel height from where crossing begins
NEARBY = 0.05  # m; ways shorter than this go straight
PATH_MARGIN = 0.11  # m beside the straight way within which things must be cleared: half a hand
FINGERS_BELOW_GRIP = 0.012  # m

RELEASE_RISE = 0.04  # m up before the object is looked at again
STUCK_RISE = 0.02  # m that an object may rise with the open hand before it counts as stuck
SHAKE_ROUNDS, SHAKE_SWINGS, SHAKE_STEPS = 4, 4, 4  # a stuck object falls after one or two rounds
SHAKE_OFFSET = 0.015  # m along the finger axis: a little more than the open fingers leave


class DroppedError(Exception):
    """The held object is no longer in the hand."""


def tallest(arm: Arm, start: Array, end: Array) -> float:
    """Height (m) of the highest thing near the straight way between two places."""
    low = np.minimum(start, end)[:2] - PATH_MARGIN
    high = np.maximum(start, end)[:2] + PATH_MARGIN
    height = 0.0
    for name in [*arm.view.movable_objects(), *arm.view.fixtures()]:
        if name == arm.holding:
            continue
        bottom, top = arm.layout.bounds(name)
        if np.all(bottom[:2] < high) and np.all(top[:2] > low):
            height = max(height, float(top[2]))
    return height


def travel(
    arm: Arm, position: Target, rotation: Target, *, tolerance: float = POSITION_TOLERANCE
) -> Motion[bool]:
    """Go to a place high enough above everything on the way, then down to it.

    Args:
        position: of the grip site, [3] m.
        rotation: of the grip site, [3, 3].
    """
    start, goal = arm.position, value(position)
    if float(np.linalg.norm((goal - start)[:2])) > NEARBY:
        hanging = FINGERS_BELOW_GRIP
        if arm.holding:
            hanging = max(hanging, float(start[2]) - arm.layout.box(arm.holding).bottom)
        clear = tallest(arm, start, goal) + hanging + TRAVEL_CLEARANCE
        height = min(max(TRAVEL_HEIGHT, clear, float(goal[2])), HIGHEST_TRAVEL)

        # Straight up with the hand's turn kept: beside the object there may be others.
        up, turn = np.array([start[0], start[1], height]), arm.rotation
        yield from move(arm, up, turn, until=lambda: arm.position[2] > height - RISING_SLACK)

        def above() -> Array:
            return np.array([*value(position)[:2], height])

        def arrived() -> bool:
            return float(np.linalg.norm((value(position) - arm.position)[:2])) < PASSING_TOLERANCE

        yield from move(arm, above, rotation, tolerance=0.0, until=arrived)
    return (yield from move(arm, position, rotation, tolerance=tolerance))


def pick(arm: Arm, name: str) -> Motion[None]:
    """Take an object from above.

    Raises:
        ExpertFailure: every try missed.
    """
    reason = ""
    for attempt in range(PICK_TRIES):
        others = [other for other in arm.view.movable_objects() if other != name]
        choices = grasps(arm.layout, name, others)
        if not choices:
            raise arm.fail(f"{name} has no side narrow enough for the hand as it lies")
        # A grasp that missed is tried twice before the other side gets its turn.
        choice = choices[(attempt // 2) % len(choices)]
        reason = yield from _try_grasp(arm, name, choice)
        if not reason:
            return
    raise arm.fail(f"{PICK_TRIES} grasps missed; the last one: {reason}")


def _try_grasp(arm: Arm, name: str, grasp: Grasp) -> Motion[str]:
    """One grasp; returns what went wrong, or nothing."""
    arm.gripper = OPEN
    arm.holding = None
    if grasp.narrow:
        yield from set_opening(arm, NARROW_PULSES)
    yield from travel(arm, grasp.position + UP * APPROACH_HEIGHT, grasp.rotation)
    yield from move(
        arm, grasp.position, grasp.rotation, speed=DESCENT_SPEED, limit=DESCENT_STEPS, patience=6
    )
    before = arm.layout.box(name).centre
    arm.gripper = CLOSED
    yield from stay(arm, CLOSING_STEPS)
    _remember_hold(arm, name)
    lift = arm.position + UP * LIFT_HEIGHT
    yield from move(arm, lift, arm.rotation, tolerance=0.02)
    risen = float((arm.layout.box(name).centre - before)[2])
    if risen < LIFT_CHECK or lost(arm):
        arm.holding = None
        gap = arm.view.gripper_opening()
        return f"{name} rose {risen:.3f} m with the hand, the fingers closed to {gap:.3f} m"
    return ""


def set_opening(arm: Arm, pulses: int) -> Motion[None]:
    """Open the fingers less than fully: ``pulses`` steps of closing from fully open, 1 cm each."""
    arm.gripper = OPEN
    if arm.view.gripper_opening() < FULLY_OPEN:
        yield from stay(arm, OPENING_STEPS)
    arm.gripper = CLOSED
    yield from stay(arm, pulses)
    arm.gripper = KEEP


def _remember_hold(arm: Arm, name: str) -> None:
    arm.holding = name
    arm.hold_offset = arm.rotation.T @ (arm.layout.box(name).centre - arm.position)


def lost(arm: Arm) -> bool:
    """Whether the held object has moved out of the hand."""
    if arm.holding is None:
        return False
    offset = arm.rotation.T @ (arm.layout.box(arm.holding).centre - arm.position)
    return float(np.linalg.norm(offset - arm.hold_offset)) > SLIP_ALLOWED


def holding_on(arm: Arm, motion: Motion[Result]) -> Motion[Result]:
    """Run a motion with the held object in view.

    Raises:
        DroppedError: the object left the hand.
    """
    while True:
        try:
            action = next(motion)
        except StopIteration as end:
            result: Result = end.value
            return result
        yield action
        if lost(arm):
            arm.holding = None
            raise DroppedError


def level_rotation(arm: Arm, name: str, yaw: float = 0.0) -> Array:
    """Hand rotation at which the held object stands or lies level, turned by ``yaw`` (rad)."""
    box = arm.layout.box(name)
    axis = box.axes[:, box.upright_axis()]
    axis = axis * np.sign(axis[2])
    cross, cosine = np.cross(axis, UP), float(np.clip(axis @ UP, -1.0, 1.0))
    norm = float(np.linalg.norm(cross))
    fix = np.eye(3)
    if norm > 1e-6:
        fix = np.asarray(Rotation.from_rotvec(cross / norm * np.arccos(cosine)).as_matrix())
    return turned(np.asarray(fix @ arm.rotation), UP, yaw)


def yaw_to(arm: Arm, axis: Array) -> float:
    """Angle (rad) about the vertical that brings the finger axis along a horizontal line.

    Of the two ways round the one is taken that leaves the last joint nearer to its middle.
    """
    now = np.arctan2(arm.rotation[1, 0], arm.rotation[0, 0])
    wanted = np.arctan2(axis[1], axis[0])
    joint7 = arm.view.joint_position(LAST_JOINT)
    yaw = float((wanted - now) % np.pi)
    # The hand points down, so a turn to the left in the world turns the last joint back.
    return min((yaw, yaw - np.pi), key=lambda angle: abs(joint7 - angle))


def bottom_target(arm: Arm, name: str, xy: Array, bottom: float) -> Target:
    """Grip-site target for the held object's centre over ``xy`` and its lowest point's height."""

    def position() -> Array:
        box = arm.layout.box(name)
        shift = np.array([*(xy - box.centre[:2]), bottom - box.bottom])
        return np.asarray(arm.position + shift)

    return position


def put_down(
    arm: Arm,
    name: str,
    xy: Array,
    bottom: float,
    *,
    rotation: Array | None = None,
    above: float = 0.05,
    tolerance: float = POSITION_TOLERANCE,
) -> Motion[None]:
    """Carry the held object over a place, lower it there and let go.

    Args:
        xy: of the centre of the object's box, [2] m.
        bottom: height of its lowest point when it is let go, m.
        rotation: of the hand; by default the object is levelled.
        above: height over ``bottom`` from which it is lowered slowly, m.

    Raises:
        DroppedError: it was lost on the way.
    """
    turn = level_rotation(arm, name) if rotation is None else rotation
    over = bottom_target(arm, name, xy, bottom + above)
    yield from holding_on(arm, travel(arm, over, turn, tolerance=0.012))
    down = bottom_target(arm, name, xy, bottom)
    yield from holding_on(
        arm, move(arm, down, turn, speed=DESCENT_SPEED, tolerance=tolerance, patience=6, limit=60)
    )
    yield from release(arm, name)


def release(arm: Arm, name: str, retreat: Array = UP) -> Motion[None]:
    """Open the hand, go back by a few centimetres and make sure that the object stayed."""
    arm.holding = None
    arm.gripper = OPEN
    yield from stay(arm, OPENING_STEPS)
    height = float(arm.layout.box(name).centre[2])
    back = arm.position + retreat * RELEASE_RISE
    yield from move(arm, back, arm.rotation, tolerance=0.01, limit=20)
    for _ in range(SHAKE_ROUNDS):
        risen = float(arm.layout.box(name).centre[2]) - height
        if risen < STUCK_RISE:
            return
        # Down again first: shaken off in the air, a bottle falls over.
        down = arm.position - UP * risen
        yield from move(arm, down, arm.rotation, speed=DESCENT_SPEED, limit=20, patience=6)
        yield from _shake(arm)
        back = arm.position + retreat * RELEASE_RISE
        yield from move(arm, back, arm.rotation, tolerance=0.01, limit=20)
    if float(arm.layout.box(name).centre[2]) - height < STUCK_RISE:
        return
    raise arm.fail(f"{name} hangs on an open finger")


def _shake(arm: Arm) -> Motion[None]:
    middle, rotation = arm.position, arm.rotation
    for swing in range(SHAKE_SWINGS):
        side = SHAKE_OFFSET if swing % 2 else -SHAKE_OFFSET
        for _ in range(SHAKE_STEPS):
            yield arm.action(middle + rotation[:, 0] * side, rotation)
