"""A demonstration has the public data set's layout."""

import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import h5py
import numpy as np
import pytest

from pytest_robomem.demonstrations.selection import chosen_tasks
from pytest_robomem.demonstrations.writer import DemonstrationWriter, EpisodePaths
from pytest_robomem.episode import EpisodeRun
from pytest_robomem.options import OPTIONS
from pytest_robomem.policies.expert import Expert
from pytest_robomem.request import episode_request
from pytest_robomem.scene.model import Scene
from pytest_robomem.scene_cache import SceneCache
from pytest_robomem.settings import make_settings
from tests.demonstrations.conftest import FOLDER, FULL, FULL_NAME, SEED, TASK, record
from tests.golden import ROOT

pytestmark = pytest.mark.xdist_group("demonstrations")  # they share what is recorded

STEPS = 5
SENSORS = {"ee_pos": "eef_pos", "gripper_states": "gripper_qpos", "joint_states": "joint_pos"}

# What the public README and those who opened its files say; T stands for the number of steps.
PUBLIC = {
    "actions": (7, np.float64),
    "obs/agentview_rgb": ((256, 256, 3), np.uint8),
    "obs/eye_in_hand_rgb": ((256, 256, 3), np.uint8),
    "obs/ee_states": (6, np.float64),
    "obs/ee_pos": (3, np.float64),
    "obs/ee_ori": (3, np.float64),
    "obs/gripper_states": (2, np.float64),
    "obs/joint_states": (7, np.float64),
}


@dataclass
class Short:
    """The first steps of an episode, and what the simulator rendered for them, by camera."""

    path: Path
    rendered: dict[str, list[np.ndarray]] = field(default_factory=lambda: defaultdict(list))


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Short:
    """Recorded with real images."""
    out = tmp_path_factory.mktemp("short")
    recorded = Short(out / FOLDER / "failed_trajectory" / FULL_NAME)
    render = Scene.render

    def watched(scene: Scene, camera: str) -> np.ndarray:
        image = render(scene, camera)
        recorded.rendered[camera].append(image.copy())
        return image

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Scene, "render", watched)
        assert record(out, f"--max-steps={STEPS}", "--keep-failed") == 0
    return recorded


def check_public_layout(path: Path) -> int:
    """Check a file against the public layout; gives the number of its steps."""
    with h5py.File(path, "r") as file:
        # Readers of the public files ask for exactly this.
        assert set(file) == {"data"}
        assert set(file["data"]) == {"demo_0"}
        demo = file["data/demo_0"]
        steps = len(demo["actions"])
        for key, (row, dtype) in PUBLIC.items():
            shape = row if isinstance(row, tuple) else (row,)
            if key.endswith("_rgb") and demo[key].shape[1] != 256:
                shape = demo[key].shape[1:]  # of recordings with small images
            assert demo[key].shape == (steps, *shape), key
            assert demo[key].dtype == dtype, key
        for key in ("rewards", "dones", "keyframes"):
            assert demo[key].shape == (steps,)
        assert np.array_equal(
            demo["obs/ee_states"], np.hstack([demo["obs/ee_pos"], demo["obs/ee_ori"]])
        )
        assert demo.attrs["num_samples"] == steps
        assert isinstance(demo.attrs["language_instruction"], str)
        assert np.array_equal(demo["keyframe_indices"], np.flatnonzero(demo["keyframes"]))
    return steps


@pytest.mark.usefixtures("needs_images")
def test_a_full_trajectory_has_the_public_keys_shapes_and_dtypes(short: Short) -> None:
    assert check_public_layout(short.path) == STEPS
    with h5py.File(short.path, "r") as file:
        assert file["data/demo_0/obs/agentview_rgb"].shape == (STEPS, 256, 256, 3)


def test_full_trajectory_and_subtasks_of_a_whole_episode(demonstrations: Path) -> None:
    steps = check_public_layout(demonstrations / FULL)
    names = sorted(path.name for path in (demonstrations / FOLDER / "subtask_data").iterdir())
    assert names == [
        "place_chocolate_pudding_1_seed100_task3.hdf5",
        "place_cream_cheese_0_seed100_task3.hdf5",
    ]
    subtasks = [demonstrations / FOLDER / "subtask_data" / name for name in reversed(names)]
    assert sum(check_public_layout(path) for path in subtasks) == steps


