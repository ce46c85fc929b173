"""What each of the 26 tasks demands, and how contradictions in them are settled."""

from pytest_robomem.scoring.checks import MICROWAVE_HINGE
from pytest_robomem.scoring.strict.joints import DOOR, DRAWER
from pytest_robomem.scoring.strict.pouring import PourTarget
from pytest_robomem.scoring.strict.regions import (
    BodyBox,
    Disc,
    Region,
    SiteBox,
    StartPlace,
    TableTop,
    TopOf,
)
from pytest_robomem.scoring.strict.stages import (
    Choice,
    KeptShut,
    Opened,
    Placed,
    Poured,
    Pouring,
    ShutAgain,
    StrictStage,
    StrictTask,
)

LEVELS = ("top", "middle", "bottom")

BASKET = SiteBox("basket_1_contain_region", "basket_1")
DRAINER = (
    SiteBox("bowl_drainer_1_left_region", "bowl_drainer_1"),
    SiteBox("bowl_drainer_1_right_region", "bowl_drainer_1"),
)
SECOND_CABINET = TopOf("wooden_cabinet_2_top_side", "wooden_cabinet_2_base")

# From the collision geometry, m, in the frame of the body; tests compare them with it. Openings are
# circles through the middles of the walls' boxes, without handles.
# The site of the heating region reaches through the microwave's right wall, so the cavity is used.
MICROWAVE_CAVITY = BodyBox(
    "microwave_1", "the microwave's cavity", (-0.0400, -0.00375, 0.0960), (0.1035, 0.08425, 0.0720)
)
# Up to where the centre of a box lies that leans against the rim (0.043 m) from inside.
_DISH_HEIGHT = (0.0, 0.06)
FRYPAN_BOWL = Disc(
    "frypan_1", "the bowl of the frying pan", (0.00725, -0.00062), 0.08877, _DISH_HEIGHT
)
SECOND_PLATE = Disc("plate_2", "the second plate", (0.00082, 0.00035), 0.06877, _DISH_HEIGHT)
COOKIES = PourTarget("cookies_1", (0.0, 0.0), 0.05167)  # half the diagonal
FRYPAN = PourTarget("frypan_1", (0.00725, -0.00062), 0.08877)
WHITE_MUG = PourTarget("white_yellow_mug_1", (-0.01808, -0.00006), 0.04230)
RED_MUG = PourTarget("red_coffee_mug_1", (-0.01852, -0.00325), 0.03014)


def _drawer(level: str) -> SiteBox:
    return SiteBox(f"wooden_cabinet_1_{level}_region", f"wooden_cabinet_1_cabinet_{level}")


def _slide(level: str) -> str:
    return f"wooden_cabinet_1_{level}_level"


ALL_SLIDES = tuple(_slide(level) for level in LEVELS)


def _open_drawer(*levels: str, name: str = "", after: tuple[str, ...] = ()) -> Opened:
    slides = tuple(_slide(level) for level in levels)
    return Opened(name or f"open_{levels[0]}_drawer", slides, DRAWER, after)


def _two_in_order(first: str, second: str, region: Region) -> tuple[StrictStage, ...]:
    return (
        Placed(f"place_{first}", first, (region,)),
        Placed(f"place_{second}", second, (region,), after=(f"place_{first}",)),
    )


def _check_drawers_then_place(obj: str, choice: Choice) -> StrictTask:
    stages: list[StrictStage] = []
    before: tuple[str, ...] = ()
    for level in LEVELS:
        opened = _open_drawer(level, after=before)
        shut = ShutAgain(f"shut_{level}_drawer", (_slide(level),), DRAWER, (opened.name,))
        stages += [opened, shut]
        before = (shut.name,)
    again = _open_drawer(*LEVELS, name="open_drawer_again", after=before)
    regions = tuple(_drawer(level) for level in LEVELS)
    placed = Placed(f"place_{obj}", obj, regions, before, choice)
    kept = KeptShut("keep_drawers_shut", ALL_SLIDES, DRAWER, (placed.name,))
    return StrictTask((*stages, again, placed, kept))


def _two_drawers(first: str, second: str) -> StrictTask:
    placed = (f"place_{first}", f"place_{second}")
    return StrictTask(
        (
            _open_drawer("top"),
            Placed(placed[0], first, (_drawer("top"),)),
            _open_drawer("middle", "bottom", name="open_another_drawer"),
            Placed(placed[1], second, (_drawer("middle"), _drawer("bottom"))),
            KeptShut("keep_drawers_shut", ALL_SLIDES, DRAWER, placed),
        )
    )


def _middle_drawer(first: str, second: str) -> StrictTask:
    placed = _two_in_order(first, second, _drawer("middle"))
    names = (placed[0].name, placed[1].name)
    kept = KeptShut("keep_drawer_shut", (_slide("middle"),), DRAWER, names)
    return StrictTask((_open_drawer("middle"), *placed, kept))


_OPEN_MICROWAVE = Opened("open_microwave", (MICROWAVE_HINGE,), DOOR)


def _microwave(first: str, second: str) -> StrictTask:
    placed = _two_in_order(first, second, MICROWAVE_CAVITY)
    kept = KeptShut(
        "keep_microwave_shut", (MICROWAVE_HINGE,), DOOR, (placed[0].name, placed[1].name)
    )
    return StrictTask((_OPEN_MICROWAVE, *placed, kept))


