"""From a verdict to a pytest outcome, the same for collected items and for fixtures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from _pytest.outcomes import Failed

if TYPE_CHECKING:
    from .verdicts import AnyVerdict, NavigationVerdict, PlanVerdict

PROPERTY = "robomem_judge"
UNJUDGED_PROPERTY = "robomem_judge_unjudged"
ERROR_PROPERTY = "robomem_judge_error"


class UnscoredError(Failed):
    """A sample has no score because the judging failed; that is no fault of the sample.

    pytest shows its reason alone, in a setup too; a traceback of ours would tell nobody anything.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason, pytrace=False)


class NotPassedError(Exception):
    """The judge gave a score, and it is not enough."""


def record_verdict(item: pytest.Item, verdict: AnyVerdict) -> None:
    """Hand a verdict to the controller, as plain data of the item's report."""
    item.user_properties.append((PROPERTY, verdict.model_dump(mode="json")))


def record_unjudged(item: pytest.Item, sample_id: str, reason: str) -> None:
    """Tell the controller that a sample was not asked about at all."""
    item.user_properties.append((UNJUDGED_PROPERTY, {"sample_id": sample_id, "reason": reason}))


def unscored_reason(verdict: AnyVerdict) -> str:
    """Why a verdict has no score, in a line."""
    return f"{verdict.sample_id} has no score: {verdict.status.value}: {verdict.reason}"


def plan_passes(verdict: PlanVerdict) -> bool:
    """A plan passes with a score of 3 or 4."""
    return bool(verdict.success)


def navigation_passes(verdict: NavigationVerdict, wanted: str) -> bool:
    """A navigation output passes by its primary success, or by the conjunction of all metrics."""
    if wanted == "overall":
        return bool(verdict.gates and verdict.gates["overall"])
    return bool(verdict.success)


def explain_plan(verdict: PlanVerdict) -> str:
    """What a person needs to know of a plan that did not pass."""
    rules = "".join(f"\n  {rule.rule}: {rule.before} -> {rule.after}" for rule in verdict.rules)
    raw = "" if verdict.score_raw is None else f" (the judge said {verdict.score_raw})"
    text = verdict.evaluate or verdict.reason
    return f"plan {verdict.sample_id}: score {verdict.score} of 4{raw}{rules}\n  {text}"


def explain_navigation(verdict: NavigationVerdict) -> str:
    """What a person needs to know of an output that did not pass."""
    zeros = [name for name, mark in (verdict.metrics or {}).items() if not mark]
    note = f"\n  contradictory: {', '.join(verdict.inconsistent)}" if verdict.inconsistent else ""
    return (
        f"{verdict.task} {verdict.modality} {verdict.sample_id}: 0 for {', '.join(zeros)}{note}"
        f"\n  {verdict.reasoning}"
    )
