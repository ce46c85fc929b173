"""The stage machine: ordered stages, completed one after another."""

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_robomem.scoring.checks import Check, History, Names, StageTilts, holds, wrist_tilt
from pytest_robomem.scoring.state import StateView, UnknownNameError


@dataclass(frozen=True)
class Stage:
    """A named step of a task and the check that completes it."""

    name: str
    check: Check


def require_names(names: Names, state: StateView) -> None:
    """Look every name up before the episode, so that a typing error is no failed episode.

    Raises:
        UnknownNameError: the scene does not have one of them.
    """
    for kind, wanted, has in (
        ("body", names.bodies, state.has_body),
        ("site", names.sites, state.has_site),
        ("joint", names.joints, state.has_joint),
    ):
        for name in sorted(wanted):
            if not has(name):
                raise UnknownNameError(kind, name, ())


class StageMachine:
    """Follows an episode through its stages.

    Only the current stage is tested; a completed stage stays completed, whatever happens later.

    Args:
        stages: in the order that is demanded.
        several_per_step: whether stages may complete on one and the same step (task 1).
    """

    def __init__(self, stages: Sequence[Stage], *, several_per_step: bool = False) -> None:
        if not stages:
            raise ValueError("a task needs at least one stage")
        if len({stage.name for stage in stages}) != len(stages):
            raise ValueError("two stages have the same name")
        self._stages = tuple(stages)
        self._several_per_step = several_per_step
        self._history = History()
        self.completed_at: dict[str, int] = {}

    @property
    def current(self) -> Stage | None:
        """The stage that is to be completed next; ``None`` when all are."""
        done = len(self.completed_at)
        return self._stages[done] if done < len(self._stages) else None

    @property
    def finished(self) -> bool:
        """Whether all stages are completed."""
        return self.current is None

    @property
    def score(self) -> float:
        """Completed stages in percent."""
        return 100.0 * len(self.completed_at) / len(self._stages)

    def names(self) -> Names:
        """Everything of the scene that the stages read."""
        names = Names()
        for stage in self._stages:
            names |= stage.check.names()
        return names

    def begin(self, state: StateView) -> None:
        """Start an episode from the settled state, before the first action.

        Raises:
            UnknownNameError: a stage names something that the scene does not have.
        """
        names = self.names()
        require_names(names, state)
        self.completed_at = {}
        self._history = History.of(names, state)

    def update(self, state: StateView, step: int) -> None:
        """Take in the state after policy step ``step``."""
        history = self._history
        history.stage_tilts.append(wrist_tilt(state.end_effector_quaternion()))
        while (stage := self.current) is not None and holds(stage.check, state, history):
            self.completed_at[stage.name] = step
            history.stage_tilts = StageTilts()
            if not self._several_per_step:
                return

    def shortfall(self, state: StateView) -> str:
        """What keeps the current stage from being complete; empty when all are."""
        stage = self.current
        if stage is None:
            return ""
        missed = [
            limit.describe() for limit in stage.check.limits(state, self._history) if not limit.kept
        ]
        return "; ".join(missed) or "its condition holds now, but was not reached in order"
