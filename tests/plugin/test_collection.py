"""Which items there are and what they are called."""

import re

import pytest

from pytest_robomem.task import FAMILIES, MEMORY_TYPES
from tests.plugin.conftest import Bench


def collected(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if "::" in line]


def test_an_empty_folder_collects_the_26_tasks(bench: Bench) -> None:
    items = collected(bench.run("--co", "-q"))
    assert len(items) == 26
    assert "tasks/test_drawer.py::test_butter_into_occupied_drawer[seed100]" in items
    assert not bench.results.exists()


def test_seeds_make_items_in_a_stable_order(bench: Bench) -> None:
    items = collected(bench.run("--co", "-q", "--seeds=7,100:102", "-m", "basket"))
    assert [re.search(r"\[(.*)\]", item).group(1) for item in items[:3]] == [  # type: ignore[union-attr]
        "seed7",
        "seed100",
        "seed101",
    ]
    assert len(items) == 9


@pytest.mark.parametrize(
    ("marker", "count"),
    [
        *[("basket", 3), ("drawer", 7), ("pour", 7), ("cabinet", 2), ("microwave", 5)],
        *[("plate", 2), ("sequence", 4), ("counting", 8), ("occlusion", 14)],
        *[("transferring", 4), ("task07", 1)],
    ],
)
def test_markers_pick_families_memory_types_and_tasks(
    bench: Bench, marker: str, count: int
) -> None:
    items = collected(bench.run("--co", "-q", "--strict-markers", "-m", marker))
    assert len(items) == count


def test_every_marker_is_documented(bench: Bench) -> None:
    listing = bench.run("--markers", policy=None).stdout.str()
    for name in (*FAMILIES, *MEMORY_TYPES, "task01", "task26"):
        assert f"@pytest.mark.{name}: " in listing


def test_an_item_can_be_named(bench: Bench) -> None:
    name = "tasks/test_basket.py::test_butter_then_popcorn_into_basket"
    assert len(collected(bench.run("--co", "-q", name, "--seeds=3:5"))) == 2
    assert collected(bench.run("--co", "-q", f"{name}[seed4]", "--seeds=3:5")) == [f"{name}[seed4]"]
    assert len(collected(bench.run("--co", "-q", "tasks/test_basket.py"))) == 3
    assert len(collected(bench.run("--co", "-q", "-k", "milk"))) == 3


def test_without_a_policy_nothing_is_added(bench: Bench) -> None:
    bench.pytester.makepyfile(test_own="def test_mine(): pass\ndef test_bad(): assert 0")
    result = bench.run(policy=None)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.no_fnmatch_line("*robomem*policy*")
    assert not bench.results.exists()


def test_own_tests_are_left_alone_when_a_policy_is_given(bench: Bench) -> None:
    """With a policy and no path the benchmark is run, not the folder's own tests."""
    bench.pytester.makepyfile(test_own="def test_mine(): assert 0")
    items = collected(bench.run("--co", "-q"))
    assert len(items) == 26
    assert collected(bench.run("--co", "-q", "test_own.py")) == ["test_own.py::test_mine"]


def test_a_folder_called_tasks_of_the_user_wins(bench: Bench) -> None:
    folder = bench.folder / "tasks"
    folder.mkdir()
    (folder / "test_basket.py").write_text("def test_mine(): pass\n")
    items = collected(bench.run("--co", "-q", "tasks/test_basket.py"))
    assert items == ["tasks/test_basket.py::test_mine"]


@pytest.mark.parametrize("extra", [["-p", "no:xdist"], ["-n0"], ["-n2"]])
def test_lf_runs_what_failed(bench: Bench, extra: list[str]) -> None:
    arguments = ["-m", "basket", "--robomem-max-steps=20", "-p", "cacheprovider", *extra]
    words = [argument for argument in arguments if argument != ""]
    first = bench.run(*words, task=2)
    first.assert_outcomes(passed=1, failed=2)
    again = bench.run("--lf", *words, task=2)
    again.assert_outcomes(failed=2)
