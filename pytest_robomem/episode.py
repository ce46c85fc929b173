"""Running one episode: settle, observe, act, step, score."""

import hashlib
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_robomem.deadline import DeadlineExceeded, deadline
from pytest_robomem.policy import Policy, check_chunk, native_image_size
from pytest_robomem.results.records import EpisodeResult, GoalResult, WallTimes, reached
from pytest_robomem.scene.model import DUMMY_ACTION, Scene
from pytest_robomem.scene.observation import Observation
from pytest_robomem.scene.recorder import TrajectoryRecorder
from pytest_robomem.scene.recording import Trajectory
from pytest_robomem.scene.simulator import simulator_versions
from pytest_robomem.scoring.fairness import start_poses, unfair_start
from pytest_robomem.scoring.goals import Goal
from pytest_robomem.scoring.rulebook import Scorer, final_cards
from pytest_robomem.scoring.state import StateView
from pytest_robomem.settings import Settings
from pytest_robomem.task import Task

GOAL_MISSED = "goal_not_reached"


class EpisodeError(RuntimeError):
    """An episode that could not be evaluated; never a verdict on the policy.

    Attributes:
        result: record of the error.
        trajectory: what was recorded until then.
    """

    def __init__(self, message: str, result: EpisodeResult, trajectory: Trajectory | None) -> None:
        super().__init__(message)
        self.result = result
        self.trajectory = trajectory


class SimulatorFaultError(RuntimeError):
    """MuJoCo's numbers broke down; it restarts the scene by itself, which must not go unseen."""


@dataclass(frozen=True)
class EpisodeRequest:
    """One episode to run.

    Attributes:
        scorers: by name of the rulebook; the first decides success and the end.
        rules_hashes: by name of the rulebook.
        rules_max_steps: steps after which each rulebook would end an episode.
        repeat: the command that runs this one episode again.
        build_seconds: time that building the scene took for this episode.
    """

    task: Task
    seed: int
    node_id: str
    settings: Settings
    rules: str
    scorers: dict[str, Scorer]
    rules_hashes: dict[str, str]
    rules_max_steps: dict[str, int]
    max_steps: int
    replan_steps: int
    repeat: str
    build_seconds: float = 0.0

    @property
    def prompt(self) -> str:
        """The instruction in the wording asked for."""
        return self.task.worded(self.settings.prompts)


@dataclass
class EpisodeOutcome:
    """A finished episode: its record and its trajectory."""

    result: EpisodeResult
    trajectory: Trajectory


class StepListener:
    """Looks on after every step (0 is the settled state); does nothing by itself."""

    def after_step(self, scene: Scene, step: int) -> None:
        """Called with the scene as it is after policy step ``step``."""


@dataclass
class _Stopwatch:
    seconds: dict[str, float] = field(default_factory=dict)
    started: float = field(default_factory=time.perf_counter)

    @contextmanager
    def on(self, part: str) -> Iterator[None]:
        begun = time.perf_counter()
        try:
            yield
        finally:
            passed = time.perf_counter() - begun
            self.seconds[part] = self.seconds.get(part, 0.0) + passed

    def times(self, build: float) -> WallTimes:
        seconds = dict(self.seconds)
        seconds["policy"] = max(0.0, seconds.get("policy", 0.0) - seconds.get("render", 0.0))
        total = time.perf_counter() - self.started
        rounded = {part: round(value, 4) for part, value in seconds.items()}
        return WallTimes(build=round(build, 4), total=round(total, 4), **rounded)


