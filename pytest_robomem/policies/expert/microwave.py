"""A microwave: pulling its door by the handle, putting things in, pushing the door shut.

All places are relative to the microwave's body, which stands elsewhere for every seed; its front
looks along world -y.
"""

from collections.abc import Callable

import numpy as np
from scipy.spatial.transform import Rotation

from pytest_robomem.policies.expert.grasp import facing_down
from pytest_robomem.policies.expert.handling import (
    holding_on,
    release,
    set_opening,
    travel,
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

DOOR_JOINT = "microwave_1_microjoint"  # the only microwave of the benchmark
HINGE = np.array([-0.1725, -0.088, 0.096])  # m from the body's origin
HANDLE_FROM_HINGE = np.array([0.2375, -0.054, 0.0])  # m in the door's frame

HANDLE_PITCH = 0.35  # rad that the hand points down at the handle
IN_FRONT = 0.10  # m before the handle
HANDLE_PULSES = 3  # closing steps from fully open: 0.05 m
HANDLE_CLOSING_STEPS = 10
HANDLE_HELD = 0.014  # m of finger opening: less means that the handle (0.0226 m) is not there
PULL_AHEAD = 0.25  # rad of the handle's way that the pull aims ahead
PULL_SPEED = 0.6  # of the full command
PULL_YAW = 0.6  # of the door's angle that the hand turns along; more runs into joint 4
PULLED, PULL_STEPS = -1.25, 80  # rad; farther the arm cannot pull
AJAR = -0.8  # rad; from here on the push from inside works as well
INSIDE_START = np.array([0.004, -0.218, 0.114])  # m: where the push from inside begins
INSIDE_SPEED, INSIDE_STEPS = 0.7, 60
WIDE_OPEN = -1.95  # rad; at -1.25 the door still stands in the hand's way
BACK_OFF = 0.035  # m from the handle; more brings joint 4 to its limit
OVER_HANDLE = 0.23  # m of the grip site: fingers above the handle's top at 0.16
BEFORE_INSIDE = np.array([0.03, -0.33, 0.20])  # m: where the hand is turned on edge for the push
DOOR_TRIES = 3

INSERT_LEAN = 0.3  # rad that the thing leans inward, so that it falls inward when let go
FLATTEST_HAND = 0.15  # rad that the hand points down at least while it puts something in
TURN_AT = np.array([-0.046, -0.378, 0.284])  # m: where the hand is turned level
INSERT_X = -0.051  # m: the middle of the cavity
BEFORE_Y, INSIDE_Y = -0.238, -0.068  # m of the grip site: before the front, and inside it
ITEM_BOTTOM = 0.032  # m: 8 mm above the cavity's floor
PUSH_Z, PUSH_Y = 0.047, -0.058  # m of the closed fingers that push things farther in
HALF_OPEN_RELEASE_STEPS = 8

CLOSE_HEIGHT = 0.162  # m of the grip site: the hand's underside passes above the door
CLOSE_RADIUS, CLOSE_OFF = 0.17, 0.085  # m from the hinge along the door, and off its outer face
CLOSE_AHEAD = 0.35  # rad that the push aims ahead
CLOSE_STEPS = 90
SHUT = -0.01  # rad
SHUT_ENOUGH = -0.05  # rad

FINGERS_ALONG_X = np.array([-1.0, 0.0, 0.0])


def door(arm: Arm) -> float:
    """Angle of the door: 0 shut, negative open (rad)."""
    return arm.view.joint_position(DOOR_JOINT)


def open_microwave(arm: Arm, microwave: str) -> Motion[None]:
    """Pull the door by its handle, then push it wide open from inside.

    Raises:
        ExpertFailure: it does not open.
    """
    for _ in range(DOOR_TRIES):
        if door(arm) > AJAR:
            yield from _pull(arm, microwave)
        if door(arm) < AJAR:
            yield from _push_from_inside(arm, microwave)
        if door(arm) < WIDE_OPEN:
            return
    raise arm.fail(f"the door stands at {door(arm):.2f} rad")


def into_microwave(arm: Arm, name: str, microwave: str) -> Motion[bool]:
    """Stand the held object on edge inside the open microwave and push it in as it falls."""
    origin = arm.view.body_position(microwave)
    # Taken with the hand tilted outward, the thing leans by that much more than the hand.
    grasp_tilt = float(np.arccos(np.clip(-arm.rotation[2, 2], -1.0, 1.0)))
    level = level_hand(max(INSERT_LEAN - grasp_tilt, FLATTEST_HAND))
    standing = facing_down(FINGERS_ALONG_X, origin + TURN_AT, reach=False)
    if standing[0, 0] > 0:
        standing = turned(standing, UP, np.pi)
    yield from holding_on(arm, travel(arm, origin + TURN_AT, standing, tolerance=0.03))
    yield from holding_on(arm, move(arm, origin + TURN_AT, level, tolerance=0.03))
    for y in (BEFORE_Y, INSIDE_Y):
        place = _hand_before(arm, name, origin + np.array([INSERT_X, y, ITEM_BOTTOM]))
        yield from holding_on(arm, move(arm, place, level, tolerance=0.008, limit=60, speed=0.7))
    yield from release(arm, name, retreat=-level[:, 2])
    yield from move(arm, arm.position - level[:, 2] * 0.05, level, tolerance=0.02)
    arm.gripper = CLOSED
    before = origin + np.array([INSERT_X, BEFORE_Y + 0.08, PUSH_Z])
    yield from move(arm, before, level, tolerance=0.012, limit=40)
    yield from move(
        arm, origin + np.array([INSERT_X, PUSH_Y, PUSH_Z]), level, speed=0.6, limit=40, patience=8
    )
    # Straight out and up before the hand turns, or it would meet the open door.
    outside = origin + np.array([INSERT_X, BEFORE_Y, PUSH_Z])
    yield from move(arm, outside, level, tolerance=0.05, limit=40)
    yield from move(arm, origin + TURN_AT, level, tolerance=0.08, limit=40)
    site = arm.view.site_pose(f"{microwave}_heating_region")
    offset = np.abs(site.rotation.T @ (arm.view.body_position(name) - site.position))
    return bool(np.all(offset < site.half_size))


def _hand_before(arm: Arm, name: str, place: Array) -> Callable[[], Array]:
    """Grip-site target: its own depth (y), the held object's middle (x) and lowest point (z)."""

    def position() -> Array:
        box, now = arm.layout.box(name), arm.position
        return np.array(
            [
                now[0] + place[0] - box.centre[0],
                place[1],
                now[2] + place[2] - box.bottom,
            ]
        )

    return position


def close_microwave(arm: Arm, microwave: str) -> Motion[None]:
    """Push the door shut from outside with closed fingers, hand pointing down.

    Raises:
        ExpertFailure: it does not close.
    """
    for _ in range(DOOR_TRIES):
        arm.gripper = CLOSED

        def beside(ahead: float = 0.0, off: float = 0.0) -> Array:
            place = on_door(arm, microwave, np.array([CLOSE_RADIUS, -off, 0.0]), ahead)
            place[2] = arm.view.body_position(microwave)[2] + CLOSE_HEIGHT
            return place

        start = beside(off=CLOSE_OFF)
        down = facing_down(np.array([0.0, 1.0, 0.0]), start, reach=False)
        yield from travel(arm, start, down, tolerance=0.015)
        yield from move(
            arm,
            lambda: beside(ahead=CLOSE_AHEAD),
            down,
            limit=CLOSE_STEPS,
            until=lambda: door(arm) > SHUT,
            patience=CLOSE_STEPS,
        )
        back = arm.position + np.array([0.0, -0.06, 0.03])
        yield from move(arm, back, down, tolerance=0.02, limit=20)
        if door(arm) > SHUT_ENOUGH:
            return
    raise arm.fail(f"the door stands at {door(arm):.2f} rad")


def level_hand(pitch: float, yaw: float = 0.0) -> Array:
    """Hand pointing along world +y and ``pitch`` down, fingers opening along x, turned by yaw."""
    approach = np.array([0.0, np.cos(pitch), -np.sin(pitch)])
    rotation = np.column_stack([FINGERS_ALONG_X, np.cross(approach, FINGERS_ALONG_X), approach])
    return turned(rotation, UP, yaw)


def edgewise_hand() -> Array:
    """Hand pointing along world +y with one finger above the other: narrow along x."""
    level = level_hand(0.0)
    return turned(level, level[:, 2], np.pi / 2)


def on_door(arm: Arm, microwave: str, place: Array, ahead: float = 0.0) -> Array:
    """World position [3] of a place in the door's frame, the door turned shut by ``ahead`` rad."""
    angle = min(door(arm) + ahead, 0.0) if ahead > 0 else door(arm) + ahead
    hinge = arm.view.body_position(microwave) + HINGE
    return np.asarray(hinge + Rotation.from_rotvec(UP * angle).apply(place))


def _pull(arm: Arm, microwave: str) -> Motion[None]:
    rotation = level_hand(HANDLE_PITCH)
    yield from set_opening(arm, HANDLE_PULSES)
    handle = on_door(arm, microwave, HANDLE_FROM_HINGE)
    front = handle - rotation[:, 2] * IN_FRONT
    side = front + np.array([0.0, -0.06, 0.06])
    yield from move(arm, side, rotation, tolerance=0.06, rotation_tolerance=0.4)
    yield from move(arm, front, rotation, tolerance=0.01)
    yield from move(arm, handle, rotation, limit=30, patience=6)
    arm.gripper = CLOSED
    yield from stay(arm, HANDLE_CLOSING_STEPS)
    if arm.view.gripper_opening() > HANDLE_HELD:
        yield from move(
            arm,
            lambda: on_door(arm, microwave, HANDLE_FROM_HINGE, -PULL_AHEAD),
            lambda: level_hand(HANDLE_PITCH, PULL_YAW * door(arm)),
            speed=PULL_SPEED,
            limit=PULL_STEPS,
            until=lambda: door(arm) < PULLED,
            patience=PULL_STEPS,
        )
    arm.gripper = OPEN
    yield from stay(arm, HALF_OPEN_RELEASE_STEPS)
    yield from _leave_handle(arm, microwave)


def _leave_handle(arm: Arm, microwave: str) -> Motion[None]:
    """Away from the handle and over it, or the hand would take the door along."""
    rotation = arm.rotation
    back = arm.position - rotation[:, 2] * BACK_OFF
    yield from move(arm, back, rotation, tolerance=0.015, limit=25)
    over = np.array([back[0], back[1], arm.view.body_position(microwave)[2] + OVER_HANDLE])
    yield from move(arm, over, rotation, tolerance=0.02, limit=25)
    before = arm.view.body_position(microwave) + BEFORE_INSIDE
    arm.gripper = CLOSED
    yield from move(arm, before, edgewise_hand(), tolerance=0.04, rotation_tolerance=0.2)


def _push_from_inside(arm: Arm, microwave: str) -> Motion[bool]:
    arm.gripper = CLOSED
    start = arm.view.body_position(microwave) + INSIDE_START
    yield from move(arm, start, edgewise_hand(), tolerance=0.02, rotation_tolerance=0.15)
    opened = yield from push(
        arm,
        np.array([-INSIDE_SPEED, 0.0, 0.0]),
        INSIDE_STEPS,
        lambda: door(arm) < WIDE_OPEN,
    )
    back = arm.position + np.array([0.05, -0.05, 0.05])
    yield from move(arm, back, arm.rotation, tolerance=0.03, limit=20)
    return opened
