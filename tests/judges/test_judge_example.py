"""The example runs from the repository, offline, and its numbers are those worked out by hand."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]

# id: (score_raw, score, success, rules). The tap is never on: 4 becomes 3. The crash came after
# success: 1 becomes 3. The failure came before it: 3 becomes 2. Walking only: 0 without a call.
PLANS = {
    "rinse-spinach": ("4", "3", "1", "R5_implied_step_missing:4>3"),
    "letter": ("4", "4", "1", ""),
    "blanket": ("1", "3", "1", "R7_merciful_floor:1>3"),
    "bread": ("3", "2", "0", "R4_failed_goal_unconfirmed:3>2"),
    "water-plants": ("", "0", "0", "R2_navigation_only:0>0"),
}
# id: (success, oracle, original destination, physics, overall). "end-outside" claims success
# without oracle, which is taken back; of "no-output" nothing is known.
OUTPUTS = {
    "arrives": ("1", "1", "1", "1", "1"),
    "stops-short": ("0", "0", "0", "1", "0"),
    "jumps": ("1", "1", "1", "0", "0"),
    "no-output": ("", "", "", "", ""),
    "end-inside": ("1", "1", "1", "1", "1"),
    "end-outside": ("0", "0", "0", "1", "0"),
}


def table(path: Path) -> dict[str, dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {row["id"]: row for row in rows}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("example")
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment.pop("GEMINI_API_KEY", None)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "xdist.plugin",
            "-p",
            "pytest_robomem.judges.plugin",
            "-p",
            "no:cacheprovider",
            "examples/judges",
            "-n",
            "2",
            f"--robomem-results={folder}",
        ],
        cwd=REPOSITORY,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "4 failed, 6 passed, 1 error" in done.stdout, done.stdout + done.stderr
    return folder


def test_plans(results: Path) -> None:
    rows = table(results / "plan_scores.tsv")
    found = {
        name: (row["score_raw"], row["score"], row["success"], row["rules"])
        for name, row in rows.items()
    }
    assert found == PLANS
    report = json.loads((results / "judges.json").read_text())
    groups = {row["group"]: row for row in report["plan"]}
    assert groups["all"]["mean_score"] == pytest.approx(12 / 5)
    assert groups["all"]["histogram"] == {"0": 1, "1": 0, "2": 1, "3": 2, "4": 1}
    assert (groups["all"]["success_rate"], groups["all"]["strict_rate"]) == (0.6, 0.2)
    assert (groups["all"]["sim_success_rate"], groups["all"]["coverage"]) == (0.4, 1.0)
    assert groups["all"]["mean_progress"] == pytest.approx((1 + 1 + 0.8 + 0.5 + 0.5) / 5)
    assert groups["kitchen"]["mean_score"] == 2.5
    assert groups["hall"]["mean_score"] == pytest.approx(7 / 3)


def test_navigation(results: Path) -> None:
    rows = table(results / "navigation_scores.tsv")
    gates = ("success_original_destination", "physics_validness", "overall")
    found = {
        name: tuple(row[column] for column in ("success_2d", "oracle_success_2d", *gates))
        for name, row in rows.items()
    }
    assert found == OUTPUTS
    assert rows["end-outside"]["inconsistent"] == "success_2d"
    assert rows["no-output"]["status"] == "file_failed"
    report = json.loads((results / "judges.json").read_text())
    groups = {(row["grouping"], row["group"]): row for row in report["navigation"]}
    everything = groups["all", "all"]
    assert (everything["outputs"], everything["scored"]) == (6, 5)
    assert (everything["success_rate"], everything["success_rate_scored"]) == (0.5, 0.6)
    assert (everything["oracle_ones"], everything["success_original_destination_ones"]) == (3, 3)
    assert (everything["physics_validness_ones"], everything["overall_ones"]) == (4, 2)
    assert everything["scene_consistency_ones"] == 4
    assert groups["modality", "video"]["success_rate"] == 0.5
    assert groups["modality", "image"]["success_rate"] == 0.5
    assert groups["distance", "long"]["success_rate"] == 0.0
    assert groups["distance", "long"]["outputs"] == 3
    assert groups["destination", "location_description"]["success_ones"] == 1
    assert report["bound_violations"] == []


def test_usage(results: Path) -> None:
    usage = json.loads((results / "judges.json").read_text())["usage"]
    assert (usage["requests"], usage["tokens"]["prompt"]) == (9, 9000)
    assert usage["cost_usd"] == pytest.approx(9 * (1000 * 1.25 + 150 * 10) / 1e6)
    assert len((results / "judge_verdicts.jsonl").read_text().splitlines()) == 11
