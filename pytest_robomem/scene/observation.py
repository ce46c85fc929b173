"""What a policy gets to see at a step."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from pytest_robomem.scene.cameras import CAMERAS, Image

MAIN_CAMERA, WRIST_CAMERA = "agentview_image", "robot0_eye_in_hand_image"


class StaleObservationError(RuntimeError):
    """An observation of an earlier step was read for the first time: its moment is gone."""


class Observation(Mapping[str, Any]):
    """Observations of one step, each made when its key is read first.

    Besides robosuite's keys and the raw images there are the prepared inputs of the public
    evaluator. All arrays are read-only copies.

    Args:
        sensors: reads robosuite's observations of robot and objects.
        render: renders a camera at the simulator's size, bottom row first; or at another one, if
            height and width are given.
        prompt: the instruction.
        resize_size: side of the prepared images, pixels.
        native_size: height and width at which prepared images are rendered instead.
    """

    def __init__(
        self,
        sensors: Callable[[], Mapping[str, NDArray[np.float64]]],
        render: Callable[..., Image],
        prompt: str,
        resize_size: int,
        native_size: tuple[int, int] | None = None,
    ) -> None:
        self._read_sensors = sensors
        self._render = render
        self._resize_size = resize_size
        self._native_size = native_size
        self._values: dict[str, Any] = {"prompt": prompt}
        self._expired = False
        self._sensor_keys: tuple[str, ...] | None = None

    def expire(self) -> None:
        """The simulator moves on: from now on only what was read already can be read."""
        self._expired = True

    def __getitem__(self, key: str) -> Any:
        if key not in self._values:
            if key not in self:
                raise KeyError(key)
            if self._expired:
                raise StaleObservationError(
                    f"{key!r} was not read at its step, and the simulator has moved on: read it "
                    "when the observation is handed over"
                )
            self._values[key] = _read_only(self._make(key))
        return self._values[key]

    def _make(self, key: str) -> Any:
        if key in CAMERAS:
            return self._render(CAMERAS[key])
        if key in _PREPARED:
            return _PREPARED[key](self)
        return self._sensors()[key]

    def __contains__(self, key: object) -> bool:
        return (
            key in self._values
            or key in CAMERAS
            or key in _PREPARED
            or (not self._expired and key in self._sensors())
        )

    def __iter__(self) -> Iterator[str]:
        sensors = () if self._expired else tuple(self._sensors())
        yield from dict.fromkeys((*sensors, *CAMERAS, *_PREPARED, *self._values))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _sensors(self) -> Mapping[str, Any]:
        if self._sensor_keys is None:
            observed = self._read_sensors()
            self._sensor_keys = tuple(observed)
            self._values.update({key: _read_only(value) for key, value in observed.items()})
        return {key: self._values[key] for key in self._sensor_keys}

    def _prepare(self, camera: str) -> Image:
        """Upright and squashed to a square: a vertical flip only, no padding, area averaging.

        Where another size is rendered natively, upright alone.
        """
        if self._native_size is not None:
            return self._render(CAMERAS[camera], *self._native_size)[::-1]
        upright = np.ascontiguousarray(self[camera][::-1])
        size = (self._resize_size, self._resize_size)
        return np.asarray(cv2.resize(upright, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)

    def _blank(self) -> Image:
        height, width = self._native_size or (self._resize_size, self._resize_size)
        return np.zeros((height, width, 3), dtype=np.uint8)

    def _state(self) -> NDArray[np.float32]:
        """[8]: end-effector position 3, axis-angle 3 (of the quaternion with w >= 0), fingers 2."""
        return np.concatenate(
            [
                self["robot0_eef_pos"],
                axis_angle(self["robot0_eef_quat"]),
                self["robot0_gripper_qpos"],
            ]
        ).astype(np.float32)


# Not in the observation itself: that would be a cycle, and its images would stay in memory until
# Python's collector passes by.
_PREPARED: dict[str, Callable[[Observation], Any]] = {
    "observation/image": lambda seen: seen._prepare(MAIN_CAMERA),
    "observation/wrist_image": lambda seen: seen._prepare(WRIST_CAMERA),
    "observation/state": lambda seen: seen._state(),
    "base_0_rgb": lambda seen: seen["observation/image"],
    "left_wrist_0_rgb": lambda seen: seen._blank(),
    "right_wrist_0_rgb": lambda seen: seen["observation/wrist_image"],
}


def axis_angle(quaternion: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rotation vector [3] (rad) of a quaternion (x, y, z, w), angle in [0, pi]."""
    signed = -quaternion if quaternion[3] < 0 else quaternion
    axis, w = signed[:3], float(min(signed[3], 1.0))
    length = float(np.sqrt(1.0 - w * w))
    if length < 1e-12:
        return np.zeros(3)
    return np.asarray(axis * 2.0 * np.arccos(w) / length, dtype=np.float64)


def _read_only(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    copied = np.array(value)
    copied.setflags(write=False)
    return copied
