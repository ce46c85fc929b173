"""``robomem record``: what it leaves, and what it refuses."""

import errno
import json
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from pytest_robomem.cli import main
from pytest_robomem.demonstrations.writer import DemonstrationWriter
from pytest_robomem.results.stored import stored_records
from tests.demonstrations.conftest import (
    FOLDER,
    FULL,
    FULL_NAME,
    SEED,
    TASK,
    files_below,
    record_fake,
)

pytestmark = pytest.mark.xdist_group("demonstrations")  # they share what is recorded

Lines = Callable[[], str]
FIRST = "Multi-Sequence/2_butter_popcorn_basket_dataset"
FIRST_FULL = f"{FIRST}/full_trajectory/butter_popcorn_basket_seed100_task2.hdf5"


def test_subtasks_are_cuts_of_the_full_trajectory(demonstrations: Path) -> None:
    names = ["place_cream_cheese_0", "place_chocolate_pudding_1"]
    paths = [
        demonstrations / FOLDER / "subtask_data" / f"{name}_seed100_task3.hdf5" for name in names
    ]
    with (
        h5py.File(demonstrations / FULL) as full,
        h5py.File(paths[0]) as a,
        h5py.File(paths[1]) as b,
    ):
        whole, parts = full["data/demo_0"], [a["data/demo_0"], b["data/demo_0"]]
        for key in ("actions", "keyframes", "obs/ee_states", "obs/agentview_rgb"):
            joined = np.concatenate([part[key][:] for part in parts])
            assert np.array_equal(joined, whole[key][:]), key
        ours = whole["robomem"].attrs
        steps = [int(step) for step in ours["stage_steps"]]
        assert list(ours["stage_names"]) == ["place_cream_cheese_1", "place_chocolate_pudding_1"]
        assert whole["keyframe_indices"][:].tolist() == [step - 1 for step in steps]
        assert len(parts[0]["actions"]) == steps[0]
        assert parts[0]["keyframe_indices"][:].tolist() == [steps[0] - 1]
        assert (ours["task_id"], ours["seed"], ours["passed"]) == (TASK, SEED, True)
        assert ours["rules"] == "strict@1"
        assert ours["policy"] == "expert"
        assert (
            dict(zip(ours["version_names"], ours["versions"], strict=True))["robosuite"] == "1.4.0"
        )
        assert [int(part["robomem"].attrs["order"]) for part in parts] == [0, 1]
        assert [int(part["robomem"].attrs["first_row"]) for part in parts] == [0, steps[0]]
        assert parts[1].attrs["language_instruction"] == "place chocolate pudding"
        assert parts[1]["robomem"].attrs["full_trajectory"] == FULL_NAME
        ends = [[*part["dones"][-2:], *part["rewards"][-2:]] for part in (whole, *parts)]
        assert ends == [[0, 1, 0, 1]] * 3


def test_each_episode_leaves_its_files_and_a_record(fake_scenes: Path, lines: Lines) -> None:
    assert record_fake("out") == 0
    printed = lines()
    assert "[4/4] task 3, seed 101: passed" in printed
    assert "-m 'task02 or task03'" in printed
    out = fake_scenes / "out"
    assert FIRST_FULL in files_below(out)
    assert len([name for name in files_below(out) if "full_trajectory" in name]) == 4
    assert not [name for name in files_below(out) if "partial" in name]
    assert [(r.task_id, r.seed, r.status) for r in stored_records(out)] == [
        *((2, 100, "passed"), (2, 101, "passed"), (3, 100, "passed"), (3, 101, "passed"))
    ]
    assert (out / "episodes.tsv").is_file()


def test_the_same_command_goes_on_where_it_was_stopped(fake_scenes: Path, lines: Lines) -> None:
    assert record_fake("out", "--tasks=2", "--seeds=100") == 0
    before = (fake_scenes / "out" / FIRST_FULL).stat()
    lines()
    assert record_fake("out") == 0
    printed = lines()
    assert "[1/4] task 2, seed 100: passed, recorded before" in printed
    assert printed.count("recorded before") == 1
    after = (fake_scenes / "out" / FIRST_FULL).stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)
    assert len(stored_records(fake_scenes / "out")) == 4


