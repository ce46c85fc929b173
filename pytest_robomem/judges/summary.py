"""The judges' part of the terminal summary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .textsafe import one_line


def percent(value: float | None) -> str:
    """A rate as text."""
    return "-" if value is None else f"{100 * value:.1f}%"


def _interval(bounds: tuple[float, float] | list[float] | None) -> str:
    return "" if bounds is None else f" [{100 * bounds[0]:.1f}, {100 * bounds[1]:.1f}]"


def summary_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Lines for people, from the report that is written as `judges.json`."""
    yield from _plan_lines(report["plan"])
    yield from _navigation_lines(report["navigation"])
    yield from _rollout_lines(report["rollout"])
    for row in report["votes"]:
        yield (
            f"{row['kind']} votes ({row['judge']}): agreement {percent(row['mean_agreement'])}, "
            f"flipped {percent(row['flip_rate'])} of {row['samples']}"
        )
    usage = report["usage"]
    price = f"{usage['cost_usd']:.4f} USD"
    if usage["prices_as_of"]:
        price += f" by prices of {', '.join(usage['prices_as_of'])}"
    if usage["votes_without_price"]:
        price += f", {usage['votes_without_price']} votes without a known price"
    yield f"requests {usage['requests']}, from cache {usage['from_cache']}, cost {price}"
    for warning in report["warnings"]:
        yield f"warning: {one_line(warning)}"
    for note in report["notes"]:
        yield f"note: {one_line(note)}"
    for fault in report["bound_violations"]:
        yield f"IMPOSSIBLE: {one_line(fault)}"


def _plan_lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        counts = " ".join(f"{score}:{count}" for score, count in row["histogram"].items())
        mean = "-" if row["mean_score"] is None else f"{row['mean_score']:.2f}"
        yield (
            f"plans {one_line(row['group'], 40)} ({row['judge']}): mean {mean}, "
            f"success {percent(row['success_rate'])}{_interval(row['success_interval'])} of "
            f"{row['plans']}, {percent(row['success_rate_scored'])} of {row['scored']} scored, "
            f"strict {percent(row['strict_rate'])}, simulator {percent(row['sim_success_rate'])}, "
            f"scores {counts}"
        )


def _navigation_lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        if row["grouping"] not in ("all", "task and modality"):
            continue
        yield (
            f"navigation {row['group']} ({row['judge']}): "
            f"success {percent(row['success_rate'])}{_interval(row['success_interval'])} of "
            f"{row['outputs']}, {percent(row['success_rate_scored'])} of {row['scored']} scored, "
            f"oracle {percent(row['oracle_rate'])}, "
            f"original destination {percent(row['success_original_destination_rate'])}, "
            f"physics {percent(row['physics_validness_rate'])}, "
            f"overall {percent(row['overall_rate'])}"
        )


def _rollout_lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        kappa = "-" if row["kappa"] is None else f"{row['kappa']:.2f}"
        bounds = row["kappa_interval"]
        interval = "" if bounds is None else f" [{bounds[0]:.2f}, {bounds[1]:.2f}]"
        yield (
            f"rollouts {one_line(row['stage_kind'], 40)} ({row['judge']}): kappa {kappa}{interval} "
            f"over {row['stages']} stages of {row['episodes']} episodes, "
            f"equal {percent(row['equal_rate'])}, seen by the judge only {row['false_positives']}"
        )
