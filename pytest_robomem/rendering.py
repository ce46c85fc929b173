"""Videos of recorded episodes, pixel for pixel what live recording would have shown."""

from collections.abc import Callable
from pathlib import Path

from pytest_robomem.results.render_queue import RenderJob, RenderQueue
from pytest_robomem.scene.model import Scene
from pytest_robomem.scene.recording import (
    VIDEO_FOLDER,
    Trajectory,
    TrajectoryError,
    VideoWriter,
    frame_steps,
    read_trajectory,
)
from pytest_robomem.scene_cache import SceneCache


class RenderingError(RuntimeError):
    """An episode of which no video could be made; the message says why."""


def add_frame(writer: VideoWriter, scene: Scene) -> None:
    """Add what both cameras of a scene show, upright."""
    main, wrist = scene.render("agentview"), scene.render("robot0_eye_in_hand")
    writer.add(main[::-1], wrist[::-1])


def add_frames(writer: VideoWriter, scene: Scene, trajectory: Trajectory, seed: int) -> None:
    """Add all frames of a recorded episode.

    Args:
        writer: takes them.
        scene: the task's scene, in whatever state.
        trajectory: what was recorded.
        seed: of the episode.

    Raises:
        TrajectoryError: the trajectory belongs to another scene.
    """
    if trajectory.qpos.shape[1] != scene.model.nq or len(trajectory.body_pos) != scene.model.nbody:
        raise TrajectoryError("the trajectory belongs to another scene")
    scene.reset(seed)  # for what is not recorded, such as which sites are visible
    scene.model.body_pos[:] = trajectory.body_pos
    scene.model.body_quat[:] = trajectory.body_quat
    for step in frame_steps(len(trajectory.kinematics_qpos) - 1):
        scene.show(trajectory.kinematics_qpos[step])
        add_frame(writer, scene)


def render_pending(
    results: Path, render: str, on_finished: Callable[[RenderJob], None] | None = None
) -> None:
    """Make the videos that nobody else is making, one after the other, until none is left.

    An episode of which none can be made is noted with the reason; what was noted is for
    :func:`pytest_robomem.results.render_queue.RenderQueue.jobs` to tell.

    Args:
        results: the results folder.
        render: GL back end.
        on_finished: hears of each job with its outcome.
    """
    queue = RenderQueue(results)
    job = queue.claim()
    if job is None:
        return  # and no scene cache is made
    scenes = SceneCache(render, "stock")
    try:
        while job is not None:
            try:
                outcome = _render(results, job, scenes)
            except RenderingError as error:
                outcome = job.model_copy(update={"problem": str(error)})
            except BaseException:  # interrupted: somebody else may make it
                queue.release(job)
                raise
            queue.finish(outcome)
            if on_finished is not None:
                on_finished(outcome)
            job = queue.claim(job.scene)
    finally:
        scenes.close()


def _render(results: Path, job: RenderJob, scenes: SceneCache) -> RenderJob:
    """The job with its videos.

    Raises:
        RenderingError: for whatever reason they could not be made.
    """
    try:
        path = (results / job.trajectory).resolve()
        if not path.is_relative_to(results.resolve()):
            raise TrajectoryError(f"{job.trajectory} is not in the results folder")
        trajectory = read_trajectory(path)
        scene = scenes.scene(job.scene)
        with VideoWriter(results / VIDEO_FOLDER, job.label) as writer:
            add_frames(writer, scene, trajectory, job.seed)
            names = writer.keep(job.video)
        renderer = scene.gl_renderer
    except Exception as error:  # drivers and encoders raise anything; a result is not lost for it
        raise RenderingError(f"{type(error).__name__}: {error}") from error
    videos = tuple(f"{VIDEO_FOLDER}/{name}" for name in names)
    return job.model_copy(update={"videos": videos, "gl_renderer": renderer, "problem": ""})
