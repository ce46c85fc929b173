"""Everything that is written at the end: two tables and `judges.json`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from pytest_robomem.results.files import write_text
from pytest_robomem.results.journal import read_journal

from .aggregation import Output, aggregate, output_of
from .navigation_metrics import METRICS
from .navigation_samples import NavigationSample
from .outcomes import JudgeInputError
from .plan_report import Plan, aggregate_plans, plan_of
from .rollout_report import compare_with_simulator
from .rows import describe, read_rows
from .statistics import defined, krippendorff_alpha, rate
from .tables import (
    NAVIGATION_COLUMNS,
    PLAN_COLUMNS,
    navigation_row,
    plan_row,
    write_table,
)
from .traces import PlanTrace
from .verdicts import (
    SCHEMA_VERSION,
    VERDICT_ADAPTER,
    AnyVerdict,
    NavigationVerdict,
    PlanVerdict,
    RolloutVerdict,
    Usage,
    Verdict,
)

AnyOf = TypeVar("AnyOf", bound=Verdict)
Row = TypeVar("Row", PlanTrace, NavigationSample)

PLAN_TABLE = "plan_scores.tsv"
NAVIGATION_TABLE = "navigation_scores.tsv"
REPORT_NAME = "judges.json"


def latest_verdicts(journal: Path) -> list[AnyVerdict]:
    """The last verdict on each sample, in the order in which the samples first came.

    Raises `JudgeInputError` where a whole line is no verdict.
    """
    latest: dict[tuple[str, str, str], AnyVerdict] = {}
    for number, record in enumerate(read_journal(journal), start=1):
        try:
            verdict = VERDICT_ADAPTER.validate_python(record, strict=False)
        except ValidationError as error:
            raise JudgeInputError(f"{journal}: record {number}: {describe(error)}") from None
        latest[verdict.kind, verdict.source, verdict.sample_id] = verdict
    return list(latest.values())


def write_results(folder: Path, journal: Path, *, zero_unscored: bool = False) -> dict[str, Any]:
    """Write the tables and the report of a journal into `folder`; return the report.

    Raises `JudgeInputError` or `OSError`.
    """
    verdicts = latest_verdicts(journal)
    plans = [verdict for verdict in verdicts if isinstance(verdict, PlanVerdict)]
    outputs = [verdict for verdict in verdicts if isinstance(verdict, NavigationVerdict)]
    if plans:
        write_table(folder / PLAN_TABLE, PLAN_COLUMNS, map(plan_row, _sorted(plans)))
    if outputs:
        rows = map(navigation_row, _sorted(outputs))
        write_table(folder / NAVIGATION_TABLE, NAVIGATION_COLUMNS, rows)
    report = make_report(verdicts, zero_unscored=zero_unscored)
    write_text(folder / REPORT_NAME, json.dumps(report, indent=1, allow_nan=False) + "\n")
    return report


def _sorted(verdicts: Iterable[AnyOf]) -> list[AnyOf]:
    return sorted(verdicts, key=lambda verdict: (verdict.source, verdict.sample_id))


def make_report(verdicts: Sequence[AnyVerdict], *, zero_unscored: bool = False) -> dict[str, Any]:
    """Summarise verdicts; rows of their manifests that were not judged count too."""
    notes: list[str] = []
    plans = [verdict for verdict in verdicts if isinstance(verdict, PlanVerdict)]
    outputs = [verdict for verdict in verdicts if isinstance(verdict, NavigationVerdict)]
    rollouts = [verdict for verdict in verdicts if isinstance(verdict, RolloutVerdict)]
    all_plans = [plan_of(verdict) for verdict in plans]
    all_plans += [
        Plan(trace.group, not trace.failed, trace.progress_ratio)
        for trace in _unjudged(plans, PlanTrace, "id", notes)
    ]
    all_outputs = [output_of(verdict) for verdict in outputs]
    all_outputs += [
        Output(sample.task, sample.modality, sample.level, sample.model)
        for sample in _unjudged(outputs, NavigationSample, "sample_id", notes)
    ]
    navigation = aggregate(all_outputs, zero_unscored=zero_unscored)
    return {
        "schema_version": SCHEMA_VERSION,
        "unscored_count_as_zero": zero_unscored,
        "plan": aggregate_plans(all_plans, zero_unscored=zero_unscored),
        "navigation": navigation,
        "rollout": compare_with_simulator(rollouts),
        "votes": [
            *_votes("plan", plans, {"score": "ordinal"}),
            *_votes("navigation", outputs, dict.fromkeys(METRICS["slag"], "nominal")),
        ],
        "statuses": dict(sorted(Counter(verdict.status.value for verdict in verdicts).items())),
        "usage": _usage(verdicts),
        "warnings": _warnings(verdicts),
        "notes": notes,
        "bound_violations": sorted(
            {fault for row in navigation for fault in row["bound_violations"]}
        ),
    }


def _unjudged(
    verdicts: Sequence[Verdict], model: type[Row], id_field: str, notes: list[str]
) -> list[Row]:
    """The rows of the verdicts' files that have no verdict."""
    judged: dict[str, set[str]] = {}
    for verdict in verdicts:
        if verdict.source_path is not None:
            judged.setdefault(verdict.source_path, set()).add(verdict.sample_id)
    missing: list[Row] = []
    for path, ids in sorted(judged.items()):
        try:
            rows = read_rows(Path(path), model, id_field)
        except JudgeInputError as error:
            notes.append(f"unjudged rows are not counted: {str(error).splitlines()[0]}")
            continue
        left = [row for row in rows if getattr(row, id_field) not in ids]
        if left:
            notes.append(f"{Path(path).name}: {len(left)} of {len(rows)} rows were not judged")
        missing += left
    return missing


def _votes(
    kind: str,
    verdicts: Sequence[PlanVerdict] | Sequence[NavigationVerdict],
    levels: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """How far repeated votes agree, by judge and value."""
    by_judge: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.scored and verdict.agreement is not None:
            by_judge.setdefault(verdict.judge_label, []).append(verdict)
    rows = []
    for judge, members in sorted(by_judge.items()):
        shares = [verdict.agreement for verdict in members if verdict.agreement is not None]
        alphas = {}
        for name, level in levels.items():
            units = [
                [(vote.values or {}).get(name) for vote in verdict.votes] for verdict in members
            ]
            if any(mark is not None for unit in units for mark in unit):
                alphas[name] = defined(krippendorff_alpha(units, level))
        rows.append(
            {
                "kind": kind,
                "judge": judge,
                "samples": len(members),
                "mean_agreement": sum(shares) / len(shares),
                "flip_rate": rate(sum(bool(each.flipped) for each in members), len(members)),
                "krippendorff_alpha": alphas,
            }
        )
    return rows


def _usage(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    votes = [vote for verdict in verdicts for vote in verdict.votes]
    tokens = sum((vote.usage for vote in votes), Usage())
    costs = [vote.cost_usd for vote in votes]
    return {
        "requests": sum(vote.attempts for vote in votes),
        "from_cache": sum(vote.cached for vote in votes),
        "tokens": tokens.model_dump(),
        "cost_usd": round(sum(cost for cost in costs if cost is not None), 6),
        "votes_without_price": sum(cost is None for cost in costs),
        "prices_as_of": sorted(
            {verdict.provenance.prices_as_of or "" for verdict in verdicts} - {""}
        ),
    }


def _warnings(verdicts: Sequence[Verdict]) -> list[str]:
    counts = Counter(warning for verdict in verdicts for warning in verdict.warnings)
    return [f"{warning} ({count} verdicts)" for warning, count in sorted(counts.items())]
