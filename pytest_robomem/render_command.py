"""``robomem render``: videos of recorded episodes that have none."""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from pytest_robomem.results.journal import Journal
from pytest_robomem.results.mixing import MixedRulesError
from pytest_robomem.results.records import EpisodeResult
from pytest_robomem.results.render_queue import RenderJob, RenderQueue, with_videos
from pytest_robomem.results.stored import JOURNAL_NAME, RUN_NAME, StoredRunError, stored_records
from pytest_robomem.results.tables import write_tables

_INTERRUPTED = 130


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("folder", type=Path, help="results folder of a run that has ended")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--failed", action="store_true", help="only episodes that failed (the default)"
    )
    which.add_argument(
        "--all",
        action="store_true",
        help="all episodes that left a trajectory, errors as far as they went",
    )
    parser.add_argument(
        "--render",
        choices=("auto", "egl", "osmesa"),
        default="auto",
        help="GL back end: auto takes EGL where a GPU answers, else OSMesa [auto]",
    )


def run(parsed: argparse.Namespace) -> int:
    """Render; gives the exit code: 0, 1 if a video could not be made, 2 if nothing can be done."""
    from pytest_robomem.rendering import render_pending  # noqa: PLC0415 - heavy
    from pytest_robomem.scene.gl import RenderError, choose_backend  # noqa: PLC0415

    folder: Path = parsed.folder
    try:
        records = stored_records(folder)
        seeds = _seeds(folder, records)
        choose_backend(parsed.render)
    except (StoredRunError, RenderError) as error:
        sys.stderr.write(f"robomem render: {error}\n")
        return 2
    queue = RenderQueue(folder)
    queue.restore()
    skipped = 0
    for record in _without_videos(queue, records, everything=parsed.all):
        try:
            queue.add(_job(record, seeds))
        except _NotPossibleError as error:
            _say(f"no video of task {record.task_id}, seed {record.seed}: {error}")
            skipped += 1
    outcomes: list[RenderJob] = []
    code = 0
    try:
        render_pending(folder, parsed.render, lambda job: _report(job, outcomes))
    except KeyboardInterrupt:
        code = _INTERRUPTED
    made = list(with_videos(records, queue))
    journal = Journal(folder / JOURNAL_NAME)
    for record, job in made:
        journal.append(record.to_builtins())
        queue.forget(job)
    if made:
        try:
            write_tables(folder, stored_records(folder), seeds)
        except MixedRulesError as error:
            sys.stderr.write(f"robomem render: no tables are written: {error}\n")
            code = code or 1
    _say(f"episodes rendered: {len(made)}")
    return code or int(skipped > 0 or any(job.problem for job in outcomes))


class _NotPossibleError(ValueError):
    """An episode that cannot be rendered; the message says why."""


def _without_videos(
    queue: RenderQueue, records: list[EpisodeResult], *, everything: bool
) -> Iterator[EpisodeResult]:
    """Episodes that recorded something and have no videos, beside those in the queue."""
    waiting = {job.node_id for job in queue.jobs("pending", "done")}
    for record in records:
        if record.node_id in waiting or not (everything or record.status == "failed"):
            continue
        if record.videos and all((queue.results / name).is_file() for name in record.videos):
            continue
        if record.trajectory or record.status != "error":
            yield record


def _job(record: EpisodeResult, seeds: list[int]) -> RenderJob:
    """The job of an episode.

    Raises:
        _NotPossibleError: too little is known of it.
    """
    from pytest_robomem.resources import resource_dir  # noqa: PLC0415
    from pytest_robomem.scene.recording import episode_label, video_name  # noqa: PLC0415 - numpy

    if not record.trajectory:
        raise _NotPossibleError("it left no trajectory")
    if not isinstance(record.task_id, int):
        raise _NotPossibleError("its scene is a file of your own; use --robomem-video in the run")
    scenes = list(resource_dir("bddl").glob(f"{record.task_id}_*.bddl"))
    if len(scenes) != 1:
        raise _NotPossibleError("there is no such task")
    number, passed = seeds.index(record.seed), record.status == "passed"
    return RenderJob(
        label=episode_label(record.task_id, record.seed),
        node_id=record.node_id,
        task_id=record.task_id,
        seed=record.seed,
        scene=scenes[0],
        trajectory=record.trajectory,
        video=video_name(record.task_id, record.seed, number, passed=passed),
    )


def _seeds(folder: Path, records: list[EpisodeResult]) -> list[int]:
    """Seeds of the run in their order, by which videos are numbered."""
    present = sorted({record.seed for record in records})
    try:
        run = json.loads((folder / RUN_NAME).read_text(encoding="utf-8"))
        seeds = [int(seed) for seed in run["settings"]["seeds"]]
    except (OSError, ValueError, KeyError, TypeError):
        return present
    return seeds + [seed for seed in present if seed not in seeds]


def _report(job: RenderJob, outcomes: list[RenderJob]) -> None:
    outcomes.append(job)
    _say(
        f"no video of {job.episode}: {job.problem}"
        if job.problem
        else f"{job.episode}: {', '.join(job.videos)}"
    )


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
