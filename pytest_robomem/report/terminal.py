"""The summary at the end of a run, for a terminal."""

from collections.abc import Sequence

from pytest_robomem.report.audit import disagrees
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
    table = ["  ".join(_aligned(row, widths)).rstrip() for row in rows]
    return [*table, *_fairness(records), *_by_rulebook(records)]


def _fairness(records: Sequence[EpisodeResult]) -> list[str]:
    total = summarise("total", records)
    if not total.unfair:
        return []
    if total.fair_interval is None:
        return ["unfair start (broken before the first action): every scored episode"]
    low, high = total.fair_interval
    fair = total.scored - total.unfair
    return [
        f"unfair start (broken before the first action): {total.unfair} of {total.scored} "
        f"episodes; TSR of the other {fair}: {_number(total.fair_tsr)} % [{low:.0f}-{high:.0f}]"
    ]


def _by_rulebook(records: Sequence[EpisodeResult]) -> list[str]:
    """What each rulebook says about the same rollouts, the deciding one first."""
    scored = [record for record in records if len(record.cards) > 1]
    if not scored:
        return []
    shares = []
    for name in scored[0].cards:
        cards = [record.cards[name] for record in scored if name in record.cards]
        rate = 100.0 * sum(card.stage_success for card in cards) / len(cards)
        short = sum(card.cut_short for card in cards)
        shares.append(f"{name} {rate:.1f} %" + (f" ({short} cut short)" if short else ""))
    disagreeing = sum(disagrees(record) for record in scored)
    cut_short = any(
        card.cut_short and not card.stage_success
        for record in scored
        for card in record.cards.values()
    )
    if disagreeing:
        verdict = f"they disagree about {disagreeing} of {len(scored)} episodes, see robomem audit"
    elif cut_short:
        verdict = "they agree where none was cut short by the end of the episode"
    else:
        verdict = "they agree about every episode"
    return [f"TSR of the same rollouts by rulebook: {', '.join(shares)}; {verdict}"]


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
