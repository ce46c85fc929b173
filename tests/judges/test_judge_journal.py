"""The journal, the tables and the report that come from it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from judge_samples import trace
from test_judge_agreement import navigation, plan

from pytest_robomem.judges.outcomes import JudgeInputError, JudgeStatus
from pytest_robomem.judges.report import latest_verdicts, write_results
from pytest_robomem.judges.summary import summary_lines
from pytest_robomem.judges.tables import NAVIGATION_COLUMNS, PLAN_COLUMNS, cell
from pytest_robomem.results.journal import Journal


def test_a_foreign_line_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "j").write_text('{"kind": "plan"}\n')
    with pytest.raises(JudgeInputError, match="record 1: plan"):
        latest_verdicts(tmp_path / "j")


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_the_last_verdict_on_a_sample_counts(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    for verdict in (plan("b", 1), plan("a", 2), navigation("a"), plan("b", 4)):
        journal.append(verdict.model_dump(mode="json"))
    report = write_results(tmp_path, journal.path)
    rows = table(tmp_path / "plan_scores.tsv")
    assert [(row["id"], row["score"]) for row in rows] == [("a", "2"), ("b", "4")]
    assert list(rows[0]) == list(PLAN_COLUMNS)
    (row,) = table(tmp_path / "navigation_scores.tsv")
    assert list(row) == list(NAVIGATION_COLUMNS)
    assert (row["success_2d"], row["success_3d"], row["overall"]) == ("1", "", "1")
    written = json.loads((tmp_path / "judges.json").read_text())
    assert json.loads(json.dumps(report)) == written
    everything = report["plan"][0]
    assert (everything["mean_score"], everything["histogram"]["4"]) == (3.0, 1)
    assert any("mean 3.00" in line for line in summary_lines(report))
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_plan_summary_by_hand(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    verdicts = [
        plan("a", 4, group="x", strict_success=True, success=True),
        plan("b", 3, group="x", success=True, sim_success=False, progress_ratio=0.5),
        plan("c", 0, group="y", status=JudgeStatus.RULE, model_version=None),
        plan("d", None, group="y"),
        plan("e", 2, group="y", model_version="other"),
    ]
    for verdict in verdicts:
        journal.append(verdict.model_dump(mode="json"))
    rows = {
        (row["judge"], row["group"]): row for row in write_results(tmp_path, journal.path)["plan"]
    }
    mine = rows["m@cccccccc", "all"]
    assert (mine["plans"], mine["scored"], mine["coverage"]) == (4, 3, 0.75)
    assert mine["mean_score"] == pytest.approx(7 / 3)
    assert mine["histogram"] == {"0": 1, "1": 0, "2": 0, "3": 1, "4": 1}
    assert (mine["success_rate"], mine["success_rate_scored"]) == (0.5, pytest.approx(2 / 3))
    assert (mine["strict_rate"], mine["sim_success_rate"]) == (0.25, 0.75)
    assert mine["mean_progress"] == pytest.approx(3.5 / 4)
    assert (mine["decided_by_rule"], rows["m@cccccccc", "x"]["plans"]) == (1, 2)
    assert rows["other@cccccccc", "all"]["histogram"]["2"] == 1
    zero = write_results(tmp_path, journal.path, zero_unscored=True)["plan"][0]
    assert (zero["scored"], zero["mean_score"], zero["histogram"]["0"]) == (4, 7 / 4, 2)


def test_rows_that_nobody_judged_stay_in_the_denominator(tmp_path: Path) -> None:
    manifest = tmp_path / "p.plan.jsonl"
    manifest.write_text("".join(json.dumps(trace(id=name, group="g")) + "\n" for name in "abcd"))
    journal = Journal(tmp_path / "j")
    journal.append(plan("a", 4, source_path=str(manifest), group="g").model_dump(mode="json"))
    report = write_results(tmp_path, journal.path)
    assert report["notes"] == ["p.plan.jsonl: 3 of 4 rows were not judged"]
    assert (report["plan"][0]["plans"], report["plan"][0]["success_rate"]) == (4, 0.25)
    manifest.unlink()
    report = write_results(tmp_path, journal.path)
    assert report["plan"][0]["plans"] == 1
    assert report["notes"][0].startswith("unjudged rows are not counted: p.plan.jsonl")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (True, "1"),
        (False, "0"),
        (0, "0"),
        (0.5, "0.5"),
        (("a", "b"), "a; b"),
        ("a\tb\nc\rd\\", "a\\tb\\nc\\rd\\\\"),
        ("\ud800", "?"),
    ],
)
def test_cells_have_no_tabs_or_line_ends(value: object, text: str) -> None:
    assert cell(value) == text


def test_records_are_frozen_and_versioned() -> None:
    verdict = plan("a", 3)
    with pytest.raises(ValueError, match="frozen"):
        verdict.score = 4  # type: ignore[misc]
    assert verdict.model_dump()["schema_version"] == 1
    with pytest.raises(ValueError, match="schema_version"):
        type(verdict).model_validate(verdict.model_dump() | {"schema_version": 2})
