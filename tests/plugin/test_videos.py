"""Videos of failed episodes: made at the end, by whoever is idle, and never at a result's cost."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from pytest_robomem import rendering, storage
from pytest_robomem.cli import main
from pytest_robomem.results.stored import stored_records
from tests.fakes import CONFTEST, FakeScenes, FakeVideoWriter
from tests.plugin.conftest import Bench

SHORT = ("-m", "basket", "--robomem-max-steps=6", "--robomem-video=failed")
QUEUE = "render-queue"

FAKE_VIDEOS = (
    CONFTEST
    + """
from pytest_robomem import storage
from tests.fakes import FakeScene, FakeVideoWriter

storage.VideoWriter = rendering.VideoWriter = FakeVideoWriter
"""
)


@pytest.fixture
def filmed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A bench whose videos are lists of frames, in this process and in workers."""
    monkeypatch.setattr(storage, "VideoWriter", FakeVideoWriter)
    monkeypatch.setattr(rendering, "VideoWriter", FakeVideoWriter)
    monkeypatch.setattr(rendering, "SceneCache", FakeScenes)
    bench.pytester.makeconftest(FAKE_VIDEOS)
    return bench


def frames(bench: Bench) -> dict[str, list[str]]:
    """Frames of each video."""
    return {path.name: path.read_text().split() for path in bench.results.glob("videos/*")}


def latest_videos(bench: Bench) -> dict[Any, tuple[str, ...]]:
    return {record.task_id: record.videos for record in stored_records(bench.results)}


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_later_shows_what_live_recording_shows(filmed: Bench, workers: str) -> None:
    filmed.run(*SHORT[:3], "--robomem-video=on", "--seeds=7:10", workers, kind="creeps")
    live = frames(filmed)
    assert len(live) == 9
    assert len({tuple(video) for video in live.values()}) == 3  # scenes of one seed look alike
    filmed.run(*SHORT, "--seeds=7:10", workers, kind="creeps").assert_outcomes(failed=9)
    assert frames(filmed) == live
    assert all(len(video) == 4 for video in live.values())
    assert not (filmed.results / QUEUE).exists()
    named = {name for record in stored_records(filmed.results) for name in record.videos}
    assert named == {f"videos/{name}" for name in live}


def test_nothing_is_rendered_while_episodes_run(filmed: Bench) -> None:
    conftest = (filmed.folder / "conftest.py").read_text()
    filmed.pytester.makeconftest(
        conftest
        + """
def pytest_runtest_logreport(report):
    assert not list(Path("robomem-results").glob("videos/*"))
"""
    )
    filmed.run(*SHORT, task=2).assert_outcomes(failed=2, passed=1)
    assert sorted(frames(filmed)) == [
        "task1_failure_ep0_seed100.mp4",
        "task3_failure_ep0_seed100.mp4",
    ]


def test_the_last_record_of_an_episode_names_its_videos(filmed: Bench) -> None:
    filmed.run(*SHORT, task=2)
    journal = filmed.records()
    assert [record["task_id"] for record in journal] == [1, 2, 3, 1, 3]
    assert [len(record["videos"]) for record in journal] == [0, 0, 0, 1, 1]
    for before, after in ((journal[0], journal[3]), (journal[2], journal[4])):
        assert {**after, "videos": [], "gl_renderer": ""} == {**before, "gl_renderer": ""}
    assert [row["status"] for row in filmed.table("episodes.tsv")] == ["failed", "passed", "failed"]
    assert filmed.json("aggregate.json")["num_episodes"] == 3


def test_a_worker_makes_videos_of_another_ones_episodes(filmed: Bench) -> None:
    """Each waits for the other: its last episode would be an error if nobody helped."""
    options = ("-m", "basket or plate", "--robomem-max-steps=6", "--robomem-video=failed", "-n2")
    plates = dict.fromkeys(("25", "26"), "waits_for_a_failure")
    result = filmed.run(*options, "--dist=loadfile", kind={"3": "waits_for_a_video", **plates})
    result.assert_outcomes(failed=5)
    who = dict(line.split() for line in (filmed.folder / "who").read_text().splitlines())
    assert len(who) == 5
    assert all(record.videos for record in stored_records(filmed.results))


