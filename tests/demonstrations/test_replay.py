"""``--policy=replay``: exact in the same versions, and how far it is off elsewhere."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from pytest_robomem.demonstrations.reader import (
    DemonstrationError,
    find_demonstration,
    read_demonstration,
)
from pytest_robomem.report.replay import replay_lines
from pytest_robomem.results.records import EpisodeResult
from pytest_robomem.results.stored import stored_records
from pytest_robomem.scene.recording import read_trajectory, trajectory_name
from tests.demonstrations.conftest import FULL, SEED, TASK, record_fake
from tests.plugin.conftest import Bench, bench

pytestmark = pytest.mark.xdist_group("demonstrations")  # they share what is recorded

__all__ = ["bench"]

STEPS = 12  # of the fake demonstration
DEMO = "data/demo_0"
QPOS = f"{DEMO}/robomem/qpos"


def replay(folder: Path, source: Path, *arguments: str) -> EpisodeResult:
    """Replay with pytest in a process of its own; gives the record."""
    command = [
        *(sys.executable, "-m", "pytest", "--policy=replay", f"--seeds={SEED}", "-p"),
        *("no:cacheprovider", f"--policy-kwargs={json.dumps({'dir': str(source)})}"),
        *("-m", f"task{TASK:02d}", "--robomem-rules=strict", *arguments),
    ]
    finished = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert "1 passed" in finished.stdout, finished.stdout + finished.stderr
    (result,) = stored_records(folder / "robomem-results")
    return result


def test_a_replay_is_exact_also_in_a_worker(demonstrations: Path, tmp_path: Path) -> None:
    result = replay(tmp_path, demonstrations, "-n2")
    recorded = read_demonstration(demonstrations / FULL)
    again = read_trajectory(tmp_path / "robomem-results" / result.trajectory)
    assert recorded.trajectory is not None
    assert recorded.result is not None
    for name in ("reset_qpos", "actions", "qpos", "kinematics_qpos", "end_effector"):
        assert np.array_equal(getattr(again, name), getattr(recorded.trajectory, name)), name
    assert {**result.cards} == {**recorded.result.cards}
    assert set(result.cards) == {"guide", "official", "strict"}
    assert result.goal == recorded.result.goal
    comparison = result.replay
    assert comparison is not None
    assert comparison.exact
    assert comparison.replayed_steps == comparison.recorded_steps == recorded.result.steps
    assert comparison.largest_joint_difference == 0.0
    assert comparison.final_object_distance == 0.0
    assert comparison.first_difference_at_step is None
    assert comparison.differing_cards == ()
    assert comparison.differing_versions == {}

    # Trajectories of a run are replayed and compared in the same way.
    (tmp_path / "again").mkdir()
    second = replay(tmp_path / "again", tmp_path / "robomem-results" / "trajectories")
    assert second.replay == comparison


@pytest.fixture
def fake_demonstrations(fake_scenes: Path) -> Path:
    """Demonstrations of fake scenes: nothing happens but a drift, so every episode fails."""
    arguments = (f"--max-steps={STEPS}", "--keep-failed", "--seeds=100")
    assert record_fake("out", *arguments, kind="drifts") == 0
    return fake_scenes / "out"


def demonstration(folder: Path, task_id: int = 2) -> Path:
    (path,) = folder.rglob(f"*_task{task_id}.hdf5")
    return path


def alter(path: Path, change: Callable[[Any], None]) -> None:
    with h5py.File(path, "r+") as file:
        change(file)


def run_replay(bench: Bench, folder: Path, *arguments: str) -> Any:
    bench.pytester.chdir()  # where its conftest.py is
    return bench.run(
        *("-m", "task02 or task03", f"--robomem-max-steps={STEPS}", *arguments),
        policy="replay",
        dir=str(folder.resolve()),
    )


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_a_difference_is_reported_and_changes_no_outcome(
    bench: Bench, fake_demonstrations: Path, workers: str
) -> None:
    def shift(file: Any) -> None:
        file[QPOS][5:, 1] += 0.002

    alter(demonstration(fake_demonstrations), shift)
    result = run_replay(bench, fake_demonstrations, workers)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "replay: 1 of 2 episodes exactly as recorded",
            "task 2, seed 100: differs from step 5 on; largest joint difference 0.002 (step *); "
            "butter_1 ends 2 mm away",
        ]
    )
    rows = {row["task_id"]: row for row in bench.table("replay.tsv")}
    assert (rows["2"]["exact"], rows["2"]["first_difference_at_step"]) == ("False", "5")
    assert float(rows["2"]["largest_joint_difference"]) == pytest.approx(0.002)
    assert float(rows["2"]["final_object_distance"]) == pytest.approx(0.002)
    assert rows["3"]["exact"] == "True"


def test_other_versions_rules_and_cards_are_named(bench: Bench, fake_demonstrations: Path) -> None:
    path = demonstration(fake_demonstrations)

    def other(file: Any) -> None:
        record = json.loads(file[f"{DEMO}/robomem/record"][()])
        record["versions"]["mujoco"] = "2.3.7"
        record["cards"]["guide"]["stage_score"] = 50.0
        record["rules"] = "strict@1"
        del file[f"{DEMO}/robomem/record"]
        file[f"{DEMO}/robomem/record"] = json.dumps(record)

    alter(path, other)
    result = run_replay(bench, fake_demonstrations, "-k", "butter_then_popcorn")
    result.assert_outcomes(failed=1)
    printed = result.stdout.str()
    assert "other score cards: guide; mujoco 2.3.7 then, " in printed
    assert "rules strict@1 then, guide@1 now" in printed


def test_a_shorter_replay_says_how_far_it_went(bench: Bench, fake_demonstrations: Path) -> None:
    result = run_replay(bench, fake_demonstrations, "--robomem-max-steps=4")
    result.stdout.fnmatch_lines(
        ["task 2, seed 100: the same within 1e-9 as far as it goes; 4 of 12 steps replayed*"]
    )


def test_a_recording_of_another_scene_is_no_error(bench: Bench, fake_demonstrations: Path) -> None:
    def widen(file: Any) -> None:
        wider = np.zeros((STEPS + 1, 9))
        del file[QPOS]
        file[QPOS] = wider

    alter(demonstration(fake_demonstrations), widen)
    result = run_replay(bench, fake_demonstrations)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        ["task 2, seed 100: the recording has 9 joint values, the scene has 4"]
    )


def test_files_of_the_public_data_set_are_replayed(bench: Bench, fake_demonstrations: Path) -> None:
    """They hold actions alone, in folders like ours; nothing can be compared."""

    def public(file: Any) -> None:
        del file[f"{DEMO}/robomem"]

    for task_id in (2, 3):
        alter(demonstration(fake_demonstrations, task_id), public)
    result = run_replay(bench, fake_demonstrations)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "replay: 0 of 2 episodes exactly as recorded",
            "task 2, seed 100: the recording holds no states",
        ]
    )
    assert {row["differing_cards"] for row in bench.table("replay.tsv")} == {"unknown"}


def test_other_policies_report_nothing(bench: Bench) -> None:
    result = bench.run("-m", "task02")
    assert "replay" not in result.stdout.str()
    assert bench.records()[0]["replay"] is None
    assert not (bench.results / "replay.tsv").exists()
    assert replay_lines(stored_records(bench.results)) == []


def not_hdf5(path: Path) -> None:
    path.write_bytes(b"\x93NUMPY" * 50)


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def empty(path: Path) -> None:
    with h5py.File(path, "w"):
        pass


def linked(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        del file[f"{DEMO}/actions"]
        file[f"{DEMO}/actions"] = h5py.ExternalLink("/etc/hostname", "/")


def outside(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        del file[f"{DEMO}/actions"]
        file[DEMO].create_dataset("actions", (4, 7), "f8", external=[("/etc/hostname", 0, 224)])


def huge(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        del file[f"{DEMO}/actions"]
        file[DEMO].create_dataset("actions", (10**12, 7), "f8", chunks=(10, 7))


def six_wide(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        del file[f"{DEMO}/actions"]
        file[f"{DEMO}/actions"] = np.zeros((STEPS, 6))


def not_finite(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        file[f"{DEMO}/actions"][3, 2] = np.nan


def words(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        del file[f"{DEMO}/actions"]
        file[f"{DEMO}/actions"] = "__import__('os').system('true')"


def group_instead(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        del file[QPOS]
        file.create_group(QPOS)


def too_few_states(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        values = file[QPOS][:-1]
        del file[QPOS]
        file[QPOS] = values


def no_json(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        del file[f"{DEMO}/robomem/record"]
        file[f"{DEMO}/robomem/record"] = "{nothing"


def foreign_record(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        del file[f"{DEMO}/robomem/record"]
        file[f"{DEMO}/robomem/record"] = '{"status": "passed"}'


DAMAGES = {
    not_hdf5: "not a demonstration",
    cut_off: "not a demonstration",
    empty: "it has no data",
    linked: "is a link",
    outside: "actions is no dataset of this file",
    huge: "actions has the type float64 and the shape",
    six_wide: r"actions have the shape \(12, 6\), not",
    not_finite: "actions are not all finite",
    words: "actions has the type object",
    group_instead: "qpos is no dataset of this file",
    too_few_states: r"qpos has the shape \(12, 4\), with 12 actions",
    no_json: "its record cannot be read",
    foreign_record: "its record cannot be read",
}


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_damaged_and_hostile_files_are_refused_in_a_sentence(
    fake_demonstrations: Path, damage: Callable[[Path], None]
) -> None:
    path = demonstration(fake_demonstrations)
    damage(path)
    with pytest.raises(DemonstrationError, match=DAMAGES[damage]) as refused:
        read_demonstration(path)
    assert str(path) in str(refused.value)


def test_a_damaged_file_is_an_error_not_a_failure(bench: Bench, fake_demonstrations: Path) -> None:
    not_hdf5(demonstration(fake_demonstrations))
    result = run_replay(bench, fake_demonstrations)
    result.assert_outcomes(failed=1, errors=1)
    result.stdout.fnmatch_lines(["*starting the policy: DemonstrationError: *not a demonstration*"])


def test_a_recording_that_is_not_there_is_an_error(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    result = run_replay(bench, tmp_path / "nothing")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(
        ["*holds neither task02_seed100.npz nor a demonstration of task 2*"]
    )


def test_two_recordings_of_an_episode_are_refused(fake_demonstrations: Path) -> None:
    path = demonstration(fake_demonstrations)
    assert find_demonstration(fake_demonstrations, 2, 100) == path
    assert find_demonstration(path.parent, 2, 100) == path
    assert find_demonstration(fake_demonstrations, 2, 999) is None
    assert find_demonstration(fake_demonstrations, "*", 100) is None
    shutil.copy(path, path.with_name(f"another_{path.name}"))
    with pytest.raises(DemonstrationError, match="several recordings of task 2, seed 100"):
        find_demonstration(fake_demonstrations, 2, 100)


def test_subtasks_are_not_taken_for_the_episode(demonstrations: Path) -> None:
    assert find_demonstration(demonstrations, TASK, SEED) == demonstrations / FULL
    assert trajectory_name(TASK, SEED) == "task03_seed100.npz"
