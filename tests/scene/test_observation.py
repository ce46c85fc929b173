"""What a policy sees, and that it is made only when it looks."""

from typing import Any

import cv2
import numpy as np
import pytest

from pytest_robomem.scene.observation import Observation, StaleObservationError

QUATERNION = np.array([0.6, 0.0, 0.0, -0.8])  # x y z w


class Source:
    """Counts what is read."""

    def __init__(self) -> None:
        self.sensed = 0
        self.rendered: list[str] = []
        self.pixels = np.random.default_rng(0).integers(0, 255, (480, 640, 3), dtype=np.uint8)
        self.position = np.array([1.0, 2.0, 3.0])

    def sensors(self) -> dict[str, Any]:
        self.sensed += 1
        return {
            "robot0_eef_pos": self.position,
            "robot0_eef_quat": QUATERNION,
            "robot0_gripper_qpos": np.array([0.02, -0.02]),
        }

    def render(self, camera: str, *size: int) -> Any:
        self.rendered.append(camera)
        if not size:
            return self.pixels
        self.native = np.random.default_rng(1).integers(0, 255, (*size, 3), dtype=np.uint8)
        return self.native


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
def observation(source: Source) -> Observation:
    return Observation(source.sensors, source.render, "do it", 256)


def test_nothing_is_made_before_it_is_read(source: Source, observation: Observation) -> None:
    assert observation["prompt"] == "do it"
    assert "agentview_image" in observation
    assert "base_0_rgb" in observation
    assert (source.sensed, source.rendered) == (0, [])
    keys = list(observation)
    assert {"robot0_eef_pos", "robot0_eye_in_hand_image", "observation/state"} <= set(keys)
    assert len(observation) == len(keys) == len(set(keys))
    assert source.rendered == []


def test_a_camera_is_rendered_once_for_all_its_keys(
    source: Source, observation: Observation
) -> None:
    for key in ("observation/image", "base_0_rgb", "agentview_image", "agentview_image"):
        assert observation[key] is not None
    assert source.rendered == ["agentview"]
    assert observation["right_wrist_0_rgb"].shape == (256, 256, 3)
    assert source.rendered == ["agentview", "robot0_eye_in_hand"]


def test_prepared_images_are_flipped_vertically_and_squashed_by_area(
    source: Source, observation: Observation
) -> None:
    upright = np.ascontiguousarray(source.pixels[::-1])
    expected = cv2.resize(upright, (256, 256), interpolation=cv2.INTER_AREA)
    np.testing.assert_array_equal(observation["observation/image"], expected)
    np.testing.assert_array_equal(observation["agentview_image"], source.pixels)
    assert observation["left_wrist_0_rgb"].max() == 0


def test_native_images_are_flipped_and_nothing_else(source: Source) -> None:
    observation = Observation(source.sensors, source.render, "do it", 256, (120, 90))
    image = observation["observation/image"]
    np.testing.assert_array_equal(image, source.native[::-1])
    assert image.flags.c_contiguous
    np.testing.assert_array_equal(observation["base_0_rgb"], image)
    assert source.rendered == ["agentview"]
    assert observation["left_wrist_0_rgb"].shape == (120, 90, 3)
    np.testing.assert_array_equal(observation["agentview_image"], source.pixels)


def test_the_prepared_state_uses_the_quaternion_with_positive_w(observation: Observation) -> None:
    """LIBERO's own conversion gives a rotation beyond pi for w < 0."""
    state = observation["observation/state"]
    angle = 2 * np.arccos(0.8)
    np.testing.assert_allclose(state, [1, 2, 3, -angle, 0, 0, 0.02, -0.02], rtol=1e-6)
    assert state.dtype == np.float32


def test_a_policy_cannot_change_the_simulator_through_it(
    source: Source, observation: Observation
) -> None:
    position = observation["robot0_eef_pos"]
    with pytest.raises(ValueError, match="read-only"):
        position[0] = 9.0
    source.position[0] = 5.0  # the simulator moves on in place
    assert observation["robot0_eef_pos"][0] == 1.0
    with pytest.raises(TypeError):
        observation["robot0_eef_pos"] = 1  # type: ignore[index]


def test_an_old_observation_keeps_what_was_read_and_refuses_the_rest(
    source: Source, observation: Observation
) -> None:
    kept = observation["robot0_eef_pos"]
    observation.expire()
    assert observation["robot0_eef_pos"] is kept
    with pytest.raises(StaleObservationError, match="agentview_image"):
        observation["agentview_image"]
    assert source.rendered == []


def test_unknown_keys(observation: Observation) -> None:
    assert "nonsense" not in observation
    with pytest.raises(KeyError):
        observation["nonsense"]
