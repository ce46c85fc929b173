"""Names, keys, shapes and dtypes of demonstration files, all in one place.

Public facts are the folders, the file names, the keys and shapes that RoboMemArena's README lists
(``actions``, ``agentview_rgb``, ``eye_in_hand_rgb``, ``ee_states``, ``gripper_states``,
``joint_states``), and what people who opened the files report: float64 numbers, ``ee_pos``,
``ee_ori``, ``rewards``, ``dones`` and ``keyframe_indices`` beside them, the attributes
``language_instruction`` and ``num_samples`` of the demonstration, nothing but ``data`` in the file
and nothing but ``demo_0`` in ``data``. Ours are the dataset ``keyframes``, the group ``robomem``
(inside ``demo_0``, where readers of the public files do not look), the first words of a full
trajectory's name and the folder of failed trajectories.
"""

import re
from dataclasses import dataclass

from pytest_robomem.task import Task

CATEGORIES = {
    "sequence": "Multi-Sequence",
    "counting": "Multi-Counting",
    "occlusion": "Multi-Occlusion",
    "transferring": "Multi-Transferring",
}
FULL_FOLDER, SUBTASK_FOLDER = "full_trajectory", "subtask_data"
FAILED_FOLDER = "failed_trajectory"  # ours: no reader of demonstrations looks there
SUFFIX = ".hdf5"
PARTIAL_SUFFIX = ".partial"

DEMO = "data/demo_0"
OURS = "robomem"
RECORD, SUBTASK_SOURCE = "record", "full_trajectory"
FRAMES_PER_SECOND = 20  # one row for each control step of 50 ms
PUBLIC_IMAGE_SIZE = 256  # pixels

_NUMBER = re.compile(r"^\d+_")
_FIRST_OF_ITS_KIND = re.compile(r"_1(?=_|$)")


@dataclass(frozen=True)
class Column:
    """A dataset with one row for each step.

    Attributes:
        key: below the demonstration's group.
        width: numbers in a row; ``None`` for a plain number.
        dtype: of the numbers.
    """

    key: str
    width: int | None
    dtype: str

    def shape(self, steps: int) -> tuple[int, ...]:
        """Shape of the dataset of an episode."""
        return (steps,) if self.width is None else (steps, self.width)


# World frame, m and rad; orientations are rotation vectors of the quaternion with w >= 0.
COLUMNS = (
    Column("actions", 7, "float64"),
    Column("obs/ee_states", 6, "float64"),
    Column("obs/ee_pos", 3, "float64"),
    Column("obs/ee_ori", 3, "float64"),
    Column("obs/gripper_states", 2, "float64"),
    Column("obs/joint_states", 7, "float64"),
    # As LIBERO writes them: 1 in the last row.
    Column("rewards", None, "uint8"),
    Column("dones", None, "uint8"),
    Column("keyframes", None, "uint8"),
)
KEYFRAME_INDICES = "keyframe_indices"
IMAGES = {
    "obs/agentview_rgb": "observation/image",
    "obs/eye_in_hand_rgb": "observation/wrist_image",
}
"""Dataset, and the key of the same image in the observation that a policy gets."""

# Of the whole trajectory, in our group: see pytest_robomem.scene.recording.Trajectory.
STATE_ARRAYS = (
    "reset_qpos",
    "body_pos",
    "body_quat",
    "qpos",
    "kinematics_qpos",
    "end_effector",
)


def task_folder(task: Task) -> str:
    """Folder of a benchmark task, below the root of the demonstrations."""
    return f"{CATEGORIES[task.memory[0]]}/{task.scene.stem}_dataset"


def full_name(task: Task, seed: int) -> str:
    """File name of a full trajectory."""
    return f"{_NUMBER.sub('', task.scene.stem)}{episode_ending(task.task_id, seed)}"


def subtask_name(primitive: str, order: int, task: Task, seed: int) -> str:
    """File name of a subtask; ``order`` counts from 0."""
    return f"{primitive}_{order}{episode_ending(task.task_id, seed)}"


def episode_ending(task_id: int | str, seed: int) -> str:
    """How the name of every file of an episode ends."""
    return f"_seed{seed}_task{task_id}{SUFFIX}"


def primitive_name(stage: str) -> str:
    """Name of the subtask that completes a stage, fit for a file name: ``place_butter``.

    The number of a stage is left out, and that of an object (``butter_1``), which would look like
    the subtask's order.
    """
    words = re.sub(r"[^a-z0-9]+", "_", _NUMBER.sub("", stage).lower()).strip("_")
    return _FIRST_OF_ITS_KIND.sub("", words) or "subtask"
