"""Our reset and step against LIBERO's and robosuite's own, in the same process."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.equality import public_environment
from pytest_robomem.resources import resource_dir
from pytest_robomem.scene import compiled_scene
from pytest_robomem.scene.model import Scene
from pytest_robomem.scene.stepper import SUBSTEPS

SCENES = [
    "1_cookies_tomato_basket",
    "19_tomato_milk_orange_cabinet",
    "21_butter_chocolate_microwave",
]


_CACHE_WORDS = ("MPLCONFIGDIR", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR")


def state(model: Any, data: Any) -> dict[str, bytes]:
    fields = ("qpos", "qvel", "qacc_warmstart", "ctrl", "xpos", "site_xpos")
    found = {name: getattr(data, name).tobytes() for name in fields}
    return found | {name: getattr(model, name).tobytes() for name in ("body_pos", "body_quat")}


@pytest.mark.parametrize("stem", SCENES)
def test_resets_steps_and_observations_equal_stock_bit_for_bit(
    stem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = Scene(resource_dir("bddl") / f"{stem}.bddl")
    if whole := stem == SCENES[0]:  # stock on the model with all its meshes, compiled every time
        monkeypatch.setattr(compiled_scene, "cache_folder", lambda _kind: None)
    environment = public_environment(scene)
    assert (environment.sim.model._model.nmeshvert > scene.model.nmeshvert) is whole
    generator = np.random.default_rng(7)
    for seed in (100, 101):
        np.random.seed(seed)
        environment.reset()
        scene.reset(seed)
        simulation = environment.sim
        assert state(scene.model, scene.data) == state(
            simulation.model._model, simulation.data._data
        )
        for _ in range(12):
            action = generator.uniform(-1, 1, 7)
            observed, reward, done, _ = environment.step(action)
            scene.step(action)
            assert (reward, done) == (0.0, False)
        assert state(scene.model, scene.data) == state(
            simulation.model._model, simulation.data._data
        )
        ours = scene.observations()
        assert list(ours) == list(observed)
        for name, value in observed.items():
            np.testing.assert_array_equal(ours[name], value, err_msg=name)
    assert int(environment.control_timestep / environment.model_timestep) == SUBSTEPS
    environment.close()
    scene.close()


def test_the_recorded_instant_gives_the_same_positions() -> None:
    """What is recorded of a step is enough to see and to score that step again."""
    scene = Scene(resource_dir("bddl") / f"{SCENES[2]}.bddl")
    scene.reset(100)
    generator = np.random.default_rng(3)
    for _ in range(25):
        scene.step(generator.uniform(-1, 1, 7))
    positions = scene.data.xpos.copy(), scene.data.site_xmat.copy()
    laid = scene.scored_view()
    np.testing.assert_array_equal(
        laid.body_position("butter_1"), scene.view.body_position("butter_1")
    )
    kinematics_qpos = scene.kinematics_qpos.copy()
    assert not np.array_equal(kinematics_qpos, scene.data.qpos)
    scene.reset(100)
    scene.show(kinematics_qpos)
    np.testing.assert_array_equal(scene.data.xpos, positions[0])
    np.testing.assert_array_equal(scene.data.site_xmat, positions[1])
    scene.close()


def test_only_the_cache_is_written_home_and_the_terminal_stays_quiet(tmp_path: Path) -> None:
    home, working = tmp_path / "home", tmp_path / "working"
    home.mkdir()
    working.mkdir()
    code = (
        "from pytest_robomem.resources import resource_dir\n"
        "from pytest_robomem.scene.model import Scene\n"
        "import numpy\n"
        f"scene = Scene(resource_dir('bddl') / '{SCENES[0]}.bddl', stepper='stock')\n"
        "scene.reset(1)\n"
        "scene.step(numpy.zeros(7))\n"
    )
    environment = {key: value for key, value in os.environ.items() if key not in _CACHE_WORDS}
    python_path = os.pathsep.join(filter(None, sys.path))
    finished = subprocess.run(
        [sys.executable, "-c", code],
        cwd=working,
        env={**environment, "HOME": str(home), "PYTHONPATH": python_path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (finished.stdout, finished.stderr) == ("", "")
    cache = home / ".cache" / "pytest-robomem"  # compiled scenes and steps; nothing else
    written = [path for path in home.rglob("*") if not path.is_relative_to(cache)]
    assert set(written) <= set(cache.parents)
    assert list(working.rglob("*")) == []


def test_the_recorded_instant_gives_the_same_images(needs_images: None) -> None:
    scene = Scene(resource_dir("bddl") / f"{SCENES[2]}.bddl")
    scene.reset(100)
    generator = np.random.default_rng(3)
    for _ in range(5):
        scene.step(generator.uniform(-1, 1, 7))
    assert scene.gl_renderer == ""  # no context before an image is asked for
    images = [scene.render(camera) for camera in ("agentview", "robot0_eye_in_hand")]
    assert scene.gl_renderer
    kinematics_qpos = scene.kinematics_qpos.copy()
    scene.reset(100)
    assert not np.array_equal(scene.render("agentview"), images[0])
    scene.show(kinematics_qpos)
    for camera, image in zip(("agentview", "robot0_eye_in_hand"), images, strict=True):
        np.testing.assert_array_equal(scene.render(camera), image)
    scene.close()
