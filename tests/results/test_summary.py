"""Rates, denominators and intervals, against figures worked out by hand."""

from typing import Any

import pytest

from pytest_robomem.report.terminal import summary_lines
from pytest_robomem.results.cards import ScoreCard, StageResult
from pytest_robomem.results.records import EpisodeFailedError, EpisodeResult, GoalResult
from pytest_robomem.results.summary import latest, macro_mean, summarise, wilson


def record(task_id: int = 1, seed: int = 100, done: int = 0, **changes: Any) -> EpisodeResult:
    """An episode with two stages, ``done`` of them completed."""
    card = ScoreCard(
        rules="guide@1",
        stages=tuple(
            StageResult(name=f"s{n}", completed_at=n + 1 if n < done else None) for n in range(2)
        ),
        stage_score=50.0 * done,
        stage_success=done == 2,
    )
    values: dict[str, Any] = {
        "node_id": f"t{task_id}[seed{seed}]",
        "task_id": task_id,
        "task_name": "t",
        "seed": seed,
        "prompt": "do it",
        "status": "passed" if done == 2 else "failed",
        "rules": "guide@1",
        "success": "stages",
        "cards": {"guide": card},
        "goal": GoalResult(final=done > 0),
        "steps": 10 * (done + 1),
    }
    return EpisodeResult.model_validate(values | changes)


def error(seed: int) -> EpisodeResult:
    return record(seed=seed, status="error", cards={}, goal=None)


def test_errors_enter_no_rate() -> None:
    summary = summarise("x", [record(seed=1, done=2), record(seed=2, done=1), error(3), error(4)])
    assert (summary.scored, summary.errors, summary.passed) == (2, 2, 1)
    assert (summary.tsr, summary.stage_score, summary.goal_rate) == (50.0, 75.0, 100.0)
    assert summary.steps == 25.0


def test_unfair_starts_are_counted_apart() -> None:
    """They enter the public rates, and a rate without them stands beside those."""
    flung = {"unfair_start": ("milk_1 fell: 0.4 m",)}
    records = [record(seed=1, done=2), record(seed=2), record(seed=3, **flung), error(4)]
    summary = summarise("x", records)
    assert (summary.scored, summary.unfair) == (3, 1)
    assert summary.tsr == pytest.approx(100 / 3)
    assert summary.fair_tsr == 50.0
    assert summary.fair_interval == wilson(1, 2)
    (line,) = [line for line in summary_lines(records, 1.0) if "unfair" in line]
    assert line.startswith("unfair start (broken before the first action): 1 of 3 episodes; TSR of")
    assert "the other 2: 50.0 %" in line
    everything = summary_lines([record(seed=3, **flung)], 1.0)
    assert everything[-1].endswith("every scored episode")
    assert not any("unfair" in line for line in summary_lines([record()], 1.0))


def test_nothing_scored_has_no_rates() -> None:
    summary = summarise("x", [error(1)])
    assert (summary.tsr, summary.tsr_interval, summary.stage_score) == (None, None, None)
    assert macro_mean([None, 10.0, 20.0]) == 15.0
    assert macro_mean([None]) is None


@pytest.mark.parametrize(
    ("successes", "total", "low", "high"),
    # worked out from (p + z2/2n -+ z sqrt(p(1-p)/n + z2/4n2)) / (1 + z2/n), z = 1.959964
    [(0, 10, 0.0, 27.75), (87, 520, 13.77, 20.18), (5, 5, 56.55, 100.0)],
)
def test_wilson(successes: int, total: int, low: float, high: float) -> None:
    interval = wilson(successes, total)
    assert interval == pytest.approx((low, high), abs=0.01)
    assert wilson(0, 0) is None


def test_the_last_record_of_an_item_counts() -> None:
    first, again = record(done=0), record(done=2)
    assert latest([record(task_id=2), first, again]) == [again, record(task_id=2)]


def test_tables_order_numbers_before_names() -> None:
    own = record(task_id=1, node_id="own").model_copy(update={"task_id": "my_task"})
    ordered = latest([own, record(task_id=10), record(task_id=9)])
    assert [entry.task_id for entry in ordered] == [9, 10, "my_task"]


def test_lines_for_a_terminal() -> None:
    lines = summary_lines([record(seed=1, done=2), error(2)], wall_seconds=7.2)
    assert lines[0].split() == [
        *("family", "scored", "errors", "TSR", "%", "[95", "%]", "stages", "%", "goal", "%"),
        *("steps", "ep/h"),
    ]
    assert lines[-1].split() == [
        "total",
        "1",
        "1",
        "100.0",
        "[21-100]",
        "100.0",
        "100.0",
        "30",
        "1000",
    ]


def test_success_is_what_was_asked() -> None:
    stages_only = record(done=2, goal=GoalResult(final=False), message="goal is missing")
    stages_only.require_success()
    with pytest.raises(EpisodeFailedError, match="goal is missing"):
        stages_only.model_copy(update={"success": "both"}).require_success()
    with pytest.raises(EpisodeFailedError):
        stages_only.model_copy(update={"success": "goal"}).require_success()


def test_records_survive_their_journey() -> None:
    original = record(done=1)
    assert EpisodeResult.model_validate(original.to_builtins()) == original
