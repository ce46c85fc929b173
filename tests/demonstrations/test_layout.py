"""A demonstration has the public data set's layout."""

from pathlib import Path

import cv2
import h5py
import numpy as np
import pytest

from pytest_robomem.demonstrations.selection import chosen_tasks
from pytest_robomem.demonstrations.writer import DemonstrationWriter, EpisodePaths
from pytest_robomem.resources import resource_dir
from pytest_robomem.scene.model import DUMMY_ACTION, Scene
from tests.demonstrations.conftest import FOLDER, FULL, FULL_NAME, SEED, TASK, record

STEPS = 5

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


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first steps of an episode, with real images."""
    out = tmp_path_factory.mktemp("short")
    assert record(out, f"--max-steps={STEPS}", "--keep-failed") == 0
    return out


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
def test_a_full_trajectory_has_the_public_keys_shapes_and_dtypes(short: Path) -> None:
    path = short / FOLDER / "failed_trajectory" / FULL_NAME
    assert check_public_layout(path) == STEPS
    with h5py.File(path, "r") as file:
        assert file["data/demo_0/obs/agentview_rgb"].shape == (STEPS, 256, 256, 3)


def test_full_trajectory_and_subtasks_of_a_whole_episode(demonstrations: Path) -> None:
    steps = check_public_layout(demonstrations / FULL)
    names = sorted(path.name for path in (demonstrations / FOLDER / "subtask_data").iterdir())
    assert names == [
        "place_chocolate_basket_1_seed100_task3.hdf5",
        "place_cream_basket_0_seed100_task3.hdf5",
    ]
    subtasks = [demonstrations / FOLDER / "subtask_data" / name for name in reversed(names)]
    assert sum(check_public_layout(path) for path in subtasks) == steps


@pytest.mark.usefixtures("needs_images")
def test_images_are_upright_and_of_the_row_before_the_action(short: Path) -> None:
    """A vertical flip of the simulator's image, squashed; nothing is mirrored."""
    with h5py.File(short / FOLDER / "failed_trajectory" / FULL_NAME, "r") as file:
        demo = file["data/demo_0"]
        actions = demo["actions"][:]
        stored = {name: demo[f"obs/{name}"][:] for name in ("agentview_rgb", "eye_in_hand_rgb")}
        joints, fingers = demo["obs/joint_states"][:], demo["obs/gripper_states"][:]
    scene = Scene(next(resource_dir("bddl").glob(f"{TASK}_*.bddl")))
    scene.reset(SEED)
    for _ in range(10):
        scene.step(np.array(DUMMY_ACTION))
    cameras = {"agentview_rgb": "agentview", "eye_in_hand_rgb": "robot0_eye_in_hand"}
    for row, action in enumerate(actions):
        for name, camera in cameras.items():
            upright = np.flipud(scene.render(camera))
            wanted = cv2.resize(upright, (256, 256), interpolation=cv2.INTER_AREA)
            assert np.array_equal(stored[name][row], wanted)
            assert not np.array_equal(stored[name][row], np.flipud(wanted))
        observed = scene.observations()
        assert np.array_equal(joints[row], observed["robot0_joint_pos"])
        assert np.array_equal(fingers[row], observed["robot0_gripper_qpos"])
        scene.step(action)
    scene.close()


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
