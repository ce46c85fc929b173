"""Servoing the hand with 7-D delta actions, and staying clear of the straight elbow.

Frames: world x away from the robot base, y left, z up. The grip site lies between the finger
pads; its z axis is the approach direction, its x axis the direction in which the fingers open.
"""

from collections.abc import Callable, Generator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from pytest_robomem.policies.expert.failure import ExpertFailure
from pytest_robomem.policies.expert.layout import Layout
from pytest_robomem.policies.expert.memory import Memory
from pytest_robomem.scene.view import SimulatorView

Array = NDArray[np.float64]
Result = TypeVar("Result")
Motion = Generator[Array, None, Result]  # yields one action [7] per control step
Target = Array | Callable[[], Array]

GRIP_SITE = "gripper0_grip_site"
SHOULDER = np.array([-0.51, 0.0, 0.743])  # m, robot0_link2: the centre of the arm's reach
WRIST_BODY = "robot0_link7"
ELBOW_JOINT = "robot0_joint4"
LAST_JOINT = "robot0_joint7"

HALF_TURN = 2.6  # rad; from here on both ways round are about as long
NEARLY_PARALLEL = 1e-4  # sine below which an angle is its own sine to 1e-12

FULL_TRANSLATION = 0.05  # m of goal offset that an action of 1 commands (OSC_POSE)
FULL_ROTATION = 0.5  # rad, likewise
SERVO_GAIN = 1.5  # fastest gain without overshoot: the goal restarts from the pose of each step

POSITION_TOLERANCE = 0.006  # m: the controller's own steady error is 2 to 4 mm
ROTATION_TOLERANCE = 0.06  # rad, for the same reason
PASSING_TOLERANCE = 0.03  # m at a way point that is only passed
STALL_STEPS = 12  # steps without progress after which a goal counts as not reachable
STALL_PROGRESS = 0.001  # m (or a tenth of a radian in 100) that count as progress
MOVE_STEPS = 150  # limit of one motion: three times the longest way across the table

OPEN, CLOSED, KEEP = -1.0, 1.0, 0.0  # gripper commands

ELBOW_CAUTION = -0.75  # rad of joint 4: from here on outward motion is slowed
ELBOW_LIMIT = -0.50  # rad: no outward motion; beyond the straight arm (-0.467) pulling in locks it
ELBOW_STRAIGHT = -0.467  # rad, the singular posture
ELBOW_BENT = -0.90  # rad, from where the servo works again
ELBOW_PUSH_STEPS, ELBOW_PULL_STEPS = 25, 25  # limits of the two phases of unlocking


def servo(
    position_error: Array, rotation_error: Array, gripper: float, speed: float = 1.0
) -> Array:
    """Action [7] towards a goal.

    Args:
        position_error: goal minus grip site, [3] m, world.
        rotation_error: rotation vector from now to the goal, [3] rad, world.
        gripper: -1 opens, 1 closes, 0 keeps.
        speed: largest translation command, in (0, 1]; the direction is kept.
    """
    translation = position_error * (SERVO_GAIN / FULL_TRANSLATION)
    rotation = rotation_error * (SERVO_GAIN / FULL_ROTATION)
    translation = translation * min(1.0, speed / max(float(np.abs(translation).max()), 1e-9))
    rotation = rotation * min(1.0, 1.0 / max(float(np.abs(rotation).max()), 1e-9))
    return np.concatenate([translation, rotation, [gripper]])


def rotation_between(start: Array, goal: Array) -> Array:
    """World rotation vector [3] rad that turns one rotation matrix into the other."""
    # Written out because scipy's takes half a millisecond, and each control step needs two.
    turn = goal @ start.T
    sine_axis = 0.5 * np.array(
        [turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]
    )
    sine, cosine = float(np.linalg.norm(sine_axis)), 0.5 * (float(np.trace(turn)) - 1.0)
    if sine < NEARLY_PARALLEL:
        if cosine > 0:
            return sine_axis
        return np.asarray(Rotation.from_matrix(turn).as_rotvec())  # half a turn
    return np.asarray(sine_axis * (np.arctan2(sine, cosine) / sine))


def turned(rotation: Array, axis: Array, angle: float) -> Array:
    """A rotation matrix turned about a world axis by an angle (rad)."""
    matrix = Rotation.from_rotvec(np.asarray(axis, dtype=np.float64) * angle).as_matrix()
    return np.asarray(matrix @ rotation)


