"""Pouring: tilt a held bottle so that its mouth comes over the target, and back upright."""

import numpy as np
from scipy.spatial.transform import Rotation

from pytest_robomem.policies.expert.grasp import BASE_X
from pytest_robomem.policies.expert.handling import (
    DroppedError,
    holding_on,
    level_rotation,
    pick,
    travel,
    yaw_to,
)
from pytest_robomem.policies.expert.layout import UP
from pytest_robomem.policies.expert.motion import Arm, Array, Motion, move, stay, turned

POUR_TRIES = 3
POUR_ANGLE = 1.6  # rad from upright: past horizontal, so that a liquid would run out
POURED_ANGLE = 0.8  # rad; a swing past 45 degrees is a pour, whatever was aimed at
UPRIGHT_AGAIN = 0.10  # rad
HOLD_STEPS = 12  # control steps over the target: 0.6 s
REST_STEPS = 5  # upright between two pours
SWING_STEPS = 80  # limit of one swing: 20 to 40 are usual
SWING_TOLERANCE = 0.012  # m

# Direction into which the mouth tips, relative to the way from the base to the target: a little
# back towards the base keeps the elbow bent, more would bring the last joints to their limits.
TIP_TURN = np.radians(120.0)
GRIP_ABOVE_TARGET = 0.16  # m; the hand turned on edge reaches 0.10 below the grip site
LOWEST_GRIP = 0.66  # m
FARTHEST_UPRIGHT = 0.68  # m from the base axis to which a hand straight down reaches at that height

FINGERS_OPEN_ALONG = np.array([0.0, 1.0, 0.0])  # the start's way round: joint 7 in its middle


def pour_over(arm: Arm, bottle: str, target: str, times: int) -> Motion[None]:
    """Pour over a target a number of times; the bottle stays in the hand afterwards.

    Raises:
        ExpertFailure: the bottle could not be taken, was lost too often, or could not be tilted.
    """
    skill = arm.skill
    aim = arm.memory.pours.get(target, 0) + times
    for _ in range(POUR_TRIES):
        try:
            if arm.holding != bottle:
                arm.skill = f"pick {bottle} for {skill}"
                yield from pick(arm, bottle)
            arm.skill = skill
            yield from holding_on(arm, _pours(arm, bottle, target, aim))
        except DroppedError:
            continue
        if arm.memory.pours.get(target, 0) >= aim:
            return
    done = arm.memory.pours.get(target, 0)
    raise arm.fail(f"{done} of {aim} pours of {bottle} over {target} after {POUR_TRIES} tries")


def tip_direction(xy: Array) -> Array:
    """Horizontal unit vector [3] along which a bottle's mouth tips over a target at ``xy``."""
    radial = np.array([xy[0] - BASE_X, xy[1], 0.0])
    radial /= np.linalg.norm(radial)
    angle = TIP_TURN if xy[1] >= 0 else -TIP_TURN
    return np.asarray(Rotation.from_rotvec(UP * angle).apply(radial))


def _pours(arm: Arm, bottle: str, target: str, aim: int) -> Motion[None]:
    upright = level_rotation(arm, bottle, yaw_to(arm, FINGERS_OPEN_ALONG))
    high = arm.layout.bounds(target)[1]
    middle = target_middle(arm, target)
    direction = tip_direction(middle)
    tilted = turned(upright, np.cross(UP, direction), POUR_ANGLE)

    # Where the hand is when the mouth is over the target: the mouth is fixed in the hand.
    mouth = arm.rotation.T @ (arm.layout.top_point(bottle) - arm.position)
    height = max(LOWEST_GRIP, float(high[2]) + GRIP_ABOVE_TARGET)
    over = np.array([*middle, height]) - tilted @ mouth
    over[2] = height

    ready = over.copy()
    base = np.array([BASE_X, 0.0])
    radial = over[:2] - base
    distance = float(np.linalg.norm(radial))
    if distance > FARTHEST_UPRIGHT:
        ready[:2] = base + radial * (FARTHEST_UPRIGHT / distance)
    yield from travel(arm, ready, upright, tolerance=SWING_TOLERANCE)
    while arm.memory.pours.get(target, 0) < aim:
        yield from move(
            arm, over, tilted, tolerance=SWING_TOLERANCE, limit=SWING_STEPS, patience=SWING_STEPS
        )
        yield from stay(arm, HOLD_STEPS)
        leaned = arm.layout.lean(bottle)
        yield from move(
            arm,
            ready,
            upright,
            tolerance=SWING_TOLERANCE,
            limit=SWING_STEPS,
            patience=SWING_STEPS,
            rotation_tolerance=UPRIGHT_AGAIN / 2,
        )
        yield from stay(arm, REST_STEPS)
        if leaned > POURED_ANGLE:
            arm.memory.poured(target)
        if leaned <= POURED_ANGLE or arm.layout.lean(bottle) > UPRIGHT_AGAIN:
            return


def target_middle(arm: Arm, target: str) -> Array:
    """Middle [2] of what is poured over: a pan's or mug's origin, anything else's box centre."""
    return arm.view.body_position(target)[:2]
