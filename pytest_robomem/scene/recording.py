"""Recording an episode: its trajectory, and videos of it."""

import os
import tempfile
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from pytest_robomem.scene.block_file import (
    END_EFFECTOR_SIZE,
    LARGEST,
    RowLayout,
    is_block_file,
    read_blocks,
)
from pytest_robomem.scene.cameras import Image

VIDEO_FPS = 10  # frames a second, as the public evaluator's videos
STEPS_PER_FRAME = 2  # 20 Hz control: videos run at the speed of the robot
TRAJECTORY_VERSION = 1
VIDEO_FOLDER, TRAJECTORY_FOLDER = "videos", "trajectories"  # in the results folder
_ARRAYS = (
    "reset_qpos",
    "body_pos",
    "body_quat",
    "actions",
    "qpos",
    "kinematics_qpos",
    "end_effector",
)

Array = NDArray[np.float64]


class TrajectoryError(ValueError):
    """A trajectory file that cannot be read, or not be written."""


def trajectory_name(task_id: int | str, seed: int) -> str:
    """File name of an episode's trajectory."""
    return f"{episode_label(task_id, seed)}.npz"


def partial_name(task_id: int | str, seed: int) -> str:
    """File name of the trajectory of an episode that is under way, or was killed."""
    return f"{episode_label(task_id, seed)}.partial"


def video_name(task_id: int | str, seed: int, number: int, *, passed: bool) -> str:
    """The public evaluator's name of an episode's video, without its ending.

    Args:
        task_id, seed: of the episode.
        number: position of the seed among those of the run.
        passed: whether the episode passed.
    """
    label = f"task{task_id}" if isinstance(task_id, int) else task_id
    return f"{label}_{'success' if passed else 'failure'}_ep{number}_seed{seed}"


def episode_label(task_id: int | str, seed: int) -> str:
    """What an episode's files are called."""
    label = f"task{task_id:02d}" if isinstance(task_id, int) else task_id
    return f"{label}_seed{seed}"


@dataclass
class Trajectory:
    """States and actions of one episode; enough to score and to render it again.

    Attributes:
        reset_qpos: [nq] right after the reset, before settling.
        actions: [T, 7] as the policy gave them.
        qpos: [T + 1, nq] joint state after settling and after each step.
        kinematics_qpos: [T + 1, nq] joint state of the instant that positions and images of that
            step show (one substep earlier).
        end_effector: [T + 1, 9]: position 3, quaternion 4 (w, x, y, z), fingers 2.
        body_pos, body_quat: [nbody, 3], [nbody, 4] of the model, where this seed put the fixtures.
        events: names of completed stages and their step (from 1).
    """

    reset_qpos: Array
    body_pos: Array
    body_quat: Array
    actions: Array
    qpos: Array
    kinematics_qpos: Array
    end_effector: Array
    events: dict[str, int] = field(default_factory=dict)


def trajectory_of_rows(
    reset_qpos: Array, body_pos: Array, body_quat: Array, rows: Array, events: dict[str, int]
) -> Trajectory:
    """The trajectory whose rows a recorder collected; the first row has no action."""
    action, qpos, kinematics, effector = RowLayout(len(reset_qpos)).parts
    return Trajectory(
        reset_qpos,
        body_pos,
        body_quat,
        rows[1:, action].copy(),
        rows[:, qpos].copy(),
        rows[:, kinematics].copy(),
        rows[:, effector].copy(),
        events,
    )


