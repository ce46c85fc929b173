"""Rulebook ``guide``: the stages of RoboMemArena's published evaluation guide.

Source of every number: the public scorer of revision 2026-06-02, which the guide describes. One
rule differs on purpose: the microwave is read from its hinge. The published scorer read a point
that never moves, so "open" and "closed" held for everybody at all times. The closing angle is that
of revision 2026-06-29, the first to read the hinge.
"""

from pytest_robomem.scoring.checks import (
    MICROWAVE_CLOSED_ANGLE,
    MICROWAVE_HINGE,
    DrawerClosed,
    DrawerOpen,
    HingeClosed,
    HingeOpen,
    NearBody,
    NearPoint,
    NearSite,
    NearSiteRadius,
    Returned,
    WristTilt,
)
from pytest_robomem.scoring.rulebook import Rulebook, StageScorer
from pytest_robomem.scoring.stages import Stage
from pytest_robomem.scoring.versions import GUIDE as VERSION

NAME = "guide"
REVISION = "2026-06-02"
MAX_STEPS = 3000  # policy steps; the guide's sweep
REPLAN_STEPS = 5
SEVERAL_PER_STEP = frozenset({1})  # task 1's own loop tests on after a completion

_POUR = WristTilt(tilt_range=0.30, min_samples=10)
_WINE_POUR = WristTilt(tilt_range=0.78, min_samples=20, hold_angle=1.05, hold_frames=10)
_MICROWAVE_CLOSED = HingeClosed(MICROWAVE_HINGE, MICROWAVE_CLOSED_ANGLE)
_ASIDE = (0.0, -0.20000000298023224, 0.50)  # world, m; single precision in the source


def _drawer(level: str) -> str:
    return f"wooden_cabinet_1_{level}_region"


def _opened(level: str) -> DrawerOpen:
    return DrawerOpen(_drawer(level), 0.10)


def _closed(level: str) -> DrawerClosed:
    return DrawerClosed(_drawer(level), 0.08)


def _in_drawer_box(obj: str, level: str) -> NearSite:
    return NearSite(obj, _drawer(level), (-0.15, 0.15), (-0.15, 0.15), (-0.05, 0.15))


def _in_drawer_window(obj: str, level: str) -> NearSite:
    return NearSite(obj, _drawer(level), (-0.15, 0.15), (-0.20, 0.10), (-0.10, 0.10))


def _in_microwave(obj: str) -> NearSite:
    region = "microwave_1_heating_region"
    return NearSite(obj, region, (-0.20, 0.20), (-0.20, 0.20), (-1.0, 1.0))


