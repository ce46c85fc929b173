"""Privileged policies: they act through actions alone and read the true state."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_robomem.policies.expert.failure import ExpertFailure
from pytest_robomem.policies.expert.memory import Memory
from pytest_robomem.policies.expert.motion import OPEN, Arm, Motion
from pytest_robomem.policies.expert.programs import PROGRAMS, Program
from pytest_robomem.policies.expert.skills import perform
from pytest_robomem.scene.view import SimulatorView

STAND_STILL = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, OPEN)


class NotAttachedError(RuntimeError):
    """A privileged policy was asked for an action before it was given a simulator and a task."""


class ScriptedPolicy:
    """Plays a motion, one action at a time, then stands still with the hand open.

    Order of calls in an episode: ``attach_simulator``, ``reset``, ``episode_start``, then
    ``infer_actions`` for each step. Subclasses say what is played (``script``).

    Args:
        make_memory: called at each reset; a memory that forgets makes a memoryless variant.

    Attributes:
        memory: what the present episode has shown so far.
        failure: why the policy stands still before its script's end, or None.
        finished: whether the script is over (done or given up).
        step_ends: number of actions taken when each part of the script was done.
    """

    def __init__(self, make_memory: Callable[[], Memory] = Memory) -> None:
        self._make_memory = make_memory
        self._view: SimulatorView | None = None
        self._episode: tuple[int, int] | None = None
        self._motion: Motion[None] | None = None
        self._actions = 0
        self.memory = self._make_memory()
        self.failure: ExpertFailure | None = None
        self.finished = False
        self.step_ends: list[int] = []

    def attach_simulator(self, view: SimulatorView) -> None:
        """Give the true state of the coming episode (hook for privileged policies)."""
        self._view = view

    def reset(self) -> None:
        """Forget the last episode."""
        self._episode = None
        self._motion = None
        self._actions = 0
        self.memory = self._make_memory()
        self.failure = None
        self.finished = False
        self.step_ends = []

    def episode_start(self, task_id: int, seed: int) -> None:
        """Learn which of the 26 tasks this is."""
        self._episode = (task_id, seed)

    def infer_actions(
        self,
        obs: Mapping[str, Any],
        prompt: str,
        resize_size: int,
    ) -> NDArray[np.float64]:
        """The next action, [1, 7]: one, because every step looks at the state again.

        Raises:
            NotAttachedError: no simulator was attached or no task announced.
        """
        if self._motion is None:
            if self._view is None or self._episode is None:
                raise NotAttachedError(
                    "this policy needs attach_simulator(view) and episode_start(task_id, seed) "
                    "before the first action: it can only run in this package's own evaluator"
                )
            self._motion = self._play(Arm(self._view, self.memory), *self._episode)
        action = next(self._motion, None)
        if action is None:
            action = np.array(STAND_STILL)
        self._actions += 1
        return np.clip(action, -1.0, 1.0)[None]

    def script(self, arm: Arm, task_id: int, seed: int) -> Motion[None]:
        """The motion of an episode."""
        raise NotImplementedError

    def _play(self, arm: Arm, task_id: int, seed: int) -> Motion[None]:
        try:
            yield from self.script(arm, task_id, seed)
        except ExpertFailure as failure:
            self.failure = failure
        self.finished = True


class Expert(ScriptedPolicy):
    """Runs the program of each task."""

    def program(self, task_id: int) -> Program:
        """What is done in a task."""
        return PROGRAMS[task_id]

    def script(self, arm: Arm, task_id: int, seed: int) -> Motion[None]:
        """The steps of the task's program, one after the other; the seed is not used."""
        for step in self.program(task_id):
            yield from perform(arm, step)
            self.step_ends.append(self._actions)
