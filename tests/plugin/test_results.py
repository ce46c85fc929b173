"""The files that a run leaves."""

import json
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest

from pytest_robomem.scene.recording import read_trajectory
from tests.fakes import CONFTEST
from tests.golden import ROOT
from tests.plugin.conftest import Bench

GUIDE_EPISODES = ["task_id", "ep", "seed", "score_pct", "goal", "prompt", "video_dir"]
GUIDE_TASKS = [
    *("task_id", "num_trials", "seed_start", "average_score_pct", "goal_success_rate_pct"),
    *("prompt", "video_dir"),
]
TIMES = {"wall_seconds"}


def test_files_and_public_columns(bench: Bench) -> None:
    bench.run("--seeds=100:102", "-m", "basket", "--robomem-max-steps=20", task=2)
    names = {path.name for path in bench.results.iterdir()}
    assert names >= {"run.json", "episodes.jsonl", "episodes.tsv", "task_summary.tsv"}
    assert names >= {"summary.json", "aggregate.json", "trajectories"}
    episodes, tasks = bench.table("episodes.tsv"), bench.table("task_summary.tsv")
    assert list(episodes[0])[:8] == [*GUIDE_EPISODES, "tsr_success"]
    assert list(tasks[0])[:8] == [*GUIDE_TASKS, "tsr_success_rate_pct"]
    assert [(row["task_id"], row["ep"], row["seed"]) for row in episodes[:3]] == [
        ("1", "0", "100"),
        ("1", "1", "101"),
        ("2", "0", "100"),
    ]
    assert [(row["score_pct"], row["goal"], row["tsr_success"]) for row in episodes[1:3]] == [
        ("0.0", "N", "N"),
        ("100.0", "Y", "Y"),
    ]
    assert (tasks[1]["num_trials"], tasks[1]["average_score_pct"]) == ("2", "100.0")
    assert (tasks[1]["goal_success_rate_pct"], tasks[1]["seed_start"]) == ("100.0", "100")
    summary = bench.json("summary.json")
    assert [entry["task_id"] for entry in summary] == [1, 2, 3]
    assert summary[1]["episodes"][0]["stage_done"] == {
        "01_Place_Butter_Basket": True,
        "02_Place_Popcorn_Basket": True,
    }
    aggregate = bench.json("aggregate.json")
    assert list(aggregate)[:5] == [
        *("num_tasks", "num_episodes", "seed_start"),
        *("macro_average_score_pct", "macro_goal_success_rate_pct"),
    ]
    assert aggregate["macro_tsr_success_rate_pct"] == pytest.approx(100 / 3)
    run = bench.json("run.json")
    assert run["settings"]["seeds"] == [100, 101]
    assert run["identity"]["versions"]["robosuite"] == "1.4.0"


def test_official_columns(bench: Bench) -> None:
    """Those of the public scorer of 2026-07-21 come first; ours keep their names."""
    options = ("-m", "task02 or task06", "--robomem-rules=official", "--robomem-max-steps=210")
    bench.run(*options, task=2)
    episodes, tasks = bench.table("episodes.tsv"), bench.table("task_summary.tsv")
    assert list(episodes[0])[:12] == [
        *("task_id", "ep", "seed", "TSR", "CSR", "extra_pour_detected", "pour_1_step"),
        *("pour_2_step", "extra_monitor_end_step", "failure_reason", "prompt", "video_dir"),
    ]
    assert list(tasks[0])[:7] == [
        *("task_id", "num_trials", "seed_start", "TSR", "CSR", "prompt", "video_dir"),
    ]
    assert {"score_pct", "goal", "tsr_success", "status", "node_id"} <= episodes[0].keys()
    assert len(set(episodes[0])) == len(list(episodes[0]))
    assert [(row["TSR"], row["CSR"], row["failure_reason"]) for row in episodes] == [
        ("100", "100.0", ""),
        ("0", "0.0", "incomplete_stage"),
    ]
    assert [(row["TSR"], row["CSR"]) for row in tasks] == [("100.0", "100.0"), ("0.0", "0.0")]
    aggregate = bench.json("aggregate.json")
    assert (aggregate["TSR"], aggregate["CSR"]) == (50.0, 50.0)
    published = bench.records()[0]["prompt"]
    bench.run("-m", "task02", "--robomem-max-steps=9")
    assert bench.records()[0]["prompt"] != published


def test_resume_refuses_what_other_rules_have_scored(bench: Bench) -> None:
    bench.run("-m", "task01", "--robomem-max-steps=9")
    journal = bench.results / "episodes.jsonl"
    record = json.loads(journal.read_text())
    record["rules_hashes"]["strict"] = "0" * 16
    journal.write_text(json.dumps(record) + "\n")
    result = bench.run("-m", "basket", "--robomem-max-steps=9", "--robomem-resume")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*scored by other rules*(strict)*"])


