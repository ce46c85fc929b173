"""The deterministic layer over the plan judge's score.

The seed's decision tree and its "maximum score" sentence contradict each other in 44 of 256
cases; these rules decide them, in this order, and every change of a score is recorded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .traces import PlanTrace
from .verdicts import RuleApplied

SUCCESS_SCORE = 3
PERFECT_SCORE = 4


@dataclass(frozen=True, slots=True)
class PlanFacts:
    """What is known of a plan without a model; `goal_met` is None where nobody checked."""

    empty: bool
    interacts: bool
    navigation_goal: bool
    failed: bool
    goal_met: bool | None
    implied_step_missing: bool
    steps_completed: int
    total_steps: int

    @property
    def below_half(self) -> bool:
        """Whether less than half of the steps were executed, in integers."""
        return 2 * self.steps_completed < self.total_steps


def facts_of(trace: PlanTrace) -> PlanFacts:
    """Read the facts of a trace."""
    return PlanFacts(
        empty=not trace.executed_actions,
        interacts=trace.interacts,
        navigation_goal=trace.navigation_goal,
        failed=trace.failed,
        goal_met=trace.goal_met,
        implied_step_missing=bool(trace.missing_implied_steps),
        steps_completed=trace.steps_completed,
        total_steps=trace.total_steps,
    )


def decided_without_model(facts: PlanFacts) -> str | None:
    """Name the rule that scores a plan 0 without a call, or None."""
    if facts.empty:
        return "R1_nothing_executed"
    if not facts.interacts and not facts.navigation_goal:
        return "R2_navigation_only"
    return None


@dataclass(frozen=True, slots=True)
class RuledScore:
    """A score after the rules."""

    score: int
    rules: tuple[RuleApplied, ...]
    progress_conflict: bool


def apply_rules(
    score: int, facts: PlanFacts, profile: Literal["semantic", "literal"]
) -> RuledScore:
    """Apply ceilings, then the merciful floor, to a model's score 0 to 4."""
    unconfirmed_failure = facts.failed and facts.goal_met is not True
    early_failure = unconfirmed_failure and facts.below_half
    ceilings = [
        ("R3_failed", facts.failed, 3),
        ("R4_failed_goal_unconfirmed", unconfirmed_failure, 2),
        ("R5_implied_step_missing", not facts.failed and facts.implied_step_missing, 3),
        ("R6_failed_below_half", profile == "literal" and early_failure, 1),
    ]
    applied: list[RuleApplied] = []

    def change(rule: str, after: int) -> int:
        if after != score:
            applied.append(RuleApplied(rule=rule, before=score, after=after))
        return after

    for rule, holds, ceiling in ceilings:
        if holds:
            score = change(rule, min(score, ceiling))
    if facts.failed and facts.goal_met is True:
        score = change("R7_merciful_floor", max(score, SUCCESS_SCORE))
    conflict = profile == "semantic" and early_failure and score > 1
    return RuledScore(score, tuple(applied), conflict)
