"""Every threshold of the strict rulebook."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Thresholds, with their sources. Lengths in m, angles in rad, times in policy steps of 50 ms.

    Attributes:
        rest_steps: how long an object has to lie released and still before it counts as placed;
            half a second, in which a body that topples or rolls covers far more than the limits
            below.
        rest_distance, rest_angle: largest displacement and turn over that time, relative to what
            carries the object. A settled MuJoCo body creeps by less than a tenth of this.
        contact_gap: for how many steps running the carrier may go untouched. Bodies at rest in
            MuJoCo 2.3.7 were seen to lose contact for up to 4; a body that nothing carries falls
            0.3 m in 5.
        drawer_open: part of a drawer's own range that counts as open; 0.6 of 0.16 m is the
            published 0.10 m.
        hinge_open: part of a door's own range that counts as open; 0.25 of 2.09 rad is the
            published 0.5 rad.
        closed: part of the range within which a drawer or door counts as shut (8 mm; 6 degrees).
            The published 0.08 m leaves a drawer half open.
        lift: height of an object's lowest point above its start that counts as lifted; the
            published lift.
        pour_tilt: tilt of a container from upright beyond which it pours.
        pour_steps: steps that it has to pour.
        upright: tilt under which a container is upright again, and stands when put down.
        pour_reach: how far outside its target's radius a container's top may be.
        pours: how many pours the counting tasks ask for.
        returned: distance within which a container is back at its place; the tolerance of the
            published goal check for standing on a region.
        top_height: how high above a surface an object's centre may be that stands on it: half the
            height of the tallest moved object, 0.131 m, standing on another that lies, 0.03 m.
        watch_steps: how long all must stay as demanded before the episode ends; the published
            watch for an extra pour.
    """

    rest_steps: int = 10
    rest_distance: float = 0.002
    rest_angle: float = 0.05
    contact_gap: int = 5
    drawer_open: float = 0.6
    hinge_open: float = 0.25
    closed: float = 0.05
    lift: float = 0.03
    pour_tilt: float = math.radians(45)
    pour_steps: int = 5
    upright: float = math.radians(15)
    pour_reach: float = 0.05
    pours: int = 2
    returned: float = 0.10
    top_height: float = 0.10
    watch_steps: int = 30


LIMITS = Limits()
