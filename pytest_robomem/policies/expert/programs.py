"""What the expert does in each task: one short program over skills per task.

Nothing here depends on a seed; the names are those of the scene files. A step that puts an
object somewhere takes it first if it is not in the hand.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class IntoBasket:
    """Let an object fall into a basket."""

    name: str
    basket: str


@dataclass(frozen=True)
class OntoPlate:
    """Put an object on a plate, as part ``part`` (from 0) of ``parts`` side by side."""

    name: str
    plate: str
    part: int = 0
    parts: int = 1


@dataclass(frozen=True)
class OntoCabinet:
    """Put an object on a cabinet, as part ``part`` (from 0) of a row of ``parts``."""

    name: str
    cabinet: str
    part: int = 0
    parts: int = 1


@dataclass(frozen=True)
class RowOntoCabinet:
    """Put several objects in a row on a cabinet, in this order as far as the hand has room.

    One that its neighbours hem in waits until they are gone.
    """

    names: tuple[str, ...]
    cabinet: str


@dataclass(frozen=True)
class IntoPan:
    """Put an object into the middle of a pan."""

    name: str
    pan: str


@dataclass(frozen=True)
class IntoDrainer:
    """Stand a bottle in a drainer."""

    name: str
    drainer: str


@dataclass(frozen=True)
class BackToStart:
    """Put an object back to where it stood when the episode began."""

    name: str


@dataclass(frozen=True)
class Pour:
    """Pour over a target; the bottle stays in the hand."""

    name: str
    over: str
    times: int = 2


@dataclass(frozen=True)
class CheckDrawers:
    """Open and close all drawers in order and remember what each holds."""

    cabinet: str


@dataclass(frozen=True)
class OpenDrawer:
    """Open a drawer: ``top``, ``middle``, ``bottom``, or by memory ``occupied``, ``empty``,
    ``another`` (the first into which nothing was put yet).
    """

    cabinet: str
    drawer: str


@dataclass(frozen=True)
class IntoDrawer:
    """Put an object into the drawer that was opened last."""

    name: str
    cabinet: str


@dataclass(frozen=True)
class CloseDrawer:
    """Close the drawer that was opened last."""

    cabinet: str


@dataclass(frozen=True)
class OpenMicrowave:
    """Open a microwave's door wide."""

    microwave: str


@dataclass(frozen=True)
class IntoMicrowave:
    """Put an object into an open microwave."""

    name: str
    microwave: str


@dataclass(frozen=True)
class CloseMicrowave:
    """Close a microwave's door."""

    microwave: str


Step = (
    IntoBasket
    | OntoPlate
    | OntoCabinet
    | RowOntoCabinet
    | IntoPan
    | IntoDrainer
    | BackToStart
    | Pour
    | CheckDrawers
    | OpenDrawer
    | IntoDrawer
    | CloseDrawer
    | OpenMicrowave
    | IntoMicrowave
    | CloseMicrowave
)
Program = tuple[Step, ...]

_CABINET = "wooden_cabinet_1"

_OVEN = "microwave_1"

