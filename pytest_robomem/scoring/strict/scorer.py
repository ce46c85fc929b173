"""Scoring one episode strictly."""

from collections.abc import Callable

from pytest_robomem.results.cards import ScoreCard, StageResult
from pytest_robomem.scoring.checks import Names
from pytest_robomem.scoring.rulebook import INCOMPLETE
from pytest_robomem.scoring.stages import require_names
from pytest_robomem.scoring.state import StateView
from pytest_robomem.scoring.strict.joints import JointTracker
from pytest_robomem.scoring.strict.limits import Limits
from pytest_robomem.scoring.strict.placing import PlacingTracker, settled_in
from pytest_robomem.scoring.strict.pouring import Pour, PourCounter
from pytest_robomem.scoring.strict.regions import Region
from pytest_robomem.scoring.strict.scene import SceneState
from pytest_robomem.scoring.strict.stages import (
    Choice,
    KeptShut,
    Opened,
    Placed,
    Poured,
    ShutAgain,
    StrictStage,
    StrictTask,
)

EXTRA_POUR = "extra_pour"
UNDONE = "undone"
WRONG_ORDER = "wrong_order"


class StrictScorer:
    """Follows an episode; what counts in the end is the state in which it is left.

    Args:
        rules: version of the rulebook.
        task: what is demanded.
        limits: thresholds.
    """

    def __init__(self, rules: str, task: StrictTask, limits: Limits) -> None:
        self._rules = rules
        self._task = task
        self._limits = limits
        self._after = {
            stage.name: () if isinstance(stage, Poured) else stage.after for stage in task.stages
        }
        self._clear()

    def _clear(self) -> None:
        self._movable: frozenset[str] = frozenset()
        self._joints: dict[str, JointTracker] = {}
        self._places: dict[str, tuple[PlacingTracker, ...]] = {}
        self._counter: PourCounter | None = None
        self._valid_pours: list[Pour] = []
        self._counted_pours = 0
        self._done: dict[str, int] = {}
        self._ever: dict[str, int] = {}
        self._all_done_since: int | None = None
        self._extra_pour_step: int | None = None
        self._watched = False

    def names(self) -> Names:
        """Everything of the scene that the task reads."""
        names = Names()
        for stage in self._task.stages:
            names |= stage.names()
        if pouring := self._task.pouring:
            names |= PourCounter.names(pouring.container, pouring.target)
        return names

    @property
    def finished(self) -> bool:
        """Whether all was watched long enough, or a pour too many spoilt it."""
        return self._watched or self._extra_pour_step is not None

    def begin(self, state: StateView) -> None:
        """See :class:`~pytest_robomem.scoring.rulebook.Scorer`."""
        require_names(self.names(), state)
        self._clear()
        self._movable = state.movable_bodies()
        start = SceneState(state, self._movable)
        for stage in self._task.stages:
            if isinstance(stage, Opened | ShutAgain | KeptShut):
                for joint in stage.joints:
                    self._joints[joint] = JointTracker(joint, stage.kind, self._limits, state)
            elif isinstance(stage, Placed):
                self._places[stage.name] = tuple(
                    PlacingTracker(stage.obj, region, self._limits, start, upright=stage.upright)
                    for region in _chosen(stage, start, self._movable, self._limits)
                )
        if pouring := self._task.pouring:
            self._counter = PourCounter(pouring.container, pouring.target, self._limits, start)

    def update(self, state: StateView, step: int) -> None:
        """See :class:`~pytest_robomem.scoring.rulebook.Scorer`.

        Args:
            state: contacts must belong to the same instant as positions, see ``scene/replica.py``.
            step: policy step, from 1.
        """
        if self.finished:
            return
        scene = SceneState(state, self._movable)
        for joint in self._joints.values():
            joint.update(state, step)
        for trackers in self._places.values():
            for tracker in trackers:
                tracker.update(scene, step)
        for stage in self._task.stages:
            self._judge(stage, step)
        if self._counter is not None:
            self._counter.update(scene, step)
            self._judge_pours(step)
        self._watch(step)

    def _judge(self, stage: StrictStage, step: int) -> None:
        if isinstance(stage, Opened):
            self._judge_event(stage, lambda joint: joint.opened_at)
        elif isinstance(stage, ShutAgain):
            self._judge_event(stage, lambda joint: joint.shut_at)
        elif isinstance(stage, KeptShut):
            shut = all(self._joints[joint].is_shut for joint in stage.joints)
            ready = self._ready_since(stage.name)
            done = self._done.get(stage.name, step) if shut and ready is not None else None
            self._note(stage.name, done)
        elif isinstance(stage, Placed):
            tracker = settled_in(self._places[stage.name])
            self._note(stage.name, self._order_kept(stage, tracker))

    def _judge_event(
        self, stage: Opened | ShutAgain, happened_at: Callable[[JointTracker], int | None]
    ) -> None:
        if stage.name in self._done:
            return
        ready = self._ready_since(stage.name)
        if ready is None:
            return
        steps = (happened_at(self._joints[joint]) for joint in stage.joints)
        later = [at for at in steps if at is not None and at > ready]
        if later:
            self._note(stage.name, min(later))

    def _order_kept(self, stage: Placed, tracker: PlacingTracker | None) -> int | None:
        if tracker is None or tracker.stay is None:
            return None
        ready = self._ready_since(stage.name)
        if ready is None:
            return None
        return tracker.stay.settled_at if tracker.stay.entered_at > ready else None

    def _ready_since(self, name: str) -> int | None:
        """Step at which all that has to come before was done; 0, the start, for nothing."""
        latest = 0
        for earlier in self._after[name]:
            done = self._done.get(earlier)
            if done is None:
                return None
            latest = max(latest, done)
        return latest

    def _note(self, name: str, done: int | None) -> None:
        if done is None:
            self._done.pop(name, None)
            return
        self._done[name] = done
        self._ever.setdefault(name, done)

    def _judge_pours(self, step: int) -> None:
        counter, pouring = self._counter, self._task.pouring
        assert counter is not None
        assert pouring is not None
        new = counter.pours[self._counted_pours :]
        self._counted_pours = len(counter.pours)
        for pour in new:
            if all(self._done.get(name, step) < pour.began_at for name in pouring.after):
                self._valid_pours.append(pour)
        for stage in self._task.stages:
            if isinstance(stage, Poured) and stage.number <= len(self._valid_pours):
                self._note(stage.name, self._valid_pours[stage.number - 1].ended_at)
        if self._counted_pours > self._limits.pours and self._extra_pour_step is None:
            self._extra_pour_step = step

    def _watch(self, step: int) -> None:
        tilted = self._counter is not None and self._counter.tilted
        if not self._all_done or tilted:
            self._all_done_since = None
            return
        if self._all_done_since is None:
            self._all_done_since = step
        self._watched = step - self._all_done_since >= self._limits.watch_steps

    @property
    def _all_done(self) -> bool:
        return len(self._done) == len(self._task.stages)

    @property
    def _undone(self) -> list[str]:
        return [name for name in self._ever if name not in self._done]

    @property
    def _misordered(self) -> list[str]:
        placed = [
            stage.name
            for stage in self._task.stages
            if isinstance(stage, Placed)
            and stage.name not in self._done
            and (tracker := settled_in(self._places.get(stage.name, ()))) is not None
            and tracker.stay is not None
            and tracker.stay.entered_at > 0  # what was there from the start is not misordered
        ]
        early = [] if len(self._valid_pours) == self._counted_pours else ["a pour came too early"]
        return placed + early

    @property
    def _failure_reason(self) -> str:
        if self._extra_pour_step is not None:
            return EXTRA_POUR
        if self._all_done:
            return ""
        if self._undone:
            return UNDONE
        return WRONG_ORDER if self._misordered else INCOMPLETE

    def card(self) -> ScoreCard:
        """See :class:`~pytest_robomem.scoring.rulebook.Scorer`.

        Details: ``ever_stage_score`` (stages that were ever complete, in percent), ``undone`` and
        ``misordered`` (names), ``watched`` (whether the final state was seen to last), and for
        pouring tasks ``pours`` and ``extra_pour_detected``.
        """
        stages = self._task.stages
        reason = self._failure_reason
        details: dict[str, int | float | bool | str | None] = {
            "ever_stage_score": 100.0 * len(self._ever) / len(stages),
            "undone": ",".join(self._undone),
            "misordered": ",".join(self._misordered),
            "watched": self._watched,
        }
        if self._counter is not None:
            details["pours"] = self._counted_pours
            details["extra_pour_detected"] = self._extra_pour_step is not None
        return ScoreCard(
            rules=self._rules,
            stages=tuple(
                StageResult(name=stage.name, completed_at=self._done.get(stage.name))
                for stage in stages
            ),
            stage_score=100.0 * len(self._done) / len(stages),
            stage_success=not reason,
            failure_reason=reason,
            details=details,
        )

    def explain(self, state: StateView) -> str:
        """See :class:`~pytest_robomem.scoring.rulebook.Scorer`."""
        if self._extra_pour_step is not None:
            return f"pour {self._counted_pours} at step {self._extra_pour_step} is one too many"
        if self._all_done:
            return ""
        parts = []
        if self._undone:
            parts.append(f"undone again: {', '.join(self._undone)}")
        if self._misordered:
            parts.append(f"in the wrong order: {', '.join(self._misordered)}")
        missing = next(stage for stage in self._task.stages if stage.name not in self._done)
        parts.append(f"stage {missing.name} is missing ({self._shortfall(missing)})")
        parts.append(f"complete: {', '.join(self._done) or 'none'}")
        return "; ".join(parts)

    def _shortfall(self, stage: StrictStage) -> str:
        waiting = [name for name in self._after[stage.name] if name not in self._done]
        if waiting:
            return f"waits for {', '.join(waiting)}"
        if isinstance(stage, Poured):
            assert self._counter is not None
            tilt = self._counter.largest_tilt
            return f"{len(self._valid_pours)} pours so far, largest tilt {tilt:.2f} rad"
        if isinstance(stage, Placed):
            places = self._places[stage.name]
            shortfalls = [place.shortfall for place in places if place.shortfall]
            return " / ".join(shortfalls) or "no allowed place, or it came there too early"
        states = (f"{joint} {self._joints[joint].part_open:.0%} open" for joint in stage.joints)
        return ", ".join(states)


def _chosen(
    stage: Placed, start: SceneState, movable: frozenset[str], limits: Limits
) -> tuple[Region, ...]:
    if stage.choice is Choice.ANY:
        return stage.regions
    wanted = stage.choice is Choice.OCCUPIED
    return tuple(
        region
        for region in stage.regions
        if wanted
        == any(
            region.outside(other, start, start.centre(other), limits) <= 0
            for other in movable - {stage.obj, region.support}
        )
    )
