"""A recorded or running state, laid out again for scoring."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_robomem.scene.view import SimulatorView
from pytest_robomem.scoring.state import Contact


class ReplicaView(SimulatorView):
    """Finds the contacts when they are asked for: most states are scored without."""

    def __init__(self, model: Any, data: Any) -> None:
        super().__init__(model, data)
        self._contacts_are_found = False

    def forget_contacts(self) -> None:
        """The state has changed."""
        self._contacts_are_found = False

    def contacts(self) -> Iterator[Contact]:
        """Touching pairs of geoms, as pairs of names of the bodies that carry them."""
        self._find_contacts()
        return super().contacts()

    def touching(self) -> Mapping[str, frozenset[str]]:
        """For every body that touches something: the bodies it touches, by scene file names."""
        self._find_contacts()
        return super().touching()

    def _find_contacts(self) -> None:
        if not self._contacts_are_found:
            import mujoco  # noqa: PLC0415 - heavy, optional

            mujoco.mj_collision(self._model, self._data)
            self._contacts_are_found = True


class Replica:
    """A second state of a compiled model, which follows a joint state and nothing else.

    Scoring reads this instead of the running simulator: after a control step the simulator's joint
    positions are one substep ahead of its body positions, whereas here everything belongs to one
    instant. An episode that is scored again from its record therefore gives the same bits.

    Args:
        model: ``mujoco.MjModel``; where a seed put the fixtures is part of it.
        view_class: of the access to the state.

    Attributes:
        view: read-only access to the state, contacts included.
    """

    def __init__(self, model: Any, view_class: type[ReplicaView] = ReplicaView) -> None:
        import mujoco  # noqa: PLC0415 - heavy, optional

        self._mujoco: Any = mujoco
        self._model = model
        self._data: Any = mujoco.MjData(model)
        self.view = view_class(model, self._data)

    def lay(self, kinematics_qpos: NDArray[np.float64]) -> SimulatorView:
        """Take over a joint state [nq] (m, rad)."""
        self._data.qpos[:] = kinematics_qpos
        self._mujoco.mj_kinematics(self._model, self._data)
        self.view.forget_contacts()
        return self.view
