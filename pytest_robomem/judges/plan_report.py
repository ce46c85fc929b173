"""Plan results by group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .aggregation import UNJUDGED
from .plan_rules import PERFECT_SCORE, SUCCESS_SCORE
from .statistics import rate, wilson
from .verdicts import PlanVerdict


@dataclass(frozen=True, slots=True)
class Plan:
    """One trace, and its verdict if it has one."""

    group: str | None
    sim_success: bool
    progress_ratio: float
    verdict: PlanVerdict | None = None


def plan_of(verdict: PlanVerdict) -> Plan:
    """The trace that a verdict speaks of."""
    return Plan(verdict.group, verdict.sim_success, verdict.progress_ratio, verdict)


def aggregate_plans(plans: Sequence[Plan], *, zero_unscored: bool = False) -> list[dict[str, Any]]:
    """Summarise plans by judge and, within it, by group.

    Plans that a rule decided belong to every judge of the same configuration; plans without a
    score count in the denominators of all judges.
    """
    by_judge: dict[str, list[Plan]] = defaultdict(list)
    shared: list[Plan] = []
    for plan in plans:
        verdict = plan.verdict
        if verdict is not None and verdict.score is not None and verdict.model_version:
            by_judge[verdict.judge_label].append(plan)
        else:
            shared.append(plan)
    if not by_judge and shared:
        labels = [plan.verdict.judge_label for plan in shared if plan.verdict is not None]
        by_judge[labels[0] if labels else UNJUDGED] = []
    rows: list[dict[str, Any]] = []
    for judge in sorted(by_judge):
        members: dict[tuple[str, str], list[Plan]] = defaultdict(list)
        for plan in (*by_judge[judge], *_fitting(shared, judge)):
            members["all", "all"].append(plan)
            if plan.group is not None:
                members["group", plan.group].append(plan)
        rows.extend(
            {
                "judge": judge,
                "grouping": grouping,
                "group": group,
                **summarise_plans(members[grouping, group], zero_unscored=zero_unscored),
            }
            for grouping, group in sorted(members)
        )
    return rows


def _fitting(plans: Iterable[Plan], judge: str) -> Iterable[Plan]:
    config = judge.rpartition("@")[2]
    for plan in plans:
        verdict = plan.verdict
        other = verdict is not None and verdict.judge_label.rpartition("@")[2] != config
        if not (other and verdict is not None and verdict.scored):
            yield plan


def summarise_plans(plans: Sequence[Plan], *, zero_unscored: bool = False) -> dict[str, Any]:
    """Mean, histogram and success rates of one group, over the scored and over all plans."""
    verdicts = [plan.verdict for plan in plans if plan.verdict is not None]
    scores = [verdict.score for verdict in verdicts if verdict.score is not None]
    if zero_unscored:
        scores += [0] * (len(plans) - len(scores))
    successes = sum(score >= SUCCESS_SCORE for score in scores)
    perfect = sum(score == PERFECT_SCORE for score in scores)
    simulated = sum(plan.sim_success for plan in plans)
    return {
        "plans": len(plans),
        "scored": len(scores),
        "coverage": rate(len(scores), len(plans)),
        "mean_score": sum(scores) / len(scores) if scores else None,
        "histogram": {str(score): scores.count(score) for score in range(PERFECT_SCORE + 1)},
        "success_ones": successes,
        "success_rate": rate(successes, len(plans)),
        "success_rate_scored": rate(successes, len(scores)),
        "success_interval": wilson(successes, len(plans)),
        "strict_ones": perfect,
        "strict_rate": rate(perfect, len(plans)),
        "strict_rate_scored": rate(perfect, len(scores)),
        "sim_success_ones": simulated,
        "sim_success_rate": rate(simulated, len(plans)),
        "mean_progress": (
            sum(plan.progress_ratio for plan in plans) / len(plans) if plans else None
        ),
        "decided_by_rule": sum(verdict.status == "rule" for verdict in verdicts),
        "changed_by_rules": sum(
            verdict.score_raw is not None and verdict.score_raw != verdict.score
            for verdict in verdicts
        ),
        "progress_conflicts": sum(verdict.progress_conflict for verdict in verdicts),
        "judge_success_differs": sum(verdict.judge_success_differs for verdict in verdicts),
    }
