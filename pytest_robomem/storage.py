"""Files that one episode leaves: trajectory and videos."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pytest_robomem.episode import StepListener
from pytest_robomem.results.records import EpisodeResult
from pytest_robomem.scene.gl import gpu_renderer
from pytest_robomem.scene.model import Scene
from pytest_robomem.scene.recording import (
    STEPS_PER_FRAME,
    Trajectory,
    VideoWriter,
    frame_steps,
    trajectory_name,
    write_trajectory,
)
from pytest_robomem.settings import Settings
from pytest_robomem.task import Task

VIDEO_FOLDER, TRAJECTORY_FOLDER = "videos", "trajectories"


class _LiveVideo(StepListener):
    """Takes frames while the episode runs."""

    def __init__(self, writer: VideoWriter) -> None:
        self._writer = writer

    def after_step(self, scene: Scene, step: int) -> None:
        if step % STEPS_PER_FRAME == 0:
            _add_frame(self._writer, scene)


def _add_frame(writer: VideoWriter, scene: Scene) -> None:
    main, wrist = scene.render("agentview"), scene.render("robot0_eye_in_hand")
    writer.add(main[::-1], wrist[::-1])


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

    @contextmanager
    def recording(self) -> Iterator[Sequence[StepListener]]:
        """Listeners for the episode; a live video is finished or discarded at the end."""
        if self._settings.video != "on":
            yield ()
            return
        with self._new_writer() as self._writer:
            yield (_LiveVideo(self._writer),)

    def keep(
        self, result: EpisodeResult, trajectory: Trajectory | None, scene: Scene
    ) -> EpisodeResult:
        """Write the files and name them in the record."""
        update: dict[str, object] = {}
        passed = result.status == "passed"
        if trajectory is not None and self._wanted(self._settings.trajectory, passed):
            name = trajectory_name(self._task.task_id, self._seed)
            path = self._settings.results / TRAJECTORY_FOLDER / name
            meta = {
                "task_id": str(self._task.task_id),
                "scene": self._task.scene.stem,
                "seed": str(self._seed),
                "stepper": result.stepper,
                **result.versions,
            }
            write_trajectory(trajectory, path, meta)
            update["trajectory"] = f"{TRAJECTORY_FOLDER}/{name}"
        if videos := self._keep_videos(result.status, trajectory, scene):
            update["videos"] = tuple(f"{VIDEO_FOLDER}/{name}" for name in videos)
        update["gl_renderer"] = scene.gl_renderer
        return result.model_copy(update=update)

    def _keep_videos(
        self, status: str, trajectory: Trajectory | None, scene: Scene
    ) -> tuple[str, ...]:
        name = self._video_name("success" if status == "passed" else "failure")
        if self._writer is not None:
            return self._writer.keep(name) if self._writer.frames else ()
        if status != "failed" or trajectory is None or not self._failed_videos():
            return ()
        with self._new_writer() as writer:
            for step in frame_steps(len(trajectory.actions)):
                scene.show(trajectory.kinematics_qpos[step])
                _add_frame(writer, scene)
            return writer.keep(name)

    def _failed_videos(self) -> bool:
        wanted = self._settings.video
        return wanted == "failed" or (wanted == "auto" and bool(gpu_renderer()))

    def _video_name(self, outcome: str) -> str:
        """The public evaluator's name."""
        number = self._settings.seeds.index(self._seed)
        task_id = self._task.task_id
        label = f"task{task_id}" if isinstance(task_id, int) else task_id
        return f"{label}_{outcome}_ep{number}_seed{self._seed}"

    def _new_writer(self) -> VideoWriter:
        return VideoWriter(
            self._settings.results / VIDEO_FOLDER, f"{self._task.label}_seed{self._seed}"
        )

    @staticmethod
    def _wanted(when: str, passed: bool) -> bool:
        return when == "on" or (when == "failed" and not passed)
