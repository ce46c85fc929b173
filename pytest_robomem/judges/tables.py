"""Tab-separated tables that any program can read back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_robomem.results.files import write_text

from .navigation_metrics import ALL_METRICS, GATES
from .textsafe import encodable
from .verdicts import NavigationVerdict, PlanVerdict, Verdict

_COMMON_BEGIN = ("id", "source", "status")
_COMMON_END = (
    "votes",
    "votes_ok",
    "agreement",
    "flipped",
    "model_requested",
    "model_version",
    "prompt_versions",
    "config",
    "requests",
    "from_cache",
    "cost_usd",
    "warnings",
    "reason",
)
PLAN_COLUMNS = (
    *_COMMON_BEGIN,
    "group",
    "score_raw",
    "score",
    "success",
    "strict_success",
    "sim_success",
    "steps_completed",
    "total_steps",
    "progress_ratio",
    "profile",
    "rules",
    "progress_conflict",
    "judge_success",
    "judge_success_differs",
    *_COMMON_END,
)
NAVIGATION_COLUMNS = (
    *_COMMON_BEGIN,
    "task",
    "modality",
    "floors",
    "fidelity",
    "distance",
    "destination",
    "model",
    "attempt",
    "success",
    *ALL_METRICS,
    *GATES,
    "inconsistent",
    *_COMMON_END,
)


def cell(value: object) -> str:
    """One value as text without tabs or line ends; None is empty, true and false are 1 and 0."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, (tuple, list)):
        value = "; ".join(map(str, value))
    text = encodable(str(value)).replace("\\", "\\\\")
    return text.replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def _common(verdict: Verdict) -> dict[str, Any]:
    costs = [vote.cost_usd for vote in verdict.votes]
    provenance = verdict.provenance
    return {
        "id": verdict.sample_id,
        "source": verdict.source,
        "status": verdict.status.value,
        "votes": len(verdict.votes),
        "votes_ok": sum(vote.values is not None for vote in verdict.votes),
        "agreement": verdict.agreement,
        "flipped": verdict.flipped,
        "model_requested": provenance.model_requested,
        "model_version": verdict.model_version,
        "prompt_versions": [f"{name}:{number}" for name, number in provenance.prompts.items()],
        "config": provenance.config_sha256[:8],
        "requests": sum(vote.attempts for vote in verdict.votes),
        "from_cache": sum(vote.cached for vote in verdict.votes),
        "cost_usd": None if None in costs else round(sum(cost or 0.0 for cost in costs), 6),
        "warnings": verdict.warnings,
        "reason": verdict.reason,
    }


def plan_row(verdict: PlanVerdict) -> dict[str, Any]:
    """A row of `plan_scores.tsv`."""
    fields = verdict.model_dump(include=set(PLAN_COLUMNS))
    rules = [f"{rule.rule}:{rule.before}>{rule.after}" for rule in verdict.rules]
    return fields | _common(verdict) | {"rules": rules}


def navigation_row(verdict: NavigationVerdict) -> dict[str, Any]:
    """A row of `navigation_scores.tsv`; a metric that the task does not have stays empty."""
    return {
        **_common(verdict),
        "task": verdict.task,
        "modality": verdict.modality,
        **verdict.level.model_dump(),
        "model": verdict.model,
        "attempt": verdict.attempt,
        "success": verdict.success,
        **(verdict.metrics or {}),
        **(verdict.gates or {}),
        "inconsistent": verdict.inconsistent,
    }


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a table with a header. Raises `OSError`."""
    lines = ["\t".join(columns)]
    lines += ["\t".join(cell(row.get(column)) for column in columns) for row in rows]
    write_text(path, "\n".join(lines) + "\n")
