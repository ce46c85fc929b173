"""Whole episodes in the real scene."""

import numpy as np
import pytest

from pytest_robomem.policies.controls import build_control
from pytest_robomem.policies.expert import Expert, build_adapter
from pytest_robomem.policies.expert.policy import NotAttachedError, ScriptedPolicy
from pytest_robomem.resources import resource_dir
from pytest_robomem.scene.model import DUMMY_ACTION, Scene

SETTLE_STEPS = 10
SEED = 100


@pytest.fixture(scope="module")
def baskets() -> Scene:
    return Scene(next(resource_dir("bddl").glob("3_*.bddl")))


def play(scene: Scene, policy: ScriptedPolicy, task_id: int, steps: int) -> list[np.ndarray]:
    scene.reset(SEED)
    for _ in range(SETTLE_STEPS):
        scene.step(np.array(DUMMY_ACTION))
    policy.attach_simulator(scene.view)
    policy.reset()
    policy.episode_start(task_id, SEED)
    actions = []
    for _ in range(steps):
        chunk = policy.infer_actions({}, "", 256)
        assert chunk.shape == (1, 7)
        actions.append(chunk[0])
        scene.step(chunk[0])
        if policy.finished:
            break
    return actions


def inside_basket(scene: Scene, name: str) -> bool:
    site = scene.view.site_pose("basket_1_contain_region")
    offset = scene.view.body_position(name) - site.position
    return bool(np.abs(offset[:2]).max() < 0.061 and abs(offset[2]) < 0.08)


def test_the_expert_fills_the_basket_and_then_stands_still(baskets: Scene) -> None:
    expert = build_adapter()
    actions = play(baskets, expert, 3, steps=480)
    assert expert.finished
    assert expert.failure is None
    assert [name for name, _ in expert.memory.placed] == ["cream_cheese_1", "chocolate_pudding_1"]
    assert inside_basket(baskets, "cream_cheese_1")
    assert inside_basket(baskets, "chocolate_pudding_1")
    assert len(expert.step_ends) == 2
    assert np.abs(actions).max() <= 1.0
    assert expert.infer_actions({}, "", 256)[0] == pytest.approx(DUMMY_ACTION)


def test_skip_leaves_the_second_thing_on_the_table(baskets: Scene) -> None:
    control = build_control("skip")
    play(baskets, control, 3, steps=300)
    assert control.finished
    assert inside_basket(baskets, "cream_cheese_1")
    assert not inside_basket(baskets, "chocolate_pudding_1")


def test_what_cannot_be_grasped_is_reported_and_ends_in_standing_still(
    baskets: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A hand that never closes on anything: every grasp misses.
    monkeypatch.setattr("pytest_robomem.policies.expert.handling.CLOSED", -1.0)
    expert = Expert()
    play(baskets, expert, 3, steps=400)
    assert expert.finished
    assert expert.failure is not None
    assert "pick cream_cheese_1" in expert.failure.skill
    assert "4 grasps missed" in expert.failure.reason
    assert not expert.step_ends
    assert expert.infer_actions({}, "", 256)[0] == pytest.approx(DUMMY_ACTION)


def test_random_actions_depend_on_task_and_seed_alone(baskets: Scene) -> None:
    first, again = (play(baskets, build_control("random"), 3, steps=5) for _ in range(2))
    other = play(baskets, build_control("random"), 2, steps=5)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_without_a_simulator_it_says_what_is_missing() -> None:
    expert = Expert()
    expert.reset()
    expert.episode_start(3, SEED)
    with pytest.raises(NotAttachedError, match="attach_simulator"):
        expert.infer_actions({}, "", 256)
