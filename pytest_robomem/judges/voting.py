"""From several votes to one verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from .engine import Answer
from .outcomes import JudgeStatus
from .verdicts import Vote

Value = TypeVar("Value")


def lower_median(scores: Sequence[int]) -> int:
    """The median; of an even number of scores the lower of the middle two."""
    ordered = sorted(scores)
    return ordered[(len(ordered) - 1) // 2]


def majority(marks: Sequence[int]) -> int:
    """The majority of 0/1 marks; a tie is 0, as every ambiguity is."""
    return 1 if 2 * sum(marks) > len(marks) else 0


def votes_of(
    answers: Sequence[Answer[Value]], values_of: Callable[[Value], dict[str, int]]
) -> tuple[Vote, ...]:
    """The votes of the answers, with the scores of those that have a value."""
    return tuple(
        answer.vote
        if answer.value is None
        else answer.vote.model_copy(update={"values": values_of(answer.value)})
        for answer in answers
    )


def ok_values(votes: Sequence[Vote]) -> list[dict[str, int]]:
    """The scores of the votes that have some."""
    return [vote.values for vote in votes if vote.status is JudgeStatus.OK and vote.values]


def overall_status(votes: Sequence[Vote]) -> tuple[JudgeStatus, str]:
    """OK where more than half of the votes are; else the most frequent fault and its reason."""
    faults = [vote for vote in votes if vote.status is not JudgeStatus.OK]
    if 2 * len(faults) < len(votes):
        return JudgeStatus.OK, ""
    status = Counter(vote.status for vote in faults).most_common(1)[0][0]
    reason = next(vote.reason for vote in faults if vote.status is status)
    prefix = f"{len(faults)} of {len(votes)} votes: " if len(votes) > 1 else ""
    return status, prefix + reason


def agreement(
    values: Sequence[Mapping[str, int]], final: Mapping[str, int]
) -> tuple[float | None, bool | None]:
    """Least share over the keys of votes that equal the final value, and whether any differs."""
    if len(values) < 2 or not final:
        return None, None
    shares = [
        sum(each[name] == value for each in values) / len(values) for name, value in final.items()
    ]
    return min(shares), min(shares) < 1.0
