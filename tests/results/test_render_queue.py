"""The queue of videos that are still to be made."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pydantic import ValidationError

from pytest_robomem.results.render_queue import QUEUE_FOLDER, RenderJob, RenderQueue


def job(number: int, **more: object) -> RenderJob:
    return RenderJob.model_validate(
        {
            "label": f"task{number:02d}_seed7",
            "node_id": f"tasks/test_x.py::test_{number}[seed7]",
            "task_id": number,
            "seed": 7,
            "scene": Path(f"/scenes/{number % 2}.bddl"),
            "trajectory": f"trajectories/task{number:02d}_seed7.npz",
            "video": f"task{number}_failure_ep0_seed7",
            **more,
        }
    )


def labels(jobs: Iterable[RenderJob]) -> list[str]:
    return [found.label for found in jobs]


def test_each_job_is_given_to_one_process(tmp_path: Path) -> None:
    for number in range(40):
        RenderQueue(tmp_path).add(job(number))

    def take_all(_: int) -> list[str]:
        queue, mine = RenderQueue(tmp_path), []
        while (claimed := queue.claim()) is not None:
            mine.append(claimed.label)
        return mine

    with ThreadPoolExecutor(4) as pool:
        taken = [label for mine in pool.map(take_all, range(4)) for label in mine]
    assert sorted(taken) == labels(job(number) for number in range(40))


def test_jobs_of_the_scene_that_is_there_come_first(tmp_path: Path) -> None:
    queue = RenderQueue(tmp_path)
    for number in range(1, 5):
        queue.add(job(number))
    scene, order = None, []
    while (claimed := queue.claim(scene)) is not None:
        scene = claimed.scene
        order.append(claimed.task_id)
    assert order == [1, 3, 2, 4]


def test_states(tmp_path: Path) -> None:
    queue = RenderQueue(tmp_path)
    for number in (1, 2, 3):
        queue.add(job(number))
    for number in (1, 2, 3):
        assert queue.claim() == job(number)
    queue.release(job(3))
    queue.finish(job(1, videos=("videos/a.mp4",)))
    queue.finish(job(2, problem="no GPU"))
    assert labels(queue.jobs("pending")) == ["task03_seed7"]
    assert labels(queue.jobs("done")) == ["task01_seed7"]
    assert [found.problem for found in queue.jobs("failed")] == ["no GPU"]
    assert queue.claim() == job(3)  # and then its process dies
    assert queue.claim() is None
    queue.restore()
    assert labels(queue.jobs("pending")) == ["task02_seed7", "task03_seed7"]
    for found in list(queue.jobs("pending", "done")):
        queue.forget(found)
    assert not (tmp_path / QUEUE_FOLDER).exists()


def test_a_temporary_trajectory_goes_with_its_job_but_not_before_its_video(
    tmp_path: Path,
) -> None:
    queue, file = RenderQueue(tmp_path), tmp_path / QUEUE_FOLDER / "task01_seed7.npz"
    queue.add(job(1))
    file.write_bytes(b"x")
    queue.add(job(1, temporary=True))
    assert file.exists()
    queue.forget(job(1, temporary=True, videos=("videos/a.mp4",)))
    assert not file.exists()


@pytest.mark.parametrize("name", ["../up", "a/b", "", ".hidden"])
def test_names_that_lead_elsewhere_are_no_jobs(tmp_path: Path, name: str) -> None:
    for field in ("label", "video"):
        with pytest.raises(ValidationError):
            job(1, **{field: name})


def test_files_that_are_no_jobs_are_passed_over(tmp_path: Path) -> None:
    queue = RenderQueue(tmp_path)
    queue.add(job(2))
    folder = tmp_path / QUEUE_FOLDER
    (folder / "task01_seed7.pending").write_text("{")
    (folder / "other.pending").write_text(job(3).model_dump_json())  # named like no such episode
    assert queue.claim() == job(2)
    assert queue.claim() is None


def test_adding_a_job_leaves_the_folder_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process may be about to write its first job into it."""
    (tmp_path / QUEUE_FOLDER).mkdir()
    there = []

    def write_text(path: Path, text: str) -> None:
        there.append(path.parent.is_dir())

    monkeypatch.setattr("pytest_robomem.results.render_queue.write_text", write_text)
    RenderQueue(tmp_path).add(job(1))
    assert there == [True]
