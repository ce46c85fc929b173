"""What a rulebook is: default settings, and a scorer for every task."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pytest_robomem.results.cards import ScoreCard, StageResult
from pytest_robomem.scoring.stages import Stage, StageMachine
from pytest_robomem.scoring.state import StateView

INCOMPLETE = "incomplete_stage"


class Scorer(Protocol):
    """Scores one episode while it runs, or a recorded one."""

    @property
    def finished(self) -> bool:
        """Whether the rulebook needs to see no more of the episode."""
        ...

    def begin(self, state: StateView) -> None:
        """Take in the settled state, before the first action.

        Raises:
            UnknownNameError: a rule names something that the scene does not have.
        """
        ...

    def update(self, state: StateView, step: int) -> None:
        """Take in the state after policy step ``step`` (from 1)."""
        ...

    def card(self) -> ScoreCard:
        """Scores so far."""
        ...

    def explain(self, state: StateView) -> str:
        """Why it is no success yet, for people: what is missing and how far it was."""
        ...


@dataclass(frozen=True)
class Rulebook:
    """A named set of rules.

    Attributes:
        name: as users write it.
        version: name and version, as records carry it.
        max_steps: policy steps of an episode unless set otherwise.
        replan_steps: rows of an action chunk that are executed unless set otherwise.
        scorer_for: makes a scorer for a benchmark task's number.
        rules: every constant that decides a score, by name; ``rules_hash`` is taken over them.
    """

    name: str
    version: str
    max_steps: int
    replan_steps: int
    scorer_for: Callable[[int], Scorer]
    rules: Mapping[str, object]


class StageScorer:
    """Ordered stages, each once; finished when all are completed.

    Args:
        rules: version of the rulebook.
        stages: in order.
        several_per_step: see :class:`StageMachine`.
    """

    def __init__(
        self, rules: str, stages: Sequence[Stage], *, several_per_step: bool = False
    ) -> None:
        self._rules = rules
        self._stages = tuple(stages)
        self._machine = StageMachine(stages, several_per_step=several_per_step)

    @property
    def finished(self) -> bool:
        """See :class:`Scorer`."""
        return self._machine.finished

    def begin(self, state: StateView) -> None:
        """See :class:`Scorer`."""
        self._machine.begin(state)

    def update(self, state: StateView, step: int) -> None:
        """See :class:`Scorer`."""
        self._machine.update(state, step)

    def card(self) -> ScoreCard:
        """See :class:`Scorer`."""
        completed = self._machine.completed_at
        return ScoreCard(
            rules=self._rules,
            stages=tuple(
                StageResult(name=stage.name, completed_at=completed.get(stage.name))
                for stage in self._stages
            ),
            stage_score=self._machine.score,
            stage_success=self._machine.finished,
            failure_reason="" if self._machine.finished else INCOMPLETE,
        )

    def explain(self, state: StateView) -> str:
        """See :class:`Scorer`."""
        current = self._machine.current
        if current is None:
            return ""
        done = list(self._machine.completed_at) or ["none"]
        return (
            f"stage {current.name} is missing ({self._machine.shortfall(state)}); "
            f"completed before: {', '.join(done)}"
        )


def final_cards(
    scorers: Mapping[str, Scorer], max_steps: Mapping[str, int], steps: int
) -> dict[str, ScoreCard]:
    """Cards at the end of an episode, in the order of the scorers.

    Args:
        scorers: by name of the rulebook.
        max_steps: steps after which each rulebook would have ended the episode.
        steps: steps that the episode lasted.
    """
    return {
        name: scorer.card().model_copy(
            update={"cut_short": not scorer.finished and steps < max_steps[name]}
        )
        for name, scorer in scorers.items()
    }
