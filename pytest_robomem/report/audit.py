"""Where the rulebooks disagree about the same rollouts."""

from collections.abc import Sequence

from pytest_robomem.results.records import EpisodeResult
from pytest_robomem.results.summary import grouped


def audit_lines(records: Sequence[EpisodeResult]) -> list[str]:
    """A table of TSR by task and rulebook, with an episode to look at for each disagreement.

    Args:
        records: ordered by task; errors and tasks with one rulebook are left out.
    """
    scored = [record for record in records if len(record.cards) > 1]
    if not scored:
        return ["no episode was scored by more than one rulebook"]
    books = sorted({name for record in scored for name in record.cards})
    lines = [" ".join(["task".ljust(46), *(f"{name:>9}" for name in books), " disagree  look at"])]
    for group in grouped(scored, lambda record: str(record.task_id)).values():
        disagreeing = [record for record in group if disagrees(record)]
        rates = [
            100 * sum(record.cards[name].stage_success for record in group) / len(group)
            for name in books
        ]
        look_at = _episode(disagreeing[0]) if disagreeing else ""
        first = group[0]
        cells = [f"{first.task_id!s:>3} {first.task_name}"[:46].ljust(46)]
        cells += [f"{rate:8.1f}%" for rate in rates]
        cells.append(f"{len(disagreeing):>4} of {len(group):<3} {look_at}")
        lines.append(" ".join(cells).rstrip())
    return lines


def disagrees(record: EpisodeResult) -> bool:
    """Whether an episode is a success under one rulebook and none under another.

    A rulebook that has not seen enough, because another ended the episode, does not disagree yet.
    """
    cards = record.cards.values()
    success = any(card.stage_success for card in cards)
    return success and any(not card.stage_success and not card.cut_short for card in cards)


def _episode(record: EpisodeResult) -> str:
    verdicts = ", ".join(
        f"{name}: {'success' if card.stage_success else card.failure_reason}"
        + (" (cut short)" if card.cut_short else "")
        for name, card in sorted(record.cards.items())
    )
    return f"seed {record.seed} ({verdicts})"