PROGRAMS: dict[int, Program] = {
    1: (IntoBasket("cookies_1", "basket_1"), IntoBasket("tomato_sauce_1", "basket_1")),
    2: (IntoBasket("butter_1", "basket_1"), IntoBasket("popcorn_1", "basket_1")),
    3: (IntoBasket("cream_cheese_1", "basket_1"), IntoBasket("chocolate_pudding_1", "basket_1")),
    4: (
        CheckDrawers(_CABINET),
        OpenDrawer(_CABINET, "occupied"),
        IntoDrawer("butter_1", _CABINET),
        CloseDrawer(_CABINET),
    ),
    5: (
        CheckDrawers(_CABINET),
        OpenDrawer(_CABINET, "empty"),
        IntoDrawer("butter_1", _CABINET),
        CloseDrawer(_CABINET),
    ),
    6: (Pour("tomato_sauce_1", "cookies_1"), IntoDrainer("tomato_sauce_1", "bowl_drainer_1")),
    7: (Pour("tomato_sauce_1", "frypan_1"), IntoDrainer("tomato_sauce_1", "bowl_drainer_1")),
    8: (
        IntoPan("chocolate_pudding_1", "frypan_1"),
        Pour("tomato_sauce_1", "chocolate_pudding_1"),
        IntoDrainer("tomato_sauce_1", "bowl_drainer_1"),
    ),
    9: (
        IntoPan("butter_1", "frypan_1"),
        Pour("tomato_sauce_1", "butter_1"),
        IntoDrainer("tomato_sauce_1", "bowl_drainer_1"),
    ),
    10: (Pour("wine_bottle_1", "white_yellow_mug_1"), BackToStart("wine_bottle_1")),
    11: (
        OpenDrawer(_CABINET, "top"),
        IntoDrawer("cookies_1", _CABINET),
        CloseDrawer(_CABINET),
        OpenDrawer(_CABINET, "another"),
        IntoDrawer("butter_1", _CABINET),
        CloseDrawer(_CABINET),
    ),
    12: (
        OpenDrawer(_CABINET, "middle"),
        IntoDrawer("cookies_1", _CABINET),
        IntoDrawer("chocolate_pudding_1", _CABINET),
        CloseDrawer(_CABINET),
    ),
    13: (
        OpenDrawer(_CABINET, "middle"),
        IntoDrawer("cookies_1", _CABINET),
        IntoDrawer("butter_1", _CABINET),
        CloseDrawer(_CABINET),
    ),
    14: (
        OpenDrawer(_CABINET, "top"),
        IntoDrawer("cookies_1", _CABINET),
        CloseDrawer(_CABINET),
        OpenDrawer(_CABINET, "another"),
        IntoDrawer("chocolate_pudding_1", _CABINET),
        CloseDrawer(_CABINET),
    ),
    15: (
        IntoPan("butter_1", "frypan_1"),
        Pour("milk_1", "butter_1"),
        BackToStart("milk_1"),
    ),
    16: (Pour("milk_1", "red_coffee_mug_1"), IntoDrainer("milk_1", "bowl_drainer_1")),
    17: (
        OpenDrawer(_CABINET, "middle"),
        IntoDrawer("butter_1", _CABINET),
        IntoDrawer("chocolate_pudding_1", _CABINET),
        CloseDrawer(_CABINET),
    ),
    18: (
        OntoCabinet("chocolate_pudding_1", "wooden_cabinet_2", 0, 2),
        OntoCabinet("butter_1", "wooden_cabinet_2", 1, 2),
    ),
    19: (RowOntoCabinet(("tomato_sauce_1", "milk_1", "orange_juice_1"), "wooden_cabinet_2"),),
    20: (
        OpenMicrowave(_OVEN),
        IntoMicrowave("cookies_1", _OVEN),
        IntoMicrowave("chocolate_pudding_1", _OVEN),
        CloseMicrowave(_OVEN),
    ),
    21: (
        OpenMicrowave(_OVEN),
        IntoMicrowave("butter_1", _OVEN),
        IntoMicrowave("chocolate_pudding_1", _OVEN),
        CloseMicrowave(_OVEN),
    ),
    22: (
        Pour("tomato_sauce_1", "cookies_1"),
        BackToStart("tomato_sauce_1"),
        OpenMicrowave(_OVEN),
        IntoMicrowave("cookies_1", _OVEN),
        CloseMicrowave(_OVEN),
    ),
    23: (
        OpenMicrowave(_OVEN),
        IntoMicrowave("cream_cheese_1", _OVEN),
        IntoMicrowave("popcorn_1", _OVEN),
        CloseMicrowave(_OVEN),
    ),
    24: (
        OpenMicrowave(_OVEN),
        IntoMicrowave("cookies_1", _OVEN),
        IntoMicrowave("popcorn_1", _OVEN),
        CloseMicrowave(_OVEN),
    ),
    25: (OntoPlate("butter_1", "plate_2", 0, 2), OntoPlate("cream_cheese_1", "plate_2", 1, 2)),
    26: (
        OntoPlate("chocolate_pudding_1", "plate_2", 0, 2),
        OntoPlate("cream_cheese_1", "plate_2", 1, 2),
    ),
}
