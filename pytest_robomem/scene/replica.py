"""A recorded or running state, laid out again for scoring."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_robomem.scene.view import SimulatorView


class Replica:
    """A second state of a compiled model, which follows a joint state and nothing else.

    Scoring reads this instead of the running simulator: after a control step the simulator's joint
    positions are one substep ahead of its body positions, whereas here everything belongs to one
    instant. An episode that is scored again from its record therefore gives the same bits.

    Args:
        model: ``mujoco.MjModel``; where a seed put the fixtures is part of it.

    Attributes:
        view: read-only access to the state, contacts included.
    """

    def __init__(self, model: Any) -> None:
        import mujoco  # noqa: PLC0415 - heavy, optional

        self._mujoco: Any = mujoco
        self._model = model
        self._data: Any = mujoco.MjData(model)
        self.view = SimulatorView(model, self._data)

    def lay(self, kinematics_qpos: NDArray[np.float64]) -> SimulatorView:
        """Take over a joint state [nq] (m, rad) and find the contacts that it has."""
        data = self._data
        data.qpos[:] = kinematics_qpos
        self._mujoco.mj_kinematics(self._model, data)
        self._mujoco.mj_comPos(self._model, data)
        self._mujoco.mj_collision(self._model, data)
        return self.view
