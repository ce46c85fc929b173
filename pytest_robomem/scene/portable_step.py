"""The substeps of a control step without BLAS, whose bits depend on the processor.

The arithmetic is OSC_POSE's, written out in a fixed order with operations that every x86-64
processor rounds alike; sine and cosine are series. Until something touches it differs from
robosuite's by rounding alone.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_robomem.scene.compiled_step import (
    Arm,
    Command,
    Measured,
    Simulation,
    Target,
    begin_substep,
    finish_substep,
    forward_again,
    grip,
    measure,
)
from pytest_robomem.scene.native import compiled

Array = NDArray[np.float64]

_NULLSPACE_STIFFNESS = 10.0  # robosuite's nullspace_torques
_SINGULAR = 1e-15  # smaller pivots, relative to the largest entry, count as none
_SERIES_TERMS = 12  # of sine and cosine, for angles below 1 rad


@compiled
def sine_cosine(angle: float) -> tuple[float, float]:
    """Sine and cosine of a small angle, rad, by their series."""
    sine, cosine, term = 0.0, 0.0, 1.0
    for power in range(2 * _SERIES_TERMS):
        sign = 1.0 if power % 4 < 2 else -1.0
        if power % 2 == 0:
            cosine += sign * term
        else:
            sine += sign * term
        term = term * angle / (power + 1)
    return sine, cosine


@compiled
def turn_matrix(turn: Array, matrix: Array) -> None:
    """Rotation matrix [3, 3] of a rotation vector [3], rad.

    As in robosuite, the quaternion has single precision, which is far more than rounding.
    """
    angle = np.sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2])
    quaternion = np.zeros(4, dtype=np.float32)  # w, x, y, z
    if angle == 0.0:
        quaternion[0] = np.float32(1.0)
    else:
        sine, cosine = sine_cosine(angle / 2.0)
        quaternion[0] = np.float32(cosine)
        for axis in range(3):
            quaternion[1 + axis] = np.float32(turn[axis] / angle * sine)
    square = 0.0
    for part in range(4):
        square += np.float64(np.float32(quaternion[part] * quaternion[part]))
    scale = np.sqrt(2.0 / np.float64(np.float32(square)))
    for part in range(4):
        quaternion[part] = np.float32(np.float64(quaternion[part]) * scale)
    w, x, y, z = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    one = 1.0
    matrix[0, 0] = one - np.float64(np.float32(y * y)) - np.float64(np.float32(z * z))
    matrix[1, 1] = one - np.float64(np.float32(x * x)) - np.float64(np.float32(z * z))
    matrix[2, 2] = one - np.float64(np.float32(x * x)) - np.float64(np.float32(y * y))
    matrix[0, 1] = np.float32(np.float32(x * y) - np.float32(z * w))
    matrix[1, 0] = np.float32(np.float32(x * y) + np.float32(z * w))
    matrix[0, 2] = np.float32(np.float32(x * z) + np.float32(y * w))
    matrix[2, 0] = np.float32(np.float32(x * z) - np.float32(y * w))
    matrix[1, 2] = np.float32(np.float32(y * z) - np.float32(x * w))
    matrix[2, 1] = np.float32(np.float32(y * z) + np.float32(x * w))


@compiled
def factorize(matrix: Array, factor: Array) -> None:
    """Lower Cholesky factor; columns of pivots that count as none become 0."""
    size = matrix.shape[0]
    largest = 0.0
    for row in range(size):
        largest = max(largest, abs(matrix[row, row]))
    factor[:] = 0.0
    for column in range(size):
        pivot = matrix[column, column]
        for inner in range(column):
            pivot -= factor[column, inner] * factor[column, inner]
        if not pivot > _SINGULAR * largest:
            continue
        factor[column, column] = np.sqrt(pivot)
        for row in range(column + 1, size):
            entry = matrix[row, column]
            for inner in range(column):
                entry -= factor[row, inner] * factor[column, inner]
            factor[row, column] = entry / factor[column, column]


@compiled
def solve_lower(factor: Array, vector: Array) -> None:
    """``vector = factor^-1 @ vector``."""
    for row in range(vector.size):
        entry = vector[row]
        for inner in range(row):
            entry -= factor[row, inner] * vector[inner]
        vector[row] = entry / factor[row, row] if factor[row, row] != 0.0 else 0.0


@compiled
def solve(factor: Array, vector: Array) -> None:
    """``vector = matrix^-1 @ vector`` of a factorized matrix."""
    solve_lower(factor, vector)
    for row in range(vector.size - 1, -1, -1):
        entry = vector[row]
        for inner in range(row + 1, vector.size):
            entry -= factor[inner, row] * vector[inner]
        vector[row] = entry / factor[row, row] if factor[row, row] != 0.0 else 0.0


@compiled
def _measure_velocity(simulation: Simulation, measured: Measured) -> None:
    for axis in range(3):
        linear = angular = 0.0
        for index in range(simulation.qvel.size):
            linear += measured.all_position_jacobian[axis, index] * simulation.qvel[index]
            angular += measured.all_rotation_jacobian[axis, index] * simulation.qvel[index]
        measured.velocity[axis] = linear
        measured.rotation_velocity[axis] = angular


@compiled
def _set_goal(measured: Measured, target: Target, command: Command) -> None:
    for axis in range(3):
        target.position[axis] = measured.position[axis] + command.move[axis]
    if command.turns:
        turn = np.zeros((3, 3))
        turn_matrix(command.rotation, turn)
        for row in range(3):
            for column in range(3):
                target.rotation[row, column] = (
                    turn[row, 0] * measured.rotation[0, column]
                    + turn[row, 1] * measured.rotation[1, column]
                    + turn[row, 2] * measured.rotation[2, column]
                )


@compiled
def _rotation_error(target: Array, current: Array, error: Array) -> None:
    """Half the sum of the cross products of the columns, [3]."""
    for axis in range(3):
        first, second = (axis + 1) % 3, (axis + 2) % 3
        total = 0.0
        for column in range(3):
            total += (
                current[first, column] * target[second, column]
                - current[second, column] * target[first, column]
            )
        error[axis] = 0.5 * total


@compiled
def _inverse_inertia(mass: Array, jacobian: Array, inverse: Array) -> None:
    """``inverse = jacobian @ mass^-1 @ jacobian.T``, [6, 6]."""
    axes, joints = jacobian.shape
    factor = np.empty((joints, joints))
    factorize(mass, factor)
    columns = np.empty((axes, joints))
    for axis in range(axes):
        columns[axis] = jacobian[axis]
        solve_lower(factor, columns[axis])
    for row in range(axes):
        for column in range(row + 1):
            total = 0.0
            for joint in range(joints):
                total += columns[row, joint] * columns[column, joint]
            inverse[row, column] = inverse[column, row] = total


@compiled
def _wrench(arm: Arm, measured: Measured, target: Target, inverse: Array, wrench: Array) -> None:
    error = np.empty(3)
    _rotation_error(target.rotation, measured.rotation, error)
    for axis in range(3):
        wrench[axis] = (target.position[axis] - measured.position[axis]) * arm.stiffness[axis]
        wrench[axis] += -measured.velocity[axis] * arm.damping[axis]
        wrench[3 + axis] = error[axis] * arm.stiffness[3 + axis]
        wrench[3 + axis] += -measured.rotation_velocity[axis] * arm.damping[3 + axis]
    factor = np.empty((3, 3))
    factorize(inverse[:3, :3], factor)
    solve(factor, wrench[:3])
    factorize(inverse[3:, 3:], factor)
    solve(factor, wrench[3:])


@compiled
def _nullspace_wrench(
    arm: Arm, measured: Measured, inverse: Array, pull: Array, wrench: Array
) -> None:
    """Acceleration [7] towards the rest pose, and the wrench [6] that it would exert."""
    damping = np.sqrt(_NULLSPACE_STIFFNESS) * 2.0
    joints = pull.size
    for joint in range(joints):
        pull[joint] = _NULLSPACE_STIFFNESS * (arm.rest[joint] - measured.joint_position[joint])
        pull[joint] -= damping * measured.joint_velocity[joint]
    for axis in range(wrench.size):
        total = 0.0
        for joint in range(joints):
            total += measured.jacobian[axis, joint] * pull[joint]
        wrench[axis] = total
    factor = np.empty(inverse.shape)
    factorize(inverse, factor)
    solve(factor, wrench)


@compiled
def _control(simulation: Simulation, arm: Arm, measured: Measured, target: Target) -> None:
    inverse, wrench, undone = np.empty((6, 6)), np.empty(6), np.empty(6)
    joints = arm.velocities.size
    pull = np.empty(joints)
    _inverse_inertia(measured.mass, measured.jacobian, inverse)
    _wrench(arm, measured, target, inverse, wrench)
    _nullspace_wrench(arm, measured, inverse, pull, undone)
    for joint in range(joints):
        torque = 0.0
        for axis in range(6):
            torque += measured.jacobian[axis, joint] * (wrench[axis] - undone[axis])
        for other in range(joints):
            torque += measured.mass[joint, other] * pull[other]
        torque += simulation.qfrc_bias[arm.velocities[joint]]
        limited = min(max(torque, arm.low[joint]), arm.high[joint])
        simulation.ctrl[arm.actuators[joint]] = limited


@compiled
def advance_portably(
    simulation: Simulation,
    arm: Arm,
    measured: Measured,
    target: Target,
    command: Command,
    stale: bool,
    substeps: int,
    kinematics_qpos: Any,
) -> None:
    """One control step; see :func:`pytest_robomem.scene.compiled_step.advance`."""
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