_POURS = (Poured("pour_once", 1), Poured("pour_twice", 2))
_AFTER_POURS = ("pour_twice",)


def _pour(
    container: str,
    target: PourTarget,
    put_away: tuple[Region, ...],
    *,
    food: str = "",
    upright: bool = False,
) -> StrictTask:
    served = (Placed(f"place_{food}", food, (FRYPAN_BOWL,)),) if food else ()
    away = Placed(f"put_{container}_away", container, put_away, _AFTER_POURS, upright=upright)
    pouring = Pouring(container, target, after=tuple(stage.name for stage in served))
    return StrictTask((*served, *_POURS, away), pouring)


def _moved(*objects: str, region: Region) -> StrictTask:
    return StrictTask(tuple(Placed(f"place_{obj}", obj, (region,)) for obj in objects))


TASKS: dict[int, StrictTask] = {
    1: StrictTask(_two_in_order("cookies_1", "tomato_sauce_1", BASKET)),
    2: StrictTask(_two_in_order("butter_1", "popcorn_1", BASKET)),
    3: StrictTask(_two_in_order("cream_cheese_1", "chocolate_pudding_1", BASKET)),
    4: _check_drawers_then_place("butter_1", Choice.OCCUPIED),
    5: _check_drawers_then_place("butter_1", Choice.EMPTY),
    6: _pour("tomato_sauce_1", COOKIES, DRAINER),
    7: _pour("tomato_sauce_1", FRYPAN, DRAINER),
    8: _pour("tomato_sauce_1", FRYPAN, DRAINER, food="chocolate_pudding_1"),
    9: _pour("tomato_sauce_1", FRYPAN, DRAINER, food="butter_1"),
    10: _pour("wine_bottle_1", WHITE_MUG, (StartPlace(),), upright=True),
    11: _two_drawers("cookies_1", "butter_1"),
    12: _middle_drawer("cookies_1", "chocolate_pudding_1"),
    13: _middle_drawer("cookies_1", "butter_1"),
    14: _two_drawers("cookies_1", "chocolate_pudding_1"),
    15: _pour("milk_1", FRYPAN, (StartPlace(),), food="butter_1", upright=True),
    16: _pour("milk_1", RED_MUG, DRAINER),
    17: _middle_drawer("butter_1", "chocolate_pudding_1"),
    18: _moved("chocolate_pudding_1", "butter_1", region=SECOND_CABINET),
    19: _moved("tomato_sauce_1", "milk_1", "orange_juice_1", region=SECOND_CABINET),
    20: _microwave("cookies_1", "chocolate_pudding_1"),
    21: _microwave("butter_1", "chocolate_pudding_1"),
    22: StrictTask(
        (
            *_POURS,
            Placed("put_tomato_sauce_1_away", "tomato_sauce_1", (TableTop(),), _AFTER_POURS),
            _OPEN_MICROWAVE,
            Placed("place_cookies_1", "cookies_1", (MICROWAVE_CAVITY,), _AFTER_POURS),
            KeptShut("keep_microwave_shut", (MICROWAVE_HINGE,), DOOR, ("place_cookies_1",)),
        ),
        Pouring("tomato_sauce_1", COOKIES),
    ),
    23: _microwave("cream_cheese_1", "popcorn_1"),
    24: _microwave("cookies_1", "popcorn_1"),
    25: _moved("butter_1", "cream_cheese_1", region=SECOND_PLATE),
    26: _moved("chocolate_pudding_1", "cream_cheese_1", region=SECOND_PLATE),
}

# What the published prompt, scene file, stages and site say against each other, and what holds.
SETTLED_CONTRADICTIONS: dict[int, str] = {
    4: "The occupied drawer is the one that holds an object at the start, whichever it is: the "
    "prompt names no drawer, only the published stages do.",
    5: "Any drawer that is empty at the start will do: the prompt says 'the empty drawer' of two, "
    "and its authors accept either.",
    10: "The scene's goal holds for a bottle that nobody touched; here it counts only after two "
    "pours, and it has to have left its place in between. The bottle goes back: goal and guide "
    "ask for it, though the published prompt is silent.",
    11: "The butter goes into another drawer than the cookies, middle or bottom: the prompt says "
    "'another drawer', the scene's goal says middle; the data set's chocolate is a slip.",
    13: "Cookies first, as prompt and stages say; file name and site say butter first.",
    14: "The chocolate goes into another drawer than the cookies, middle or bottom, as in 11.",
    15: "As in 10: an untouched bottle of milk is no success, and the milk goes back.",
    18: "No order: 'respectively' states none; the items must be carried by the second cabinet.",
    19: "No order, as in 18; what lies on the second cabinet from the start does not count.",
    21: "The box of cookies has no place in the scene and lies on the floor; it is ignored.",
    22: "The cookies go into the microwave, the bottle stays out: the prompt asks for the cookies "
    "only, the scene's goal for both, the published stages put the bottle aside.",
    25: "No order, as in 18; the food need not start on the first plate, which it does not.",
    26: "No order, as in 18; the food need not start on the first plate, which it does not.",
}
