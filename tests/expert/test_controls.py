"""Controls in real scenes: each fails under the strict rules, and for the reason that it is for."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.expert.test_programs import POURING

pytestmark = pytest.mark.xdist_group("controls")  # they share the runs


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], Any]:
    """Journal records by control and task; one process for each control."""
    folder = tmp_path_factory.mktemp("controls")
    found = {}
    for control, tasks, steps in (
        ("wiggle", "task10", 300),
        ("shake", "task06", 300),
        ("skip", "task02 or task10", 500),
        ("swap", "task02 or task25", 420),
        ("extra", "task10 or task02", 620),
    ):
        subprocess.run(
            [
                *(sys.executable, "-m", "pytest", f"--policy=control:{control}", "-m", tasks),
                *("--robomem-rules=strict", f"--robomem-max-steps={steps}"),
                *(f"--robomem-results={control}", "--robomem-trajectory=off"),
                *("-p", "no:cacheprovider", "-q"),
            ],
            cwd=folder,
            check=False,
            capture_output=True,
        )
        for line in Path(folder, control, "episodes.jsonl").read_text().splitlines():
            record = json.loads(line)
            found[control, record["task_id"]] = record
    return found


@pytest.mark.parametrize(
    ("control", "task", "reason", "named"),
    [
        ("wiggle", 10, "incomplete_stage", "0 pours so far, largest tilt 0.0"),
        ("shake", 6, "incomplete_stage", "0 pours so far"),
        ("skip", 2, "incomplete_stage", "stage place_popcorn_1 is missing"),
        ("skip", 10, "wrong_order", "stage pour_twice is missing (1 pours so far"),
        ("swap", 2, "wrong_order", "in the wrong order: place_popcorn_1"),
        ("swap", 25, "incomplete_stage", "butter_1 is"),
        ("extra", 10, "extra_pour", "pour 3 at step"),
        ("extra", 2, "incomplete_stage", "stage place_butter_1 is missing"),
    ],
)
def test_each_control_fails_for_its_reason(
    records: dict[tuple[str, int], Any], control: str, task: int, reason: str, named: str
) -> None:
    record = records[control, task]
    assert (record["status"], record["failure_reason"]) == ("failed", reason)
    assert named in record["message"]


def test_what_the_published_rules_let_pass(records: dict[tuple[str, int], Any]) -> None:
    """A wrist that tilts twice is all that the guide asks for in task 10."""
    cards = records["wiggle", 10]["cards"]
    assert cards["guide"]["stage_success"]
    assert not cards["strict"]["stage_success"]
    assert 10 in POURING
