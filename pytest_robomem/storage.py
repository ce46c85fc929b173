"""Files that one episode leaves: trajectory and videos."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pytest_robomem.episode import StepListener
from pytest_robomem.rendering import add_frame
from pytest_robomem.results.records import EpisodeResult
from pytest_robomem.results.render_queue import QUEUE_FOLDER, RenderJob, RenderQueue
from pytest_robomem.scene.gl import renders_failed
from pytest_robomem.scene.model import Scene
from pytest_robomem.scene.recorder import TrajectoryRecorder
from pytest_robomem.scene.recording import (
    STEPS_PER_FRAME,
    TRAJECTORY_FOLDER,
    VIDEO_FOLDER,
    Trajectory,
    TrajectoryError,
    VideoWriter,
    episode_label,
    partial_name,
    trajectory_name,
    video_name,
    write_trajectory,
)
from pytest_robomem.settings import Settings
from pytest_robomem.task import Task


class LiveVideo(StepListener):
    """Takes frames while the episode runs."""

    def __init__(self, writer: VideoWriter) -> None:
        self._writer = writer

    def after_step(self, scene: Scene, step: int) -> None:
        """Take a frame of every second step."""
        if step % STEPS_PER_FRAME == 0:
            add_frame(self._writer, scene)


class EpisodeFiles:
    """Writes what the settings ask for.

    Args:
        settings: of the run.
        task: the episode's task.
        seed: the episode's seed.
    """

    def __init__(self, settings: Settings, task: Task, seed: int) -> None:
        self._settings = settings
        self._task = task
        self._seed = seed
        self._writer: VideoWriter | None = None
        partial = settings.results / TRAJECTORY_FOLDER / partial_name(task.task_id, seed)
        self._recorder = TrajectoryRecorder(None if settings.trajectory == "off" else partial)

    @contextmanager
    def recording(self) -> Iterator[tuple[TrajectoryRecorder, Sequence[StepListener]]]:
        """What the episode is recorded with; a live video is finished or discarded at the end."""
        with self._recorder:
            if self._settings.video != "on":
                yield self._recorder, ()
                return
            label = episode_label(self._task.task_id, self._seed)
            with VideoWriter(self._settings.results / VIDEO_FOLDER, label) as self._writer:
                yield self._recorder, (LiveVideo(self._writer),)

    def keep(
        self, result: EpisodeResult, trajectory: Trajectory | None, scene: Scene
    ) -> EpisodeResult:
        """Write the files and name them in the record.

        Videos of a failed episode are not made now: a job for whoever is idle is left.

        Raises:
            TrajectoryError: the trajectory of an episode that was no error cannot be written.
        """
        update: dict[str, object] = {"gl_renderer": scene.gl_renderer}
        wanted = trajectory is not None and self._wanted(self._settings.trajectory, result.status)
        if trajectory is not None and wanted:
            name = f"{TRAJECTORY_FOLDER}/{trajectory_name(self._task.task_id, self._seed)}"
            try:
                self._write(trajectory, name, result)
                update["trajectory"] = name
            except TrajectoryError as error:
                if result.status != "error":
                    raise
                update["message"] = f"{result.message}\n{error}"
        if self._writer is not None and self._writer.frames:
            videos = self._writer.keep(self._video_name(result.status))
            update["videos"] = tuple(f"{VIDEO_FOLDER}/{name}" for name in videos)
        elif trajectory is not None and self._renders_later(result.status):
            self._note(result, trajectory, kept=wanted)
        self._recorder.discard()
        return result.model_copy(update=update)

    def _note(self, result: EpisodeResult, trajectory: Trajectory, *, kept: bool) -> None:
        """Leave a job for the videos of a failed episode."""
        name = trajectory_name(self._task.task_id, self._seed)
        folder = TRAJECTORY_FOLDER if kept else QUEUE_FOLDER
        if not kept:
            self._write(trajectory, f"{folder}/{name}", result)
        job = RenderJob(
            label=episode_label(self._task.task_id, self._seed),
            node_id=result.node_id,
            task_id=result.task_id,
            seed=self._seed,
            scene=self._task.scene,
            trajectory=f"{folder}/{name}",
            temporary=not kept,
            video=self._video_name(result.status),
        )
        RenderQueue(self._settings.results).add(job)

    def _write(self, trajectory: Trajectory, name: str, result: EpisodeResult) -> None:
        meta = {
            "task_id": str(self._task.task_id),
            "scene": self._task.scene.stem,
            "seed": str(self._seed),
            "stepper": result.stepper,
            **result.versions,
        }
        write_trajectory(trajectory, self._settings.results / name, meta)

    def _video_name(self, status: str) -> str:
        return video_name(
            self._task.task_id,
            self._seed,
            self._settings.seeds.index(self._seed),
            passed=status == "passed",
        )

    def _renders_later(self, status: str) -> bool:
        return status == "failed" and renders_failed(self._settings.video)

    @staticmethod
    def _wanted(when: str, status: str) -> bool:
        return when == "on" or (when == "failed" and status != "passed")
