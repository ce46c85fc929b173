"""Cutting an episode into its subtasks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_robomem.demonstrations.layout import primitive_name
from pytest_robomem.results.cards import StageResult


@dataclass(frozen=True)
class Subtask:
    """Rows ``start`` to ``stop`` (half open) of an episode.

    Attributes:
        primitive: what is done, as a word for file names.
        order: number of the subtask in its episode, from 0.
    """

    primitive: str
    order: int
    start: int
    stop: int

    @property
    def words(self) -> str:
        """What is done, as an instruction."""
        return self.primitive.replace("_", " ")


def keyframes(stages: Sequence[StageResult], steps: int) -> NDArray[np.uint8]:
    """[steps]: 1 in the rows whose action completed a stage."""
    flags = np.zeros(steps, dtype=np.uint8)
    for step in _completions(stages):
        flags[step - 1] = 1
    return flags


def subtasks(stages: Sequence[StageResult], steps: int) -> list[Subtask]:
    """The subtasks of an episode; put together again they are the whole episode.

    Each ends with the row that completed a stage. Stages that were completed in one and the same
    step make one subtask. What follows the last completion (the rulebook looks on, or waits until
    things are at rest) belongs to the last subtask.

    Args:
        stages: of the rulebook that decided.
        steps: length of the episode.
    """
    completions = _completions(stages)
    starts = [0, *list(completions)[:-1]]
    stops = [*list(completions)[:-1], steps]
    return [
        Subtask("_and_".join(names), order, start, stop)
        for order, (names, start, stop) in enumerate(
            zip(completions.values(), starts, stops, strict=False)
        )
    ]


def _completions(stages: Sequence[StageResult]) -> dict[int, list[str]]:
    """Primitives by the step (from 1) that completed them, in the order of time."""
    completed: dict[int, list[str]] = {}
    for stage in stages:
        if stage.completed_at is not None:
            completed.setdefault(stage.completed_at, []).append(primitive_name(stage.name))
    return dict(sorted(completed.items()))
