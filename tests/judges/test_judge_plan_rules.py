"""The deterministic layer over the plan score, against all 256 cases of the decision tree."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import pytest

from pytest_robomem.judges.plan_rules import PlanFacts, apply_rules, decided_without_model


class Case(NamedTuple):
    relevant: bool
    goal_met: bool
    walks_only: bool
    semantic_half: bool
    implied_steps_there: bool
    efficient: bool
    failed: bool
    steps_half: bool


CASES = [Case(*bits) for bits in itertools.product((False, True), repeat=8)]


def tree(case: Case) -> int:
    """The seed's decision tree, read from top to bottom, as a model would follow it."""
    if not case.relevant:
        return 0
    if not case.goal_met:
        if case.walks_only:
            return 0
        return 2 if case.semantic_half else 1
    if not case.implied_steps_there or case.failed or not case.efficient:
        return 3
    return 4


def ceiling_sentence(case: Case) -> int:
    """The seed's "maximum score" sentences of the user part."""
    if case.walks_only:
        return 0
    if case.failed:
        return 3 if case.steps_half else 1
    return 4


def facts(case: Case) -> PlanFacts:
    return PlanFacts(
        empty=False,
        interacts=not case.walks_only,
        navigation_goal=False,
        failed=case.failed,
        goal_met=case.goal_met,
        implied_step_missing=not case.implied_steps_there,
        steps_completed=2 if case.steps_half else 1,
        total_steps=4,
    )


def expected(case: Case, profile: str) -> int:
    """What the score must be, written as a table of the resolved contradictions."""
    if case.walks_only:
        return 0
    if case.failed and case.goal_met:
        return 3
    if not case.relevant:
        return 0
    if not case.goal_met:
        if profile == "literal" and case.failed and not case.steps_half:
            return 1
        return 2 if case.semantic_half else 1
    return 4 if case.implied_steps_there and case.efficient else 3


def final(case: Case, profile: str) -> int:
    if decided_without_model(facts(case)):
        return 0
    return apply_rules(tree(case), facts(case), profile).score  # type: ignore[arg-type]


@pytest.mark.parametrize("profile", ["semantic", "literal"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: "".join(map(str, map(int, case))))
def test_every_case_of_the_tree(case: Case, profile: str) -> None:
    assert final(case, profile) == expected(case, profile)


def test_the_seed_contradicts_itself_in_44_cases_of_three_kinds() -> None:
    contradictions = [case for case in CASES if tree(case) > ceiling_sentence(case)]
    late = [c for c in contradictions if c.failed and not c.goal_met and not c.walks_only]
    merciful = [c for c in contradictions if c.failed and c.goal_met and not c.walks_only]
    walking = [c for c in contradictions if c.walks_only]
    assert (len(late), len(merciful), len(walking)) == (4, 8, 32)
    assert len(contradictions) == 44


def base(**changes: object) -> PlanFacts:
    values: dict[str, object] = {
        "empty": False,
        "interacts": True,
        "navigation_goal": False,
        "failed": False,
        "goal_met": None,
        "implied_step_missing": False,
        "steps_completed": 4,
        "total_steps": 4,
    }
    return PlanFacts(**values | changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "profile", "raw", "score", "rules"),
    [
        ({}, "semantic", 4, 4, []),
        ({"failed": True, "goal_met": True}, "semantic", 4, 3, ["R3_failed"]),
        ({"failed": True}, "semantic", 4, 2, ["R3_failed", "R4_failed_goal_unconfirmed"]),
        ({"failed": True}, "semantic", 3, 2, ["R4_failed_goal_unconfirmed"]),
        ({"failed": True, "goal_met": False}, "semantic", 2, 2, []),
        ({"implied_step_missing": True}, "semantic", 4, 3, ["R5_implied_step_missing"]),
        ({"failed": True, "goal_met": True}, "semantic", 1, 3, ["R7_merciful_floor"]),
        ({"failed": True, "steps_completed": 1}, "literal", 2, 1, ["R6_failed_below_half"]),
        ({"failed": True, "steps_completed": 2}, "literal", 2, 2, []),
        ({"failed": True, "steps_completed": 1, "goal_met": True}, "literal", 3, 3, []),
        ({"goal_met": True}, "semantic", 2, 2, []),
    ],
)
def test_each_rule_records_what_it_changed(
    changes: dict[str, object], profile: str, raw: int, score: int, rules: list[str]
) -> None:
    ruled = apply_rules(raw, base(**changes), profile)  # type: ignore[arg-type]
    assert ruled.score == score
    assert [rule.rule for rule in ruled.rules] == rules
    before = raw
    for rule in ruled.rules:
        assert rule.before == before
        before = rule.after
    assert before == score


def test_the_floor_needs_the_simulators_word() -> None:
    assert apply_rules(1, base(failed=True, goal_met=None), "semantic").score == 1


def test_progress_conflict_is_marked_in_the_semantic_profile_only() -> None:
    early = base(failed=True, goal_met=False, steps_completed=1)
    assert apply_rules(2, early, "semantic").progress_conflict
    assert not apply_rules(1, early, "semantic").progress_conflict
    assert not apply_rules(2, early, "literal").progress_conflict


@pytest.mark.parametrize(
    ("done", "total", "below"), [(1, 2, False), (1, 3, True), (2, 5, True), (3, 6, False)]
)
def test_half_is_inclusive_and_exact(done: int, total: int, below: bool) -> None:
    assert base(steps_completed=done, total_steps=total).below_half is below


def test_plans_without_work_need_no_model() -> None:
    assert decided_without_model(base(empty=True)) == "R1_nothing_executed"
    assert decided_without_model(base(interacts=False)) == "R2_navigation_only"
    assert decided_without_model(base(interacts=False, navigation_goal=True)) is None
    assert decided_without_model(base()) is None
