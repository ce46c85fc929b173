"""The scenes against states that the public evaluator recorded.

They were recorded with mujoco 2.3.7 and numpy 1.26.4 (the extra ``reference``). Other versions give
the same initial states and their own contact forces.
"""

import json
import os
import subprocess
import sys

import mujoco
import numpy as np
import pytest

from pytest_robomem.scene.model import DUMMY_ACTION
from tests.golden import (
    REFERENCE_SEED,
    ROOT,
    SETTLING_STEPS,
    TASK_IDS,
    Golden,
    golden_folder,
    golden_for,
    stage_for,
)

REFERENCE = mujoco.__version__ == "2.3.7"
SETTLED_WITHIN = 0.005  # m
REST_WITHIN = 0.002  # m in the last two settling steps
DEEPEST = -0.002  # m, distance of touching bodies that is no interpenetration
# Broken before the first action, in the reference as well: two items of task 19 are drawn into
# each other and fly off the cabinet (the public scenes place them without looking).
EXPLODING_STARTS = {(19, 50), (19, 103)}
# Food that is drawn onto the rim of a plate or onto other food slides while it settles.
SLIDING_STARTS = {18, 25}
SLIDES_WITHIN = 0.008  # m

pytestmark = pytest.mark.parametrize("task_id", TASK_IDS)


def free_joints(golden: Golden) -> list[int]:
    """Addresses of the movable objects in qpos."""
    return [
        int(address)
        for address, kind in zip(golden["joint_qposadr"], golden["joint_type"], strict=True)
        if kind == 0
    ]


def test_golden_layout_of_the_model(task_id: int) -> None:
    golden, model = golden_for(task_id), stage_for(task_id).scene.model
    names = {
        "body_names": [model.body(index).name for index in range(model.nbody)],
        "joint_names": [model.joint(index).name for index in range(model.njnt)],
        "site_names": [model.site(index).name for index in range(model.nsite)],
    }
    for key, found in names.items():
        if key in golden.arrays:
            assert found == golden[key].tolist()
    if "body_mass" in golden.arrays:
        np.testing.assert_allclose(model.body_mass, golden["body_mass"], rtol=1e-12)


def test_golden_initial_and_settled_states(task_id: int) -> None:
    golden, stage = golden_for(task_id), stage_for(task_id)
    scene = stage.scene
    for number, seed in enumerate(golden["seeds"].tolist()):
        stage.reset(seed)
        initial = scene.data.qpos.copy()
        np.testing.assert_allclose(initial, golden["init_qpos"][number], rtol=0, atol=1e-9)
        np.testing.assert_allclose(
            scene.model.body_pos, golden["body_pos"][number], rtol=0, atol=1e-9
        )
        for step in range(SETTLING_STEPS):
            if step == SETTLING_STEPS - 2:
                almost = scene.data.qpos.copy()
            scene.step(np.array(DUMMY_ACTION))
        settled = scene.data.qpos.copy()
        recorded = golden["settled_qpos"][number]
        if REFERENCE:
            np.testing.assert_allclose(settled, recorded, rtol=0, atol=1e-6)
        if (task_id, seed) in EXPLODING_STARTS:
            continue
        slide = SLIDES_WITHIN if task_id in SLIDING_STARTS else SETTLED_WITHIN
        for address in free_joints(golden):
            position = slice(address, address + 3)
            horizontal = settled[address : address + 2] - initial[address : address + 2]
            assert np.linalg.norm(horizontal) <= slide, (seed, address)
            assert np.linalg.norm(settled[position] - recorded[position]) <= SETTLED_WITHIN
            assert np.linalg.norm(settled[position] - almost[position]) <= REST_WITHIN
        deepest = min((contact.distance for contact in scene.scored_view().contacts()), default=0)
        assert deepest >= DEEPEST, (seed, deepest)


@pytest.mark.skipif(not REFERENCE, reason="rollouts compare with mujoco 2.3.7 only")
def test_golden_rollout(task_id: int) -> None:
    """The recorded rollout's first 20 steps, computed with the recording's BLAS kernel."""
    finished = subprocess.run(
        [sys.executable, "-m", "tests.scene.rollout", str(task_id)],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "OPENBLAS_CORETYPE": "Haswell"},
    )
    errors = json.loads(finished.stdout)
    beyond = next((step for step, error in enumerate(errors) if error > 1e-6), None)
    sys.stdout.write(f"task {task_id}: beyond 1e-6 from step {beyond} of {len(errors)}\n")
    assert max(errors[:21]) <= 1e-6


def test_golden_images(task_id: int, needs_images: None) -> None:
    """What stock LIBERO renders after settling: equal with the same mujoco and Mesa."""
    folder = golden_folder() / "images"
    if not folder.is_dir():
        if os.environ.get("CI") == "true":
            pytest.fail("CI has to compare images: the full folder of recorded outcomes is missing")
        pytest.skip("the reduced copy has no images")
    import imageio.v2 as imageio  # noqa: PLC0415

    scene = stage_for(task_id).scene
    stage_for(task_id).reset(REFERENCE_SEED)
    for _ in range(SETTLING_STEPS):
        scene.step(np.array(DUMMY_ACTION))
    for camera, name in (("agentview", "agentview"), ("robot0_eye_in_hand", "wrist")):
        recorded = imageio.imread(folder / f"task{task_id:02d}_seed100_{name}.png")[..., :3]
        image = scene.render(camera)[::-1]
        difference = np.abs(image.astype(float) - recorded.astype(float))
        assert difference.mean() < (1e-9 if REFERENCE else 2.0), camera


def test_golden_seeds_do_not_depend_on_what_ran_before(task_id: int) -> None:
    """A new seed gives the state that it gives first, whatever was placed and done before."""
    if task_id not in (4, 19, 26):
        pytest.skip("three scenes with every kind of placement are enough")
    stage, golden = stage_for(task_id), golden_for(task_id)
    first, other = golden["seeds"].tolist()[:2]
    scene = stage.scene

    def played(seed: int) -> bytes:
        stage.reset(seed)
        before = scene.data.qpos.tobytes() + scene.model.body_pos.tobytes()
        generator = np.random.default_rng(seed)
        for _ in range(8):
            scene.step(generator.uniform(-1, 1, 7))
        return before + scene.data.qpos.tobytes() + scene.data.qvel.tobytes()

    once = played(first)
    played(other)
    np.random.rand(17)  # a policy that draws from the global generator
    assert played(first) == once
