"""The rulebooks by name."""

from pytest_robomem.scoring.guide import GUIDE
from pytest_robomem.scoring.official import OFFICIAL
from pytest_robomem.scoring.rulebook import Rulebook
from pytest_robomem.scoring.strict.rulebook import STRICT

RULEBOOKS: dict[str, Rulebook] = {book.name: book for book in (GUIDE, OFFICIAL, STRICT)}
