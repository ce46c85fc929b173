"""What the expert does in each task: one short program over skills per task.

Nothing here depends on a seed; the names are those of the scene files.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class IntoBasket:
    """Take an object and let it fall into a basket."""

    name: str
    basket: str


Step = IntoBasket
Program = tuple[Step, ...]

PROGRAMS: dict[int, Program] = {
    1: (IntoBasket("cookies_1", "basket_1"), IntoBasket("tomato_sauce_1", "basket_1")),
    2: (IntoBasket("butter_1", "basket_1"), IntoBasket("popcorn_1", "basket_1")),
    3: (IntoBasket("cream_cheese_1", "basket_1"), IntoBasket("chocolate_pudding_1", "basket_1")),
}
