"""Putting runs together, and refusing to."""

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_robomem.cli import main
from pytest_robomem.results.journal import Journal
from pytest_robomem.results.mixing import MixedRulesError, require_same_rules, rules_hashes
from pytest_robomem.results.records import EpisodeResult
from pytest_robomem.results.stored import stored_records
from pytest_robomem.results.tables import write_tables
from tests.results.test_summary import error, record

HASHES = {"guide": "a" * 16, "strict": "b" * 16}
IDENTITY = {"policy": "mine", "rules": "guide", "versions": {"mujoco": "3"}}


def run(folder: Path, *records: EpisodeResult, **identity: Any) -> Path:
    """A results folder with these episodes."""
    journal = Journal(folder / "episodes.jsonl")
    for entry in records:
        journal.append(entry.to_builtins())
        if entry.trajectory:
            path = folder / entry.trajectory
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(b"states")
    content = {"identity": IDENTITY | identity, "settings": {"seeds": [1], "results": "elsewhere"}}
    (folder / "run.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def scored(seed: int, **changes: Any) -> EpisodeResult:
    return record(seed=seed, rules_hashes=HASHES, **changes)


def merged(tmp_path: Path, *folders: Path) -> int:
    return main(["merge", *map(str, folders), "--out", str(tmp_path / "out")])


def test_runs_with_other_seeds_become_one(tmp_path: Path) -> None:
    first = run(tmp_path / "a", scored(1, done=2, trajectory="trajectories/t1.npz"))
    second = run(tmp_path / "b", scored(2), scored(1, done=2))
    assert merged(tmp_path, first, second) == 0
    out = tmp_path / "out"
    assert [entry.seed for entry in stored_records(out)] == [1, 2]
    assert (out / "trajectories/t1.npz").read_bytes() == b"states"
    assert json.loads((out / "aggregate.json").read_text())["num_episodes"] == 2
    run_file = json.loads((out / "run.json").read_text())
    assert run_file["settings"]["seeds"] == [1, 2]
    assert run_file["merged_from"] == ["a", "b"]
    assert (out / "episodes.tsv").is_file()


def test_a_result_is_preferred_to_an_error(tmp_path: Path) -> None:
    for order in (("a", "b"), ("b", "a")):
        folder = tmp_path / order[0]
        run(folder / "a", error(1))
        run(folder / "b", scored(1, done=2))
        assert merged(folder, *(folder / name for name in order)) == 0
        assert [entry.status for entry in stored_records(folder / "out")] == ["passed"]


@pytest.mark.parametrize(
    ("other", "identity", "reason"),
    [
        (scored(2), {"policy": "yours"}, "differ in policy"),
        (scored(2), {"versions": {"mujoco": "2"}}, "differ in versions"),
        (scored(1, done=1), {}, "different results"),
        (record(seed=2, rules_hashes=HASHES | {"strict": "c" * 16}), {}, "the rules strict"),
        (scored(2, rules="strict@1"), {}, "was decided by"),
    ],
)
def test_what_does_not_belong_together_is_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    other: EpisodeResult,
    identity: dict[str, Any],
    reason: str,
) -> None:
    first = run(tmp_path / "a", scored(1, done=2))
    second = run(tmp_path / "b", other, **identity)
    assert merged(tmp_path, first, second) == 2
    assert reason in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_results_are_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = run(tmp_path / "a", scored(1))
    run(tmp_path / "out", scored(9))
    assert merged(tmp_path, first) == 2
    assert "holds results already" in capsys.readouterr().err
    assert [entry.seed for entry in stored_records(tmp_path / "out")] == [9]


@pytest.mark.parametrize("content", [None, "no json", "[]", "{}"])
def test_a_folder_without_a_run_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None
) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    if content is not None:
        (folder / "run.json").write_text(content, encoding="utf-8")
    assert merged(tmp_path, folder) == 2
    assert "run.json" in capsys.readouterr().err


def test_a_record_does_not_lead_out_of_its_folder(tmp_path: Path) -> None:
    """A journal may come from anywhere."""
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    first = run(tmp_path / "a", scored(1))
    Journal(first / "episodes.jsonl").append(scored(2, trajectory="../secret").to_builtins())
    assert merged(tmp_path, first) == 0
    assert (tmp_path / "secret").read_text() == "secret"
    assert not list((tmp_path / "out").rglob("secret"))


def test_tables_of_different_rules_are_not_written(tmp_path: Path) -> None:
    other = record(seed=2, rules_hashes=HASHES | {"guide": "c" * 16})
    with pytest.raises(MixedRulesError, match="guide"):
        write_tables(tmp_path, [scored(1), other], [1, 2])
    assert list(tmp_path.iterdir()) == []


def test_own_tasks_carry_their_own_rules() -> None:
    """Two tests of a user's have different stages and still stand in one table."""
    own = [
        scored(1).model_copy(update={"task_id": name, "rules_hashes": {"own": name * 16}})
        for name in "xy"
    ]
    require_same_rules([*own, scored(3)])
    assert rules_hashes([*own, scored(3)]) == HASHES
