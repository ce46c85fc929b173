"""Constructed episodes: every stage of every task is hit by what the task demands."""

import pytest

from tests.golden import TASK_IDS, Stage
from tests.scoring.acting import Actor
from tests.scoring.demanded import DEMANDED

tasks = pytest.mark.parametrize("task_id", TASK_IDS, ids="task{:02d}".format)


@tasks
def test_every_stage_is_completed_by_what_it_demands(task_id: int, stage: Stage) -> None:
    actor = Actor(task_id, stage)
    for strict_stage in actor.task.stages:
        assert not actor.done(strict_stage.name), strict_stage.name
        actor.perform(strict_stage)
        assert actor.done(strict_stage.name), actor.scorer.explain(actor.puppet.view())
    card = actor.scorer.card()
    assert (card.stage_score, card.stage_success, card.failure_reason) == (100.0, True, "")
    assert not actor.scorer.finished
    # The last stage was noted one to eleven steps ago; the watch ends 30 steps after that.
    last = max(entry.completed_at for entry in card.stages)
    actor.puppet.show(last + DEMANDED.watch_steps - actor.puppet.step - 1)
    assert not actor.scorer.finished
    actor.puppet.show()
    assert actor.scorer.finished
    assert actor.scorer.card().details["watched"] is True
    assert actor.scorer.explain(actor.puppet.view()) == ""
