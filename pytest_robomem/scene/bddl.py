"""Reading BDDL scene files.

LIBERO's own reader evaluates yaw angles as Python code, drops the nesting of goals and lets a
second line of one type replace the first. This one reads data only and keeps all three.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_TOKEN = re.compile(r"[()]|[^\s()]+")
_COMMENT = re.compile(r";[^\n]*")
_PI_FACTORS = {"pi": math.pi, "np.pi": math.pi}

Expression = str | list["Expression"]


class BddlError(ValueError):
    """A scene file that cannot be read; the message names the file and the place."""


@dataclass(frozen=True)
class Region:
    """A named placement or containment region.

    Attributes:
        name: short name inside its target.
        target: fixture or object that carries the region.
        xy_ranges: rectangles (x_min, y_min, x_max, y_max) in m, relative to the target's origin.
        yaw_range: rotation about the vertical, rad.
    """

    name: str
    target: str
    xy_ranges: tuple[tuple[float, float, float, float], ...] = ()
    yaw_range: tuple[float, float] = (0.0, 0.0)

    @property
    def full_name(self) -> str:
        """Name used by initial placements, goals and the simulator's sites."""
        return f"{self.target}_{self.name}"


@dataclass(frozen=True)
class GoalTerm:
    """A goal as a tree.

    ``operator`` is ``and`` or ``or`` with ``terms``, or a relation (``in``, ``on``) between two
    ``arguments``: object, and container or region.
    """

    operator: str
    terms: tuple["GoalTerm", ...] = ()
    arguments: tuple[str, ...] = ()

    def relations(self) -> Iterator["GoalTerm"]:
        """All relations of the tree, left to right."""
        if self.arguments:
            yield self
        for term in self.terms:
            yield from term.relations()


@dataclass(frozen=True)
class SceneDescription:
    """What a scene file says. ``fixtures`` and ``objects`` map a category to instance names."""

    problem: str
    language: str
    fixtures: dict[str, list[str]]
    objects: dict[str, list[str]]
    regions: tuple[Region, ...]
    objects_of_interest: tuple[str, ...]
    placements: tuple[tuple[str, ...], ...]
    goal: GoalTerm
    source: Path = field(compare=False)

    def instance_names(self) -> tuple[str, ...]:
        """Names of all fixtures and objects."""
        groups = (*self.fixtures.values(), *self.objects.values())
        return tuple(name for group in groups for name in group)

    def libero_problem(self) -> dict[str, Any]:
        """The same content in the shape that LIBERO's environments expect."""
        return {
            "problem_name": self.problem,
            "fixtures": {category: list(names) for category, names in self.fixtures.items()},
            "objects": {category: list(names) for category, names in self.objects.items()},
            "regions": {
                region.full_name: {
                    "target": region.target,
                    "ranges": [list(box) for box in region.xy_ranges],
                    "extra": [],
                    "yaw_rotation": list(region.yaw_range),
                    "rgba": [0, 0, 1, 0],
                }
                for region in self.regions
            },
            "scene_properties": {},
            "initial_state": [list(placement) for placement in self.placements],
            "goal_state": [],
            "language_instruction": self.language.split(),
            "obj_of_interest": list(self.objects_of_interest),
        }


