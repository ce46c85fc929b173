"""What the expert remembers of an episode; the whole of it, so that it can be taken away."""

from dataclasses import dataclass, field


@dataclass
class Memory:
    """Facts that the present view does not show any more.

    Attributes:
        drawer_contents: objects seen in each drawer (``top``, ``middle``, ``bottom``) that was
            opened, in the order of opening; an empty list is a drawer that was seen empty.
        pours: pours done over each target.
        placed: objects put down, each with the place, in order.
        used_drawers: drawers into which something was put, in order.
        open_drawer: the drawer that was opened last and not closed yet.
    """

    drawer_contents: dict[str, list[str]] = field(default_factory=dict)
    pours: dict[str, int] = field(default_factory=dict)
    placed: list[tuple[str, str]] = field(default_factory=list)
    used_drawers: list[str] = field(default_factory=list)
    open_drawer: str | None = None

    def saw_drawer(self, drawer: str, contents: list[str]) -> None:
        """Remember what an opened drawer held."""
        self.drawer_contents[drawer] = list(contents)

    def occupied_drawer(self) -> str | None:
        """First drawer that was seen with something in it."""
        return next((name for name, found in self.drawer_contents.items() if found), None)

    def empty_drawer(self) -> str | None:
        """First drawer that was seen empty."""
        return next((name for name, found in self.drawer_contents.items() if not found), None)

    def poured(self, target: str) -> int:
        """Count one more pour over a target; returns how many there have been."""
        self.pours[target] = self.pours.get(target, 0) + 1
        return self.pours[target]

    def put(self, name: str, place: str) -> None:
        """Remember where an object was put."""
        self.placed.append((name, place))

    def companions(self, place: str) -> int:
        """How many objects were put there before."""
        return sum(where == place for _, where in self.placed)
