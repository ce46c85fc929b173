"""LeRobot datasets made of demonstrations (the package is an extra)."""

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path

import h5py
import imageio.v2 as imageio
import numpy as np
import pytest

from pytest_robomem.demonstrations.layout import DEMO
from tests.demonstrations.conftest import record_fake

SIDE = 64  # pixels; video codecs want some
CAMERAS = ("observation.images.image", "observation.images.wrist_image")
needs_lerobot = pytest.mark.skipif(
    importlib.util.find_spec("lerobot") is None, reason="the extra lerobot is not installed"
)


def record(*arguments: str) -> int:
    return record_fake("out", f"--image-size={SIDE}", "--tasks=2", "--lerobot", *arguments)


@needs_lerobot
def test_every_demonstration_becomes_an_episode(
    fake_scenes: Path, lines: Callable[[], str]
) -> None:
    from lerobot.datasets.lerobot_dataset import LeRobotDataset  # noqa: PLC0415 - an extra

    assert record() == 0
    assert "LeRobot dataset: out/lerobot, 2 episodes, 4 frames" in lines()
    folder = fake_scenes / "out" / "lerobot"
    info = json.loads((folder / "meta" / "info.json").read_text())
    assert (info["fps"], info["robot_type"], info["total_episodes"]) == (20, "panda", 2)
    for camera in CAMERAS:
        assert info["features"][camera]["dtype"] == "video"
        assert info["features"][camera]["shape"] == [SIDE, SIDE, 3]
    shapes = {"observation.state": [8], "observation.joint_state": [7], "action": [7]}
    for key, shape in shapes.items():
        assert info["features"][key]["dtype"] == "float32"
        assert info["features"][key]["shape"] == shape

    dataset = LeRobotDataset("robomem/demonstrations", root=folder)
    assert (dataset.num_episodes, dataset.num_frames) == (2, 4)
    (prompt,) = dataset.meta.tasks.index
    rows = dataset.hf_dataset.with_format("numpy")[:]
    assert rows["seed"].reshape(-1).tolist() == [100, 100, 101, 101]
    assert set(rows["task_id"].reshape(-1).tolist()) == {2}
    actions, states, keyframes = [], [], []
    for seed in (100, 101):
        (path,) = (fake_scenes / "out").glob(f"*/*/full_trajectory/*seed{seed}*.hdf5")
        with h5py.File(path) as file:
            demo = file[DEMO]
            assert demo.attrs["language_instruction"] == prompt
            actions.append(demo["actions"][:])
            keyframes.append(demo["keyframes"][:])
            states.append(np.hstack([demo["obs/ee_states"], demo["obs/gripper_states"]]))
    assert np.array_equal(rows["action"], np.concatenate(actions).astype(np.float32))
    assert np.array_equal(rows["observation.state"], np.concatenate(states).astype(np.float32))
    assert np.array_equal(rows["keyframe"].reshape(-1), np.concatenate(keyframes))
    for camera in CAMERAS:
        videos = sorted((folder / "videos" / camera).rglob("*.mp4"))
        frames = [frame for video in videos for frame in imageio.get_reader(video)]
        assert [frame.shape for frame in frames] == [(SIDE, SIDE, 3)] * 4


@needs_lerobot
def test_it_is_made_anew_only_when_demonstrations_were_added(
    fake_scenes: Path, lines: Callable[[], str]
) -> None:
    folder = fake_scenes / "out" / "lerobot"
    (fake_scenes / "out" / ".lerobot.partial").mkdir(parents=True)  # of a killed run
    assert record("--seeds=100") == 0
    before = (folder / "meta" / "info.json").stat().st_mtime_ns
    lines()
    assert record("--seeds=100") == 0
    assert "1 episodes, as before" in lines()
    assert (folder / "meta" / "info.json").stat().st_mtime_ns == before
    assert record("--seeds=100:102") == 0
    assert "2 episodes, 4 frames" in lines()
    assert not list((fake_scenes / "out").glob(".lerobot*"))


@needs_lerobot
def test_without_demonstrations_there_is_none(fake_scenes: Path, lines: Callable[[], str]) -> None:
    assert record_fake("out", "--lerobot", "--tasks=2", kind="hold") == 0
    assert "LeRobot dataset: none, since out holds no demonstration" in lines()
    assert not (fake_scenes / "out" / "lerobot").exists()


def test_a_missing_package_is_said_before_anything_is_recorded(
    fake_scenes: Path, lines: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert record() == 2
    message = (
        "robomem record: --lerobot needs the package lerobot: pip install "
        "'pytest-robomem[lerobot]'\n"
    )
    assert lines() == message
    assert not (fake_scenes / "out").exists()
