"""The strict rulebook."""

from dataclasses import asdict
from functools import partial

from pytest_robomem.scoring.rulebook import Rulebook
from pytest_robomem.scoring.strict.limits import LIMITS, Limits
from pytest_robomem.scoring.strict.scorer import StrictScorer
from pytest_robomem.scoring.strict.tasks import TASKS
from pytest_robomem.scoring.versions import STRICT as VERSION

NAME = "strict"
MAX_STEPS = 3000  # policy steps; those of the guide, whose stages it contains
REPLAN_STEPS = 5


def scorer_for(task_id: int, limits: Limits = LIMITS) -> StrictScorer:
    """Scorer of a benchmark task (1 to 26)."""
    return StrictScorer(VERSION, TASKS[task_id], limits)


def rulebook_with(limits: Limits) -> Rulebook:
    """The strict rulebook with other thresholds, and therefore another hash."""
    rules = {"limits": asdict(limits), "tasks": TASKS}
    return Rulebook(
        NAME, VERSION, MAX_STEPS, REPLAN_STEPS, partial(scorer_for, limits=limits), rules
    )


STRICT = rulebook_with(LIMITS)
