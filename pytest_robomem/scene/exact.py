"""The lean control step: what stock robosuite computes, bit for bit, without what nobody reads."""

from functools import cache
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray
from robosuite.utils.transform_utils import axisangle2quat, quat2mat

from pytest_robomem.scene.compiled_step import (
    Arm,
    Command,
    Measured,
    Simulation,
    Target,
    advance,
)
from pytest_robomem.scene.portable_step import advance_portably
from pytest_robomem.scene.stepper import SUBSTEPS

Array = NDArray[np.float64]

_SPHERE = "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"


class ExactStepper:
    """One control step with the result of ``StockStepper``, in one compiled loop.

    robosuite's controller object is read after a reset and then left alone; what robosuite
    observes comes from the simulator's state, which is the same.

    Args:
        environment: the robosuite environment.
    """

    name = "exact"
    _advance = staticmethod(advance)

    def __init__(self, environment: Any) -> None:
        self._environment = environment
        self.reset()

    def reset(self) -> None:
        """Take over the state that placing the scene has left."""
        environment = self._environment
        robot = environment.robots[0]
        controller = robot.controller
        self._simulation = _simulation(environment)
        self._arm = _arm(environment)
        self._scaling = _Scaling(controller)
        self._measured = _measured(controller, self._simulation.qvel.size)
        self._target = Target(
            position=controller.goal_pos.copy(),
            rotation=controller.goal_ori.copy(),
            fingers=np.zeros(2) + robot.gripper.current_action,
        )
        self._stale = not controller.new_update
        self.kinematics_qpos: Array = self._simulation.qpos.copy()

    def step(self, action: Array) -> None:
        """Apply one action [7]; see ``StockStepper.step``."""
        kinematics_qpos = np.empty_like(self.kinematics_qpos)
        self._advance(
            self._simulation,
            self._arm,
            self._measured,
            self._target,
            self._scaling.command(action),
            self._stale,
            SUBSTEPS,
            kinematics_qpos,
        )
        self._stale = False
        self.kinematics_qpos = kinematics_qpos
        environment = self._environment
        environment.timestep += 1
        environment.cur_time += environment.control_timestep
        environment._post_process()


class PortableStepper(ExactStepper):
    """The same control step in arithmetic that does not depend on the processor.

    It is not equal to stock robosuite: rounding differs, and contacts make much of little.
    """

    name = "portable"
    _advance = staticmethod(advance_portably)


class _Scaling:
    """How an action becomes a change of pose; once a step, so numpy is fast enough.

    It has to be numpy, whose sine is not that of compiled code.

    Args:
        controller: robosuite's.
    """

    def __init__(self, controller: Any) -> None:
        low, high = controller.input_min, controller.input_max
        lowest, highest = controller.output_min, controller.output_max
        self._low, self._high = low, high
        self._middle = (high + low) / 2.0
        self._scale = abs(highest - lowest) / abs(high - low)
        self._offset = (highest + lowest) / 2.0

    def command(self, action: Array) -> Command:
        """Limit and scale an action [7]."""
        limited = np.minimum(np.maximum(action[:6], self._low), self._high)
        delta = (limited - self._middle) * self._scale + self._offset
        turn = delta[3:]
        return Command(
            move=delta[:3],
            rotation=turn,
            turn=quat2mat(axisangle2quat(turn)),
            turns=bool(turn.any()),
            grip=float(action[6]),
        )


def _simulation(environment: Any) -> Simulation:
    model, data = environment.sim.model._model, environment.sim.data._data
    return Simulation(
        model=model._address,
        data=data._address,
        idempotent=_forward_is_idempotent(),
        qpos=data.qpos,
        qvel=data.qvel,
        qfrc_bias=data.qfrc_bias,
        ctrl=data.ctrl,
        site_xpos=data.site_xpos,
        site_xmat=data.site_xmat.reshape(model.nsite, 9),
        inertia=_inertia(data),
        renormalized=np.empty(model.nq),
    )


