"""Versions, hashes and tables of the rulebooks, and the page that explains them."""

import dataclasses
import re
import subprocess
import sys

import pytest

from pytest_robomem.scoring import guide, official
from pytest_robomem.scoring.hashes import rules_hash
from pytest_robomem.scoring.rulebooks import RULEBOOKS
from pytest_robomem.scoring.strict.limits import LIMITS
from pytest_robomem.scoring.strict.rulebook import STRICT, rulebook_with
from pytest_robomem.scoring.strict.stages import Poured
from pytest_robomem.scoring.strict.tasks import SETTLED_CONTRADICTIONS, TASKS
from pytest_robomem.scoring.versions import SWEEPS
from tests.golden import ROOT, TASK_IDS

PAGE = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
PUBLIC_ISSUES = (*range(1, 12), 16, 18)
FINDS = (*"abcdefghijklmnopqrstuv", "v2", "v3", "w", "x", "z")


def test_versions() -> None:
    versions = {name: book.version for name, book in RULEBOOKS.items()}
    assert versions == {
        "guide": "guide@1",
        "official": "official@2026-07-21",
        "strict": "strict@1",
    }


def test_default_settings() -> None:
    settings = {name: (book.max_steps, book.replan_steps) for name, book in RULEBOOKS.items()}
    assert settings == {"guide": (3000, 5), "official": (2500, 10), "strict": (3000, 5)}
    assert (SWEEPS["official"][0], SWEEPS["official"][-1]) == (50, 100)


@pytest.mark.parametrize("name", RULEBOOKS)
def test_every_task_has_a_scorer(name: str) -> None:
    for task_id in TASK_IDS:
        card = RULEBOOKS[name].scorer_for(task_id).card()
        assert card.rules == RULEBOOKS[name].version
        assert card.stages
        assert not card.stage_success


def test_the_hash_is_the_same_in_another_process() -> None:
    code = (
        "from pytest_robomem.scoring.hashes import rules_hash;"
        "from pytest_robomem.scoring.rulebooks import RULEBOOKS;"
        "print(*map(rules_hash, RULEBOOKS.values()))"
    )
    environment = {"PYTHONHASHSEED": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == [rules_hash(book) for book in RULEBOOKS.values()]


def test_hashes_of_different_rulebooks_differ() -> None:
    assert len({rules_hash(book) for book in RULEBOOKS.values()}) == 3


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(LIMITS)])
def test_every_limit_changes_the_hash(field: str) -> None:
    changed = dataclasses.replace(LIMITS, **{field: getattr(LIMITS, field) + 1})
    assert rules_hash(rulebook_with(changed)) != rules_hash(STRICT)


@pytest.mark.parametrize("book", [guide.GUIDE, official.OFFICIAL], ids=lambda book: book.name)
def test_every_stage_constant_changes_the_hash(book: object) -> None:
    stages = dict(book.rules["stages"])
    first, *others = stages[1]
    moved = dataclasses.replace(first, check=dataclasses.replace(first.check, xy=0.13))
    changed = dataclasses.replace(
        book, rules={**book.rules, "stages": {**stages, 1: (moved, *others)}}
    )
    assert rules_hash(changed) != rules_hash(book)


def test_a_constant_that_cannot_be_hashed_is_an_error() -> None:
    spoilt = dataclasses.replace(STRICT, rules={"rule": object()})
    with pytest.raises(TypeError, match="cannot be hashed"):
        rules_hash(spoilt)


@pytest.mark.parametrize("task_id", TASK_IDS)
def test_strict_stages_refer_to_stages_before_them(task_id: int) -> None:
    names: list[str] = []
    for stage in TASKS[task_id].stages:
        if not isinstance(stage, Poured):
            assert set(stage.after) <= set(names)
        names.append(stage.name)
    assert len(set(names)) == len(names)


def test_the_page_gives_every_contradiction_and_its_reason() -> None:
    for task_id, reason in SETTLED_CONTRADICTIONS.items():
        assert f"| {task_id} | {reason} |" in PAGE


def test_the_page_answers_every_known_fault() -> None:
    section = PAGE.split("## Which fault")[1]
    answered = set()
    for row in re.findall(r"^\| (.+?) \|", section, flags=re.MULTILINE):
        for token in row.split(" "):
            if not re.fullmatch(r"(\d+|[a-z]\d?),?", token):
                break
            answered.add(token.rstrip(","))
    assert answered >= {*map(str, PUBLIC_ISSUES), *FINDS}