class EpisodeRun:
    """One episode under way.

    Args:
        request: what to run.
        scene: the task's scene.
        policy: who acts.
        listeners: look on after every step.
        recorder: collects the trajectory; in memory alone without one.
    """

    def __init__(
        self,
        request: EpisodeRequest,
        scene: Scene,
        policy: Policy,
        listeners: Sequence[StepListener] = (),
        recorder: TrajectoryRecorder | None = None,
    ) -> None:
        self._request = request
        self._scene = scene
        self._policy: Any = policy
        self._listeners = listeners
        self._watch = _Stopwatch()
        self._doing = "starting"
        self._recorder = recorder or TrajectoryRecorder()
        self._steps = 0
        self._clipped = 0
        self._state_hash = ""
        self._goal_step: int | None = None
        self._unfair: tuple[str, ...] = ()
        self._native_size: tuple[int, int] | None = None

    def run(self) -> EpisodeOutcome:
        """Run the episode to its end.

        Raises:
            EpisodeError: policy, simulator or renderer failed, or the time was up.
        """
        __tracebackhide__ = True
        try:
            with deadline(self._request.settings.timeout):
                goal = self._begin()
                self._loop(goal)
                return self._finish(goal)
        except DeadlineExceeded as error:
            raise self._error(f"{error}; it stood here:\n{error.where}") from error
        except Exception as error:  # attributed and raised again, never counted as a failure
            raise self._error(f"{type(error).__name__}: {error}") from error

    def _begin(self) -> Goal:
        request, scene = self._request, self._scene
        self._doing = "placing the scene"
        with self._watch.on("reset"):
            scene.reset(request.seed)
        positions, quaternions = scene.body_placements
        self._state_hash = _hash(scene.data.qpos, positions, quaternions)
        self._recorder.begin(scene.data.qpos, positions, quaternions)
        placed = start_poses(scene.description, scene.scored_view())
        self._doing = "settling the scene"
        with self._watch.on("physics"):
            for _ in range(request.settings.settle_steps):
                scene.step(np.array(DUMMY_ACTION))
        self._doing = "preparing the rules"
        view = scene.scored_view()
        flaws = unfair_start(scene.description, placed, view)
        self._unfair = tuple(f"{flaw.obj} {flaw.kind}: {flaw.detail}" for flaw in flaws)
        goal = Goal(scene.description.goal, view)
        for scorer in request.scorers.values():
            scorer.begin(view)
        self._after_step(0)
        self._doing = "starting the policy"
        with self._watch.on("policy"):
            self._tell_policy("attach_simulator", scene.view)
            self._policy.reset()
            self._tell_policy("episode_start", request.task.task_id, request.seed)
            self._native_size = native_image_size(self._policy)
        return goal

    def _loop(self, goal: Goal) -> None:
        request, scene = self._request, self._scene
        deciding = next(iter(request.scorers.values()))
        plan: list[NDArray[np.float64]] = []
        while self._steps < request.max_steps and not deciding.finished:
            step = self._steps + 1
            observation = self._observation()
            with self._watch.on("policy"):
                self._doing = f"policy.observe at step {step}"
                size = request.settings.image_size
                self._tell_policy("observe", observation, request.prompt, size)
                if not plan:
                    self._doing = f"policy.infer_actions at step {step}"
                    chunk = self._policy.infer_actions(observation, request.prompt, size)
                    plan = list(check_chunk(chunk)[: request.replan_steps])
            observation.expire()
            action = plan.pop(0)
            self._clipped += int(np.count_nonzero(np.abs(action) > 1.0))
            self._doing = f"simulator at step {step}"
            with self._watch.on("physics"):
                scene.step(action)
            if faults := scene.faults():
                raise SimulatorFaultError(f"MuJoCo met a bad {', '.join(faults)}")
            self._steps = step
            self._recorder.add_action(action)
            self._doing = f"scoring step {step}"
            with self._watch.on("scoring"):
                view = scene.scored_view()
                for scorer in request.scorers.values():
                    scorer.update(view, step)
                if self._goal_step is None and goal.reached(view):
                    self._goal_step = step
            self._after_step(step)

    def _finish(self, goal: Goal) -> EpisodeOutcome:
        request, view = self._request, self._scene.scored_view()
        cards = final_cards(request.scorers, request.rules_max_steps, self._steps)
        deciding = next(iter(cards.values()))
        goal_final = goal.reached(view)
        succeeded = reached(
            request.settings.success, stages=deciding.stage_success, goal=goal_final
        )
        result = self._record(
            status="passed" if succeeded else "failed",
            cards=cards,
            goal=GoalResult(final=goal_final, first_step=self._goal_step),
            failure_reason="" if succeeded else deciding.failure_reason or GOAL_MISSED,
            message="" if succeeded else self._explain(goal, view),
        )
        self._doing = "policy.episode_end"
        self._tell_policy("episode_end", result)
        events = {
            stage.name: stage.completed_at
            for stage in deciding.stages
            if stage.completed_at is not None
        }
        self._doing = "recording the last steps"
        self._recorder.wait()
        trajectory = self._recorder.finish(events)
        if callable(compare := getattr(self._policy, "compare_with_recording", None)):
            self._doing = "comparing with the recording"
            result = result.model_copy(update={"replay": compare(result, trajectory)})
        return EpisodeOutcome(result, trajectory)

    def _explain(self, goal: Goal, view: StateView) -> str:
        request = self._request
        scorer = next(iter(request.scorers.values()))
        reasons = [scorer.explain(view)]
        if not goal.reached(view):
            reasons.append(f"goal not reached at the end: {goal.shortfall(view)} does not hold")
        if failure := getattr(self._policy, "failure", None):
            reasons.append(f"the policy says: {failure}")
        if self._unfair:
            reasons.append(f"unfair start: {'; '.join(self._unfair)}")
        lines = [reason for reason in reasons if reason]
        lines.append(
            f"task {request.task.task_id} ({request.task.name}), seed {request.seed}, "
            f"{self._steps} steps, rules {request.rules}"
        )
        lines.append(f"repeat with: {request.repeat}")
        return "\n".join(lines)

    def _observation(self) -> Observation:
        def render(camera: str, *size: int) -> Any:
            doing, self._doing = self._doing, f"rendering {camera} at step {self._steps + 1}"
            with self._watch.on("render"):
                image = self._scene.render(camera, *size)
            self._doing = doing
            return image

        return Observation(
            self._scene.observations,
            render,
            self._request.prompt,
            self._request.settings.image_size,
            self._native_size,
        )

    def _after_step(self, step: int) -> None:
        scene = self._scene
        self._doing = f"recording step {step}"
        self._recorder.add_state(scene.data.qpos, scene.kinematics_qpos, scene.end_effector())
        with self._watch.on("render"):
            for listener in self._listeners:
                listener.after_step(scene, step)

    def _tell_policy(self, method: str, *arguments: Any) -> None:
        if callable(tell := getattr(self._policy, method, None)):
            tell(*arguments)

    def _error(self, reason: str) -> EpisodeError:
        request = self._request
        message = (
            f"{self._doing}: {reason}\ntask {request.task.task_id} ({request.task.name}), seed "
            f"{request.seed}\nrepeat with: {request.repeat}"
        )
        result = self._record(status="error", failure_reason="error", message=message)
        recorded = self._recorder.finish({}) if self._steps else None
        return EpisodeError(message, result, recorded)

    def _record(self, **outcome: Any) -> EpisodeResult:
        request = self._request
        settings = request.settings
        return EpisodeResult(
            node_id=request.node_id,
            task_id=request.task.task_id,
            task_name=request.task.name,
            family=request.task.family,
            memory=request.task.memory,
            seed=request.seed,
            prompt=request.prompt,
            rules=request.rules,
            rules_hashes=request.rules_hashes,
            rules_max_steps=request.rules_max_steps,
            unfair_start=self._unfair,
            success=settings.success,
            steps=self._steps,
            clipped_values=self._clipped,
            initial_state_sha256=self._state_hash,
            policy=settings.policy,
            settings=self._applied_settings(),
            wall_times=self._watch.times(request.build_seconds),
            stepper=self._scene.stepper_name,
            gl_renderer=self._scene.gl_renderer,
            versions=simulator_versions(),
            repeat=request.repeat,
            **outcome,
        )

    def _applied_settings(self) -> dict[str, int | str]:
        request, settings = self._request, self._request.settings
        applied: dict[str, int | str] = {
            "max_steps": request.max_steps,
            "replan_steps": request.replan_steps,
            "settle_steps": settings.settle_steps,
            "image_size": settings.image_size,
            "prompts": settings.prompts,
        }
        if self._native_size is not None:
            applied["native_image_size"] = "{}x{}".format(*self._native_size)
        return applied


def _hash(*arrays: NDArray[np.float64]) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    return digest.hexdigest()