@pytest.mark.usefixtures("needs_images")
def test_images_are_upright_and_nothing_is_mirrored(short: Short) -> None:
    """A vertical flip of the simulator's image, squashed: row t is what is seen before action t."""
    cameras = {"agentview_rgb": "agentview", "eye_in_hand_rgb": "robot0_eye_in_hand"}
    with h5py.File(short.path, "r") as file:
        for name, camera in cameras.items():
            stored = file[f"data/demo_0/obs/{name}"][:]
            assert len(short.rendered[camera]) == STEPS + 1
            for row in range(STEPS):
                upright = np.flipud(short.rendered[camera][row])
                wanted = cv2.resize(upright, (256, 256), interpolation=cv2.INTER_AREA)
                assert np.array_equal(stored[row], wanted)
                assert not np.array_equal(stored[row], np.flipud(wanted))


@pytest.mark.usefixtures("needs_images")
def test_images_change_neither_states_nor_actions(short: Short, tmp_path: Path) -> None:
    """The same episode without the listener, which reads sensors and renders at every step."""
    values = {option.key: option.default for option in OPTIONS}
    values |= {"policy": "expert", "rules": "strict", "max_steps": str(STEPS)}
    settings = make_settings(values, tmp_path)
    (task,) = chosen_tasks({TASK}, ())
    scenes = SceneCache("auto", "exact")
    scene = scenes.scene(task.scene)
    seen: list[dict[str, np.ndarray]] = []

    class Watching(Expert):
        def infer_actions(self, obs: Any, prompt: str, resize_size: int) -> Any:
            seen.append({name: np.array(obs[f"robot0_{name}"]) for name in SENSORS.values()})
            return super().infer_actions(obs, prompt, resize_size)

    request = episode_request(task, SEED, settings, node_id="", repeat="", build_seconds=0.0)
    outcome = EpisodeRun(request, scene, Watching()).run()
    scenes.close()
    with h5py.File(short.path, "r") as file:
        demo = file["data/demo_0"]
        assert np.array_equal(demo["actions"], outcome.trajectory.actions)
        for name in ("reset_qpos", "body_pos", "qpos", "kinematics_qpos", "end_effector"):
            assert np.array_equal(demo[f"robomem/{name}"], getattr(outcome.trajectory, name)), name
        for key, sensor in SENSORS.items():
            assert np.array_equal(demo[f"obs/{key}"], [row[sensor] for row in seen]), key


def test_memory_does_not_grow_with_the_episode(tmp_path: Path) -> None:
    """Images are on disk as soon as they are taken in."""
    import tracemalloc  # noqa: PLC0415 - slows everything down while it runs

    class Still:
        def observations(self) -> dict[str, np.ndarray]:
            sizes = {"eef_pos": 3, "eef_quat": 4, "gripper_qpos": 2, "joint_pos": 7}
            return {f"robot0_{name}": np.ones(size) / 2 for name, size in sizes.items()}

        def render(self, camera: str) -> np.ndarray:
            return np.zeros((480, 640, 3), dtype=np.uint8)

    def peak(steps: int) -> int:
        (task,) = chosen_tasks({TASK}, ())
        tracemalloc.start()
        with DemonstrationWriter(EpisodePaths(tmp_path, task, steps), 256) as writer:
            for step in range(steps):
                writer.after_step(Still(), step)  # type: ignore[arg-type]
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return highest

    peak(1)  # what is allocated once
    one_image = 256 * 256 * 3
    assert peak(150) - peak(10) < one_image
    assert not list(tmp_path.rglob("*.hdf5*"))


def test_the_documented_code_reads_a_demonstration(demonstrations: Path, tmp_path: Path) -> None:
    (code,) = re.findall(
        r"^```python\n(.*?)^```", (ROOT / "docs" / "demonstrations.md").read_text(), re.M | re.S
    )
    (tmp_path / "demos").symlink_to(demonstrations)
    printed = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    assert printed.startswith("Put the cream cheese into the basket first")
    assert printed.count("a stage was completed by") == 2
