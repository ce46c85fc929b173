"""The exact stepper against robosuite's own loop, in one process and on one machine."""

from collections.abc import Iterator

import numpy as np
import pytest

from benchmarks.rollouts import first_difference, random_actions, rollout
from pytest_robomem.resources import resource_dir
from pytest_robomem.scene.model import DUMMY_ACTION, Scene
from pytest_robomem.scene.stepper import StockStepper, make_stepper

STEPS = 25
# A pour with many mesh contacts, and a drawer.
SCENES = ("10_pour", "4_drawer")


@pytest.fixture(scope="module", params=SCENES)
def scene(request: pytest.FixtureRequest) -> Iterator[Scene]:
    """One of the scenes."""
    (path,) = resource_dir("bddl").glob(f"{request.param}*.bddl")
    built = Scene(path)
    yield built
    built.close()


@pytest.fixture(scope="module")
def one_scene() -> Iterator[Scene]:
    """A scene that no test changes for another."""
    (path,) = resource_dir("bddl").glob("1_*.bddl")
    built = Scene(path)
    yield built
    built.close()


def test_states_observations_and_contacts_equal_stock(scene: Scene) -> None:
    """Every bit, from the reset on."""
    actions = random_actions(STEPS, seed=3)
    ours = rollout(scene, "exact", 100, actions)
    stock = rollout(scene, "stock", 100, actions)
    assert first_difference(stock, ours) == ""
    assert max(len(state["contacts"]) for state in ours) > 0


def test_a_second_episode_knows_nothing_of_the_first(one_scene: Scene) -> None:
    """The gripper, the goal and what the controller had measured start anew."""
    actions = random_actions(10, seed=5)
    rollout(one_scene, "exact", 7, random_actions(15, seed=6))
    again = rollout(one_scene, "exact", 100, actions)
    assert first_difference(rollout(one_scene, "stock", 100, actions), again) == ""


def test_the_comparison_sees_one_bit(one_scene: Scene) -> None:
    """A test of equality has to be able to fail."""
    actions = random_actions(5, seed=5)
    expected = rollout(one_scene, "stock", 100, actions)
    nudged = actions.copy()
    nudged[2, 0] = np.nextafter(nudged[2, 0], 0.0)
    difference = first_difference(expected, rollout(one_scene, "exact", 100, nudged))
    assert difference.endswith("step 3")


def test_the_recorded_joint_state_gives_the_positions_of_the_step(one_scene: Scene) -> None:
    """Positions are one substep older than qpos, and kinematics_qpos is that older state."""
    one_scene._stepper = make_stepper("exact", one_scene._environment)
    one_scene.reset(100)
    for action in random_actions(8, seed=9):
        one_scene.step(action)
    positions, earlier = one_scene.data.xpos.copy(), one_scene.kinematics_qpos.copy()
    assert not np.array_equal(earlier, one_scene.data.qpos)
    one_scene.show(earlier)
    np.testing.assert_array_equal(one_scene.data.xpos, positions)


def test_float32_actions_are_taken_as_stock_takes_them(one_scene: Scene) -> None:
    """Policies answer in float32."""
    actions = random_actions(5, seed=1).astype(np.float32)
    ours = rollout(one_scene, "exact", 100, actions)
    assert first_difference(rollout(one_scene, "stock", 100, actions), ours) == ""


def test_where_linear_algebra_rounds_differently_stock_takes_over(
    one_scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record must not say exact where it is not."""
    monkeypatch.setattr("pytest_robomem.scene.exactness.same_arithmetic", lambda: False)
    stepper = make_stepper("exact", one_scene._environment)
    assert isinstance(stepper, StockStepper)
    assert stepper.name == "stock"


def test_an_unknown_stepper_is_an_error(one_scene: Scene) -> None:
    """Names are checked."""
    with pytest.raises(ValueError, match="fast"):
        make_stepper("fast", one_scene._environment)


def test_the_arm_stands_still_when_told_to(one_scene: Scene) -> None:
    """A sanity check that does not lean on robosuite."""
    one_scene._stepper = make_stepper("exact", one_scene._environment)
    one_scene.reset(100)
    before = one_scene.end_effector()
    for _ in range(10):
        one_scene.step(np.array(DUMMY_ACTION))
    after = one_scene.end_effector()
    np.testing.assert_allclose(after[:3], before[:3], atol=2e-3)
    assert after[7] > before[7]  # the fingers open
