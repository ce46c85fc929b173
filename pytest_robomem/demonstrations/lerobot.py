"""A LeRobot dataset made of demonstrations, by the ``lerobot`` package itself."""

import importlib.util
import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from pytest_robomem.demonstrations.layout import (
    DEMO,
    FRAMES_PER_SECOND,
    FULL_FOLDER,
    IMAGES,
    SUFFIX,
)

DATASET_FOLDER = "lerobot"
SOURCES = "meta/robomem.json"  # the demonstrations that became episodes, in their order
_PARTIAL = f".{DATASET_FOLDER}.partial"
_REPO_ID = "robomem/demonstrations"  # only a name: nothing is uploaded
# Else a screenful for each video and a bar for each episode; who sets them otherwise gets them.
_QUIET = {"SVT_LOG": "1", "HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}
_MOTION = ("x", "y", "z", "rx", "ry", "rz")
_EPISODE = re.compile(rf"_seed(\d+)_task(\d+){re.escape(SUFFIX)}$")


class LeRobotError(RuntimeError):
    """No LeRobot dataset can be made; the message says why."""


def require_lerobot() -> None:
    """Make sure that the package is there, before anything is recorded for it.

    Raises:
        LeRobotError: it is not.
    """
    if importlib.util.find_spec("lerobot") is None:
        raise LeRobotError(
            "--lerobot needs the package lerobot: pip install 'pytest-robomem[lerobot]'"
        )


def make_dataset(root: Path) -> str:
    """Make the LeRobot dataset of all demonstrations in a folder; gives a line for people.

    It is made anew when demonstrations were added, beside the old one, which it then replaces.

    Raises:
        LeRobotError: the package is missing, or the images of the demonstrations differ in size.
        OSError: a file cannot be read or written.
    """
    require_lerobot()
    demonstrations = _demonstrations(root)
    target, partial = root / DATASET_FOLDER, root / _PARTIAL
    if not demonstrations:
        return f"LeRobot dataset: none, since {root} holds no demonstration"
    sources = [path.relative_to(root).as_posix() for path in demonstrations]
    if _sources(target) == sources:
        return f"LeRobot dataset: {target}, {len(sources)} episodes, as before"
    if partial.exists():
        shutil.rmtree(partial)
    frames = _write(demonstrations, partial)
    (partial / SOURCES).write_text(json.dumps(sources, indent=2) + "\n", encoding="utf-8")
    if target.exists():
        shutil.rmtree(target)
    partial.rename(target)
    return f"LeRobot dataset: {target}, {len(sources)} episodes, {frames} frames"


def features(image_size: int) -> dict[str, dict[str, Any]]:
    """What a frame holds, in LeRobot's terms; names of the state as in LIBERO's datasets."""
    image = {
        "dtype": "video",
        "shape": (image_size, image_size, 3),
        "names": ["height", "width", "channel"],
    }
    return {
        "observation.images.image": image,
        "observation.images.wrist_image": dict(image),
        "observation.state": _numbers([*_MOTION, "finger_1", "finger_2"]),
        "observation.joint_state": _numbers([f"joint_{number}" for number in range(1, 8)]),
        "action": _numbers([*_MOTION, "gripper"]),
        "keyframe": _number(),
        "seed": _number(),
        "task_id": _number(),
    }


def _numbers(names: list[str]) -> dict[str, Any]:
    return {"dtype": "float32", "shape": (len(names),), "names": names}


def _number() -> dict[str, Any]:
    return {"dtype": "int64", "shape": (1,), "names": None}


def _demonstrations(root: Path) -> list[Path]:
    """Full trajectories that passed, by task and seed."""
    found = []
    for path in root.glob(f"*/*/{FULL_FOLDER}/*{SUFFIX}"):
        if named := _EPISODE.search(path.name):
            found.append((int(named[2]), int(named[1]), path))
    return [path for _, _, path in sorted(found)]


def _sources(dataset: Path) -> Any:
    try:
        return json.loads((dataset / SOURCES).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None  # no dataset, or not one of ours that is whole


def _write(demonstrations: list[Path], folder: Path) -> int:
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    from lerobot.datasets.lerobot_dataset import LeRobotDataset  # noqa: PLC0415 - heavy, an extra

    sizes = {_image_size(path) for path in demonstrations}
    if len(sizes) > 1:
        raise LeRobotError(f"the demonstrations have images of different sizes: {sorted(sizes)}")
    dataset = LeRobotDataset.create(
        repo_id=_REPO_ID,
        fps=FRAMES_PER_SECOND,
        features=features(sizes.pop()),
        root=folder,
        robot_type="panda",
        use_videos=True,
    )
    frames = 0
    try:
        for path in demonstrations:
            for frame in _frames(path):
                dataset.add_frame(frame)
                frames += 1
            dataset.save_episode()
    finally:
        dataset.finalize()
    return frames


def _image_size(path: Path) -> int:
    with h5py.File(path, "r") as file:
        return int(file[f"{DEMO}/{next(iter(IMAGES))}"].shape[1])


def _frames(path: Path) -> Iterator[dict[str, Any]]:
    named = _EPISODE.search(path.name)
    assert named is not None
    seed, task_id = (np.array([int(number)], dtype=np.int64) for number in named.groups())
    with h5py.File(path, "r") as file:
        demo = file[DEMO]
        observations = demo["obs"]
        for row in range(len(demo["actions"])):
            state = np.concatenate(
                [observations["ee_states"][row], observations["gripper_states"][row]]
            )
            yield {
                "observation.images.image": observations["agentview_rgb"][row],
                "observation.images.wrist_image": observations["eye_in_hand_rgb"][row],
                "observation.state": state.astype(np.float32),
                "observation.joint_state": observations["joint_states"][row].astype(np.float32),
                "action": demo["actions"][row].astype(np.float32),
                "keyframe": np.array([demo["keyframes"][row]], dtype=np.int64),
                "seed": seed,
                "task_id": task_id,
                "task": str(demo.attrs["language_instruction"]),
            }