def read_scene(path: Path) -> SceneDescription:
    """Read a scene file.

    Raises:
        BddlError: the file is missing, not well formed, or lacks a part.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BddlError(f"{path}: cannot read the scene file: {error.strerror}") from error
    try:
        return _scene_from(_parse(text), path)
    except (ValueError, IndexError) as error:
        raise BddlError(f"{path}: {error}") from error


def _parse(text: str) -> list[Expression]:
    stack: list[list[Expression]] = [[]]
    for token in _TOKEN.findall(_COMMENT.sub("", text).lower()):
        if token == "(":
            stack.append([])
        elif token == ")":
            if len(stack) == 1:
                raise ValueError("a closing bracket too many")
            group = stack.pop()
            stack[-1].append(group)
        else:
            stack[-1].append(token)
    if len(stack) > 1:
        raise ValueError(f"{len(stack) - 1} brackets are not closed")
    if len(stack[0]) != 1 or not isinstance(stack[0][0], list) or stack[0][0][:1] != ["define"]:
        raise ValueError("the file must hold one (define ...) form")
    return stack[0][0][1:]


def _scene_from(groups: list[Expression], source: Path) -> SceneDescription:
    parts: dict[str, list[Expression]] = {}
    for group in groups:
        if not isinstance(group, list) or not group or not isinstance(group[0], str):
            raise ValueError(f"unexpected {group!r} at the top level")
        parts[group[0]] = group[1:]
    for required in ("problem", ":fixtures", ":objects", ":init", ":goal"):
        if required not in parts:
            raise ValueError(f"the part ({required} ...) is missing")
    if len(parts[":goal"]) != 1:
        raise ValueError("(:goal ...) must hold exactly one expression")
    return SceneDescription(
        problem=_word(parts["problem"][0]),
        language=" ".join(_word(word) for word in parts.get(":language", [])),
        fixtures=_typed_names(parts[":fixtures"]),
        objects=_typed_names(parts[":objects"]),
        regions=tuple(_region(entry) for entry in parts.get(":regions", [])),
        objects_of_interest=tuple(_word(name) for name in parts.get(":obj_of_interest", [])),
        placements=tuple(tuple(_word(word) for word in _group(entry)) for entry in parts[":init"]),
        goal=_goal(parts[":goal"][0]),
        source=source,
    )


def _word(expression: Expression) -> str:
    if not isinstance(expression, str):
        raise ValueError(f"expected a name, found {expression!r}")
    return expression


def _group(expression: Expression) -> list[Expression]:
    if not isinstance(expression, list) or not expression:
        raise ValueError(f"expected a bracketed group, found {expression!r}")
    return expression


def _typed_names(words: list[Expression]) -> dict[str, list[str]]:
    typed: dict[str, list[str]] = {}
    pending: list[str] = []
    remaining = [_word(word) for word in words]
    while remaining:
        word = remaining.pop(0)
        if word != "-":
            pending.append(word)
            continue
        if not remaining or not pending:
            raise ValueError("'-' needs names before it and a type after it")
        typed.setdefault(remaining.pop(0), []).extend(pending)
        pending = []
    if pending:
        raise ValueError(f"{pending} have no type")
    return typed


def _number(expression: Expression) -> float:
    word = _word(expression)
    value = _PI_FACTORS.get(word)
    try:
        return float(word) if value is None else value
    except ValueError as error:
        raise ValueError(f"expected a number, found {word!r}") from error


def _region(entry: Expression) -> Region:
    name, *attributes = _group(entry)
    target: str | None = None
    boxes: list[tuple[float, float, float, float]] = []
    yaw = (0.0, 0.0)
    for attribute in attributes:
        key, *values = _group(attribute)
        if key == ":target":
            target = _word(values[0])
        elif key == ":ranges":
            for box in _group(values[0]):
                x_min, y_min, x_max, y_max = (_number(value) for value in _group(box))
                if x_min > x_max or y_min > y_max:
                    raise ValueError(f"region {name}: a range runs backwards")
                boxes.append((x_min, y_min, x_max, y_max))
        elif key == ":yaw_rotation":
            low, high = (_number(value) for value in _group(_group(values[0])[-1]))
            yaw = (low, high)
        elif key != ":rgba":
            raise ValueError(f"region {name}: unknown attribute {key!r}")
    if target is None:
        raise ValueError(f"region {name} has no (:target ...)")
    return Region(_word(name), target, tuple(boxes), yaw)


def _goal(expression: Expression) -> GoalTerm:
    operator, *rest = _group(expression)
    if operator in ("and", "or"):
        if not rest:
            raise ValueError(f"the goal has an empty ({operator})")
        return GoalTerm(_word(operator), terms=tuple(_goal(term) for term in rest))
    if operator in ("in", "on") and len(rest) == 2:
        return GoalTerm(_word(operator), arguments=tuple(_word(word) for word in rest))
    raise ValueError(f"the goal term {expression!r} is none of (And ..) (Or ..) (In a b) (On a b)")