class Arm:
    """The hand as the skills see it: its pose, its gripper command, what it remembers.

    Attributes:
        view: true state, read only.
        layout: boxes of the objects.
        memory: what the task has shown so far.
        gripper: command that goes with every action.
        skill: name of what is being done, for failures.
        holding: object in the hand.
        hold_offset: its box centre in the frame of the grip site when it was taken, [3] m.
    """

    def __init__(self, view: SimulatorView, memory: Memory) -> None:
        self.view = view
        self.memory = memory
        self.layout = Layout(view)
        self.gripper = OPEN
        self.skill = ""
        self.holding: str | None = None
        self.hold_offset = np.zeros(3)

    @property
    def position(self) -> Array:
        """Grip site [3] m."""
        return self.view.site_pose(GRIP_SITE).position

    @property
    def rotation(self) -> Array:
        """Grip site [3, 3]: x opens the fingers, z approaches."""
        return self.view.site_pose(GRIP_SITE).rotation

    @property
    def elbow(self) -> float:
        """Joint 4, rad: -0.07 is its limit, about -0.467 the straight arm."""
        return self.view.joint_position(ELBOW_JOINT)

    def outward(self) -> Array:
        """Unit vector [3] from the shoulder to the wrist."""
        reach = self.view.body_position(WRIST_BODY) - SHOULDER
        return np.asarray(reach / np.linalg.norm(reach))

    def fail(self, reason: str) -> ExpertFailure:
        """The failure of the present skill, to be raised."""
        x, y, z = self.position
        return ExpertFailure(self.skill, reason, (float(x), float(y), float(z)))

    def action(self, position: Array, rotation: Array, speed: float = 1.0) -> Array:
        """Action towards a pose, slowed where it would straighten the elbow."""
        pose = self.view.site_pose(GRIP_SITE)
        turn = self._unwinding(rotation_between(pose.rotation, rotation))
        action = servo(position - pose.position, turn, self.gripper, speed)
        elbow = self.elbow
        if elbow > ELBOW_CAUTION:
            slack = float(np.clip((ELBOW_LIMIT - elbow) / (ELBOW_LIMIT - ELBOW_CAUTION), 0.0, 1.0))
            direction = self.outward()
            excess = float(action[:3] @ direction) - slack
            if excess > 0:
                action[:3] -= excess * direction
            action[3:6] *= 0.3 + 0.7 * slack
        return action


    def _unwinding(self, turn: Array) -> Array:
        """Take half a turn about the vertical the way that leads the last joint to its middle."""
        angle = float(np.linalg.norm(turn))
        if angle < HALF_TURN or abs(turn[2]) < 0.9 * angle:
            return turn
        # With the hand pointing down, a turn to the left in the world turns that joint back.
        leftward = self.view.joint_position(LAST_JOINT) > 0
        if leftward == (turn[2] > 0):
            return turn
        return np.asarray(turn * (1.0 - 2 * np.pi / angle))


def value(target: Target) -> Array:
    """A fixed or a moving target as it is now."""
    return target() if callable(target) else target


def move(
    arm: Arm,
    position: Target,
    rotation: Target,
    *,
    tolerance: float = POSITION_TOLERANCE,
    rotation_tolerance: float = ROTATION_TOLERANCE,
    speed: float = 1.0,
    limit: int = MOVE_STEPS,
    until: Callable[[], bool] | None = None,
    patience: int = STALL_STEPS,
) -> Motion[bool]:
    """Servo the grip site to a pose, which may move; looks again at each step.

    Args:
        position: [3] m or a function of the present state.
        rotation: [3, 3] or a function of the present state.
        until: ends the motion with success as soon as it is true.
        patience: steps without progress after which to give up.

    Returns:
        Whether the pose (or ``until``) was reached within ``limit`` steps.
    """
    best, since = np.inf, 0
    for _ in range(limit):
        goal_position, goal_rotation = value(position), value(rotation)
        distance = float(np.linalg.norm(goal_position - arm.position))
        angle = float(np.linalg.norm(rotation_between(arm.rotation, goal_rotation)))
        if (distance < tolerance and angle < rotation_tolerance) or (until and until()):
            return True
        error = max(distance - tolerance, 0.0) + 0.1 * max(angle - rotation_tolerance, 0.0)
        best, since = (error, 0) if error < best - STALL_PROGRESS else (best, since + 1)
        if arm.elbow > ELBOW_STRAIGHT:
            yield from unlock_elbow(arm)
            best, since = np.inf, 0
        if since >= patience:
            return False
        yield arm.action(goal_position, goal_rotation, speed)
    return bool(until and until())


def unlock_elbow(arm: Arm) -> Motion[None]:
    """Bend a straight elbow again: outward first, past the singular posture, then inward."""
    still = np.zeros(3)
    for _ in range(ELBOW_PUSH_STEPS):
        if arm.elbow < ELBOW_STRAIGHT:
            break
        yield np.concatenate([arm.outward(), still, [arm.gripper]])
    for _ in range(ELBOW_PULL_STEPS):
        if arm.elbow < ELBOW_BENT:
            break
        yield np.concatenate([-arm.outward(), still, [arm.gripper]])


def stay(arm: Arm, steps: int) -> Motion[None]:
    """Hold the present pose."""
    position, rotation = arm.position, arm.rotation
    for _ in range(steps):
        yield arm.action(position, rotation)


def push(arm: Arm, direction: Array, steps: int, until: Callable[[], bool]) -> Motion[bool]:
    """Command a constant translation (in units of a full action) with the hand's turn kept.

    Returns:
        Whether ``until`` became true.
    """
    rotation = arm.rotation
    for _ in range(steps):
        if until():
            return True
        yield arm.action(arm.position + direction * (FULL_TRANSLATION / SERVO_GAIN), rotation)
    return until()
