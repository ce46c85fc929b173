"""The table of programs and what the controls make of it."""

import pytest

from pytest_robomem.policies.controls import (
    CONTROLS,
    UnknownControlError,
    build_control,
    in_wrong_order,
    with_one_pour_more,
    without_last,
)
from pytest_robomem.policies.expert import programs
from pytest_robomem.policies.expert.programs import PROGRAMS
from pytest_robomem.policies.expert.skills import _SKILLS
from pytest_robomem.resources import resource_dir
from pytest_robomem.scene.bddl import read_scene

TASKS = range(1, 27)
POURING = (6, 7, 8, 9, 10, 15, 16, 22)


def scene_names(task_id: int) -> set[str]:
    description = read_scene(next(resource_dir("bddl").glob(f"{task_id}_*.bddl")))
    return {
        name
        for group in (description.objects, description.fixtures)
        for names in group.values()
        for name in names
    }


def names_in(step: programs.Step) -> set[str]:
    fields = {"name", "names", "basket", "plate", "cabinet", "pan", "drainer", "over", "microwave"}
    found: set[str] = set()
    for field in fields & set(vars(step)):
        value = getattr(step, field)
        found |= {value} if isinstance(value, str) else set(value)
    return found


@pytest.mark.parametrize("task_id", TASKS)
def test_each_program_names_only_what_its_scene_has(task_id: int) -> None:
    program = PROGRAMS[task_id]
    assert program
    for step in program:
        assert names_in(step) <= scene_names(task_id)
        assert type(step) in _SKILLS


def test_there_is_a_program_for_each_task_and_no_other() -> None:
    assert set(PROGRAMS) == set(TASKS)


def test_every_pour_task_pours_exactly_twice() -> None:
    for task_id, program in PROGRAMS.items():
        pours = sum(step.times for step in program if isinstance(step, programs.Pour))
        assert pours == (2 if task_id in POURING else 0)


@pytest.mark.parametrize("task_id", TASKS)
def test_faults_change_the_program(task_id: int) -> None:
    program = PROGRAMS[task_id]
    assert without_last(program) != program
    assert in_wrong_order(program) != program
    assert with_one_pour_more(program) != program


def test_skip_leaves_out_what_the_prompt_asks_for_last() -> None:
    assert without_last(PROGRAMS[1]) == PROGRAMS[1][:1]
    assert without_last(PROGRAMS[19])[0].names == ("tomato_sauce_1", "milk_1")  # type: ignore[union-attr]
    once, back = without_last(PROGRAMS[10])
    assert isinstance(once, programs.Pour)
    assert once.times == 1
    assert isinstance(back, programs.BackToStart)


def test_swap_looks_into_the_drawers_only_afterwards() -> None:
    swapped = in_wrong_order(PROGRAMS[4])
    assert isinstance(swapped[-1], programs.CheckDrawers)
    assert swapped[0] == programs.OpenDrawer("wooden_cabinet_1", "top")


@pytest.mark.parametrize("task_id", [11, 14])
def test_swap_exchanges_the_drawers_where_no_order_is_stated(task_id: int) -> None:
    """The second drawer first is allowed there: the published prompt says only 'another'."""
    swapped, program = in_wrong_order(PROGRAMS[task_id]), PROGRAMS[task_id]
    assert [type(step) for step in swapped] == [type(step) for step in program]
    assert (swapped[1].name, swapped[4].name) == (program[4].name, program[1].name)  # type: ignore[union-attr]
    assert (swapped[0], swapped[3]) == (program[0], program[3])


@pytest.mark.parametrize("task_id", [18, 19, 25, 26])
def test_swap_goes_to_the_first_carrier_where_no_order_is_stated(task_id: int) -> None:
    """'Respectively' states none."""
    for swapped, step in zip(in_wrong_order(PROGRAMS[task_id]), PROGRAMS[task_id], strict=True):
        carriers = [getattr(s, "plate", "") or getattr(s, "cabinet", "") for s in (step, swapped)]
        assert carriers in (["plate_2", "plate_1"], ["wooden_cabinet_2", "wooden_cabinet_1"])


def test_extra_pours_three_times_and_does_nothing_where_nothing_is_poured() -> None:
    for task_id, program in PROGRAMS.items():
        pours = [s.times for s in with_one_pour_more(program) if isinstance(s, programs.Pour)]
        assert pours == ([3] if task_id in POURING else [])


def test_controls_are_built_by_name() -> None:
    assert {"hold", "random", "wiggle", "sweep", "shake", "skip", "swap", "extra"} == set(CONTROLS)
    for name in CONTROLS:
        build_control(name)
    with pytest.raises(UnknownControlError, match=r"nonsense.*hold"):
        build_control("nonsense")
