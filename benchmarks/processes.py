"""Measurements that need a fresh process each time."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

STOCK = """
import json, sys, warnings
warnings.simplefilter("ignore")
import numpy as np
from pytest_robomem.scene.simulator import load_simulator
load_simulator()
import robosuite
from unittest.mock import patch
from pathlib import Path
from pytest_robomem.scene import compiled_scene
compiled_scene.cache_folder = lambda kind: None
from pytest_robomem.scene.bddl import read_scene
from pytest_robomem.scene.overlay import CoffeeTableScene
cameras = CAMERAS
if cameras:
    from mujoco.osmesa import GLContext
    from robosuite.utils import binding_utils
    binding_utils.GLContext = lambda max_width, max_height, device_id=-1: GLContext(
        max_width, max_height)
environment = CoffeeTableScene(
    read_scene(Path(sys.argv[1])), robots=["Panda"],
    controller_configs=robosuite.load_controller_config(default_controller="OSC_POSE"),
    initialization_noise=None, use_camera_obs=cameras, has_offscreen_renderer=cameras,
    control_freq=20, ignore_done=True, reward_shaping=True, hard_reset=True,
    camera_names=["agentview", "robot0_eye_in_hand"], camera_heights=480, camera_widths=640)
np.random.seed(100)
environment.reset()
environment.step(np.zeros(7))
"""
OURS = """
import json, sys
import numpy as np
from pathlib import Path
from pytest_robomem.scene.model import Scene
scene = Scene(Path(sys.argv[1]))
scene.reset(100)
scene.step(np.zeros(7))
if CAMERAS:
    scene.render("agentview"), scene.render("robot0_eye_in_hand")
"""
_MEMORY = """
values = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
print(json.dumps({key: int(values[key].split()[0]) * 1024 for key in ("VmRSS", "VmHWM")}))
"""


def run(program: str, scene: Path, cameras: bool, more: str = "") -> dict[str, Any]:
    """Run a program up to its first step; gives ``seconds`` and the memory in bytes."""
    source = program.replace("CAMERAS", str(cameras)) + more + _MEMORY
    environment = dict(os.environ)
    if cameras:  # otherwise MuJoCo would load a renderer that nobody needs
        environment.update(MUJOCO_GL="osmesa", PYOPENGL_PLATFORM="osmesa")
    started = time.perf_counter()
    finished = subprocess.run(
        [sys.executable, "-c", source, str(scene)],
        check=True,
        capture_output=True,
        text=True,
        timeout=600,
        env=environment,
    )
    passed = time.perf_counter() - started
    found: dict[str, Any] = {"seconds": passed}
    for line in finished.stdout.splitlines():
        if line.startswith("{"):
            found.update(json.loads(line))
    return found