def test_the_difference_between_rulebooks_is_printed(bench: Bench) -> None:
    """Everything in one place satisfies the guide, but nothing carries it there."""
    watched = ("--robomem-rules=strict", "--robomem-max-steps=40")
    bench.run("-m", "task02", *watched, task=2).stdout.fnmatch_lines(
        [
            "TSR of the same rollouts by rulebook: strict 0.0 %, guide 100.0 %*; "
            "they disagree about 1 of 1 episodes, see robomem audit"
        ]
    )


def test_a_rulebook_that_saw_too_little_does_not_disagree(bench: Bench) -> None:
    """The guide ends the episode before strict can have seen anything lie still."""
    bench.run("-m", "task02", task=2).stdout.fnmatch_lines(
        ["*guide 100.0 %*strict 0.0 % (1 cut short); they agree where none was cut short *"]
    )


def test_errors_are_listed_and_left_out_of_rates(bench: Bench) -> None:
    bench.run("-m", "basket", "--robomem-max-steps=40", kind="raises", task=2)
    rows = {row["task_id"]: row for row in bench.table("episodes.tsv")}
    assert (rows["2"]["status"], rows["2"]["score_pct"], rows["2"]["goal"]) == ("error", "", "")
    tasks = {row["task_id"]: row for row in bench.table("task_summary.tsv")}
    assert (tasks["2"]["num_trials"], tasks["2"]["num_errors"]) == ("0", "1")
    assert tasks["2"]["average_score_pct"] == ""
    assert bench.json("aggregate.json")["num_episodes"] == 2


def comparable(bench: Bench) -> tuple[Any, Any, Any, Any]:
    """Everything that must not depend on workers and order."""
    rows = [
        {key: value for key, value in row.items() if key not in TIMES}
        for row in bench.table("episodes.tsv")
    ]
    journal = sorted(bench.records(), key=lambda record: str(record["node_id"]))
    for record in journal:
        del record["wall_times"]
    return rows, bench.table("task_summary.tsv"), bench.json("aggregate.json"), journal


def test_workers_and_order_change_nothing(bench: Bench) -> None:
    arguments = ["--seeds=3:6", "-m", "basket or plate", "--robomem-max-steps=25"]
    alone = None
    backwards = "\ndef pytest_collection_modifyitems(items):\n    items.reverse()\n"
    for workers, order in (("-n0", ""), ("-n2", ""), ("-n0", backwards)):
        bench.pytester.makeconftest(CONFTEST + order)
        bench.run(*arguments, workers, task=2).assert_outcomes(passed=3, failed=12)
        found = comparable(bench)
        alone = alone or found
        assert found == alone


def test_junit_carries_figures_and_can_be_told_not_to(bench: Bench) -> None:
    for switch, expected in (("on", True), ("off", False)):
        bench.run(
            "-m",
            "basket",
            "--robomem-max-steps=20",
            "--junit-xml=junit.xml",
            f"--robomem-junit-properties={switch}",
            task=2,
        )
        cases = ET.parse(bench.folder / "junit.xml").getroot().findall(".//testcase")
        assert len(cases) == 3
        figures = [
            {entry.get("name"): entry.get("value") for entry in case.findall(".//property")}
            for case in cases
        ]
        if not expected:
            assert figures == [{}, {}, {}]
            continue
        by_task = {figure["robomem.task_id"]: figure for figure in figures}
        assert by_task["2"]["robomem.stage_score"] == "100.0"
        assert by_task["1"]["robomem.status"] == "failed"
        assert all("robomem_record" not in figure for figure in figures)


def test_an_earlier_run_is_put_aside_not_overwritten(bench: Bench) -> None:
    bench.run("-m", "task01")
    before = (bench.results / "episodes.jsonl").read_text()
    result = bench.run("-m", "task02")
    result.stdout.fnmatch_lines(["*results of the run before are now in robomem-results.1/*"])
    assert (bench.folder / "robomem-results.1" / "episodes.jsonl").read_text() == before
    assert [record["task_id"] for record in bench.records()] == [2]


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_resume_runs_only_what_is_missing_or_was_an_error(bench: Bench, workers: str) -> None:
    arguments = ["--robomem-max-steps=40", workers]
    bench.run("-m", "task02 or task03", *arguments, kind="raises", task=2)
    (bench.folder / "mine.py").write_text(
        (bench.folder / "mine.py").read_text().replace("self.asked == 3", "False")
    )
    result = bench.run("-m", "basket", "--robomem-resume", *arguments, kind="raises", task=2)
    result.assert_outcomes(failed=2)
    rows = bench.table("episodes.tsv")
    assert [(row["task_id"], row["status"]) for row in rows] == [
        ("1", "failed"),
        ("2", "failed"),
        ("3", "failed"),
    ]
    assert len(bench.records()) == 4  # the journal keeps the error that was run again


