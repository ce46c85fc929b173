"""Advancing the simulator by one control step."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

SUBSTEPS = 25  # 20 Hz control over 2 ms physics (robosuite 1.4.0 defaults)


class Stepper(Protocol):
    """A way of advancing a scene.

    Attributes:
        name: as the user asks for it.
        kinematics_qpos: joint state [nq] of the instant that positions and images show.
    """

    name: str
    kinematics_qpos: NDArray[np.float64]

    def reset(self) -> None:
        """Take over the state that placing the scene has left."""

    def step(self, action: NDArray[np.float64]) -> None:
        """Apply one action [7]."""


def make_stepper(name: str, environment: Any) -> Stepper:
    """The stepper of a name: ``exact``, ``portable`` or ``stock``.

    Where ``exact`` cannot be exact, the stock one takes its place; its name tells.

    Args:
        name: what was asked for.
        environment: the robosuite environment.

    Raises:
        ValueError: there is no such stepper.
    """
    if name == "stock":
        return StockStepper(environment)
    if name == "portable":
        from pytest_robomem.scene.exact import PortableStepper  # noqa: PLC0415 - imports robosuite

        return PortableStepper(environment)
    if name == "exact":
        from pytest_robomem.scene.exact import ExactStepper  # noqa: PLC0415 - imports robosuite
        from pytest_robomem.scene.exactness import same_arithmetic  # noqa: PLC0415 - compiles

        return ExactStepper(environment) if same_arithmetic() else StockStepper(environment)
    raise ValueError(f"there is no stepper {name!r}")


class StockStepper:
    """One control step exactly as robosuite 1.4.0 takes it.

    robosuite refreshes its observables after each of the 25 substeps and keeps what the last one
    gave; here they are read only when somebody asks, at the same instant.

    Args:
        environment: the robosuite environment.
    """

    name = "stock"

    def __init__(self, environment: Any) -> None:
        self._environment = environment
        self.kinematics_qpos: NDArray[np.float64] = environment.sim.data.qpos.copy()

    def reset(self) -> None:
        """Take over the state that placing the scene has left."""
        self.kinematics_qpos = self._environment.sim.data.qpos.copy()

    def step(self, action: NDArray[np.float64]) -> None:
        """Apply one action.

        Afterwards positions of bodies and sites are those of the instant before the last substep
        (as in robosuite); ``kinematics_qpos`` is the joint state of that instant, from which the
        same positions and images can be recomputed.

        Args:
            action: [7], end-effector translation, rotation vector and gripper, in [-1, 1].
        """
        environment = self._environment
        simulation = environment.sim
        for substep in range(SUBSTEPS):
            simulation.forward()
            environment._pre_action(action, substep == 0)
            if substep == SUBSTEPS - 1:
                self.kinematics_qpos = simulation.data.qpos.copy()
            simulation.step()
        environment.timestep += 1
        environment.cur_time += environment.control_timestep
        environment._post_process()
