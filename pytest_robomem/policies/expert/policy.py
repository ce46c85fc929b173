"""The expert as a policy: it acts through actions alone and reads the true state."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_robomem.policies.expert.failure import ExpertFailure
from pytest_robomem.policies.expert.memory import Memory
from pytest_robomem.policies.expert.motion import OPEN, Arm, Motion
from pytest_robomem.policies.expert.programs import PROGRAMS, Step
from pytest_robomem.policies.expert.skills import perform
from pytest_robomem.scene.view import SimulatorView

RISE_HEIGHT = 0.06  # m that the hand backs off after the last step


class NotAttachedError(RuntimeError):
    """The expert was asked for an action before it was given a simulator and a task."""


class Expert:
    """Runs the program of a task, one action at a time.

    Order of calls in an episode: ``attach_simulator``, ``reset``, ``episode_start``, then
    ``infer_actions`` for each step.

    Attributes:
        memory: what the present episode has shown so far.
        failure: why the expert stands still before its program's end, or None.
        finished: whether the program is over (done or given up).
        step_ends: number of actions taken when each step of the program was done.
    """

    def __init__(self) -> None:
        self._view: SimulatorView | None = None
        self._task: int | None = None
        self._motion: Motion[None] | None = None
        self.memory = Memory()
        self.failure: ExpertFailure | None = None
        self.finished = False
        self.step_ends: list[int] = []
        self._actions = 0

    def attach_simulator(self, view: SimulatorView) -> None:
        """Give the true state of the coming episode (hook for privileged policies)."""
        self._view = view

    def reset(self) -> None:
        """Forget the last episode."""
        self._task = None
        self._motion = None
        self.memory = Memory()
        self.failure = None
        self.finished = False
        self.step_ends = []
        self._actions = 0

    def episode_start(self, task_id: int, seed: int) -> None:  # noqa: ARG002 - hook's signature
        """Learn which of the 26 tasks this is; the seed is not used."""
        self._task = task_id

    def program(self, task_id: int) -> Sequence[Step]:
        """What is done in a task."""
        return PROGRAMS[task_id]

    def infer_actions(
        self,
        obs: Mapping[str, Any],  # noqa: ARG002 - the expert reads the true state
        prompt: str,  # noqa: ARG002
        resize_size: int,  # noqa: ARG002
    ) -> NDArray[np.float64]:
        """The next action, [1, 7]: one, because every step looks at the state again.

        Raises:
            NotAttachedError: no simulator was attached or no task announced.
        """
        if self._motion is None:
            if self._view is None or self._task is None:
                raise NotAttachedError(
                    "this policy needs attach_simulator(view) and episode_start(task_id, seed) "
                    "before the first action: it can only run in this package's own evaluator"
                )
            self._motion = self._run(self._view, self.program(self._task))
        action = next(self._motion, None)
        if action is None:
            action = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, OPEN])
        self._actions += 1
        return np.clip(action, -1.0, 1.0)[None]

    def _run(self, view: SimulatorView, program: Sequence[Step]) -> Motion[None]:
        arm = Arm(view, self.memory)
        try:
            for step in program:
                yield from perform(arm, step)
                self.step_ends.append(self._actions)
        except ExpertFailure as failure:
            self.failure = failure
        self.finished = True
