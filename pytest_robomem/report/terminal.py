"""The summary at the end of a run, for a terminal."""

from collections.abc import Sequence

from pytest_robomem.results.records import EpisodeResult
from pytest_robomem.results.summary import GroupSummary, grouped, summarise

_HEAD = ("family", "scored", "errors", "TSR %", "[95 %]", "stages %", "goal %", "steps", "ep/h")


def summary_lines(records: Sequence[EpisodeResult], wall_seconds: float) -> list[str]:
    """A table by family and in total.

    Args:
        records: one for each episode.
        wall_seconds: wall time of the run, for episodes per hour.
    """
    families = grouped(records, lambda record: record.family or "own")
    groups = [summarise(name, group) for name, group in sorted(families.items())]
    rows = [_HEAD, *(_row(group, None) for group in groups)]
    rows.append(_row(summarise("total", records), wall_seconds))
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    return ["  ".join(_aligned(row, widths)).rstrip() for row in rows]


def _aligned(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    first, *others = zip(row, widths, strict=True)
    return [first[0].ljust(first[1]), *(text.rjust(width) for text, width in others)]


def _row(group: GroupSummary, wall_seconds: float | None) -> tuple[str, ...]:
    interval = group.tsr_interval
    episodes = group.scored + group.errors
    return (
        group.name,
        str(group.scored),
        str(group.errors),
        _number(group.tsr),
        f"[{interval[0]:.0f}-{interval[1]:.0f}]" if interval else "-",
        _number(group.stage_score),
        _number(group.goal_rate),
        "-" if group.steps is None else f"{group.steps:.0f}",
        f"{3600 * episodes / wall_seconds:.0f}" if wall_seconds else "",
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"
