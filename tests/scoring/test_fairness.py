"""Scenes that are broken before the first action."""

from collections.abc import Callable

import numpy as np
import pytest

from pytest_robomem.scene.model import DUMMY_ACTION
from pytest_robomem.scoring.fairness import Flaw, StartPose, start_poses, unfair_start
from tests.golden import SETTLING_STEPS, Stage, golden_for
from tests.scoring.puppet import Puppet

ALL_TASKS = range(1, 27)


def _settle(stage: Stage, seed: int) -> tuple[Flaw, ...]:
    stage.reset(seed)
    scene, description = stage.scene, stage.scene.description
    reset = start_poses(description, stage.lay(scene.kinematics_qpos))
    for _ in range(SETTLING_STEPS):
        scene.step(np.array(DUMMY_ACTION))
    return unfair_start(description, reset, stage.lay(scene.kinematics_qpos))


@pytest.mark.parametrize("task_id", ALL_TASKS, ids="task{:02d}".format)
def test_the_reference_seed_starts_fairly(task_id: int, stage: Stage) -> None:
    assert _settle(stage, 100) == ()


@pytest.mark.parametrize("task_id", [19], ids="task{:02d}".format)
@pytest.mark.parametrize("seed", [103, 105, 109])  # items that spawn inside each other, flung off
def test_exploding_starts_are_unfair(task_id: int, seed: int, stage: Stage) -> None:
    kinds = {flaw.kind for flaw in _settle(stage, seed)}
    assert kinds & {"fell", "moved"}


@pytest.mark.parametrize("task_id", [21], ids="task{:02d}".format)
def test_a_box_that_is_never_placed_is_ignored(task_id: int, stage: Stage) -> None:
    reset = start_poses(stage.scene.description, stage.lay(golden_for(task_id).settled))
    assert set(reset) == {"butter_1", "chocolate_pudding_1"}


def _below_table(puppet: Puppet, depth: float) -> None:
    state = puppet.state()
    table, lowest = state.vertical_extent("coffee_table")[1], state.vertical_extent("ketchup_1")[0]
    puppet.shift("ketchup_1", z=table - lowest - depth)


def _turned(puppet: Puppet, angle: float) -> None:
    above = puppet.pose("ketchup_1")[0] + np.array([0.0, 0.0, 0.015])
    puppet.put("ketchup_1", above, puppet.turned("ketchup_1", np.array([1.0, 0.0, 0.0]), angle))


def _sunk(puppet: Puppet, depth: float) -> None:
    deepest = max(
        -contact.distance
        for contact in puppet.view().contacts()
        if "ketchup_1_main" in (contact.first, contact.second)
    )
    puppet.shift("ketchup_1", z=deepest - depth)


def _flaws(stage: Stage, spoil: Callable[[Puppet], None]) -> list[tuple[str, str]]:
    puppet = Puppet(stage, golden_for(18).settled)
    description = stage.scene.description
    reset: dict[str, StartPose] = start_poses(description, puppet.view())
    spoil(puppet)
    return [(flaw.obj, flaw.kind.value) for flaw in unfair_start(description, reset, puppet.view())]


@pytest.mark.parametrize("task_id", [18], ids="task{:02d}".format)
@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (lambda puppet: None, []),
        (lambda puppet: puppet.shift("ketchup_1", x=0.097), []),
        (lambda puppet: puppet.shift("ketchup_1", x=0.103), [("ketchup_1", "moved")]),
        (lambda puppet: _below_table(puppet, 0.019), ["overlaps"]),
        (lambda puppet: _below_table(puppet, 0.021), ["fell"]),
        (lambda puppet: _turned(puppet, 0.79), []),
        (lambda puppet: _turned(puppet, 0.81), [("ketchup_1", "toppled")]),
        (lambda puppet: puppet.shift("ketchup_1", z=0.0195), []),
        (lambda puppet: puppet.shift("ketchup_1", z=0.0205), [("ketchup_1", "off_support")]),
        (lambda puppet: _sunk(puppet, 0.00195), []),
        (lambda puppet: _sunk(puppet, 0.00205), [("ketchup_1", "overlaps")]),
    ],
)
def test_flaws(
    task_id: int, stage: Stage, spoil: Callable[[Puppet], None], expected: list[object]
) -> None:
    flaws = _flaws(stage, spoil)
    if expected and isinstance(expected[0], str):
        assert expected[0] in [kind for obj, kind in flaws if obj == "ketchup_1"]
        assert ("fell" in [kind for _, kind in flaws]) is (expected == ["fell"])
    else:
        assert flaws == expected
