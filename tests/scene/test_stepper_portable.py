"""The portable stepper: close to stock, and the same bits whatever BLAS thinks of the processor."""

import os
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from benchmarks.rollouts import random_actions, rollout
from pytest_robomem.resources import resource_dir
from pytest_robomem.scene.model import Scene

_PROGRAM = """
import hashlib
from benchmarks.rollouts import random_actions, rollout
from pytest_robomem.resources import resource_dir
from pytest_robomem.scene.model import Scene

(path,) = resource_dir("bddl").glob("1_*.bddl")
scene = Scene(path)
for stepper in ("portable", "stock"):
    states = rollout(scene, stepper, 100, random_actions(8, 1))
    print(hashlib.sha256(states[-1]["qpos"].tobytes()).hexdigest())
"""


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    """One scene."""
    (path,) = resource_dir("bddl").glob("1_*.bddl")
    built = Scene(path)
    yield built
    built.close()


def test_without_touching_anything_it_is_stock_but_for_rounding(scene: Scene) -> None:
    """A wrong term, gain or order of quaternions would show at once."""
    actions = random_actions(20, seed=4)
    actions[:, 2] = np.abs(actions[:, 2])  # up, away from the table
    ours = rollout(scene, "portable", 100, actions)
    stock = rollout(scene, "stock", 100, actions)
    for name in ("qpos", "site_xpos", "ctrl"):
        farthest = max(
            np.abs(left[name] - right[name]).max() for left, right in zip(ours, stock, strict=True)
        )
        assert farthest < (1e-10 if name == "ctrl" else 1e-12), name
    moved = np.abs(ours[-1]["qpos"][:7] - ours[0]["qpos"][:7]).max()
    assert moved > 0.05  # rad: it did something


def test_rotation_matrices_are_robosuites(scene: Scene) -> None:
    """Single precision included."""
    from robosuite.utils.transform_utils import axisangle2quat, quat2mat  # noqa: PLC0415

    from pytest_robomem.scene.portable_step import turn_matrix  # noqa: PLC0415

    turns = np.random.default_rng(0).uniform(-0.5, 0.5, (200, 3))
    turns[0] = 0.0
    for turn in turns:
        ours = np.empty((3, 3))
        turn_matrix(turn, ours)
        np.testing.assert_allclose(ours, quat2mat(axisangle2quat(turn)), rtol=0, atol=1.2e-7)


def test_sine_and_cosine(scene: Scene) -> None:
    """The series against the library, over all angles that an action can ask for."""
    from pytest_robomem.scene.portable_step import sine_cosine  # noqa: PLC0415

    for angle in np.linspace(0.0, 0.9, 50):
        sine, cosine = sine_cosine(angle)
        assert sine == pytest.approx(np.sin(angle), abs=4e-16)
        assert cosine == pytest.approx(np.cos(angle), abs=4e-16)


def test_singular_matrices_do_not_break_the_controller(scene: Scene) -> None:
    """Directions that cannot be moved get no force."""
    from pytest_robomem.scene.portable_step import factorize, solve  # noqa: PLC0415

    direction = np.array([1.0, 2.0, 0.5])
    matrix = np.outer(direction, direction)
    factor, force = np.empty((3, 3)), matrix @ np.array([0.3, 0.1, 0.2])
    factorize(matrix, factor)
    wanted = force.copy()
    solve(factor, force)
    np.testing.assert_allclose(matrix @ force, wanted, atol=1e-12)


def test_the_bits_do_not_depend_on_the_kernels_of_blas() -> None:
    """Stock's do, which shows that this test can fail."""
    hashes = []
    for kernel in ("Prescott", "Haswell"):
        environment = {**os.environ, "OPENBLAS_CORETYPE": kernel}
        output = subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            check=True,
            capture_output=True,
            text=True,
            timeout=600,
            env=environment,
        ).stdout
        hashes.append(output.split())
    (portable, stock), (portable_too, stock_too) = hashes
    assert portable == portable_too
    assert stock != stock_too
