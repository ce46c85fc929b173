"""Recomputes the recorded rollout of a task and prints how far each step is off, as JSON.

    python -m tests.scene.rollout TASK

A process of its own, because the bits depend on the BLAS kernel, which is chosen when numpy loads.
"""

import json
import sys

import numpy as np

from pytest_robomem.resources import resource_dir
from pytest_robomem.scene.model import DUMMY_ACTION, Scene
from tests.golden import REFERENCE_SEED, SETTLING_STEPS, golden_for


def errors_of(task_id: int) -> list[float]:
    """Largest difference of qpos after settling and after each step."""
    (path,) = resource_dir("bddl").glob(f"{task_id}_*.bddl")
    scene, golden = Scene(path), golden_for(task_id)
    scene.reset(REFERENCE_SEED)
    for _ in range(SETTLING_STEPS):
        scene.step(np.array(DUMMY_ACTION))
    recorded = golden["rollout_qpos"]
    errors = [float(np.abs(scene.data.qpos - recorded[0]).max())]
    for action, expected in zip(golden["rollout_actions"], recorded[1:], strict=True):
        scene.step(action)
        errors.append(float(np.abs(scene.data.qpos - expected).max()))
    scene.close()
    return errors


if __name__ == "__main__":
    sys.stdout.write(json.dumps(errors_of(int(sys.argv[1]))))
