"""Recording an episode: its trajectory, and videos of it."""

import os
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pytest_robomem.scene.cameras import Image

VIDEO_FPS = 10  # frames a second, as the public evaluator's videos
STEPS_PER_FRAME = 2  # 20 Hz control: videos run at the speed of the robot
TRAJECTORY_VERSION = 1
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
    """A trajectory file that cannot be read."""


def trajectory_name(task_id: int | str, seed: int) -> str:
    """File name of an episode's trajectory."""
    label = f"task{task_id:02d}" if isinstance(task_id, int) else task_id
    return f"{label}_seed{seed}.npz"


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


@dataclass
class TrajectoryRecorder:
    """Collects an episode while it runs."""

    reset_qpos: Array
    body_pos: Array
    body_quat: Array
    _rows: list[tuple[Array, Array, Array]] = field(default_factory=list)
    _actions: list[Array] = field(default_factory=list)

    def add_state(self, qpos: Array, kinematics_qpos: Array, end_effector: Array) -> None:
        """Add the state after settling, or after a step."""
        self._rows.append((qpos, kinematics_qpos, end_effector))

    def add_action(self, action: Array) -> None:
        """Add the action of a step."""
        self._actions.append(action)

    def finish(self, events: dict[str, int]) -> Trajectory:
        """The trajectory so far."""
        qpos, kinematics_qpos, end_effector = (
            np.array(rows) for rows in zip(*self._rows, strict=True)
        )
        return Trajectory(
            self.reset_qpos,
            self.body_pos,
            self.body_quat,
            np.array(self._actions).reshape(len(self._actions), -1),
            qpos,
            kinematics_qpos,
            end_effector,
            events,
        )


def write_trajectory(trajectory: Trajectory, path: Path, meta: dict[str, str]) -> None:
    """Write one compressed npz file; it appears whole or not at all."""
    arrays: dict[str, Any] = {
        "version": np.array(TRAJECTORY_VERSION),
        "event_names": np.array(list(trajectory.events), dtype=np.str_),
        "event_steps": np.array(list(trajectory.events.values()), dtype=np.int64),
        **{f"meta_{key}": np.array(value) for key, value in meta.items()},
    }
    for name in _ARRAYS:
        arrays[name] = getattr(trajectory, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(
        dir=path.parent, prefix=f".{path.stem}-", suffix=".npz", delete=False
    ) as partial:
        np.savez_compressed(partial, **arrays)
    os.replace(partial.name, path)


def read_trajectory(path: Path) -> Trajectory:
    """Read a trajectory; nothing in it is ever executed.

    Raises:
        TrajectoryError: not a trajectory, or of a version that is not known.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            version = int(stored["version"])
            if version != TRAJECTORY_VERSION:
                raise TrajectoryError(f"{path}: version {version} of trajectories is not known")
            arrays = {name: stored[name] for name in _ARRAYS}
            names, steps = stored["event_names"].tolist(), stored["event_steps"].tolist()
            return Trajectory(**arrays, events=dict(zip(names, steps, strict=True)))
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise TrajectoryError(f"{path}: not a trajectory ({error})") from error
    except ValueError as error:
        if isinstance(error, TrajectoryError):
            raise
        raise TrajectoryError(f"{path}: not a trajectory ({error})") from error


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
