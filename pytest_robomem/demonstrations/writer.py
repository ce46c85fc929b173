"""Writing an episode as HDF5 while it runs.

Images go to the disk as they are rendered, so that memory does not grow with the episode. A file
carries a temporary name until all files of its episode are whole.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import h5py
import numpy as np
from numpy.typing import NDArray

from pytest_robomem.demonstrations.layout import (
    COLUMNS,
    DEMO,
    FAILED_FOLDER,
    FULL_FOLDER,
    IMAGES,
    KEYFRAME_INDICES,
    OURS,
    PARTIAL_SUFFIX,
    RECORD,
    STATE_ARRAYS,
    SUBTASK_FOLDER,
    SUBTASK_SOURCE,
    episode_ending,
    full_name,
    subtask_name,
    task_folder,
)
from pytest_robomem.demonstrations.subtasks import Subtask, keyframes, subtasks
from pytest_robomem.episode import EpisodeOutcome, StepListener
from pytest_robomem.scene.model import Scene
from pytest_robomem.scene.observation import Observation, axis_angle
from pytest_robomem.task import Task

# The lightest compression: heavier ones make files of these images 3 % smaller and cost half as
# much time again.
_COMPRESSION = {"compression": "gzip", "compression_opts": 1}
_BLOCK = 64  # rows by which the image datasets grow


class DemonstrationWriteError(RuntimeError):
    """A demonstration cannot be written; every further one would fail in the same way."""


@dataclass(frozen=True)
class EpisodePaths:
    """Where the files of an episode go.

    Args:
        root: folder of all demonstrations.
        task: of the episode.
        seed: of the episode.
    """

    root: Path
    task: Task
    seed: int

    @property
    def full(self) -> Path:
        """The full trajectory of an episode that passed."""
        return self._folder(FULL_FOLDER) / full_name(self.task, self.seed)

    @property
    def failed(self) -> Path:
        """The full trajectory of an episode that failed."""
        return self._folder(FAILED_FOLDER) / full_name(self.task, self.seed)

    def subtask(self, subtask: Subtask) -> Path:
        """One of the subtasks."""
        name = subtask_name(subtask.primitive, subtask.order, self.task, self.seed)
        return self._folder(SUBTASK_FOLDER) / name

    def remove_partial(self) -> None:
        """Remove what an interrupted run left of this episode."""
        ending = episode_ending(self.task.task_id, self.seed)
        for path in self._folder("").glob(f".*{ending}.*{PARTIAL_SUFFIX}"):
            path.unlink(missing_ok=True)

    def _folder(self, name: str) -> Path:
        return self.root / task_folder(self.task) / name


def partial_path(path: Path) -> Path:
    """Where a file is written before it is whole: in the task's folder, hidden.

    Each process has a name of its own: should two record the same episode, one of them fails, and
    neither gives a half file a name.
    """
    return path.parent.with_name(f".{path.name}.{os.getpid()}{PARTIAL_SUFFIX}")


class DemonstrationWriter(StepListener):
    """Takes in an episode step by step; nothing of it stays unless it is kept.

    A row holds what a policy sees at a step, and the action that it takes then: row 0 is the
    settled scene.

    Args:
        paths: of the episode.
        image_size: side of the images, pixels.
    """

    def __init__(self, paths: EpisodePaths, image_size: int) -> None:
        self._paths = paths
        self._image_size = image_size
        self._partial = partial_path(paths.full)
        self._written: dict[Path, Path] = {}  # partial name to final name
        self._proprioception: list[dict[str, NDArray[np.float64]]] = []
        self._file: Any = None

    def __enter__(self) -> Self:
        self._paths.remove_partial()
        self._partial.parent.mkdir(parents=True, exist_ok=True)
        self._file = h5py.File(self._partial, "w")
        side = self._image_size
        for key in IMAGES:
            self._file.create_dataset(
                f"{DEMO}/{key}",
                shape=(0, side, side, 3),
                maxshape=(None, side, side, 3),
                chunks=(1, side, side, 3),
                dtype=np.uint8,
                **_COMPRESSION,
            )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._close()
        except (OSError, RuntimeError):
            # The disk is full, for instance. What matters has been reported; the file goes anyway.
            self._file = None
        for partial in (self._partial, *self._written):
            partial.unlink(missing_ok=True)

    def after_step(self, scene: Scene, step: int) -> None:
        """Write what is seen before step ``step + 1``."""
        observation = Observation(scene.observations, scene.render, "", self._image_size)
        position = np.array(observation["robot0_eef_pos"])
        orientation = axis_angle(observation["robot0_eef_quat"])
        self._proprioception.append(
            {
                "obs/ee_states": np.concatenate([position, orientation]),
                "obs/ee_pos": position,
                "obs/ee_ori": orientation,
                "obs/gripper_states": np.array(observation["robot0_gripper_qpos"]),
                "obs/joint_states": np.array(observation["robot0_joint_pos"]),
            }
        )
        images = {key: observation[source] for key, source in IMAGES.items()}
        try:
            for key, image in images.items():
                dataset = self._file[f"{DEMO}/{key}"]
                if step >= len(dataset):
                    dataset.resize(step + _BLOCK, axis=0)
                dataset[step] = image
        except (OSError, RuntimeError) as error:
            raise DemonstrationWriteError(f"{self._partial}: {error}") from error

    def keep(self, outcome: EpisodeOutcome) -> list[Path]:
        """Finish the files of the episode and give them their names.

        A failed episode leaves its full trajectory alone, apart from the demonstrations.

        Returns:
            Their paths; the full trajectory is the last, and is named when all others are.

        Raises:
            DemonstrationWriteError: the disk is full, for instance; nothing is left then.
        """
        try:
            return self._keep(outcome)
        except (OSError, RuntimeError) as error:
            raise DemonstrationWriteError(f"{self._partial}: {error}") from error

    def _keep(self, outcome: EpisodeOutcome) -> list[Path]:
        result, trajectory = outcome.result, outcome.trajectory
        steps, passed = len(trajectory.actions), result.status == "passed"
        card = result.deciding_card
        stages = card.stages if card is not None else ()
        rows = self._rows(trajectory.actions, keyframes(stages, steps), finished=passed)
        demo = self._file[DEMO]
        for key in IMAGES:
            demo[key].resize(steps, axis=0)
        _write_rows(demo, rows, result.prompt)
        ours = demo.create_group(OURS)
        self._describe(ours, outcome)
        ours[RECORD] = result.model_dump_json()
        for name in STATE_ARRAYS:
            ours.create_dataset(name, data=getattr(trajectory, name), **_COMPRESSION)
        if passed:
            self._file.flush()
            for subtask in subtasks(stages, steps):
                self._write_subtask(subtask, rows, outcome)
        self._close()
        final = self._paths.full if passed else self._paths.failed
        final.parent.mkdir(parents=True, exist_ok=True)
        self._written[self._partial] = final  # last: it says that the others are whole
        kept = []
        for partial, path in list(self._written.items()):
            partial.replace(path)
            kept.append(path)
        return kept

    def _rows(
        self, actions: NDArray[np.float64], flags: NDArray[np.uint8], *, finished: bool
    ) -> dict[str, NDArray[Any]]:
        steps = len(actions)
        seen = self._proprioception[:steps]
        last = np.zeros(steps, dtype=np.uint8)
        last[-1:] = 1
        rows: dict[str, NDArray[Any]] = {
            "actions": actions,
            "rewards": last if finished else np.zeros_like(last),
            "dones": last,
            "keyframes": flags,
        }
        for column in COLUMNS:
            if column.key not in rows:
                values = [row[column.key] for row in seen]
                rows[column.key] = np.array(values).reshape(column.shape(steps))
        return rows

    def _describe(self, group: Any, outcome: EpisodeOutcome) -> None:
        """Attributes that say where a file comes from."""
        result = outcome.result
        group.attrs.update(
            {
                "task_id": result.task_id,
                "task_name": result.task_name,
                "seed": result.seed,
                "prompt": result.prompt,
                "policy": result.policy,
                "passed": result.status == "passed",
                "rules": result.rules,
                "stepper": result.stepper,
                "gl_renderer": result.gl_renderer,
                "version_names": _words(result.versions),
                "versions": _words(result.versions.values()),
                "stage_names": _words(outcome.trajectory.events),
                "stage_steps": np.array(list(outcome.trajectory.events.values()), dtype=np.int64),
            }
        )

    def _write_subtask(
        self, subtask: Subtask, rows: Mapping[str, NDArray[Any]], outcome: EpisodeOutcome
    ) -> None:
        path = self._paths.subtask(subtask)
        partial = partial_path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._written[partial] = path
        cut = {key: values[subtask.start : subtask.stop] for key, values in rows.items()}
        for key in ("rewards", "dones"):
            cut[key] = np.zeros_like(cut[key])
            cut[key][-1] = 1
        with h5py.File(partial, "w") as file:
            for key in IMAGES:
                _copy_frames(self._file[f"{DEMO}/{key}"], file, f"{DEMO}/{key}", subtask)
            demo = file[DEMO]
            _write_rows(demo, cut, subtask.words)
            ours = demo.create_group(OURS)
            self._describe(ours, outcome)
            ours.attrs.update(
                {
                    "order": subtask.order,
                    "first_row": subtask.start,
                    SUBTASK_SOURCE: self._paths.full.name,
                }
            )

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _words(words: Iterable[str]) -> NDArray[Any]:
    return np.array(list(words), dtype=h5py.string_dtype())


def _write_rows(demo: Any, rows: Mapping[str, NDArray[Any]], instruction: str) -> None:
    for column in COLUMNS:
        demo.create_dataset(column.key, data=rows[column.key].astype(column.dtype, copy=False))
    demo[KEYFRAME_INDICES] = np.flatnonzero(rows["keyframes"]).astype(np.int64)
    demo.attrs["num_samples"] = len(rows["actions"])
    demo.attrs["language_instruction"] = instruction


def _copy_frames(source: Any, target: Any, key: str, rows: Subtask) -> None:
    """Copy images as they are stored: each is a chunk, so none is compressed again."""
    steps = rows.stop - rows.start
    copy = target.create_dataset(
        key,
        shape=(steps, *source.shape[1:]),
        maxshape=source.maxshape,
        chunks=source.chunks,
        dtype=source.dtype,
        **_COMPRESSION,
    )
    offset: Sequence[int] = (0,) * (source.ndim - 1)
    for row in range(steps):
        filters, stored = source.id.read_direct_chunk((rows.start + row, *offset))
        copy.id.write_direct_chunk((row, *offset), stored, filters)
