"""Records on their way from a worker to the controller. Imports no numpy and no simulator."""

import shlex
from typing import Any

import pytest

from pytest_robomem.options import INI_PREFIX, OPTIONS
from pytest_robomem.results.records import EpisodeResult
from pytest_robomem.scoring.versions import RULE_VERSIONS
from pytest_robomem.settings import Settings, public_arguments
from pytest_robomem.task import Task

RECORD_PROPERTY = "robomem_record"
FIGURE_PREFIX = "robomem."


def repeat_command(config: pytest.Config, node_id: str, seed: int) -> str:
    """Command that runs one item again with the same settings."""
    words = ["pytest", node_id]
    for option in OPTIONS:
        given = config.getoption(INI_PREFIX + option.key)
        if given and option.key not in ("seeds", "results", "resume") and not option.switch:
            words.append(f"{option.flag}={given}")
    words.append(f"--seeds={seed}")
    return shlex.join(public_arguments(words))


def error_record(
    task: Task, seed: int, node_id: str, settings: Settings, reason: str, repeat: str
) -> EpisodeResult:
    """Record of an episode that ended with an error before it could report anything itself."""
    return EpisodeResult(
        node_id=node_id,
        task_id=task.task_id,
        task_name=task.name,
        family=task.family,
        memory=task.memory,
        seed=seed,
        prompt=task.worded(settings.prompts),
        status="error",
        rules=RULE_VERSIONS[settings.rules],
        success=settings.success,
        failure_reason="error",
        message=reason,
        policy=settings.policy,
        repeat=repeat,
    )


def figures_of(record: EpisodeResult) -> list[tuple[str, Any]]:
    """What JUnit shows of an episode, as plain names and values."""
    figures: dict[str, Any] = {
        "task_id": record.task_id,
        "seed": record.seed,
        "rules": record.rules,
        "status": record.status,
        "steps": record.steps,
        "stage_score": round(record.stage_score, 1),
        "stage_success": record.stage_success,
        "goal_success": record.goal_success,
        "failure_reason": record.failure_reason,
        "initial_state_sha256": record.initial_state_sha256,
    }
    return [(FIGURE_PREFIX + name, value) for name, value in figures.items()]
