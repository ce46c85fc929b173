"""Rollouts of random actions, recorded to the last bit."""

from typing import Any

import numpy as np

from pytest_robomem.scene.model import Scene
from pytest_robomem.scene.stepper import make_stepper

STATE = ("qpos", "qvel", "qacc", "qacc_warmstart", "ctrl", "xpos", "xquat", "site_xpos")
OBSERVED_EVERY = 5  # steps


def random_actions(steps: int, seed: int) -> np.ndarray:
    """[steps, 7], some of them beyond the limits, some without a rotation.

    The hand tends down, so that it meets objects and table.
    """
    generator = np.random.default_rng(seed)
    actions = generator.uniform(-1.2, 1.2, (steps, 7))
    actions[:, 2] -= 0.15
    actions[generator.random(steps) < 0.1, 3:6] = 0.0
    return actions


def state_of(scene: Scene) -> dict[str, np.ndarray]:
    """Everything that decides the following steps, and what positions are read from."""
    data = scene.data
    state = {name: np.array(getattr(data, name)) for name in STATE}
    state["kinematics_qpos"] = scene.kinematics_qpos.copy()
    state["contacts"] = np.array(
        [[contact.dist, *contact.pos, *contact.frame] for contact in data.contact[: data.ncon]]
    )
    return state


def rollout(scene: Scene, stepper: str, seed: int, actions: np.ndarray) -> list[dict[str, Any]]:
    """States after the reset and after each step.

    Raises:
        RuntimeError: that stepper cannot work here.
    """
    scene._stepper = use = make_stepper(stepper, scene._environment)
    if use.name != stepper:
        raise RuntimeError(f"this machine has no {stepper} stepper")
    scene.reset(seed)
    states = [state_of(scene)]
    for number, action in enumerate(actions):
        scene.step(action)
        states.append(state_of(scene))
        if number % OBSERVED_EVERY == 0:
            states[-1].update(scene.observations())
    return states


def first_difference(expected: list[dict[str, Any]], found: list[dict[str, Any]]) -> str:
    """Where two rollouts differ first in a bit; empty if nowhere."""
    for step, (left, right) in enumerate(zip(expected, found, strict=True)):
        if left.keys() != right.keys():
            return f"other observations at step {step}"
        for name, value in left.items():
            if np.asarray(value).tobytes() != np.asarray(right[name]).tobytes():
                return f"{name} differs at step {step}"
    return ""
