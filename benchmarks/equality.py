"""Proves on all scenes that the exact stepper and the lean reset give stock's bits.

    python -m benchmarks equality --steps 500
    python -m benchmarks equality --against public --steps 100

``--against stepper`` compares our two ways of stepping. ``--against public`` compares ours, on the
model without visual meshes, with robosuite's own environment and hard reset on the whole model.
"""

from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.measure import arguments, report, scene_files
from benchmarks.rollouts import first_difference, random_actions, rollout
from pytest_robomem.scene.model import Scene

STATE = ("qpos", "qvel", "qacc_warmstart", "ctrl", "xpos", "xquat", "site_xpos", "site_xmat")
PLACEMENTS = ("body_pos", "body_quat")


def _bits(model: Any, data: Any) -> dict[str, bytes]:
    found = {name: getattr(data, name).tobytes() for name in STATE}
    return found | {name: getattr(model, name).tobytes() for name in PLACEMENTS}


def public_environment(scene: Scene) -> Any:
    """robosuite's environment as the public evaluator builds it, without cameras."""
    import robosuite  # noqa: PLC0415 - imported quietly by the scene

    from pytest_robomem.scene.overlay import CoffeeTableScene  # noqa: PLC0415

    return CoffeeTableScene(
        scene.description,
        robots=["Panda"],
        controller_configs=robosuite.load_controller_config(default_controller="OSC_POSE"),
        initialization_noise=None,
        use_camera_obs=False,
        has_offscreen_renderer=False,
        control_freq=20,
        ignore_done=True,
        reward_shaping=True,
        hard_reset=True,
    )


def difference_to_public(path: Path, steps: int, seed: int) -> str:
    """Where ours parts from the public way on the whole model; empty if nowhere."""
    with (
        closing(Scene(path)) as scene,
        patch("pytest_robomem.scene.compiled_scene.cache_folder", lambda _kind: None),
        closing(public_environment(scene)) as environment,
    ):
        np.random.seed(seed)
        environment.reset()
        scene.reset(seed)
        whole, data = environment.sim.model._model, environment.sim.data._data
        if whole.nmeshvert <= scene.model.nmeshvert:
            raise RuntimeError(f"{path.stem}: the model is not smaller than the whole one")
        for step, action in enumerate([None, *random_actions(steps, seed)]):
            if action is not None:
                observed = environment.step(action)[0]
                scene.step(action)
            theirs, ours = _bits(whole, data), _bits(scene.model, scene.data)
            if names := [name for name in theirs if theirs[name] != ours[name]]:
                return f"{', '.join(names)} differ at step {step}"
        ours_observed = scene.observations()
        wrong = [
            name for name in observed if not np.array_equal(observed[name], ours_observed[name])
        ]
        return f"other observations: {', '.join(wrong)}" if wrong else ""


def _against_public(options: Any) -> int:
    different = []
    for path in scene_files(options.tasks):
        difference = difference_to_public(path, options.steps, options.seed)
        print(f"{path.stem:45} {difference or 'equal'}", flush=True)
        if difference:
            different.append(path.stem)
    report("equality", [], options.json, different=different, steps=options.steps)
    return int(bool(different))


def main() -> int:
    """Compare rollouts; the exit code says whether all are equal."""
    options = arguments(__doc__, tasks="", steps=500, seed=100, against="stepper")
    if options.against == "public":
        return _against_public(options)
    different, contacts = [], {}
    for path in scene_files(options.tasks):
        scene = Scene(path)
        actions = random_actions(options.steps, options.seed)
        ours = rollout(scene, "exact", options.seed, actions)
        difference = first_difference(rollout(scene, "stock", options.seed, actions), ours)
        scene.close()
        most = contacts[path.stem] = max(len(state["contacts"]) for state in ours)
        print(f"{path.stem:45} {difference or 'equal'}, up to {most} contacts", flush=True)
        if difference:
            different.append(path.stem)
    found = {"different": different, "steps": options.steps, "contacts": contacts}
    report("equality", [], options.json, **found)
    return int(bool(different))
