"""The examples do what they say."""

import shutil
from pathlib import Path

import pytest

from tests.golden import ROOT

EXAMPLE = ROOT / "examples" / "custom_task"


@pytest.fixture
def own_repository(pytester: pytest.Pytester) -> Path:
    """A user's folder with the example in it."""
    shutil.copytree(EXAMPLE, pytester.path / "mine", ignore=shutil.ignore_patterns("__pycache__"))
    return pytester.path


def test_a_task_of_ones_own_passes_and_fails_like_the_benchmarks(
    pytester: pytest.Pytester, own_repository: Path
) -> None:
    solved = pytester.runpytest_subprocess("mine", "--policy=mine/reach.py", "--seeds=0:2")
    solved.assert_outcomes(passed=2)
    idle = pytester.runpytest_subprocess(
        "mine", "--policy=hold", "--seeds=1", "--robomem-max-steps=12", "--strict-markers"
    )
    idle.assert_outcomes(failed=1)
    idle.stdout.fnmatch_lines(
        [
            "stage over_the_butter is missing (horizontal distance of the hand to butter_1 *",
            "task reach_over_the_butter (reach_over_the_butter), seed 1, 12 steps, rules own",
        ]
    )
    rows = (own_repository / "robomem-results" / "episodes.tsv").read_text().splitlines()
    assert rows[1].startswith("reach_over_the_butter\t0\t1\t0.0\tN\tHold the hand over")


def test_a_task_of_ones_own_is_skipped_without_a_policy(
    pytester: pytest.Pytester, own_repository: Path
) -> None:
    pytester.runpytest_subprocess("mine").assert_outcomes(skipped=1)


def test_a_name_that_the_scene_lacks_is_an_error_not_a_silent_no(
    pytester: pytest.Pytester, own_repository: Path
) -> None:
    module = own_repository / "mine" / "test_reach.py"
    module.write_text(module.read_text().replace('"butter_1"', '"buter_1"'))
    result = pytester.runpytest_subprocess("mine", "--policy=hold", "--seeds=1")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*preparing the rules: *no body named 'buter_1'*"])
