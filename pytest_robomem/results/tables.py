"""TSV and JSON files of a run. The public evaluator's columns come first, ours after them."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pytest_robomem.results.columns import (
    POUR_DETAILS,
    REPLAY_COLUMNS,
    episode_columns,
    task_columns,
)
from pytest_robomem.results.files import write_text
from pytest_robomem.results.mixing import require_same_rules, rules_hashes
from pytest_robomem.results.records import EpisodeResult
from pytest_robomem.results.summary import GroupSummary, grouped, macro_mean, summarise


def write_tables(folder: Path, records: Sequence[EpisodeResult], seeds: Sequence[int]) -> None:
    """Write ``episodes.tsv``, ``task_summary.tsv``, ``summary.json`` and ``aggregate.json``.

    Replayed episodes leave ``replay.tsv`` too.

    Args:
        folder: the results folder.
        records: one for each episode, ordered.
        seeds: of the run; the public column ``ep`` is a seed's number in it.

    Raises:
        MixedRulesError: the records were scored by different rules.
    """
    require_same_rules(records)
    rules = records[0].rules if records else ""
    tasks = grouped(records, lambda record: str(record.task_id))
    summaries = {name: summarise(name, group) for name, group in tasks.items()}
    video_dir = str(folder / "videos")
    _write_tsv(
        folder / "episodes.tsv",
        episode_columns(rules),
        (_episode_row(record, seeds, video_dir) for record in records),
    )
    _write_tsv(
        folder / "task_summary.tsv",
        task_columns(rules),
        (_task_row(tasks[name], summaries[name], video_dir) for name in tasks),
    )
    _write_json(
        folder / "summary.json",
        [_task_json(tasks[name], summaries[name], seeds, video_dir) for name in tasks],
    )
    _write_json(folder / "aggregate.json", _aggregate(records, list(summaries.values())))
    if replays := [_replay_row(record) for record in records if record.replay is not None]:
        _write_tsv(folder / "replay.tsv", REPLAY_COLUMNS, replays)


def _episode_number(record: EpisodeResult, seeds: Sequence[int]) -> int | str:
    return seeds.index(record.seed) if record.seed in seeds else ""


def _yes_no(value: bool, record: EpisodeResult) -> str:
    """The public Y and N; nothing for an episode that was not evaluated."""
    return "" if record.status == "error" else "Y" if value else "N"


def _one_decimal(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _episode_row(record: EpisodeResult, seeds: Sequence[int], video_dir: str) -> dict[str, object]:
    scored = record.status != "error"
    return {
        **_pour_details(record),
        "TSR": "" if not scored else "100" if record.stage_success else "0",
        "CSR": _one_decimal(record.stage_score if scored else None),
        "task_id": record.task_id,
        "ep": _episode_number(record, seeds),
        "seed": record.seed,
        "score_pct": _one_decimal(record.stage_score if scored else None),
        "goal": _yes_no(record.goal_success, record),
        "prompt": record.prompt,
        "video_dir": video_dir,
        "tsr_success": _yes_no(record.stage_success, record),
        "status": record.status,
        "rules": record.rules,
        "success_asked": record.success,
        "goal_ever": _yes_no(bool(record.goal and record.goal.ever), record),
        "steps": record.steps,
        "failure_reason": record.failure_reason,
        "unfair_start": "; ".join(record.unfair_start),
        "clipped_values": record.clipped_values,
        "initial_state_sha256": record.initial_state_sha256,
        "family": record.family,
        "memory": "+".join(record.memory),
        "wall_seconds": f"{record.wall_times.total:.2f}",
        "trajectory": record.trajectory,
        "message": record.message,
        "node_id": record.node_id,
    }


def _pour_details(record: EpisodeResult) -> dict[str, object]:
    """What only the public scorer of 2026-07-21 says of a pour; empty where it says nothing."""
    card = record.deciding_card
    details = card.details if card else {}
    found = {name: details.get(name) for name in POUR_DETAILS}
    return {name: "" if value is None else value for name, value in found.items()}


def _replay_row(record: EpisodeResult) -> dict[str, object]:
    assert record.replay is not None
    figures = record.replay.model_dump()
    cards, versions = figures["differing_cards"], figures["differing_versions"]
    return {
        **figures,
        "task_id": record.task_id,
        "seed": record.seed,
        "differing_cards": "unknown" if cards is None else " ".join(cards),
        "differing_versions": " ".join(f"{name}={a}>{b}" for name, (a, b) in versions.items()),
    }


def _task_row(
    group: Sequence[EpisodeResult], summary: GroupSummary, video_dir: str
) -> dict[str, object]:
    low, high = summary.tsr_interval or (None, None)
    return {
        "TSR": _one_decimal(summary.tsr),
        "CSR": _one_decimal(summary.stage_score),
        "task_id": group[0].task_id,
        "num_trials": summary.scored,
        "seed_start": min(record.seed for record in group),
        "average_score_pct": _one_decimal(summary.stage_score),
        "goal_success_rate_pct": _one_decimal(summary.goal_rate),
        "prompt": group[0].prompt,
        "video_dir": video_dir,
        "tsr_success_rate_pct": _one_decimal(summary.tsr),
        "tsr_low_pct": _one_decimal(low),
        "tsr_high_pct": _one_decimal(high),
        "num_passed": summary.passed,
        "num_errors": summary.errors,
        "num_unfair": summary.unfair,
        "fair_tsr_pct": _one_decimal(summary.fair_tsr),
        "average_steps": _one_decimal(summary.steps),
        "family": group[0].family,
    }


def _task_json(
    group: Sequence[EpisodeResult], summary: GroupSummary, seeds: Sequence[int], video_dir: str
) -> dict[str, Any]:
    return {
        "task_id": group[0].task_id,
        "num_trials": summary.scored,
        "seed_start": min(record.seed for record in group),
        "average_score_pct": summary.stage_score,
        "goal_success_rate_pct": summary.goal_rate,
        "prompt": group[0].prompt,
        "video_dir": video_dir,
        "tsr_success_rate_pct": summary.tsr,
        "tsr_interval_pct": summary.tsr_interval,
        "num_passed": summary.passed,
        "num_errors": summary.errors,
        "num_unfair": summary.unfair,
        "fair_tsr_pct": summary.fair_tsr,
        "fair_tsr_interval_pct": summary.fair_interval,
        "TSR": summary.tsr,
        "CSR": summary.stage_score,
        "episodes": [_episode_json(record, seeds) for record in group],
    }


def _episode_json(record: EpisodeResult, seeds: Sequence[int]) -> dict[str, Any]:
    card = record.deciding_card
    scored = record.status != "error"
    return {
        "ep": _episode_number(record, seeds),
        "seed": record.seed,
        "score_pct": record.stage_score if scored else None,
        "goal_success": record.goal_success if scored else None,
        "stage_done": (
            {stage.name: stage.completed_at is not None for stage in card.stages} if card else {}
        ),
        "tsr_success": record.stage_success if scored else None,
        **record.to_builtins(),
    }


def _aggregate(
    records: Sequence[EpisodeResult], summaries: Sequence[GroupSummary]
) -> dict[str, Any]:
    overall = summarise("total", records)
    return {
        "num_tasks": len(summaries),
        "num_episodes": overall.scored,
        "seed_start": min((record.seed for record in records), default=None),
        "macro_average_score_pct": macro_mean(summary.stage_score for summary in summaries),
        "macro_goal_success_rate_pct": macro_mean(summary.goal_rate for summary in summaries),
        "macro_tsr_success_rate_pct": macro_mean(summary.tsr for summary in summaries),
        "tsr_success_rate_pct": overall.tsr,
        "tsr_interval_pct": overall.tsr_interval,
        "num_passed": overall.passed,
        "num_errors": overall.errors,
        "num_unfair": overall.unfair,
        "fair_tsr_pct": overall.fair_tsr,
        "fair_tsr_interval_pct": overall.fair_interval,
        "TSR": macro_mean(summary.tsr for summary in summaries),
        "CSR": macro_mean(summary.stage_score for summary in summaries),
        "rules_hashes": rules_hashes(records),
        "rules": sorted({record.rules for record in records}),
    }


def _write_tsv(path: Path, columns: Sequence[str], rows: Iterable[dict[str, object]]) -> None:
    buffer = io.StringIO()
    writer = csv.DictWriter(
        buffer, columns, delimiter="\t", lineterminator="\n", extrasaction="ignore"
    )
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _one_line(value) for name, value in row.items()})
    write_text(path, buffer.getvalue())


def _one_line(value: object) -> object:
    """Tabs and line breaks would need quotes, which many readers of TSV do not know."""
    return " | ".join(value.split("\n")).replace("\t", " ") if isinstance(value, str) else value


def _write_json(path: Path, content: object) -> None:
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
