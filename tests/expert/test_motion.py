"""The servo, the choice of the hand's turn, and where a bottle tips."""

import numpy as np
import pytest

from pytest_robomem.policies.expert.grasp import (
    BASE_X,
    REACH_TILT_LARGEST,
    facing_down,
    grip_height,
    tilted_outward,
)
from pytest_robomem.policies.expert.layout import Box
from pytest_robomem.policies.expert.motion import rotation_between, servo, turned
from pytest_robomem.policies.expert.pouring import tip_direction

ALONG_Y = np.array([0.0, 1.0, 0.0])
DOWN = np.array([0.0, 0.0, -1.0])


def test_servo_is_proportional_near_the_goal() -> None:
    action = servo(np.array([0.01, 0.0, -0.01]), np.array([0.0, 0.1, 0.0]), gripper=1.0)
    assert action == pytest.approx([0.3, 0.0, -0.3, 0.0, 0.3, 0.0, 1.0])


def test_servo_keeps_the_direction_when_it_saturates() -> None:
    action = servo(np.array([1.0, 0.5, 0.0]), np.array([0.0, 0.0, 3.0]), gripper=-1.0, speed=0.5)
    assert action == pytest.approx([0.5, 0.25, 0.0, 0.0, 0.0, 1.0, -1.0])


def test_rotation_between_undoes_a_turn() -> None:
    start = np.eye(3)
    goal = turned(start, np.array([1.0, 0.0, 0.0]), 0.7)
    assert rotation_between(start, goal) == pytest.approx([0.7, 0.0, 0.0])


@pytest.mark.parametrize("angle", [0.0, 1e-6, 1e-3, 1.0, 3.0, np.pi])
def test_rotation_between_agrees_with_the_angle_at_every_size(angle: float) -> None:
    axis = np.array([0.6, 0.0, 0.8])
    start = turned(np.eye(3), ALONG_Y, 0.4)
    found = rotation_between(start, turned(start, axis, angle))
    sign = np.sign(found @ axis) if angle == np.pi else 1.0
    assert found == pytest.approx(sign * axis * angle, abs=1e-9)


@pytest.mark.parametrize("axis", [ALONG_Y, -ALONG_Y])
def test_hand_faces_down_with_the_last_joint_in_its_middle(axis: np.ndarray) -> None:
    rotation = facing_down(axis, np.array([-0.1, 0.0, 0.5]))
    assert rotation[:, 2] == pytest.approx(DOWN)
    assert rotation[:, 0] == pytest.approx(ALONG_Y)
    assert np.linalg.det(rotation) == pytest.approx(1.0)


def test_far_away_the_hand_leans_so_that_the_wrist_stays_near() -> None:
    near = facing_down(ALONG_Y, np.array([BASE_X + 0.6, 0.0, 0.5]))
    far = facing_down(ALONG_Y, np.array([BASE_X + 0.9, 0.0, 0.5]))
    assert near[:, 2] == pytest.approx(DOWN)
    assert far[0, 2] == pytest.approx(np.sin(REACH_TILT_LARGEST))
    assert far[:, 0] == pytest.approx(ALONG_Y)


def test_a_radial_finger_axis_is_not_tilted() -> None:
    position = np.array([BASE_X + 0.9, 0.0, 0.5])
    rotation = facing_down(np.array([1.0, 0.0, 0.0]), position, reach=False)
    assert tilted_outward(rotation, position) == pytest.approx(rotation)


def test_flat_things_are_taken_about_their_middle_and_tall_ones_below_the_top() -> None:
    flat = Box(np.array([0.0, 0.0, 0.434]), np.eye(3), np.array([0.04, 0.02, 0.010]))
    tall = Box(np.array([0.0, 0.0, 0.490]), np.eye(3), np.array([0.03, 0.03, 0.066]))
    assert grip_height(flat) == pytest.approx(0.433)
    assert grip_height(tall) == pytest.approx(0.521)


@pytest.mark.parametrize("y", [-0.3, -0.05, 0.05, 0.3])
def test_bottles_tip_sideways_and_a_little_towards_the_base(y: float) -> None:
    target = np.array([0.1, y])
    direction = tip_direction(target)
    radial = np.array([target[0] - BASE_X, y, 0.0])
    radial /= np.linalg.norm(radial)
    assert np.linalg.norm(direction) == pytest.approx(1.0)
    assert direction @ radial == pytest.approx(-0.5)
    # The public rule sees only the turn of a body axis along world x (milk) or y (tomato sauce).
    assert min(abs(direction[0]), abs(direction[1])) > 0.15
