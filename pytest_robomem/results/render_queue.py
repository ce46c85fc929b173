"""Episodes whose videos are still to be made, as files that any process can take.

A job is a JSON file in the results folder. Its ending tells its state, and every change of state is
one atomic renaming: of all idle processes exactly one gets a job, and a job whose process died
stays claimed, so that an episode that kills renderers kills one.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError

from pytest_robomem.results.files import write_text
from pytest_robomem.results.records import EpisodeResult
from pytest_robomem.results.summary import latest

QUEUE_FOLDER = "render-queue"
UNFINISHED = "the process that made it ended before it was done"
State = Literal["pending", "claimed", "done", "failed"]
_PLAIN_NAME = r"^\w[\w.\-]*$"


class RenderJob(BaseModel):
    """Videos of one episode.

    Attributes:
        label: what the episode's files are called.
        node_id: of the episode's record.
        task_id, seed: of the episode.
        scene: the scene file.
        trajectory: its file, relative to the results folder.
        temporary: whether that file goes when the videos are there.
        video: name of the main camera's video, without its ending.
        videos: file names that were made, relative to the results folder.
        gl_renderer: what rendered them.
        problem: why they could not be made.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    label: str = Field(pattern=_PLAIN_NAME)
    node_id: str
    task_id: int | str
    seed: NonNegativeInt
    scene: Path
    trajectory: str
    temporary: bool = False
    video: str = Field(pattern=_PLAIN_NAME)
    videos: tuple[str, ...] = ()
    gl_renderer: str = ""
    problem: str = ""

    @property
    def episode(self) -> str:
        """The episode, for people."""
        return f"task {self.task_id}, seed {self.seed}"


class RenderQueue:
    """The jobs of a results folder.

    Args:
        results: the folder.

    Attributes:
        results: the folder.
    """

    def __init__(self, results: Path) -> None:
        self.results = results
        self._folder = results / QUEUE_FOLDER

    def add(self, job: RenderJob) -> None:
        """Add a job, in place of an earlier one for the same episode.

        Raises:
            OSError: it cannot be written.
        """
        self._remove(job)  # but not the folder, into which another process may be writing
        self._write(job, "pending")

    def claim(self, scene: Path | None = None) -> RenderJob | None:
        """Take a job that nobody else has; preferably one with that scene.

        Returns:
            The job, or ``None`` if there is none left.
        """
        jobs = list(self.jobs("pending"))
        for job in sorted(jobs, key=lambda job: job.scene != scene):
            try:
                self._path(job, "pending").rename(self._path(job, "claimed"))
            except FileNotFoundError:
                continue  # another process was faster
            return job
        return None

    def release(self, job: RenderJob) -> None:
        """Put a claimed job back."""
        self._path(job, "claimed").rename(self._path(job, "pending"))

    def finish(self, job: RenderJob) -> None:
        """Leave what became of a claimed job: its videos, or the problem."""
        self._write(job, "failed" if job.problem else "done")
        self._path(job, "claimed").unlink(missing_ok=True)

    def jobs(self, *states: State) -> Iterator[RenderJob]:
        """Jobs in these states, by name; what is no job is passed over."""
        for state in states:
            for path in sorted(self._folder.glob(f"*.{state}")):
                try:
                    job = RenderJob.model_validate_json(path.read_bytes())
                except (ValidationError, OSError):
                    continue  # taken meanwhile, or not ours
                if path == self._path(job, state):
                    yield job

    def forget(self, job: RenderJob) -> None:
        """Remove a job in whatever state, and its trajectory if that was temporary.

        Only for when no other process adds jobs: with the last one, the folder goes.
        """
        self._remove(job)
        self._remove_if_empty()

    def _remove(self, job: RenderJob) -> None:
        states: tuple[State, ...] = ("pending", "claimed", "done", "failed")
        for state in states:
            self._path(job, state).unlink(missing_ok=True)
        if job.videos and job.temporary:
            (self._folder / f"{job.label}.npz").unlink(missing_ok=True)

    def restore(self) -> None:
        """Make jobs pending again whose process died, or that failed.

        Only for when no other process works on them.
        """
        for state in ("claimed", "failed"):
            for path in self._folder.glob(f"*.{state}"):
                path.rename(path.with_suffix(".pending"))

    def _remove_if_empty(self) -> None:
        try:
            self._folder.rmdir()
        except OSError:
            return  # not empty, or not there

    def _write(self, job: RenderJob, state: State) -> None:
        write_text(self._path(job, state), job.model_dump_json() + "\n")

    def _path(self, job: RenderJob, state: State) -> Path:
        return self._folder / f"{job.label}.{state}"


def with_videos(
    records: Sequence[EpisodeResult], queue: RenderQueue
) -> Iterator[tuple[EpisodeResult, RenderJob]]:
    """Records of the episodes whose videos were made, updated, each with its job."""
    known = {record.node_id: record for record in latest(records)}
    for job in list(queue.jobs("done")):
        if (record := known.get(job.node_id)) is not None:
            renderer = record.gl_renderer or job.gl_renderer
            update = {"videos": job.videos, "gl_renderer": renderer}
            yield record.model_copy(update=update), job
