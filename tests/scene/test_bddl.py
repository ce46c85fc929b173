"""Reading scene files."""

import json
import math
from pathlib import Path

import pytest

from pytest_robomem.resources import resource_dir
from pytest_robomem.scene.bddl import BddlError, GoalTerm, read_scene

SCENE = """
(define (problem LIBERO_Coffee_Table_Manipulation)
  (:domain robosuite)  ; a comment with (brackets
  (:language Put It There)
  (:regions
    (start (:target coffee_table) (:ranges ((-0.1 0.2 0.1 0.4))) (:yaw_rotation ((0 pi))))
    (inside (:target plate_1))
  )
  (:fixtures coffee_table - coffee_table)
  (:objects butter_1 - butter plate_1 - plate plate_2 - plate)
  (:obj_of_interest butter_1)
  (:init (On butter_1 coffee_table_start))
  (:goal (And (In butter_1 plate_1_inside) (Or (On butter_1 plate_1) (On butter_1 plate_2))))
)
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "scene.bddl"
    path.write_text(text, encoding="utf-8")
    return path


def test_everything_of_a_scene_file_is_read(tmp_path: Path) -> None:
    scene = read_scene(write(tmp_path, SCENE))
    assert scene.problem == "libero_coffee_table_manipulation"
    assert scene.language == "put it there"
    assert scene.fixtures == {"coffee_table": ["coffee_table"]}
    assert [region.full_name for region in scene.regions] == [
        "coffee_table_start",
        "plate_1_inside",
    ]
    assert scene.regions[0].xy_ranges == ((-0.1, 0.2, 0.1, 0.4),)
    assert scene.regions[0].yaw_range == (0.0, math.pi)
    assert scene.placements == (("on", "butter_1", "coffee_table_start"),)


def test_lines_of_one_type_accumulate(tmp_path: Path) -> None:
    """LIBERO's own reader keeps only the last one, which loses an object of four scenes."""
    objects = read_scene(write(tmp_path, SCENE)).objects
    assert objects == {"butter": ["butter_1"], "plate": ["plate_1", "plate_2"]}


def test_the_goal_keeps_its_tree(tmp_path: Path) -> None:
    goal = read_scene(write(tmp_path, SCENE)).goal
    assert goal == GoalTerm(
        "and",
        terms=(
            GoalTerm("in", arguments=("butter_1", "plate_1_inside")),
            GoalTerm(
                "or",
                terms=(
                    GoalTerm("on", arguments=("butter_1", "plate_1")),
                    GoalTerm("on", arguments=("butter_1", "plate_2")),
                ),
            ),
        ),
    )
    assert len(list(goal.relations())) == 3


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("))))\n)", "))))", "brackets are not closed"),
        ("(:domain", "(:domain))(", "a closing bracket too many|top level|one \\(define"),
        ("(:init (On butter_1 coffee_table_start))", "", "the part \\(:init ...\\) is missing"),
        ("(On butter_1 plate_2)", "(Near butter_1 plate_2)", "near"),
        ("(0 pi)", "(0 __import__('os').getpid)", "expected a number|runs|found"),
        ("-0.1 0.2 0.1 0.4", "0.1 0.2 -0.1 0.4", "runs backwards"),
        ("plate_2 - plate", "plate_2", "have no type"),
        ("(:target coffee_table)", "", "has no \\(:target"),
    ],
)
def test_a_broken_file_is_named_with_the_reason(
    tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    assert old in SCENE
    path = write(tmp_path, SCENE.replace(old, new, 1))
    with pytest.raises(BddlError, match=complaint) as caught:
        read_scene(path)
    assert str(path) in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BddlError, match="no_such"):
        read_scene(tmp_path / "no_such.bddl")


def test_the_26_scenes_and_goals_are_distinct() -> None:
    """Two of the public scenes were the same file at first."""
    scenes = [read_scene(path) for path in resource_dir("bddl").glob("*.bddl")]
    contents = {json.dumps(scene.libero_problem(), sort_keys=True) for scene in scenes}
    goals = {(scene.goal, scene.objects_of_interest, tuple(scene.objects)) for scene in scenes}
    assert len(scenes) == len(contents) == 26
    assert len(goals) == 26
