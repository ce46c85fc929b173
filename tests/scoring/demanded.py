"""What the strict rules demand, written down a second time: tests must not read the thresholds."""

import math

from pytest_robomem.scoring.strict.limits import Limits

DEMANDED = Limits(
    rest_steps=10,
    rest_distance=0.002,
    rest_angle=0.05,
    contact_gap=5,
    drawer_open=0.6,
    hinge_open=0.25,
    closed=0.05,
    lift=0.03,
    pour_tilt=math.radians(45),
    pour_steps=5,
    upright=math.radians(15),
    pour_reach=0.05,
    pours=2,
    returned=0.10,
    top_height=0.10,
    watch_steps=30,
)
