"""Passed, failed or error: which is which, and what is said about it."""

import xml.etree.ElementTree as ET
from typing import Any

import pytest

from tests.plugin.conftest import Bench

BROKEN = {
    1: ("raises", "policy.infer_actions at step 11: ValueError: my model broke"),
    2: ("flat", "received ndarray of shape (7,), dtype float64"),
    18: ("eight", "received ndarray of shape (10, 8), dtype float64"),
    19: ("nan", "value nan at row 2, column 3"),
    25: ("sleeps", "policy.infer_actions at step 1: not finished after 6 s"),
    26: ("dies", "the worker process died while it ran this episode"),
}


def test_a_broken_policy_is_an_error_of_its_episode_alone(bench: Bench) -> None:
    result = bench.run(
        "-m",
        "basket or cabinet or plate or microwave",
        "-n2",
        "--robomem-max-steps=40",
        "--robomem-timeout=6",
        "--junit-xml=junit.xml",
        kind={task: kind for task, (kind, _) in BROKEN.items()},
    )
    result.assert_outcomes(errors=6, failed=6)
    errors = {r["task_id"]: r for r in bench.records() if r["status"] == "error"}
    assert set(errors) == set(BROKEN)
    for task_id, (_, message) in BROKEN.items():
        assert message in errors[task_id]["message"]
        assert f"task {task_id} (" in errors[task_id]["message"]
        assert "seed 100\nrepeat with: pytest 'tasks/test_" in errors[task_id]["message"]
        assert message in result.stdout.str()
    summary = bench.json("aggregate.json")
    assert (summary["num_episodes"], summary["num_errors"]) == (6, 6)
    suite = ET.parse(bench.folder / "junit.xml").getroot()[0]
    assert (suite.get("errors"), suite.get("failures"), suite.get("tests")) == ("6", "6", "12")


def test_a_broken_policy_shows_where_it_broke(bench: Bench) -> None:
    result = bench.run("-m", "task02", kind="raises")
    result.stdout.fnmatch_lines(['*mine.py", line *, in raises*', "*ValueError: my model broke"])
    result.stdout.no_fnmatch_line("*_pytest*")


def test_success_passes_and_failure_says_what_is_missing(bench: Bench) -> None:
    result = bench.run("-m", "basket", "--robomem-max-steps=30", task=2)
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        [
            "stage cookies_in_basket is missing (horizontal distance of cookies_1 to basket_1 *"
            "needs <= 0.12); completed before: none",
            "goal not reached at the end: In(cookies_1, basket_1_contain_region), *",
            "task 1 (cookies_then_tomato_sauce_into_basket), seed 100, 30 steps, rules guide@1",
        ]
    )


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        ("nosuchmodule:build", "cannot import nosuchmodule"),
        ("mine:build_nothing", "has no factory build_nothing"),
        ("mine:build_broken", "the factory raised RuntimeError: no weights"),
        ("mine:build_incomplete", "no method infer_actions()"),
        ("mine.py:build_nothing", "has no factory build_nothing"),
        ("expret", "cannot import expret*built-in policies are hold, random, replay, expert"),
    ],
)
def test_a_policy_that_cannot_be_loaded_ends_the_run_with_the_reason(
    bench: Bench, policy: str, reason: str
) -> None:
    result = bench.run("--seeds=0:4", policy=policy)
    result.stdout.fnmatch_lines([f"*the policy cannot be loaded: --policy={policy}: *{reason}*"])
    result.assert_outcomes(errors=1)


def test_workers_stop_too_when_the_policy_cannot_be_loaded(bench: Bench) -> None:
    result = bench.run("-n2", "--seeds=0:4", policy="mine:build_nothing")
    result.stdout.fnmatch_lines(["*the policy cannot be loaded: *has no factory build_nothing*"])
    assert 1 <= result.parseoutcomes()["errors"] <= 4  # not one for every episode


def test_a_policy_file_is_found_by_its_path(bench: Bench) -> None:
    folder = bench.folder / "deep er"
    folder.mkdir()
    (bench.folder / "mine.py").rename(folder / "my policy.py")
    bench.run("-m", "task01", policy="deep er/my policy.py:build_adapter").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("success", "outcome"), [("stages", "passed"), ("goal", "passed"), ("both", "passed")]
)
def test_what_must_be_reached_can_be_chosen(bench: Bench, success: str, outcome: str) -> None:
    bench.run("-m", "task01", f"--robomem-success={success}").assert_outcomes(**{outcome: 1})
    assert bench.records()[0]["success"] == success


def test_values_beyond_the_limits_are_counted_not_refused(bench: Bench) -> None:
    bench.run("-m", "task01", "--robomem-max-steps=3", kind="wild").assert_outcomes(passed=1)
    (record,) = bench.records()
    assert record["clipped_values"] == 7 * record["steps"]


@pytest.mark.parametrize(
    ("size", "shown", "recorded"),
    [([224, 320], "(224, 320, 3)", "224x320"), (None, "(256, 256, 3)", None)],
)
def test_a_policy_may_ask_for_images_of_its_own_size(
    bench: Bench, size: list[int] | None, shown: str, recorded: str | None
) -> None:
    bench.run("-m", "task01", kind="looks", size=size)
    (record,) = bench.records()
    assert f"ValueError: {shown} {shown} {shown} (480, 640, 3)" in record["message"]
    assert record["settings"].get("native_image_size") == recorded
    assert record["settings"]["image_size"] == 256


@pytest.mark.parametrize("size", [224, [224], [0, 224], [224.5, 224], [224, 5000], "big"])
def test_an_image_size_that_makes_no_sense_ends_the_run_with_the_reason(
    bench: Bench, size: object
) -> None:
    result = bench.run("-m", "task01", "--seeds=0:3", size=size)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*native_image_size must be (height, width), whole numbers*"])


def test_x_stops_and_still_writes_the_tables(bench: Bench) -> None:
    result = bench.run("-x", "--robomem-max-steps=5", kind="hold")
    result.assert_outcomes(failed=1)
    assert len(bench.table("episodes.tsv")) == 1


def test_pdb_enters_at_a_failed_episode(bench: Bench) -> None:
    child: Any = bench.pytester.spawn_pytest(
        '--policy=mine -m task01 --pdb --robomem-max-steps=5 --policy-kwargs=\'{"kind":"hold"}\''
    )
    child.expect("Pdb")
    child.sendline("episode.steps")
    child.expect("5")
    child.sendline("q")
    child.expect("1 failed")