def write_trajectory(trajectory: Trajectory, path: Path, meta: dict[str, str]) -> None:
    """Write one compressed npz file; it appears whole or not at all.

    Raises:
        TrajectoryError: it cannot be written; nothing is left behind then.
    """
    arrays: dict[str, Any] = {
        "version": np.array(TRAJECTORY_VERSION),
        "event_names": np.array(list(trajectory.events), dtype=np.str_),
        "event_steps": np.array(list(trajectory.events.values()), dtype=np.int64),
        **{f"meta_{key}": np.array(value) for key, value in meta.items()},
    }
    for name in _ARRAYS:
        arrays[name] = getattr(trajectory, name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-")
        try:
            with os.fdopen(handle, "wb") as file:
                _write_npz(file, arrays)
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise TrajectoryError(f"the trajectory cannot be written: {error}") from error


def _write_npz(file: BinaryIO, arrays: dict[str, Any]) -> None:
    """As ``numpy.savez_compressed``, in half the time: 1.5 percent larger."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)


def read_trajectory(path: Path) -> Trajectory:
    """Read a trajectory, or what a killed episode left of it; nothing in it is ever executed.

    Raises:
        TrajectoryError: not a trajectory, or of a version that is not known.
    """
    try:
        if is_block_file(path):
            found = read_blocks(path)
            return trajectory_of_rows(
                found.reset_qpos, found.body_pos, found.body_quat, found.rows, {}
            )
        return _read_npz(path)
    except TrajectoryError:
        raise
    except (
        *(OSError, EOFError, KeyError, TypeError, ValueError, MemoryError, OverflowError),
        *(RuntimeError, SyntaxError, zipfile.BadZipFile, zlib.error, tokenize.TokenError),
    ) as error:  # all that numpy and zipfile raise for files that were tampered with
        raise TrajectoryError(f"{path}: not a trajectory ({error})") from error


def _read_npz(path: Path) -> Trajectory:
    with np.load(path, allow_pickle=False) as stored:
        if not isinstance(stored, np.lib.npyio.NpzFile) or stored.zip is None:
            raise TrajectoryError(f"{path}: not a trajectory")
        if sum(member.file_size for member in stored.zip.infolist()) > LARGEST:
            raise TrajectoryError(f"{path}: larger than {LARGEST} bytes")
        version = int(stored["version"])
        if version != TRAJECTORY_VERSION:
            raise TrajectoryError(f"{path}: version {version} of trajectories is not known")
        arrays = {name: stored[name] for name in _ARRAYS}
        names, steps = stored["event_names"].tolist(), stored["event_steps"].tolist()
    trajectory = Trajectory(**arrays, events=dict(zip(names, steps, strict=True)))
    _require_shapes(path, trajectory)
    return trajectory


def _require_shapes(path: Path, trajectory: Trajectory) -> None:
    nq, nbody = trajectory.reset_qpos.size, len(trajectory.body_pos)
    states = len(trajectory.qpos)
    wanted = {
        "reset_qpos": (nq,),
        "body_pos": (nbody, 3),
        "body_quat": (nbody, 4),
        "qpos": (states, nq),
        "kinematics_qpos": (states, nq),
        "end_effector": (states, END_EFFECTOR_SIZE),
    }
    for name, shape in wanted.items():
        array = getattr(trajectory, name)
        if array.shape != shape or array.dtype != np.float64:
            raise TrajectoryError(f"{path}: {name} is {array.dtype} {array.shape}, not {shape}")
    # An error between an action and the state after it left one more action than steps.
    actions = trajectory.actions
    if actions.dtype != np.float64 or actions.ndim != 2 or not states - 1 <= len(actions) <= states:
        raise TrajectoryError(f"{path}: {len(actions)} actions do not fit {states} states")


class VideoWriter:
    """Writes both cameras of an episode to mp4, frame by frame.

    The files carry a temporary name until :meth:`keep` gives them theirs; :meth:`discard`, or a
    crash, leaves no half video under a final name.

    Args:
        folder: where the videos go.
        stem: start of the temporary names.
    """

    def __init__(self, folder: Path, stem: str) -> None:
        import imageio.v2 as imageio  # noqa: PLC0415 - only needed for videos

        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._partial = [folder / f".{stem}-{os.getpid()}{end}.mp4" for end in ("", "_wrist")]
        self._writers = [
            imageio.get_writer(
                path, format="FFMPEG", mode="I", fps=VIDEO_FPS, codec="libx264", macro_block_size=2
            )
            for path in self._partial
        ]
        self.frames = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()
        for path in self._partial:
            path.unlink(missing_ok=True)

    def add(self, main: Image, wrist: Image) -> None:
        """Add one frame of each camera, upright."""
        for writer, image in zip(self._writers, (main, wrist), strict=True):
            writer.append_data(image)
        self.frames += 1

    def keep(self, name: str) -> tuple[str, ...]:
        """Finish the videos as ``name.mp4`` and ``name_wrist.mp4``; gives the file names."""
        self._close()
        names = (f"{name}.mp4", f"{name}_wrist.mp4")
        for path, final in zip(self._partial, names, strict=True):
            os.replace(path, self._folder / final)
        return names

    def _close(self) -> None:
        for writer in self._writers:
            writer.close()


def frame_steps(steps: int) -> Iterator[int]:
    """Steps (0 is the settled state) whose states become frames."""
    yield from range(0, steps + 1, STEPS_PER_FRAME)
