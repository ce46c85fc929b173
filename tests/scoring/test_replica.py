"""Live states and states laid out again from their joint positions are the same."""

import numpy as np
import pytest

from pytest_robomem.scene.model import DUMMY_ACTION
from pytest_robomem.scoring.rulebooks import RULEBOOKS
from tests.golden import SETTLING_STEPS, TASK_IDS, Stage, golden_for

STEPS = 40


@pytest.mark.parametrize("task_id", TASK_IDS, ids="task{:02d}".format)
def test_contacts_and_poses_after_a_step_are_those_of_the_kinematics_instant(
    task_id: int, stage: Stage
) -> None:
    scene = stage.scene
    scene.reset(100)
    seen = 0
    for action in [*[DUMMY_ACTION] * 5, *golden_for(task_id)["rollout_actions"][:10]]:
        scene.step(np.asarray(action))
        view = stage.replica.lay(scene.kinematics_qpos)
        live = [(c.first, c.second, c.distance, *c.position) for c in scene.view.contacts()]
        again = [(c.first, c.second, c.distance, *c.position) for c in view.contacts()]
        assert live == again
        seen += len(live)
        for name in ("xpos", "xquat", "site_xpos", "site_xmat"):
            laid, run = getattr(stage.replica._data, name), getattr(scene.data, name)
            assert np.array_equal(laid, run), name
    assert seen > 0


@pytest.mark.parametrize("task_id", [1, 4, 8, 20, 25], ids="task{:02d}".format)
def test_scoring_again_from_recorded_joint_states_gives_the_same_cards(
    task_id: int, stage: Stage
) -> None:
    scene, golden = stage.scene, golden_for(task_id)
    scene.reset(100)
    live = {name: book.scorer_for(task_id) for name, book in RULEBOOKS.items()}
    recorded = []
    for step in range(-SETTLING_STEPS + 1, STEPS + 1):
        settling = step <= 0
        action = DUMMY_ACTION if settling else golden["rollout_actions"][step - 1]
        scene.step(np.asarray(action))
        view = stage.replica.lay(scene.kinematics_qpos)
        if step >= 0:
            recorded.append(scene.kinematics_qpos.copy())
            for scorer in live.values():
                scorer.begin(view) if step == 0 else scorer.update(view, step)
    for name, book in RULEBOOKS.items():
        again = book.scorer_for(task_id)
        for step, qpos in enumerate(recorded):
            view = stage.replica.lay(qpos)
            again.begin(view) if step == 0 else again.update(view, step)
        assert again.card().model_dump_json() == live[name].card().model_dump_json()