STAGES: dict[int, tuple[Stage, ...]] = {
    1: (
        Stage(
            "cookies_in_basket",
            NearBody("cookies_1", "basket_1", 0.12, (-0.15, 0.2), inclusive=True),
        ),
        Stage(
            "tomato_in_basket",
            NearBody("tomato_sauce_1", "basket_1", 0.12, (-0.15, 0.2), inclusive=True),
        ),
    ),
    2: (
        Stage("01_Place_Butter_Basket", NearBody("butter_1", "basket_1", 0.12, (-0.05, 0.2))),
        Stage("02_Place_Popcorn_Basket", NearBody("popcorn_1", "basket_1", 0.12, (-0.05, 0.2))),
    ),
    3: (
        Stage("01_Place_Cream_Basket", NearBody("cream_cheese_1", "basket_1", 0.12, (-0.05, 0.2))),
        Stage(
            "02_Place_Pudding_Basket",
            NearBody("chocolate_pudding_1", "basket_1", 0.12, (-0.05, 0.2)),
        ),
    ),
    4: (
        Stage("01_Open_Top_Drawer", _opened("top")),
        Stage("02_Close_Top_Drawer", _closed("top")),
        Stage("03_Open_Middle_Drawer", _opened("middle")),
        Stage("04_Close_Middle_Drawer", _closed("middle")),
        Stage("05_Open_Bottom_Drawer", _opened("bottom")),
        Stage("06_Close_Bottom_Drawer", _closed("bottom")),
        Stage("07_Open_Top_Drawer_Again", _opened("top")),
        Stage("08_Put_Butter_Top_Drawer", NearSiteRadius("butter_1", _drawer("top"), 0.25, 0.15)),
        Stage("09_Close_Top_Drawer_Final", _closed("top")),
    ),
    5: (
        Stage("01_Open_Top_Drawer", _opened("top")),
        Stage("02_Close_Top_Drawer", _closed("top")),
        Stage("03_Open_Middle_Drawer", _opened("middle")),
        Stage("04_Close_Middle_Drawer", _closed("middle")),
        Stage("05_Open_Bottom_Drawer", _opened("bottom")),
        Stage("06_Close_Bottom_Drawer", _closed("bottom")),
        Stage("07_Open_Middle_Drawer_Again", _opened("middle")),
        Stage(
            "08_Put_Butter_Middle_Drawer",
            NearSiteRadius("butter_1", _drawer("middle"), 0.25, 0.15),
        ),
        Stage("09_Close_Middle_Drawer_Final", _closed("middle")),
    ),
    6: (
        Stage("01_Pour_One", _POUR),
        Stage("02_Pour_Two", _POUR),
        Stage(
            "03_Place_Bowl_Drainer",
            NearBody("tomato_sauce_1", "bowl_drainer_1", 0.15, (-0.05, 0.2)),
        ),
    ),
    7: (
        Stage("01_Pour_One", _POUR),
        Stage("02_Pour_Two", _POUR),
        Stage(
            "03_Place_Bowl_Drainer",
            NearBody("tomato_sauce_1", "bowl_drainer_1", 0.15, (-0.05, 0.2)),
        ),
    ),
    8: (
        Stage(
            "01_Place_Pudding_Frypan",
            NearBody("chocolate_pudding_1", "frypan_1", 0.1, (-0.05, 0.15)),
        ),
        Stage("02_Pour_One", _POUR),
        Stage("03_Pour_Two", _POUR),
        Stage(
            "04_Place_Bowl_Drainer",
            NearBody("tomato_sauce_1", "bowl_drainer_1", 0.15, (-0.05, 0.2)),
        ),
    ),
    9: (
        Stage("01_Place_Butter_Frypan", NearBody("butter_1", "frypan_1", 0.1, (-0.05, 0.15))),
        Stage("02_Pour_One", _POUR),
        Stage("03_Pour_Two", _POUR),
        Stage(
            "04_Place_Bowl_Drainer",
            NearBody("tomato_sauce_1", "bowl_drainer_1", 0.15, (-0.05, 0.2)),
        ),
    ),
    10: (
        Stage("01_Pour_One", _WINE_POUR),
        Stage("02_Pour_Two", _WINE_POUR),
        Stage("03_Place_Wine_On_Table", Returned("wine_bottle_1", 0.35)),
    ),
    11: (
        Stage("01_Open_Top_Drawer", _opened("top")),
        Stage("02_Place_Cookies_Top_Drawer", _in_drawer_box("cookies_1", "top")),
        Stage("03_Close_Top_Drawer", _closed("top")),
        Stage("04_Open_Middle_Drawer", _opened("middle")),
        Stage("05_Place_Butter_Middle_Drawer", _in_drawer_box("butter_1", "middle")),
        Stage("06_Close_Middle_Drawer", _closed("middle")),
    ),
    12: (
        Stage("01_Open_Middle_Drawer", _opened("middle")),
        Stage("02_Place_Cookies_Middle_Drawer", _in_drawer_box("cookies_1", "middle")),
        Stage("03_Place_Chocolate_Middle_Drawer", _in_drawer_box("chocolate_pudding_1", "middle")),
        Stage("04_Close_Middle_Drawer", _closed("middle")),
    ),
    13: (
        Stage("01_Open_Middle_Drawer", _opened("middle")),
        Stage("02_Place_Cookies_Middle_Drawer", _in_drawer_window("cookies_1", "middle")),
        Stage("03_Place_Butter_Middle_Drawer", _in_drawer_window("butter_1", "middle")),
        Stage("04_Close_Middle_Drawer", _closed("middle")),
    ),
    14: (
        Stage("01_Open_Top_Drawer", _opened("top")),
        Stage("02_Place_Cookies_Top_Drawer", _in_drawer_window("cookies_1", "top")),
        Stage("03_Close_Top_Drawer", _closed("top")),
        Stage("04_Open_Middle_Drawer", _opened("middle")),
        Stage(
            "05_Place_Chocolate_Middle_Drawer",
            _in_drawer_window("chocolate_pudding_1", "middle"),
        ),
        Stage("06_Close_Middle_Drawer", _closed("middle")),
    ),
    15: (
        Stage("01_Place_Butter_Frypan", NearBody("butter_1", "frypan_1", 0.12, (-0.05, 0.15))),
        Stage("02_Pour_One", _POUR),
        Stage("03_Pour_Two", _POUR),
        Stage("04_Place_Milk_Table", Returned("milk_1", 0.4)),
    ),
    16: (
        Stage("01_Pour_One", _POUR),
        Stage("02_Pour_Two", _POUR),
        Stage("03_Place_Bowl_Drainer", NearBody("milk_1", "bowl_drainer_1", 0.15, (-0.05, 0.2))),
    ),
    17: (
        Stage("01_Open_Middle_Drawer", _opened("middle")),
        Stage("02_Place_Butter_Middle_Drawer", _in_drawer_window("butter_1", "middle")),
        Stage(
            "03_Place_Chocolate_Middle_Drawer",
            _in_drawer_window("chocolate_pudding_1", "middle"),
        ),
        Stage("04_Close_Middle_Drawer", _closed("middle")),
    ),
    18: (
        Stage(
            "01_Place_Chocolate_Cabinet2",
            NearBody("chocolate_pudding_1", "wooden_cabinet_2", 0.15, (0.1, 0.25)),
        ),
        Stage(
            "02_Place_Butter_Cabinet2",
            NearBody("butter_1", "wooden_cabinet_2", 0.15, (0.1, 0.25)),
        ),
    ),
    19: (
        Stage(
            "01_Place_Tomato_Sauce_Cabinet2",
            NearBody("tomato_sauce_1", "wooden_cabinet_2", 0.3, (0.1, 0.3)),
        ),
        Stage("02_Place_Milk_Cabinet2", NearBody("milk_1", "wooden_cabinet_2", 0.3, (0.1, 0.3))),
        Stage(
            "03_Place_Orange_Juice_Cabinet2",
            NearBody("orange_juice_1", "wooden_cabinet_2", 0.3, (0.1, 0.3)),
        ),
    ),
    20: (
        Stage("01_Open_Microwave", HingeOpen(MICROWAVE_HINGE, 0.3)),
        Stage("02_Place_Cookies_Microwave", _in_microwave("cookies_1")),
        Stage("03_Place_Chocolate_Microwave", _in_microwave("chocolate_pudding_1")),
        Stage("04_Close_Microwave", _MICROWAVE_CLOSED),
    ),
    21: (
        Stage("01_Open_Microwave", HingeOpen(MICROWAVE_HINGE, 0.5)),
        Stage("02_Place_Butter_Microwave", _in_microwave("butter_1")),
        Stage("03_Place_Chocolate_Microwave", _in_microwave("chocolate_pudding_1")),
        Stage("04_Close_Microwave", _MICROWAVE_CLOSED),
    ),
    22: (
        Stage("01_Pour_One", _POUR),
        Stage("02_Pour_Two", _POUR),
        Stage("03_Place_Tomato_Aside", NearPoint("tomato_sauce_1", _ASIDE, 0.2, 0.2)),
        Stage("04_Open_Microwave", HingeOpen(MICROWAVE_HINGE, 0.3)),
        Stage("05_Place_Cookies_Microwave", _in_microwave("cookies_1")),
        Stage("06_Close_Microwave", _MICROWAVE_CLOSED),
    ),
    23: (
        Stage("01_Open_Microwave", HingeOpen(MICROWAVE_HINGE, 0.5)),
        Stage("02_Place_Cream_Microwave", _in_microwave("cream_cheese_1")),
        Stage("03_Place_Popcorn_Microwave", _in_microwave("popcorn_1")),
        Stage("04_Close_Microwave", _MICROWAVE_CLOSED),
    ),
    24: (
        Stage("01_Open_Microwave", HingeOpen(MICROWAVE_HINGE, 0.5)),
        Stage("02_Place_Cookies_Microwave", _in_microwave("cookies_1")),
        Stage("03_Place_Popcorn_Microwave", _in_microwave("popcorn_1")),
        Stage("04_Close_Microwave", _MICROWAVE_CLOSED),
    ),
    25: (
        Stage("01_Place_Butter_Plate2", NearBody("butter_1", "plate_2", 0.06, (0.01, 0.1))),
        Stage(
            "02_Place_Cream_Cheese_Plate2",
            NearBody("cream_cheese_1", "plate_2", 0.06, (0.01, 0.1)),
        ),
    ),
    26: (
        Stage(
            "01_Place_Chocolate_Pudding_Plate2",
            NearBody("chocolate_pudding_1", "plate_2", 0.06, (0.01, 0.1)),
        ),
        Stage(
            "02_Place_Cream_Cheese_Plate2",
            NearBody("cream_cheese_1", "plate_2", 0.06, (0.01, 0.1)),
        ),
    ),
}


def scorer_for(task_id: int) -> StageScorer:
    """Scorer of a benchmark task (1 to 26)."""
    return StageScorer(VERSION, STAGES[task_id], several_per_step=task_id in SEVERAL_PER_STEP)


RULES = {"stages": STAGES, "several_per_step": SEVERAL_PER_STEP}
GUIDE = Rulebook(NAME, VERSION, MAX_STEPS, REPLAN_STEPS, scorer_for, RULES)
