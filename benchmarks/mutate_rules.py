"""Does every constant of the rules matter to a test?

    python benchmarks/mutate_rules.py [guide] [official] [strict] [fairness] [--tasks 1,2,3]

Each number of each rulebook is made 10 percent larger and smaller (whole numbers: by one) and its
sign is turned; each condition that can be switched is switched. After every change the tests of
that rulebook run, for the tasks that the constant belongs to, until one fails. Changes that no
test notices are printed.
"""

import argparse
import contextlib
import dataclasses
import io
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import pytest  # noqa: E402

from pytest_robomem.scoring import fairness, guide, official  # noqa: E402
from pytest_robomem.scoring.strict import tasks as strict_tasks  # noqa: E402
from pytest_robomem.scoring.strict.limits import LIMITS  # noqa: E402
from tests import golden as golden_module  # noqa: E402
from tests.golden import golden_for, stage_for  # noqa: E402
from tests.scoring import (  # noqa: E402
    test_golden_guide,
    test_golden_official,
    test_published_thresholds,
)

golden_module.KEPT_STAGES = 12  # against rebuilding; a scene takes a quarter of a gigabyte

SHARE = 0.1
TESTS = ROOT / "tests" / "scoring"
STRICT_FILES = (
    "test_strict_episodes.py",
    "test_strict_scorer.py",
    "test_strict_near_misses.py",
)
# Changes that cannot matter, and why.
EXPLAINED = {
    "guide[6][0].check.hold_frames": "read only where an angle to hold is given, as in task 10",
    "strict[10].pouring.target.centre[1]": "0.06 mm; a tenth of it is less than their rounding",
}
# Tasks of every family, to try first for a threshold that belongs to all.
REPRESENTATIVES = (10, 22, 4, 8, 18, 25, 1, 20)

Setter = Callable[[Any], None]


@dataclass
class Constant:
    """A constant in its place."""

    label: str
    value: Any
    set: Setter
    tasks: set[int] = field(default_factory=set)

    def changed(self) -> Iterator[tuple[str, Any]]:
        """The constant's other values, and what was done."""
        value = self.value
        if isinstance(value, bool):
            yield "switched", not value
        elif isinstance(value, int):
            yield "+1", value + 1
            yield "-1", value - 1
        elif isinstance(value, float) and value not in (0.0, float("inf"), float("-inf")):
            yield "+10%", value * (1 + SHARE)
            yield "-10%", value * (1 - SHARE)
            yield "sign", -value
        elif isinstance(value, Enum):
            yield from (("switched", other) for other in type(value) if other is not value)
        elif isinstance(value, frozenset) and value:
            yield "emptied", frozenset()


def constants_of(value: Any, label: str, task: int, found: dict[tuple[int, str], Constant]) -> None:
    """Collect the constants of a table, each once, with the tasks that use it."""
    if isinstance(value, tuple):
        for number, entry in enumerate(value):
            constants_of(entry, f"{label}[{number}]", task, found)
    elif dataclasses.is_dataclass(value):
        for entry in dataclasses.fields(value):
            _constants_of_field(value, entry.name, f"{label}.{entry.name}", task, found)


def _constants_of_field(
    owner: Any, name: str, label: str, task: int, found: dict[tuple[int, str], Constant]
) -> None:
    value = getattr(owner, name)
    if name == "after" and value:
        _note(owner, name, f"{label} (dropped)", task, found)
    elif isinstance(value, tuple) and value and all(isinstance(part, float) for part in value):
        for number in range(len(value)):
            _note_part(owner, name, number, label, task, found)
    elif isinstance(value, bool | int | float | Enum):
        _note(owner, name, label, task, found)
    else:
        constants_of(value, label, task, found)


def _note(owner: Any, name: str, label: str, task: int, found: dict[Any, Constant]) -> None:
    def put(new: Any) -> None:
        object.__setattr__(owner, name, new)

    key = (id(owner), name)
    found.setdefault(key, Constant(label, getattr(owner, name), put)).tasks.add(task)


def _note_part(
    owner: Any, name: str, number: int, label: str, task: int, found: dict[Any, Constant]
) -> None:
    whole = getattr(owner, name)

    def put(new: float) -> None:
        object.__setattr__(owner, name, (*whole[:number], new, *whole[number + 1 :]))

    constant = Constant(f"{label}[{number}]", whole[number], put)
    found.setdefault((id(owner), f"{name}[{number}]"), constant).tasks.add(task)


def _of_module(module: Any, *names: str) -> list[Constant]:
    return [
        Constant(
            f"{module.__name__.rsplit('.', 1)[1]}.{name}",
            getattr(module, name),
            lambda new, name=name: setattr(module, name, new),
        )
        for name in names
    ]


def _table(name: str, table: dict[int, Any], only: set[int]) -> list[Constant]:
    found: dict[tuple[int, str], Constant] = {}
    for task, entry in table.items():
        if task in only:
            constants_of(entry, f"{name}[{task}]", task, found)
    return list(found.values())


def _fails(test: Callable[..., None], *arguments: Any, **named: Any) -> bool:
    try:
        test(*arguments, **named)
    except pytest.skip.Exception:
        return False
    except Exception:  # noqa: BLE001 - whatever a change breaks is noticed
        return True
    return False


def _thresholds_fail(rulebook: str, tasks: list[int]) -> bool:
    module = test_published_thresholds
    revision = {"guide": guide.REVISION, "official": official.REVISION}[rulebook]
    limits = [
        case.values
        for case in module.STAGES
        if case.values[0] == revision and case.values[1] in tasks
    ]
    if any(_fails(module.test_limits_of_a_stage, *values) for values in limits):
        return True
    return rulebook == "official" and any(
        _fails(module.test_optional_final_stages_are_the_published_ones, task) for task in tasks
    )