def test_a_file_that_was_taken_away_is_recorded_again(fake_scenes: Path, lines: Lines) -> None:
    assert record_fake("out") == 0
    (fake_scenes / "out" / FIRST_FULL).unlink()
    lines()
    assert record_fake("out") == 0
    assert lines().count("recorded before") == 3
    assert (fake_scenes / "out" / FIRST_FULL).is_file()


def test_an_episode_that_missed_the_journal_is_taken_from_its_file(
    fake_scenes: Path, lines: Lines
) -> None:
    """As if the process had been killed between the two."""
    assert record_fake("out", "--tasks=2", "--seeds=100") == 0
    (fake_scenes / "out" / "episodes.jsonl").unlink()
    assert record_fake("out", "--tasks=2", "--seeds=100") == 0
    assert "recorded before" in lines()
    assert [record.status for record in stored_records(fake_scenes / "out")] == ["passed"]


@pytest.mark.parametrize(
    ("arguments", "kind", "named"),
    [
        (["--rules=strict"], "solve", "rules"),
        (["--image-size=16"], "solve", "image_size"),
        (["--max-steps=20"], "solve", "max_steps"),
        ([], "hold", "policy_kwargs"),
    ],
)
def test_other_settings_do_not_share_a_folder(
    fake_scenes: Path, lines: Lines, arguments: list[str], kind: str, named: str
) -> None:
    assert record_fake("out", "--tasks=2") == 0
    before = files_below(fake_scenes / "out")
    lines()
    assert record_fake("out", *arguments, kind=kind) == 2
    complaint = (
        f"robomem record: the demonstrations in out were made with another {named}; choose another"
        " --out\n"
    )
    assert lines() == complaint
    assert files_below(fake_scenes / "out") == before


def test_other_versions_do_not_share_a_folder(fake_scenes: Path, lines: Lines) -> None:
    assert record_fake("out", "--tasks=2") == 0
    description = fake_scenes / "out" / "demonstrations.json"
    content = json.loads(description.read_text())
    content["versions"]["mujoco"] = "1.0"
    description.write_text(json.dumps(content))
    assert record_fake("out", "--tasks=2") == 2
    assert "made with another versions" in lines()