def test_trajectories_that_are_not_wanted_go_when_the_videos_are_there(filmed: Bench) -> None:
    filmed.run(*SHORT, "--robomem-trajectory=off", task=2)
    assert len(frames(filmed)) == 2
    assert not (filmed.results / QUEUE).exists()
    assert not list(filmed.results.rglob("*.npz"))


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_a_renderer_that_fails_costs_no_result(filmed: Bench, workers: str) -> None:
    conftest = (filmed.folder / "conftest.py").read_text()
    filmed.pytester.makeconftest(
        conftest
        + """
class Broken(FakeScene):
    def render(self, camera):
        raise RuntimeError("no GL today")

class BrokenScenes(FakeScenes):
    def scene(self, path):
        return Broken(path)

def pytest_configure():
    rendering.SceneCache = BrokenScenes
"""
    )
    result = filmed.run(*SHORT, workers, task=2)
    result.assert_outcomes(failed=2, passed=1)
    result.stdout.fnmatch_lines(
        [
            "no video of task 1, seed 100: RuntimeError: no GL today",
            "no video of task 3, seed 100: RuntimeError: no GL today",
            "make them with: robomem render *",
        ]
    )
    assert [row["status"] for row in filmed.table("episodes.tsv")] == ["failed", "passed", "failed"]
    assert len(filmed.records()) == 3


def test_a_worker_that_dies_while_it_renders_costs_no_result(filmed: Bench) -> None:
    filmed.pytester.makeconftest(
        FAKE_VIDEOS
        + """
import os

class Deadly(FakeScene):
    def render(self, camera):
        if self.description.source.name.startswith("1_"):
            os._exit(3)
        return super().render(camera)

class DeadlyScenes(FakeScenes):
    def scene(self, path):
        return Deadly(path)

def pytest_configure():
    rendering.SceneCache = DeadlyScenes
"""
    )
    result = filmed.run(*SHORT, "-n1", kind="hold")
    result.stdout.fnmatch_lines(
        ["no video of task 1, seed 100: the process that made it ended *", "make them with: *"]
    )
    assert [row["status"] for row in filmed.table("episodes.tsv")] == ["failed"] * 3


def test_render_makes_what_a_killed_run_left_out(
    filmed: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    filmed.run(*SHORT, task=2)
    made = frames(filmed)
    # As a killed run leaves it: the journal's first lines, a claimed job, half the videos.
    shutil.rmtree(filmed.results / "videos")
    journal = filmed.results / "episodes.jsonl"
    journal.write_text("".join(line + "\n" for line in journal.read_text().splitlines()[:3]))
    for name in ("episodes.tsv", "aggregate.json"):
        (filmed.results / name).unlink()
    assert main(["render", str(filmed.results)]) == 0
    assert frames(filmed) == made
    assert "episodes rendered: 2" in capsys.readouterr().out
    assert main(["render", str(filmed.results), "--failed"]) == 0
    assert "episodes rendered: 0" in capsys.readouterr().out
    assert main(["render", str(filmed.results), "--all"]) == 0
    assert "task2_success_ep0_seed100.mp4" in frames(filmed)
    assert all(latest_videos(filmed).values())
    assert len(filmed.table("episodes.tsv")) == 3
    assert not (filmed.results / QUEUE).exists()


def test_resuming_makes_what_is_left(filmed: Bench) -> None:
    """Ctrl-C while videos are made ends that; the results are written, and nothing is lost."""
    options = (*SHORT, "--robomem-trajectory=off")
    filmed.run(*options, task=2)
    made = frames(filmed)
    filmed.pytester.makeconftest(
        FAKE_VIDEOS
        + """
class Interrupted(FakeScene):
    def show(self, kinematics_qpos):
        raise KeyboardInterrupt

class InterruptedScenes(FakeScenes):
    def scene(self, path):
        return Interrupted(path)

def pytest_configure():
    rendering.SceneCache = InterruptedScenes
"""
    )
    result = filmed.run(*options, task=2)
    result.stdout.fnmatch_lines(["no videos yet of 2 failed episodes", "make them with: *"])
    assert len(filmed.table("episodes.tsv")) == 3
    assert frames(filmed) == {}
    filmed.pytester.makeconftest(FAKE_VIDEOS)
    filmed.run(*options, "--robomem-resume", task=2)
    assert frames(filmed) == made
    assert not (filmed.results / QUEUE).exists()


def test_render_says_what_it_cannot_do(
    filmed: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["render", str(tmp_path)]) == 2
    assert "holds no results" in capsys.readouterr().err
    filmed.run("-m", "basket", "--robomem-max-steps=6", "--robomem-video=off", kind="hold")
    journal = filmed.results / "episodes.jsonl"
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    records[0]["trajectory"] = ""
    records[1]["trajectory"] = "../../elsewhere.npz"
    records[2]["task_id"] = "../../my_task"
    journal.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert main(["render", str(filmed.results)]) == 1
    printed = capsys.readouterr().out
    assert "task 1, seed 100: it left no trajectory" in printed
    assert "task 2, seed 100: TrajectoryError: ../../elsewhere.npz is not in the results" in printed
    assert "task ../../my_task, seed 100: its scene is a file of your own" in printed