def _inertia(data: Any) -> Array:
    """MuJoCo 3.4 renamed and reordered the sparse inertia."""
    sparse: Array = data.M if hasattr(data, "M") else data.qM
    return sparse


def _arm(environment: Any) -> Arm:
    robot = environment.robots[0]
    controller, model = robot.controller, environment.sim.model._model
    velocities = np.array(controller.qvel_index, dtype=np.int64)
    fingers = np.array(robot._ref_joint_gripper_actuator_indexes, dtype=np.int64)
    low, high = robot.torque_limits
    finger_low, finger_high = model.actuator_ctrlrange[fingers].T
    return Arm(
        site=int(robot.eef_site_id),
        positions=np.array(controller.qpos_index, dtype=np.int64),
        velocities=velocities,
        inertia_entries=_inertia_entries(model, velocities),
        actuators=np.array(robot._ref_joint_actuator_indexes, dtype=np.int64),
        fingers=fingers,
        low=np.array(low),
        high=np.array(high),
        stiffness=np.array(controller.kp, dtype=np.float64),
        damping=np.array(controller.kd, dtype=np.float64),
        rest=np.array(controller.initial_joint),
        finger_middle=0.5 * (finger_high + finger_low),
        finger_reach=0.5 * (finger_high - finger_low),
    )


def _inertia_entries(model: Any, dofs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Index of each entry of the given rows and columns in the sparse inertia, -1 for none."""
    wanted = {int(dof): number for number, dof in enumerate(dofs)}
    entries = np.full((dofs.size, dofs.size), -1, dtype=np.int64)
    for dof, row in wanted.items():
        for ancestor, entry in _inertia_row(model, dof):
            if ancestor in wanted:
                column = wanted[ancestor]
                entries[row, column] = entries[column, row] = entry
    return entries


def _inertia_row(model: Any, dof: int) -> list[tuple[int, int]]:
    """Columns and indices of one row's entries: the degree of freedom and those it hangs on."""
    if hasattr(model, "M_rowadr"):
        start, count = int(model.M_rowadr[dof]), int(model.M_rownnz[dof])
        return [(int(model.M_colind[entry]), entry) for entry in range(start, start + count)]
    row, entry = [], int(model.dof_Madr[dof])
    while dof >= 0:
        row.append((dof, entry))
        dof, entry = int(model.dof_parentid[dof]), entry + 1
    return row


def _measured(controller: Any, velocities: int) -> Measured:
    """Copies in robosuite's own memory layouts."""
    return Measured(
        position=controller.ee_pos.copy(order="K"),
        rotation=controller.ee_ori_mat.copy(order="K"),
        velocity=controller.ee_pos_vel.copy(order="K"),
        rotation_velocity=controller.ee_ori_vel.copy(order="K"),
        joint_position=controller.joint_pos.copy(order="K"),
        joint_velocity=controller.joint_vel.copy(order="K"),
        jacobian=controller.J_full.copy(order="K"),
        position_jacobian=controller.J_pos.copy(order="K"),
        rotation_jacobian=controller.J_ori.copy(order="K"),
        mass=controller.mass_matrix.copy(order="K"),
        all_position_jacobian=np.zeros((3, velocities)),
        all_rotation_jacobian=np.zeros((3, velocities)),
    )


@cache
def _forward_is_idempotent() -> bool:
    """Whether a further ``mj_forward`` leaves joint state and warm start as they are.

    Before MuJoCo 3 it normalizes the quaternions in qpos in place and stores its result as the
    next warm start, both of which the following steps depend on.
    """
    model = mujoco.MjModel.from_xml_string(_SPHERE)
    data = mujoco.MjData(model)
    data.qpos[3:] = (0.6, 0.0, 0.0, 0.7)
    before = data.qpos.copy(), data.qacc_warmstart.copy()
    mujoco.mj_forward(model, data)
    return all(map(np.array_equal, before, (data.qpos, data.qacc_warmstart)))
