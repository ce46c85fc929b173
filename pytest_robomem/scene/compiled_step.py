"""The substeps of a control step as compiled code: MuJoCo, OSC_POSE and the gripper.

What robosuite 1.4.0 computes with numba is computed here by the very same functions; what it
computes with numpy is written out with the operations that give the same bits. Import this only
after :func:`pytest_robomem.scene.simulator.load_simulator`.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray
from robosuite.utils.control_utils import nullspace_torques, opspace_matrices, orientation_error

from pytest_robomem.scene.native import ADDRESS, compiled, mujoco_function

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

_STAGE_VELOCITY = 2  # mjtStage: what depends on positions and velocities is up to date
_GRIPPER_SPEED = 0.01  # per substep, of a range from -1 to 1 (robosuite's PandaGripper)

_mj_step = mujoco_function("mj_step", ADDRESS, ADDRESS)
_mj_step1 = mujoco_function("mj_step1", ADDRESS, ADDRESS)
_mj_step2 = mujoco_function("mj_step2", ADDRESS, ADDRESS)
_mj_forward = mujoco_function("mj_forward", ADDRESS, ADDRESS)
_mj_forward_skip = mujoco_function("mj_forwardSkip", ADDRESS, ADDRESS, types.intc, types.intc)
_mj_check_positions = mujoco_function("mj_checkPos", ADDRESS, ADDRESS)
_mj_check_velocities = mujoco_function("mj_checkVel", ADDRESS, ADDRESS)
_mj_normalize = mujoco_function("mj_normalizeQuat", ADDRESS, ADDRESS)
_mj_site_jacobian = mujoco_function(
    "mj_jacSite", ADDRESS, ADDRESS, ADDRESS, ADDRESS, types.intc
)


class Simulation(NamedTuple):
    """MuJoCo's structures and views of their arrays.

    Attributes:
        model, data: addresses of ``mjModel`` and ``mjData``.
        idempotent: whether a second ``mj_forward`` changes nothing.
        inertia: sparse joint-space inertia, as MuJoCo stores it.
        renormalized: [nq], scratch.
    """

    model: int
    data: int
    idempotent: bool
    qpos: Array
    qvel: Array
    qfrc_bias: Array
    ctrl: Array
    site_xpos: Array
    site_xmat: Array
    inertia: Array
    renormalized: Array


class Arm(NamedTuple):
    """What stays the same during an episode.

    Attributes:
        site: of the gripper's frame.
        positions, velocities: [7] addresses of the arm's joints in qpos and qvel.
        inertia_entries: [7, 7] where the arm's inertia lies in ``Simulation.inertia``; -1 for 0.
        actuators, fingers: [7], [2] in ctrl.
        low, high: [7] torque limits, N m.
        stiffness, damping: [6] gains of position and rotation.
        rest: [7] joint positions, rad, that the redundant degree of freedom is drawn to.
        finger_middle, finger_reach: [2] of the fingers' control range, m.
    """

    site: int
    positions: Indices
    velocities: Indices
    inertia_entries: Indices
    actuators: Indices
    fingers: Indices
    low: Array
    high: Array
    stiffness: Array
    damping: Array
    rest: Array
    finger_middle: Array
    finger_reach: Array


class Measured(NamedTuple):
    """What the controller knows of the arm; overwritten at each substep.

    The memory layouts (C or Fortran order) are those of robosuite's arrays, since the BLAS
    routines that are called, and with them the bits, depend on them.
    """

    position: Array
    rotation: Array
    velocity: Array
    rotation_velocity: Array
    joint_position: Array
    joint_velocity: Array
    jacobian: Array
    position_jacobian: Array
    rotation_jacobian: Array
    mass: Array
    all_position_jacobian: Array
    all_rotation_jacobian: Array


class Command(NamedTuple):
    """An action, in the units of the simulator.

    Attributes:
        move: [3] m.
        rotation: [3], rotation vector, rad.
        turn: [3, 3], the same as a matrix.
        turns: whether there is a rotation; without one the old orientation stays the goal.
        grip: negative to open.
    """

    move: Array
    rotation: Array
    turn: Array
    turns: bool
    grip: float


class Target(NamedTuple):
    """Where the controller steers to: [3] m, [3, 3], and the fingers [2] in [-1, 1]."""

    position: Array
    rotation: Array
    fingers: Array


@compiled
def measure(simulation: Simulation, arm: Arm, measured: Measured) -> None:
    """Read everything but the gripper frame's velocity."""
    for axis in range(3):
        measured.position[axis] = simulation.site_xpos[arm.site, axis]
        for column in range(3):
            measured.rotation[axis, column] = simulation.site_xmat[arm.site, 3 * axis + column]
    linear, angular = measured.all_position_jacobian, measured.all_rotation_jacobian
    _mj_site_jacobian(
        simulation.model, simulation.data, linear.ctypes.data, angular.ctypes.data, arm.site
    )
    for joint in range(arm.velocities.size):
        velocity = arm.velocities[joint]
        measured.joint_position[joint] = simulation.qpos[arm.positions[joint]]
        measured.joint_velocity[joint] = simulation.qvel[velocity]
        for axis in range(3):
            measured.position_jacobian[axis, joint] = linear[axis, velocity]
            measured.rotation_jacobian[axis, joint] = angular[axis, velocity]
            measured.jacobian[axis, joint] = linear[axis, velocity]
            measured.jacobian[3 + axis, joint] = angular[axis, velocity]
        for other in range(arm.velocities.size):
            entry = arm.inertia_entries[joint, other]
            measured.mass[joint, other] = simulation.inertia[entry] if entry >= 0 else 0.0


