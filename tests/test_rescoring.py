"""Scoring recorded episodes again, with the same rules and with others."""

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pytest_robomem.cli import main
from pytest_robomem.rescoring import score_trajectory
from pytest_robomem.results.stored import stored_records
from pytest_robomem.scene.recording import read_trajectory
from pytest_robomem.scene_cache import SceneCache
from pytest_robomem.scoring.strict.limits import LIMITS
from pytest_robomem.scoring.strict.rulebook import STRICT, rulebook_with

pytestmark = pytest.mark.xdist_group("rescoring")  # they share what is recorded


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the expert on task 2 and of a random policy on task 20, in real scenes."""
    folder = tmp_path_factory.mktemp("run")
    for name, policy, extra in (
        ("expert", "expert", ["-m", "task02", "--robomem-rules=strict"]),
        ("random", "random", ["-m", "task20", "--robomem-max-steps=60"]),
    ):
        subprocess.run(
            [
                *(sys.executable, "-m", "pytest", f"--policy={policy}", *extra),
                *(f"--robomem-results={name}", "-p", "no:cacheprovider"),
            ],
            cwd=folder,
            check=False,
            capture_output=True,
        )
    return folder


@pytest.mark.parametrize("name", ["expert", "random"])
@pytest.mark.parametrize("rules", ["guide", "official", "strict"])
def test_cards_equal_the_live_ones(
    run: Path, name: str, rules: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "again"
    assert main(["rescore", str(run / name), "--rules", rules, "--out", str(out)]) == 0
    (before,), (after,) = stored_records(run / name), stored_records(out)
    assert after.cards == before.cards
    assert after.goal == before.goal
    assert after.rules.startswith(rules)
    assert after.status == ("passed" if before.cards[rules].stage_success else "failed")
    assert (out / "episodes.tsv").is_file()
    assert "differs" not in capsys.readouterr().out


def test_one_threshold_changes_exactly_the_cards_that_it_should(run: Path) -> None:
    """Resting for longer than the episode lasted: nothing counts as placed any more."""
    (record,) = stored_records(run / "expert")
    trajectory = read_trajectory(run / "expert" / record.trajectory)
    never = rulebook_with(replace(LIMITS, rest_steps=10_000))
    scenes = SceneCache("auto", "stock")
    changed, _ = score_trajectory(record, trajectory, [never], scenes)
    same, _ = score_trajectory(record, trajectory, [STRICT], scenes)
    scenes.close()
    assert same["strict"] == record.cards["strict"]
    assert same["strict"].stage_success
    assert changed["strict"].stage_score == 0.0
    assert not changed["strict"].stage_success


def test_a_card_that_differs_is_reported(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A trajectory that was tampered with does not pass for the run's."""
    copy = tmp_path / "copy"
    shutil.copytree(run / "expert", copy)
    (path,) = copy.glob("trajectories/*.npz")
    with np.load(path) as archive:
        arrays = dict(archive)
    arrays["kinematics_qpos"][:] = arrays["kinematics_qpos"][0]
    np.savez_compressed(path, **arrays)
    assert main(["rescore", str(copy), "--rules", "strict"]) == 1
    assert "the strict card differs from the live one" in capsys.readouterr().out


def test_unusable_folders_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["rescore", str(tmp_path), "--rules", "guide"], ["audit", str(tmp_path)]):
        assert main(command) == 2
        assert "holds no results" in capsys.readouterr().err


def test_audit_shows_an_episode_for_each_disagreement(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", str(run / "expert")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["task", "guide", "official", "strict", "disagree", "look", "at"]
    assert lines[1].split()[:5] == [
        *("2", "butter_then_popcorn_into_basket", "100.0%", "100.0%", "100.0%")
    ]