def _golden_fails(module: Any, rulebook: str, tasks: list[int]) -> bool:
    tests = [
        getattr(module, f"test_golden_{rulebook}_{what}")
        for what in ("configurations", "timelines")
    ]
    return any(
        _fails(test, task, stage_for(task), golden_for(task)) for task in tasks for test in tests
    )


class _Collected:
    """Keeps the collected tests, to call them again and again without collecting anew."""

    def __init__(self) -> None:
        self.items: list[pytest.Function] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.items = [item for item in session.items if isinstance(item, pytest.Function)]


@cache
def _items() -> tuple[pytest.Function, ...]:
    collected = _Collected()
    arguments = [*map(str, sorted(TESTS.glob("test_*.py"))), "--collect-only", "-q"]
    with contextlib.redirect_stdout(io.StringIO()):
        pytest.main([*arguments, "-p", "no:cacheprovider"], plugins=[collected])
    return tuple(collected.items)


def _file_fails(names: tuple[str, ...], tasks: list[int] | None = None) -> bool:
    """Whether a test of the files fails, of the given tasks or of all."""
    for name in names:
        for item in _items():
            parameters = item.callspec.params if hasattr(item, "callspec") else {}
            task = parameters.get("task_id")
            if item.path.name == name and (tasks is None or task in tasks):
                arguments = dict(parameters)
                if "stage" in item.fixturenames:
                    arguments["stage"] = stage_for(task)
                if _fails(item.obj, **arguments):
                    return True
    return False


def guide_noticed(constant: Constant, tasks: list[int]) -> bool:  # noqa: ARG001
    """Whether a test of the guide fails."""
    return _thresholds_fail("guide", tasks) or _golden_fails(test_golden_guide, "guide", tasks)


def official_noticed(constant: Constant, tasks: list[int]) -> bool:
    """Whether a test of the official rulebook fails."""
    if _thresholds_fail("official", tasks):
        return True
    if constant.tasks:
        return _golden_fails(test_golden_official, "official", tasks)
    return _file_fails(("test_official_rules.py",)) or _golden_fails(
        test_golden_official, "official", tasks
    )


def strict_noticed(constant: Constant, tasks: list[int]) -> bool:
    """Whether a test of the strict rulebook fails."""
    measured = any(part in constant.label for part in ("region", "target", "limits"))
    if measured and _file_fails(("test_strict_geometry.py",)):
        return True
    families = [[task] for task in (tasks if constant.tasks else REPRESENTATIVES)]
    return any(_file_fails(STRICT_FILES, family) for family in families)


def fairness_noticed(constant: Constant, tasks: list[int]) -> bool:  # noqa: ARG001
    """Whether a test of unfair starts fails."""
    return _file_fails(("test_fairness.py",), [18, 19])


def _constants(rulebook: str, only: set[int]) -> list[Constant]:
    if rulebook == "guide":
        return [*_table("guide", guide.STAGES, only), *_of_module(guide, "SEVERAL_PER_STEP")]
    if rulebook == "official":
        names = ("STEPS_AFTER_SUCCESS", "EXTRA_POUR_STEPS", "SEVERAL_PER_STEP")
        return [*_table("official", official.STAGES, only), *_of_module(official, *names)]
    if rulebook == "fairness":
        names = ("MOVED", "TOPPLED", "OVERLAP", "FLYING", "BELOW_TABLE")
        return _of_module(fairness, *names)
    limits: dict[tuple[int, str], Constant] = {}
    constants_of(LIMITS, "limits", 0, limits)
    for constant in limits.values():
        constant.tasks = set()
    return [*limits.values(), *_table("strict", strict_tasks.TASKS, only)]


NOTICED = {
    "guide": guide_noticed,
    "official": official_noticed,
    "strict": strict_noticed,
    "fairness": fairness_noticed,
}


def check(rulebook: str, only: set[int]) -> list[str]:
    """Change every constant of a rulebook; return the changes that no test noticed."""
    survivors, tried, began = [], 0, time.perf_counter()
    constants = _constants(rulebook, only)
    unchanged: set[tuple[int, ...]] = set()
    for constant in sorted(constants, key=lambda entry: min(entry.tasks, default=0)):
        tasks = sorted(constant.tasks) or [1]
        if tuple(tasks) not in unchanged:
            unchanged.add(tuple(tasks))
            if NOTICED[rulebook](constant, tasks):
                raise SystemExit(f"{rulebook}, tasks {tasks}: a test fails without any change")
        dropped = constant.label.endswith("(dropped)")
        changes = [("dropped", ())] if dropped else list(constant.changed())
        for what, value in changes:
            constant.set(value)
            try:
                noticed = NOTICED[rulebook](constant, tasks)
            finally:
                constant.set(constant.value)
            tried += 1
            if not noticed and constant.label in EXPLAINED:
                print(f"  cannot matter: {constant.label} ({EXPLAINED[constant.label]})")
            elif not noticed:
                survivors.append(f"{constant.label} = {constant.value!r} {what}")
                print(f"  survives: {survivors[-1]}", flush=True)
    seconds = time.perf_counter() - began
    print(f"{rulebook}: {tried} changes, {len(survivors)} survive ({seconds:.0f} s)", flush=True)
    return survivors


def main() -> int:
    """Check the rulebooks named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rulebooks", nargs="*", default=list(NOTICED))
    parser.add_argument("--tasks", help="comma-separated; all unless given")
    arguments = parser.parse_args()
    given = arguments.tasks.split(",") if arguments.tasks else range(1, 27)
    survivors = [
        survivor
        for rulebook in arguments.rulebooks
        for survivor in check(rulebook, {int(task) for task in given})
    ]
    return bool(survivors)


if __name__ == "__main__":
    sys.exit(main())