def test_ctrl_c_keeps_what_is_finished_and_no_half_file(
    fake_scenes: Path, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = DemonstrationWriter.after_step

    def interrupted(self: DemonstrationWriter, scene: object, step: int) -> None:
        if "seed101" in str(self._partial) and step == 1:
            raise KeyboardInterrupt
        taken(self, scene, step)  # type: ignore[arg-type]

    monkeypatch.setattr(DemonstrationWriter, "after_step", interrupted)
    assert record_fake("out", "--tasks=2") == 130
    assert "the same command goes on" in lines()
    names = files_below(fake_scenes / "out")
    assert names
    assert all("seed100" in name and "partial" not in name for name in names)
    monkeypatch.undo()


def test_what_a_killed_run_left_is_removed(fake_scenes: Path) -> None:
    folder = fake_scenes / "out" / FIRST
    folder.mkdir(parents=True)
    left = folder / ".butter_popcorn_basket_seed100_task2.hdf5.4711.partial"
    left.write_bytes(b"half")
    others = folder / ".butter_popcorn_basket_seed999_task2.hdf5.4711.partial"  # of another process
    others.write_bytes(b"half")
    assert record_fake("out", "--tasks=2") == 0
    assert not left.exists()
    assert others.exists()
    assert h5py.is_hdf5(fake_scenes / "out" / FIRST_FULL)


def test_failed_episodes_are_left_out_unless_asked_for(fake_scenes: Path, lines: Lines) -> None:
    arguments = ("--tasks=2", "--seeds=100")
    assert record_fake("out", *arguments, kind="hold") == 0
    assert "failed, 30 steps" in (printed := lines())
    assert "left out (incomplete_stage)" in printed
    assert not files_below(fake_scenes / "out")
    assert record_fake("out", *arguments, kind="hold") == 0
    assert "failed, recorded before" in lines()
    assert record_fake("out", *arguments, "--keep-failed", kind="hold") == 0
    assert files_below(fake_scenes / "out") == [FIRST_FULL.replace("full_traj", "failed_traj")]


def test_errors_are_reported_and_tried_again(fake_scenes: Path, lines: Lines) -> None:
    assert record_fake("out", kind="raises", task=3) == 1
    printed = lines()
    assert printed.count("ValueError: my model broke") == 2
    assert "Traceback" not in printed
    mine = fake_scenes / "mine.py"
    mine.write_text(mine.read_text().replace("self.asked == 3", "False"))
    assert not [name for name in files_below(fake_scenes / "out") if "task3" in name]


def test_a_full_disk_ends_the_run_and_leaves_no_half_file(
    fake_scenes: Path, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: h5py.Dataset, row: object, value: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(h5py.Dataset, "__setitem__", full)
    assert record_fake("out") == 2
    assert "No space left on device" in (printed := lines())
    assert printed.count("\n") == 1
    assert not files_below(fake_scenes / "out")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tasks=0"], "--tasks: tasks are numbered from 1"),
        (["--tasks=27"], "--tasks: 27 is too large for a task number (at most 26)"),
        (["--tasks=butter"], "--tasks: 'butter' is neither a task number (1) nor a range (1:4)"),
        (["--family=cars"], "--family: 'cars' is none of basket, cabinet"),
        (["--seeds=5:5"], "--seeds: the range 5:5 is empty"),
        (["--policy=no_such_module"], "cannot import no_such_module"),
        (["--policy-kwargs=[1]"], "--policy-kwargs: must be a JSON object"),
        (["--image-size=0"], "--image-size: Input should be greater than 0"),
        (["--out=file"], "file"),
    ],
)
def test_bad_input_is_one_clear_sentence(
    fake_scenes: Path, lines: Lines, arguments: list[str], message: str
) -> None:
    (fake_scenes / "file").write_text("not a folder")
    assert record_fake("out", *arguments) == 2
    printed = lines()
    assert message in printed
    assert printed.startswith("robomem record: ")
    assert printed.count("\n") == 1


def test_a_policy_that_cannot_be_loaded_leaves_nothing(fake_scenes: Path, lines: Lines) -> None:
    assert record_fake("out", "--policy=mine:build_broken") == 2
    assert "the factory raised RuntimeError: no weights" in lines()
    assert not (fake_scenes / "out").exists()
    assert record_fake("out", "--tasks=2") == 0


def test_two_processes_that_record_one_episode_leave_no_half_file(
    fake_scenes: Path, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one starts in the middle of it, and takes this one for a killed run."""
    taken = DemonstrationWriter.after_step

    def overtaken(self: DemonstrationWriter, scene: object, step: int) -> None:
        taken(self, scene, step)  # type: ignore[arg-type]
        if step == 1:
            self._paths.remove_partial()

    monkeypatch.setattr(DemonstrationWriter, "after_step", overtaken)
    assert record_fake("out", "--tasks=2") == 2
    assert "No such file" in lines()
    assert not [name for name in files_below(fake_scenes / "out") if "full_trajectory" in name]


def test_unknown_words_are_refused_by_the_parser(lines: Lines) -> None:
    for argument in ("--rules=kind", "--stepper=two", "--render=paint"):
        with pytest.raises(SystemExit) as refused:
            main(["record", "--out=out", argument])
        assert refused.value.code == 2
    assert "invalid choice" in lines()


def test_without_a_renderer_it_says_what_to_install(
    fake_scenes: Path, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_robomem.scene.gl.library_missing", lambda backend: "no OSMesa here")
    assert record_fake("out") == 2
    assert lines() == "robomem record: no OSMesa here\n"
    assert not (fake_scenes / "out").exists()
