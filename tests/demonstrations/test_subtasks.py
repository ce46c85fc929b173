"""Names of demonstration files, and where an episode is cut."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_robomem.demonstrations.layout import (
    full_name,
    primitive_name,
    subtask_name,
    task_folder,
)
from pytest_robomem.demonstrations.selection import benchmark_tasks, chosen_tasks
from pytest_robomem.demonstrations.subtasks import Subtask, keyframes, subtasks
from pytest_robomem.results.cards import StageResult

pytestmark = pytest.mark.xdist_group("demonstrations")  # they share what is recorded

# The public data set's folders.
PUBLIC = {
    "Multi-Sequence": {1, 2, 3, 22},
    "Multi-Counting": {6, 7, 8, 9, 10, 15, 16},
    "Multi-Occlusion": {4, 5, 11, 12, 13, 14, 17, 20, 21, 23, 24},
    "Multi-Transferring": {18, 19, 25, 26},
}


def stages(*completed: int | None) -> list[StageResult]:
    return [
        StageResult(name=f"{number:02d}_Do_Thing{number}", completed_at=step)
        for number, step in enumerate(completed, start=1)
    ]


def test_every_task_has_the_public_folder() -> None:
    found: dict[str, set[int]] = {}
    for task in benchmark_tasks():
        category, _, folder = task_folder(task).partition("/")
        assert folder == f"{task.scene.stem}_dataset"
        found.setdefault(category, set()).add(task.number or 0)
    assert found == PUBLIC


def test_file_names_are_the_public_ones() -> None:
    (task,) = chosen_tasks({1}, ())
    assert task_folder(task) == "Multi-Sequence/1_cookies_tomato_basket_dataset"
    assert full_name(task, 100) == "cookies_tomato_basket_seed100_task1.hdf5"
    assert subtask_name("pick_cookies", 0, task, 100) == "pick_cookies_0_seed100_task1.hdf5"


def test_tasks_are_chosen_by_number_and_by_family() -> None:
    assert [task.number for task in chosen_tasks((), ())] == list(range(1, 27))
    assert [task.number for task in chosen_tasks((5, 2), ("plate",))] == [2, 5, 25, 26]


@pytest.mark.parametrize(
    ("stage", "primitive"),
    [
        ("01_Place_Butter_Basket", "place_butter_basket"),
        ("cookies_in_basket", "cookies_in_basket"),
        ("put_tomato_sauce_1_away", "put_tomato_sauce_away"),
        ("place_plate_2", "place_plate_2"),
        ("../../etc/passwd", "etc_passwd"),
        ("02_Été\0/..", "t"),
        ("...", "subtask"),
    ],
)
def test_primitives_are_fit_for_file_names(stage: str, primitive: str) -> None:
    assert primitive_name(stage) == primitive


def test_an_episode_is_cut_where_stages_were_completed() -> None:
    assert subtasks(stages(4, 10), 12) == [
        Subtask("do_thing1", 0, 0, 4),
        Subtask("do_thing2", 1, 4, 12),  # what follows the last stage belongs to it
    ]
    assert keyframes(stages(4, 10), 12).tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0]


def test_stages_that_were_not_completed_make_no_subtask() -> None:
    assert subtasks(stages(None, None), 12) == []
    assert subtasks(stages(3, None), 12) == [Subtask("do_thing1", 0, 0, 12)]


def test_stages_completed_at_once_make_one_subtask() -> None:
    assert [cut.primitive for cut in subtasks(stages(5, 5, 9), 9)] == [
        "do_thing1_and_do_thing2",
        "do_thing3",
    ]


@given(st.lists(st.none() | st.integers(1, 50)), st.integers(50, 60))
def test_subtasks_put_together_are_the_episode(completed: list[int | None], steps: int) -> None:
    cuts = subtasks(stages(*completed), steps)
    assert [cut.order for cut in cuts] == list(range(len(cuts)))
    rows = [row for cut in cuts for row in range(cut.start, cut.stop)]
    assert rows == (list(range(steps)) if cuts else [])
    assert all(re.fullmatch(r"[a-z0-9_]+", cut.primitive) for cut in cuts)
    ends = {cut.stop - 1 for cut in cuts[:-1]}
    assert ends <= set(np.flatnonzero(keyframes(stages(*completed), steps)).tolist())
