"""Rates over episodes, with their denominators and intervals."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from pytest_robomem.results.records import EpisodeResult

CONFIDENCE = 0.95


@dataclass(frozen=True)
class GroupSummary:
    """Figures of a group of episodes. Errors are counted apart and enter no rate.

    Attributes:
        name: of the group.
        scored: episodes that were evaluated; the denominator of all rates.
        errors: episodes that were not.
        passed: of the scored ones.
        tsr: percent of scored episodes with all stages completed; ``None`` without any.
        tsr_interval: Wilson interval of it at 95 percent.
        stage_score: mean of completed stages in percent.
        goal_rate: percent whose goal held at the end.
        steps: mean policy steps.
        unfair: of the scored ones, how many began in a broken scene; the rates above count them.
        fair_tsr, fair_interval: the same rate and interval without those.
        seconds: wall time of all episodes, summed over workers.
    """

    name: str
    scored: int
    errors: int
    passed: int
    tsr: float | None
    tsr_interval: tuple[float, float] | None
    stage_score: float | None
    goal_rate: float | None
    steps: float | None
    unfair: int
    fair_tsr: float | None
    fair_interval: tuple[float, float] | None
    seconds: float


def latest(records: Iterable[EpisodeResult]) -> list[EpisodeResult]:
    """The last record of every item, ordered by task and seed."""
    by_item = {record.node_id: record for record in records}
    return sorted(by_item.values(), key=_order)


def _order(record: EpisodeResult) -> tuple[bool, int, str, int, str]:
    task = record.task_id
    own = isinstance(task, str)
    return own, 0 if isinstance(task, str) else task, str(task), record.seed, record.node_id


def summarise(name: str, records: Sequence[EpisodeResult]) -> GroupSummary:
    """Figures of a group."""
    scored = [record for record in records if record.status != "error"]
    successes = sum(record.stage_success for record in scored)
    fair = [record for record in scored if not record.unfair_start]
    fair_successes = sum(record.stage_success for record in fair)
    return GroupSummary(
        name=name,
        scored=len(scored),
        errors=len(records) - len(scored),
        passed=sum(record.status == "passed" for record in scored),
        tsr=_percent(successes, len(scored)),
        tsr_interval=wilson(successes, len(scored)),
        stage_score=fmean(record.stage_score for record in scored) if scored else None,
        goal_rate=_percent(sum(record.goal_success for record in scored), len(scored)),
        steps=fmean(record.steps for record in scored) if scored else None,
        unfair=len(scored) - len(fair),
        fair_tsr=_percent(fair_successes, len(fair)),
        fair_interval=wilson(fair_successes, len(fair)),
        seconds=sum(record.wall_times.total + record.wall_times.build for record in records),
    )


def grouped(
    records: Sequence[EpisodeResult], key: Callable[[EpisodeResult], str]
) -> dict[str, list[EpisodeResult]]:
    """Records by a property, groups in the order in which they come first."""
    groups: dict[str, list[EpisodeResult]] = {}
    for record in records:
        groups.setdefault(key(record), []).append(record)
    return groups


def macro_mean(values: Iterable[float | None]) -> float | None:
    """Mean over the groups that have a value."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def wilson(successes: int, total: int) -> tuple[float, float] | None:
    """Wilson score interval of a rate in percent, at 95 percent confidence."""
    if total == 0:
        return None
    from scipy.stats import binomtest  # noqa: PLC0415 - slow to import, only needed at the end

    interval = binomtest(successes, total).proportion_ci(CONFIDENCE, method="wilson")
    return 100.0 * float(interval.low), 100.0 * float(interval.high)


def _percent(count: int, total: int) -> float | None:
    return 100.0 * count / total if total else None
