"""Advancing the simulator by one control step."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

SUBSTEPS = 25  # 20 Hz control over 2 ms physics (robosuite 1.4.0 defaults)


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
