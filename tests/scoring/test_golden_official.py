"""The official rulebook against every recorded outcome of the scorer of 2026-07-21."""

from functools import reduce
from operator import or_
from typing import Any

import pytest

from pytest_robomem.results.cards import ScoreCard
from pytest_robomem.scoring import official
from pytest_robomem.scoring.checks import History, Names, holds
from pytest_robomem.scoring.pours import TiltAndReturn
from tests.golden import SETTLING_STEPS, STEP_OFFSET, TASK_IDS, Golden, Stage, Timeline

REVISION = official.REVISION
POUR_STEPS = ("pour_1_step", "pour_2_step", "extra_monitor_end_step")

tasks = pytest.mark.parametrize("task_id", TASK_IDS, ids="task{:02d}".format)


@tasks
def test_golden_official_stages_have_the_recorded_names(task_id: int, golden: Golden) -> None:
    names = [stage.name for stage in official.STAGES[task_id]]
    assert names == golden[f"stage_names/{REVISION}"].tolist()


@tasks
def test_golden_official_configurations(task_id: int, stage: Stage, golden: Golden) -> None:
    stages = official.STAGES[task_id]
    names = reduce(or_, (entry.check.names() for entry in stages), Names())
    history = History.of(names, stage.lay(golden.settled))
    recorded = golden[f"config_stage/{REVISION}"]
    wrong = []
    for number, qpos in enumerate(golden["config_qpos"]):
        state = stage.lay(qpos)
        for column, entry in enumerate(stages):
            if isinstance(entry.check, TiltAndReturn):
                assert recorded[number, column] == -1
            elif holds(entry.check, state, history) != bool(recorded[number, column]):
                wrong.append((number, entry.name))
    assert not wrong


@tasks
def test_golden_official_timelines(task_id: int, stage: Stage, golden: Golden) -> None:
    wrong = []
    for timeline in golden.timelines:
        card, last_element = _score(task_id, stage, timeline)
        found, expected = _outcome(card, last_element), _recorded(timeline.outcomes[REVISION])
        for key, value in expected.items():
            if found[key] != pytest.approx(value, abs=1e-9):
                wrong.append((timeline.number, key, value, found[key]))
    assert not wrong


def _score(task_id: int, stage: Stage, timeline: Timeline) -> tuple[ScoreCard, int]:
    scorer = official.scorer_for(task_id)
    scorer.begin(stage.lay(timeline.qpos[SETTLING_STEPS]))
    for element in range(SETTLING_STEPS + 1, len(timeline.qpos)):
        scorer.update(stage.lay(timeline.qpos[element]), element - SETTLING_STEPS)
        if scorer.finished:
            break
    return scorer.card(), element


def _outcome(card: ScoreCard, last_element: int) -> dict[str, Any]:
    steps = {name: card.details[name] for name in POUR_STEPS}
    return {
        "score": card.stage_score,
        "completed_at": {
            stage.name: stage.completed_at + STEP_OFFSET
            for stage in card.stages
            if stage.completed_at is not None
        },
        "stage_success": card.stage_success,
        "failure_reason": card.failure_reason or None,
        "extra_pour_detected": card.details["extra_pour_detected"],
        "last_step": last_element,
        **{name: step if step is None else step + STEP_OFFSET for name, step in steps.items()},
    }


def _recorded(outcome: dict[str, Any]) -> dict[str, Any]:
    diagnostics = outcome["diagnostics"] or {"stage_success": outcome["goal"]}
    return {
        "score": outcome["score"],
        "completed_at": outcome["completed_at"],
        "last_step": outcome["last_step"],
        **diagnostics,
    }
