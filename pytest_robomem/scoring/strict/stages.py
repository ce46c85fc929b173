"""The kinds of stages a strict task is made of, as data.

``after`` names stages that have to be complete first. A stage that is an event (opened, shut
again, poured) happens once; one that is a state (placed, kept shut) counts only while it holds.
"""

from dataclasses import dataclass
from enum import StrEnum

from pytest_robomem.scoring.checks import Names
from pytest_robomem.scoring.strict.pouring import PourTarget
from pytest_robomem.scoring.strict.regions import Region


class Choice(StrEnum):
    """Which of a stage's places are meant, decided by the state at the start."""

    ANY = "any"
    OCCUPIED = "occupied"
    EMPTY = "empty"


@dataclass(frozen=True)
class Opened:
    """Event: one of the drawers or doors passes from shut to open."""

    name: str
    joints: tuple[str, ...]
    kind: str
    after: tuple[str, ...] = ()

    def names(self) -> Names:
        """Everything of the scene that the stage reads."""
        return Names(joints=frozenset(self.joints))


@dataclass(frozen=True)
class ShutAgain:
    """Event: one of the drawers or doors is shut after having been open."""

    name: str
    joints: tuple[str, ...]
    kind: str
    after: tuple[str, ...] = ()

    def names(self) -> Names:
        """Everything of the scene that the stage reads."""
        return Names(joints=frozenset(self.joints))


@dataclass(frozen=True)
class KeptShut:
    """State: all of the drawers or doors are shut, after what had to be done before."""

    name: str
    joints: tuple[str, ...]
    kind: str
    after: tuple[str, ...]

    def names(self) -> Names:
        """Everything of the scene that the stage reads."""
        return Names(joints=frozenset(self.joints))


@dataclass(frozen=True)
class Placed:
    """State: an object is in one of the places; it came there after what had to be done before."""

    name: str
    obj: str
    regions: tuple[Region, ...]
    after: tuple[str, ...] = ()
    choice: Choice = Choice.ANY
    upright: bool = False

    def names(self) -> Names:
        """Everything of the scene that the stage reads."""
        names = Names(bodies=frozenset({self.obj}))
        for region in self.regions:
            names |= region.names()
        return names


@dataclass(frozen=True)
class Poured:
    """Event: the ``number``-th pour (from 1) that happened after what had to be done before."""

    name: str
    number: int

    def names(self) -> Names:
        """Everything of the scene that the stage reads; the task's pouring rule names it."""
        return Names()


StrictStage = Opened | ShutAgain | KeptShut | Placed | Poured


@dataclass(frozen=True)
class Pouring:
    """What a task pours: the container, the target, and stages that have to be complete before."""

    container: str
    target: PourTarget
    after: tuple[str, ...] = ()


@dataclass(frozen=True)
class StrictTask:
    """A task's stages, in the order in which they are reported."""

    stages: tuple[StrictStage, ...]
    pouring: Pouring | None = None