@pytest.mark.parametrize(
    ("option", "setting"),
    [("--robomem-max-steps=7", "max_steps"), ("--robomem-stepper=portable", "stepper")],
)
def test_resume_refuses_another_run(bench: Bench, option: str, setting: str) -> None:
    bench.run("-m", "task01")
    result = bench.run("-m", "task01", "--robomem-resume", option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*differs in {setting}*"])


def test_the_journal_survives_a_killed_controller(bench: Bench) -> None:
    """No summary is written then, but every finished episode is on disk, and resume goes on."""
    command = [sys.executable, "-m", "pytest", "--policy=mine", "-m", "basket", "-n2"]
    kwargs = '--policy-kwargs={"kind": "sleeps", "task": 3}'
    process = subprocess.Popen(
        [*command, kwargs, "--robomem-max-steps=5"],
        cwd=bench.folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    journal = bench.results / "episodes.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if journal.exists() and len(journal.read_text().splitlines()) == 2:
            break
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert sorted(record["task_id"] for record in bench.records()) == [1, 2]
    assert not (bench.results / "episodes.tsv").exists()


def test_ctrl_c_keeps_what_is_done(bench: Bench) -> None:
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "pytest", "--policy=mine", "-m", "basket"),
            *('--policy-kwargs={"kind": "sleeps", "task": 3}', "--robomem-max-steps=5"),
        ],
        cwd=bench.folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    deadline = time.monotonic() + 120
    while not (bench.folder / "asleep").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in output
    assert "robot-memory results" in output
    assert [row["task_id"] for row in bench.table("episodes.tsv")] == ["1", "2"]


def test_trajectories_hold_the_episode(bench: Bench) -> None:
    bench.run("-m", "task02", task=2)
    path = bench.results / "trajectories" / "task02_seed100.npz"
    trajectory = read_trajectory(path)
    (record,) = bench.records()
    assert record["trajectory"] == "trajectories/task02_seed100.npz"
    assert trajectory.actions.shape == (record["steps"], 7)
    assert len(trajectory.qpos) == len(trajectory.kinematics_qpos) == record["steps"] + 1
    assert trajectory.events == {"01_Place_Butter_Basket": 1, "02_Place_Popcorn_Basket": 2}
    np.testing.assert_array_equal(trajectory.reset_qpos, np.full(4, 100.0))
    assert not list(path.parent.glob(".*"))


@pytest.mark.parametrize(("when", "kept"), [("off", set()), ("failed", {1, 3}), ("on", {1, 2, 3})])
def test_trajectories_when_asked_for(bench: Bench, when: str, kept: set[int]) -> None:
    bench.run("-m", "basket", "--robomem-max-steps=9", f"--robomem-trajectory={when}", task=2)
    found = {int(path.stem[4:6]) for path in bench.results.glob("trajectories/*.npz")}
    assert found == kept


@pytest.mark.parametrize(("when", "kept"), [("off", 0), ("failed", 2), ("on", 3)])
def test_videos_carry_the_public_names(
    bench: Bench, needs_images: None, when: str, kept: int
) -> None:
    bench.run(
        "-m", "basket", "--robomem-max-steps=6", f"--robomem-video={when}", "--seeds=7", task=2
    )
    names = sorted(path.name for path in bench.results.glob("videos/*"))
    assert len(names) == 2 * kept
    if kept:
        assert "task1_failure_ep0_seed7.mp4" in names
        assert "task1_failure_ep0_seed7_wrist.mp4" in names
    if when == "on":
        assert "task2_success_ep0_seed7.mp4" in names


def test_the_summary_shows_rates_with_interval_and_denominator(bench: Bench) -> None:
    result = bench.run("-m", "basket or plate", "--robomem-max-steps=20", task=2)
    result.stdout.fnmatch_lines(
        [
            "robomem *: policy mine, rules guide@1 (stages), seed 100",
            "family*scored*errors*TSR %*95 %*stages %*goal %*steps*ep/h",
            "basket*3*0*33.3*6-79*",
            "plate*2*0*0.0*",
            "total*5*0*20.0*",
        ]
    )


def test_records_are_plain_json(bench: Bench) -> None:
    bench.run("-m", "task01", "-n2")
    (record,) = bench.records()
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert len(record["initial_state_sha256"]) == 64
    assert record["cards"]["guide"]["rules"] == "guide@1"
