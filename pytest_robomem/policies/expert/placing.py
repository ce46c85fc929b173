"""Putting things into baskets, pans and drainers, onto plates and cabinets, and back."""

from collections.abc import Callable

import numpy as np

from pytest_robomem.policies.expert.grasp import facing_down
from pytest_robomem.policies.expert.handling import (
    DroppedError,
    level_rotation,
    pick,
    put_down,
)
from pytest_robomem.policies.expert.motion import Arm, Array, Motion, stay

PLACE_TRIES = 3
SETTLE_STEPS = 3  # before looking whether an object came to lie where it should

BASKET_DEPTH = 0.05  # m below the basket's rim where the object is let go
BASKET_RADIUS = 0.06  # m from the region's centre within which an object lies inside the walls
DROP = 0.004  # m above the surface where things are let go


def fetch(
    arm: Arm, name: str, place: Callable[[Arm, str], Motion[bool]], where: str
) -> Motion[None]:
    """Take an object (if it is not in the hand yet) and put it somewhere, with retries.

    Args:
        place: puts the held object down and returns whether it lies where it should.
        where: the place's name, for memory and failures.

    Raises:
        ExpertFailure: it could not be taken, or never came to lie there.
    """
    skill = arm.skill
    for _ in range(PLACE_TRIES):
        arm.skill = f"{skill}: pick {name}"
        try:
            if arm.holding != name:
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
    yield from stay(arm, SETTLE_STEPS)
    inside = arm.layout.box(name).centre[:2] - centre
    return float(np.linalg.norm(inside)) < BASKET_RADIUS
