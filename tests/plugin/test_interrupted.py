"""Episodes that never ended: what they leave, and that nobody takes it for a result."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_robomem.cli import main
from pytest_robomem.scene.block_file import BLOCK_STEPS
from pytest_robomem.scene.recording import read_trajectory
from tests.golden import ROOT
from tests.plugin.conftest import Bench

PARTIAL = "trajectories/task02_seed100.partial"
LATE = ("-m", "task02 or task03", "--robomem-max-steps=400")


def require_creeping(path: Path, steps: int) -> None:
    """The first steps of what the policy ``creeps`` does with seed 100."""
    trajectory = read_trajectory(path)
    assert len(trajectory.actions) == steps
    assert len(trajectory.qpos) == steps + 1
    np.testing.assert_array_equal(trajectory.reset_qpos, np.full(4, 100.0))
    np.testing.assert_allclose(
        trajectory.actions[:, 0], 0.001 * (np.arange(steps) // 5 + 1), rtol=1e-12
    )
    np.testing.assert_allclose(np.diff(trajectory.qpos[:, 0]), trajectory.actions[:, 0], atol=1e-9)


def start(bench: Bench, *arguments: str, **kwargs: Any) -> "subprocess.Popen[str]":
    """Run pytest in a process group of its own."""
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--policy=mine"),
            *(f"--policy-kwargs={json.dumps(kwargs)}", *arguments),
        ],
        cwd=bench.folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def wait_for(path: Path, size: int = 1) -> None:
    """Wait until a file has so many bytes."""
    end = time.monotonic() + 90
    while time.monotonic() < end:
        if path.exists() and path.stat().st_size >= size:
            return
        time.sleep(0.05)
    pytest.fail(f"{path.name} does not appear")


def test_a_dead_worker_leaves_its_trajectory_and_the_record_names_it(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    result = bench.run(*LATE, "-n1", kind="dies_late", task=2)
    result.assert_outcomes(errors=1, failed=1)
    (record,) = (r for r in bench.records() if r["task_id"] == 2)
    assert (record["status"], record["trajectory"]) == ("error", PARTIAL)
    assert f"what it had recorded: {PARTIAL}" in record["message"]
    require_creeping(bench.results / PARTIAL, 2 * BLOCK_STEPS - 1)
    left = sorted(path.name for path in (bench.results / "trajectories").iterdir())
    assert left == ["task02_seed100.partial", "task03_seed100.npz"]
    capsys.readouterr()
    main(["rescore", str(bench.results), "--rules", "strict", "--out", str(bench.folder / "s")])
    printed = capsys.readouterr().out
    assert f"was an error and stays one; {PARTIAL} is no whole episode" in printed


@pytest.mark.parametrize(("when", "left"), [("off", []), ("failed", ["task02_seed100.partial"])])
def test_a_dead_worker_when_trajectories_are_not_all_wanted(
    bench: Bench, when: str, left: list[str]
) -> None:
    bench.run("-m", "task02", "-n1", f"--robomem-trajectory={when}", kind="dies_late", task=2)
    (record,) = bench.records()
    assert record["trajectory"] == (PARTIAL if left else "")
    assert [path.name for path in bench.results.glob("trajectories/*")] == left


def test_an_episode_that_died_early_names_no_trajectory(bench: Bench) -> None:
    """Not even that of an earlier attempt, which was resumed."""
    bench.run("-m", "task02", "-n1", kind="dies_late", task=2)
    (bench.folder / "mine.py").write_text(
        (bench.folder / "mine.py").read_text().replace("self.asked == 61", "self.asked == 2")
    )
    bench.run("-m", "task02", "-n1", "--robomem-resume", kind="dies_late", task=2)
    assert [record["trajectory"] for record in bench.records()] == [PARTIAL, ""]
    assert list(bench.results.glob("trajectories/*")) == []


def test_an_episode_that_is_run_again_replaces_what_its_first_attempt_left(bench: Bench) -> None:
    bench.run(*LATE, "-n1", kind="dies_late", task=2)
    (bench.folder / "mine.py").write_text(
        (bench.folder / "mine.py").read_text().replace("self.asked == 61", "False")
    )
    bench.run(*LATE, "--robomem-resume", kind="dies_late", task=2)
    left = sorted(path.name for path in (bench.results / "trajectories").iterdir())
    assert left == ["task02_seed100.npz", "task03_seed100.npz"]
    require_creeping(bench.results / "trajectories" / left[0], 400)


def test_a_killed_run_leaves_whole_blocks(bench: Bench) -> None:
    process = start(bench, *LATE, kind="sleeps_late", task=2)
    partial = bench.results / PARTIAL
    wait_for(partial)
    size = 0
    while partial.stat().st_size > size:  # until the policy sleeps
        size = partial.stat().st_size
        time.sleep(1.0)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    require_creeping(partial, 2 * BLOCK_STEPS - 1)


def test_ctrl_c_leaves_every_step_and_nothing_else(bench: Bench) -> None:
    process = start(bench, *LATE, "--robomem-video=off", kind="sleeps_late", task=2)
    partial = bench.results / PARTIAL
    wait_for(partial)
    size = 0
    while partial.stat().st_size > size:
        size = partial.stat().st_size
        time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    require_creeping(partial, 300)
    assert [path.name for path in partial.parent.iterdir()] == [partial.name]


def test_a_full_disk_is_an_error_of_that_episode_alone(bench: Bench) -> None:
    bench.pytester.makeconftest(
        (bench.folder / "conftest.py").read_text()
        + """
from pathlib import Path
from pytest_robomem import storage
from pytest_robomem.scene import recorder
from pytest_robomem.scene.block_file import BlockWriter

class FullDisk(BlockWriter):
    def __init__(self, path, *start):
        if "task02" in path.name:
            raise OSError(28, "No space left on device")
        super().__init__(path, *start)

@pytest.fixture(autouse=True)
def full_disk(monkeypatch):
    monkeypatch.setattr(recorder, "BlockWriter", FullDisk)
"""
    )
    result = bench.run(*LATE, kind="creeps")
    result.assert_outcomes(errors=1, failed=1)
    record = next(r for r in bench.records() if r["task_id"] == 2)
    assert record["status"] == "error"
    assert (
        "recording step 255: TrajectoryError: the trajectory cannot be written: [Errno 28]"
        in (record["message"])
    )
    assert record["trajectory"] == "trajectories/task02_seed100.npz"  # the disk has space again
    assert sorted(path.suffix for path in bench.results.glob("trajectories/*")) == [".npz", ".npz"]


def test_a_final_trajectory_that_cannot_be_written_is_an_error(bench: Bench) -> None:
    (bench.results).mkdir()
    (bench.results / "trajectories").write_text("no folder")
    result = bench.run("-m", "task02", kind="solve")
    result.assert_outcomes(errors=1)
    (record,) = bench.records()
    assert record["status"] == "error"
    assert "the trajectory cannot be written" in record["message"]
