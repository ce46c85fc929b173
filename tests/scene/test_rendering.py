"""Images of a real scene: videos from trajectories, and sizes that policies ask for."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import pytest

from pytest_robomem.policies.random import build_adapter
from pytest_robomem.rendering import add_frames
from pytest_robomem.resources import resource_dir
from pytest_robomem.scene.model import Scene
from pytest_robomem.scene.observation import Observation
from pytest_robomem.scene.recorder import TrajectoryRecorder
from pytest_robomem.scene.recording import Trajectory, TrajectoryError
from pytest_robomem.storage import LiveVideo

TASK, SEED, STEPS = 9, 103, 6  # a drawer: the seed moves the cabinet


class Frames:
    """What a video is made of."""

    def __init__(self) -> None:
        self.pairs: list[tuple[Any, Any]] = []

    def add(self, main: Any, wrist: Any) -> None:
        self.pairs.append((main.copy(), wrist.copy()))


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    (path,) = resource_dir("bddl").glob(f"{TASK}_*.bddl")
    built = Scene(path, stepper="stock")
    yield built
    built.close()


def episode(scene: Scene, frames: Frames) -> Trajectory:
    """A short episode of random actions, filmed while it runs."""
    live: Any = LiveVideo(frames)  # type: ignore[arg-type]
    scene.reset(SEED)
    recorder = TrajectoryRecorder()
    recorder.begin(scene.data.qpos, *scene.body_placements)
    policy = build_adapter()
    policy.reset()
    policy.episode_start(TASK, SEED)
    for step in range(STEPS + 1):
        if step:
            action = np.asarray(policy.infer_actions({}, "", 256))[0]
            recorder.add_action(action)
            scene.step(action)
        recorder.add_state(scene.data.qpos, scene.kinematics_qpos, scene.end_effector())
        live.after_step(scene, step)
    return recorder.finish({})


def test_videos_from_trajectories_are_the_live_ones_pixel_for_pixel(
    scene: Scene, needs_images: None
) -> None:
    """Whatever the scene was used for in between."""
    live, later = Frames(), Frames()
    trajectory = episode(scene, live)
    scene.reset(SEED + 1)
    scene.step(np.full(7, 0.5))
    assert np.abs(scene.body_placements[0] - trajectory.body_pos).max() > 1e-3
    add_frames(later, scene, trajectory, SEED)  # type: ignore[arg-type]
    assert len(live.pairs) == STEPS // 2 + 1
    for pair, again in zip(live.pairs, later.pairs, strict=True):
        for image, other in zip(pair, again, strict=True):
            assert image.shape == (480, 640, 3)
            np.testing.assert_array_equal(image, other)
    assert (live.pairs[0][0] != live.pairs[-1][0]).any()


def test_a_scene_that_was_placed_otherwise_shows_what_was_recorded(
    scene: Scene, needs_images: None
) -> None:
    """The placement is the trajectory's, not that of the same seed under other versions."""
    frames, elsewhere = Frames(), Frames()
    trajectory = episode(scene, Frames())
    trajectory.kinematics_qpos = trajectory.kinematics_qpos[:1]
    add_frames(frames, scene, trajectory, SEED)  # type: ignore[arg-type]
    add_frames(elsewhere, scene, trajectory, SEED + 1)  # type: ignore[arg-type]
    np.testing.assert_array_equal(frames.pairs[0][0], elsewhere.pairs[0][0])


def test_a_trajectory_of_another_scene_is_refused(scene: Scene) -> None:
    other: Any = SimpleNamespace(qpos=np.zeros((2, 3)), body_pos=np.zeros((4, 3)))
    with pytest.raises(TrajectoryError, match="another scene"):
        add_frames(Frames(), scene, other, SEED)  # type: ignore[arg-type]


def test_native_images_leave_the_others_as_they_are(
    scene: Scene, needs_images: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One context, one framebuffer, enlarged once for what does not fit."""
    import mujoco  # noqa: PLC0415 - heavy

    resized: list[tuple[int, int]] = []
    real = mujoco.mjr_resizeOffscreen

    def resize(width: int, height: int, context: Any) -> None:
        resized.append((width, height))
        real(width, height, context)

    monkeypatch.setattr(mujoco, "mjr_resizeOffscreen", resize)
    scene.reset(SEED)
    renderer = scene.renderer()
    plain = scene.render("agentview")

    def seen(size: tuple[int, int] | None) -> Any:
        return Observation(dict, scene.render, "", 256, size)["observation/image"]

    squashed, small, large = seen(None), seen((224, 224)), seen((512, 700))
    assert (small.shape, large.shape) == ((224, 224, 3), (512, 700, 3))
    upright = np.ascontiguousarray(plain[::-1])
    np.testing.assert_array_equal(
        squashed, cv2.resize(upright, (256, 256), interpolation=cv2.INTER_AREA)
    )
    # A square image shows less at the sides than one of 4:3, squashed to a square.
    middle = cv2.resize(upright[:, 80:560], (224, 224), interpolation=cv2.INTER_AREA)
    whole = cv2.resize(upright, (224, 224), interpolation=cv2.INTER_AREA)
    assert _difference(small, middle) < 4.0 < _difference(small, whole)
    for size, image in (((224, 224), small), ((512, 700), large), ((500, 640), None)):
        again = seen(size)
        assert image is None or (again == image).all()
    np.testing.assert_array_equal(scene.render("agentview"), plain)
    assert scene.renderer() is renderer
    assert resized == [(700, 512)]


def _difference(image: Any, other: Any) -> float:
    """Mean absolute difference of pixels."""
    return float(np.abs(image.astype(int) - other.astype(int)).mean())
