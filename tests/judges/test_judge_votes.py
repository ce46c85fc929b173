"""Votes: majority by metric, lower median, agreement, and what happens without a majority."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_gemini import FakeGemini, failed, generated, navigation_json, plan_json
from judge_samples import failed_trace, sample, trace

from pytest_robomem.judges.navigation_samples import NavigationSample
from pytest_robomem.judges.traces import PlanTrace
from pytest_robomem.judges.voting import agreement, lower_median, majority

MakeRuntime = Callable[..., Any]


@pytest.mark.parametrize(
    ("scores", "median"),
    [([3], 3), ([3, 4], 3), ([4, 0, 3], 3), ([1, 2, 3, 4], 2), ([4, 4, 3, 3], 3)],
)
def test_ties_go_to_the_lower_score(scores: list[int], median: int) -> None:
    assert lower_median(scores) == median


@pytest.mark.parametrize(
    ("marks", "result"), [([1], 1), ([1, 0], 0), ([1, 1, 0], 1), ([0, 0, 1], 0)]
)
def test_ties_of_marks_are_zero(marks: list[int], result: int) -> None:
    assert majority(marks) == result


def test_agreement_is_the_least_over_the_keys() -> None:
    votes = [{"a": 1, "b": 1}, {"a": 1, "b": 0}, {"a": 1, "b": 0}]
    assert agreement(votes, {"a": 1, "b": 0}) == (pytest.approx(2 / 3), True)
    assert agreement(votes, {"a": 1}) == (1.0, False)
    assert agreement(votes[:1], {"a": 1}) == (None, None)


def plan_verdict(server: FakeGemini, runtime: Any, row: dict[str, Any], scores: list[int]) -> Any:
    server.script.extend(generated(plan_json(score)) for score in scores)
    return runtime.plan(PlanTrace.model_validate(row), source="s").result(30)


def test_median_before_rules(server: FakeGemini, make_runtime: MakeRuntime) -> None:
    verdict = plan_verdict(
        server, make_runtime(votes=5), failed_trace(3, 4, goal_met=False), [4, 4, 3, 1, 0]
    )
    assert (verdict.score_raw, verdict.score) == (3, 2)
    assert [rule.rule for rule in verdict.rules] == ["R4_failed_goal_unconfirmed"]
    assert (verdict.agreement, verdict.flipped) == (0.2, True)
    assert sorted(vote.values["score"] for vote in verdict.votes) == [0, 1, 3, 4, 4]
    assert verdict.judge_success is True
    assert verdict.judge_success_differs is True


def test_the_models_own_success_is_compared_but_not_used(
    server: FakeGemini, make_runtime: MakeRuntime
) -> None:
    server.script.append(generated(plan_json(2, success=True)))
    verdict = make_runtime().plan(PlanTrace.model_validate(trace()), source="s").result(30)
    assert (verdict.success, verdict.judge_success, verdict.judge_success_differs) == (
        False,
        True,
        True,
    )


def test_conjunctions_come_from_voted_metrics(
    server: FakeGemini, make_runtime: MakeRuntime, media: Path
) -> None:
    zeros = [["OBJECT_SEMANTIC_SCORE"], ["AGENT_CONSISTENCY_SCORE"], ["SPATIAL_ALIGNMENT_SCORE"]]

    def responder(call: Any) -> Any:
        return generated(navigation_json(call, dict.fromkeys(zeros.pop(), "0")))

    server.responder = responder
    checked = NavigationSample.model_validate(sample())
    verdict = make_runtime(votes=3).navigation(checked, folder=media, source="s").result(30)
    assert [sum(vote.values.values()) for vote in verdict.votes] == [6, 6, 6]
    assert set(verdict.metrics.values()) == {1}
    assert verdict.gates["physics_validness"] == 1, "no vote says so, but the voted metrics do"
    assert (verdict.agreement, verdict.flipped) == (pytest.approx(2 / 3), True)


def test_without_a_majority_of_usable_votes_there_is_no_score(
    server: FakeGemini, make_runtime: MakeRuntime
) -> None:
    server.script.extend([failed(403, "PERMISSION_DENIED")] * 2)
    verdict = make_runtime(votes=3).plan(PlanTrace.model_validate(trace()), source="s").result(30)
    assert (verdict.status, verdict.score) == ("api_error", None)
    assert verdict.reason.startswith("2 of 3 votes: ")
    assert sum(vote.values is not None for vote in verdict.votes) == 1


def test_plans_without_work_are_scored_without_a_call(
    server: FakeGemini, make_runtime: MakeRuntime
) -> None:
    runtime = make_runtime()
    walk = trace(executed_actions=["navigate(a, b)"], steps_completed=1, total_steps=1)
    rows = [
        (failed_trace(0, 3), "R1_nothing_executed"),
        (walk, "R2_navigation_only"),
        (failed_trace(0, 3, goal_met=True), "R1_nothing_executed"),
    ]
    for row, rule in rows:
        verdict = runtime.plan(PlanTrace.model_validate(row), source="s").result(30)
        assert (verdict.status, verdict.score, verdict.success) == ("rule", 0, False)
        assert verdict.rules[0].rule == rule
        assert verdict.votes == ()
    assert not server.calls
    goal = PlanTrace.model_validate(walk | {"navigation_goal": True})
    assert runtime.plan(goal, source="s").result(30).score == 4
    assert len(server.calls) == 1


def test_rules_of_a_trace_reach_the_verdict(server: FakeGemini, make_runtime: MakeRuntime) -> None:
    runtime = make_runtime()
    missing = plan_verdict(server, runtime, trace(implied_steps=["toggle_on(tap)"]), [4])
    assert (missing.score, missing.rules[0].rule) == (3, "R5_implied_step_missing")
    crashed = plan_verdict(server, runtime, failed_trace(1, 4, goal_met=True), [1])
    assert (crashed.score, crashed.rules[0].rule) == (3, "R7_merciful_floor")
    early = plan_verdict(server, runtime, failed_trace(1, 5), [2])
    assert (early.score, early.progress_conflict, early.progress_ratio) == (2, True, 0.2)
    literal = plan_verdict(server, make_runtime(profile="literal"), failed_trace(1, 5), [2])
    assert (literal.score, literal.progress_conflict) == (1, False)
    assert literal.judge_label != early.judge_label