@compiled
def _measure_velocity(simulation: Simulation, measured: Measured) -> None:
    measured.velocity[:] = np.dot(measured.all_position_jacobian, simulation.qvel)
    measured.rotation_velocity[:] = np.dot(measured.all_rotation_jacobian, simulation.qvel)


@compiled
def _control(simulation: Simulation, arm: Arm, measured: Measured, target: Target) -> None:
    rotation_error = orientation_error(target.rotation, measured.rotation)
    position_error = target.position - measured.position
    force = position_error * arm.stiffness[:3] + -measured.velocity * arm.damping[:3]
    torque = rotation_error * arm.stiffness[3:] + -measured.rotation_velocity * arm.damping[3:]
    _, position_inertia, rotation_inertia, nullspace = opspace_matrices(
        measured.mass, measured.jacobian, measured.position_jacobian, measured.rotation_jacobian
    )
    wrench = np.empty(6)
    wrench[:3] = np.dot(position_inertia, force)
    wrench[3:] = np.dot(rotation_inertia, torque)
    torques = np.dot(measured.jacobian.T, wrench)
    for joint in range(arm.velocities.size):
        torques[joint] += simulation.qfrc_bias[arm.velocities[joint]]
    torques += nullspace_torques(
        measured.mass, nullspace, arm.rest, measured.joint_position, measured.joint_velocity
    )
    for joint in range(arm.actuators.size):
        limited = min(max(torques[joint], arm.low[joint]), arm.high[joint])
        simulation.ctrl[arm.actuators[joint]] = limited


@compiled
def grip(simulation: Simulation, arm: Arm, target: Target, action: float) -> None:
    """Move the fingers' targets on, negative to open."""
    towards = np.sign(action)
    for finger in range(arm.fingers.size):
        direction = -1.0 if finger == 0 else 1.0
        moved = target.fingers[finger] + direction * _GRIPPER_SPEED * towards
        target.fingers[finger] = min(max(moved, -1.0), 1.0)
        simulation.ctrl[arm.fingers[finger]] = (
            arm.finger_middle[finger] + arm.finger_reach[finger] * target.fingers[finger]
        )


@compiled
def _settled(simulation: Simulation) -> bool:
    """Whether normalizing the quaternions in qpos once more would change no bit."""
    copy = simulation.renormalized
    copy[:] = simulation.qpos
    _mj_normalize(simulation.model, copy.ctypes.data)
    return np.array_equal(copy, simulation.qpos)


@compiled
def begin_substep(simulation: Simulation) -> None:
    """All that does not depend on the controls."""
    if simulation.idempotent:
        _mj_step1(simulation.model, simulation.data)
    else:
        _mj_forward(simulation.model, simulation.data)


@compiled
def forward_again(simulation: Simulation) -> None:
    """The controller's own ``mj_forward``."""
    if simulation.idempotent:
        return
    if _settled(simulation):
        _mj_forward_skip(simulation.model, simulation.data, _STAGE_VELOCITY, 1)
    else:
        _mj_forward(simulation.model, simulation.data)


@compiled
def finish_substep(simulation: Simulation) -> None:
    """Forces, and the integration."""
    if simulation.idempotent:
        _mj_step2(simulation.model, simulation.data)
    elif _settled(simulation):
        _mj_check_positions(simulation.model, simulation.data)
        _mj_check_velocities(simulation.model, simulation.data)
        _mj_step2(simulation.model, simulation.data)
    else:
        _mj_step(simulation.model, simulation.data)


@compiled
def _set_goal(measured: Measured, target: Target, command: Command) -> None:
    """Take up a new action, from where the arm is now."""
    target.position[:] = measured.position + command.move
    if command.turns:
        target.rotation[:] = np.dot(command.turn, measured.rotation)


@compiled
def advance(
    simulation: Simulation,
    arm: Arm,
    measured: Measured,
    target: Target,
    command: Command,
    stale: bool,
    substeps: int,
    kinematics_qpos: Any,
) -> None:
    """One control step.

    Args:
        command: the action.
        stale: keep what was measured before, as robosuite does in the first step after a reset.
        kinematics_qpos: [nq], gets the joint state before the last integration.
    """
    for substep in range(substeps):
        begin_substep(simulation)
        if substep > 0 or not stale:
            forward_again(simulation)
            measure(simulation, arm, measured)
            _measure_velocity(simulation, measured)
        if substep == 0:
            _set_goal(measured, target, command)
        _control(simulation, arm, measured, target)
        grip(simulation, arm, target, command.grip)
        if substep == substeps - 1:
            kinematics_qpos[:] = simulation.qpos
        finish_substep(simulation)
