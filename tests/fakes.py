"""A scene without a simulator, for tests of the plugin."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from pytest_robomem.scene.bddl import read_scene
from pytest_robomem.scoring.state import Box, Contact, Pose

SOLVE = 0.5  # a first action component above this puts everything in its place


class FakeView:
    """Has every body, site and joint: far apart, or all in one place once solved."""

    def __init__(self) -> None:
        self.solved = False

    def has_body(self, name: str) -> bool:
        return True

    def has_site(self, name: str) -> bool:
        return True

    def has_joint(self, name: str) -> bool:
        return True

    def body_position(self, name: str) -> Any:
        return np.zeros(3) if self.solved else np.array([float(sum(name.encode())), 0.0, 0.0])

    def body_rotation(self, name: str) -> Any:
        return np.eye(3)

    def site_pose(self, name: str) -> Pose:
        return Pose(self.body_position(name), np.eye(3), np.full(3, 0.1))

    def joint_position(self, name: str) -> float:
        return 0.0

    def joint_range(self, name: str) -> tuple[float, float]:
        return -1.0, 0.0

    def end_effector_quaternion(self) -> Any:
        return np.array([1.0, 0.0, 0.0, 0.0])

    def gripper_opening(self) -> float:
        return 0.08

    def contacts(self) -> Iterator[Contact]:
        return iter(())

    def touching(self) -> dict[str, frozenset[str]]:
        return {}

    def movable_bodies(self) -> frozenset[str]:
        return frozenset()

    def body_box(self, name: str) -> Box:
        return Box(np.zeros(3), np.full(3, 0.02))

    def site_body(self, name: str) -> str:
        return name

    def object_positions(self, qpos: Any) -> dict[str, Any]:
        return {"butter_1": qpos[:3]}


class FakeScene:
    """Looks like ``pytest_robomem.scene.model.Scene``; a step costs nothing."""

    stepper_name = "fake"
    gl_renderer = ""

    def __init__(self, path: Any) -> None:
        self.description = read_scene(path)
        self.view = FakeView()
        self.data = SimpleNamespace(qpos=np.zeros(4))
        self.model = SimpleNamespace(
            nq=4, nbody=1, body_pos=np.zeros((1, 3)), body_quat=np.zeros((1, 4))
        )
        self.breaks_at: int | None = None
        self.steps = 0

    @property
    def kinematics_qpos(self) -> Any:
        return self.data.qpos

    @property
    def body_placements(self) -> tuple[Any, Any]:
        return self.model.body_pos.copy(), self.model.body_quat.copy()

    def reset(self, seed: int) -> None:
        self.model.body_pos[:] = seed
        self.view.solved = False
        self.data.qpos = np.full(4, float(seed))
        self.steps = -10  # settling

    def step(self, action: Any) -> None:
        self.steps += 1
        self.view.solved |= action[0] > SOLVE
        self.data.qpos = self.data.qpos + action[:4]

    def scored_view(self) -> FakeView:
        return self.view

    def observations(self) -> dict[str, Any]:
        return {
            "robot0_eef_pos": self.data.qpos[:3],
            "robot0_eef_quat": np.array([0.0, 0.0, 0.0, 1.0]),
            "robot0_gripper_qpos": np.zeros(2),
            "robot0_joint_pos": np.zeros(7),
        }

    def end_effector(self) -> Any:
        return np.zeros(9)

    def render(self, camera: str, height: int = 480, width: int = 640) -> Any:
        """A colour that tells the state apart."""
        return np.full((height, width, 3), abs(10 * self.data.qpos[:3]) % 256).astype(np.uint8)

    def faults(self) -> list[str]:
        return []

    def show(self, kinematics_qpos: Any) -> None:
        self.data.qpos = kinematics_qpos

    def close(self) -> None:
        pass


class FakeScenes:
    """Looks like ``pytest_robomem.scene_cache.SceneCache``."""

    def __init__(self, *settings: str) -> None:
        pass

    def scene(self, path: Any) -> FakeScene:
        return FakeScene(path)

    def build_seconds(self) -> float:
        return 0.0

    def close(self) -> None:
        pass


class FakeVideoWriter:
    """Looks like ``pytest_robomem.scene.recording.VideoWriter``; keeps digests of the frames.

    The file ``who`` in the current folder tells which worker made which video.
    """

    def __init__(self, folder: Path, stem: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._digests: list[str] = []

    def __enter__(self) -> "FakeVideoWriter":
        return self

    def __exit__(self, *error: object) -> None:
        pass

    @property
    def frames(self) -> int:
        return len(self._digests)

    def add(self, main: Any, wrist: Any) -> None:
        self._digests.append(hashlib.sha256(main.tobytes() + wrist.tobytes()).hexdigest())

    def keep(self, name: str) -> tuple[str, ...]:
        (self._folder / f"{name}.mp4").write_text("\n".join(self._digests))
        with Path("who").open("a") as who:
            who.write(f"{name} {os.environ.get('PYTEST_XDIST_WORKER', 'alone')}\n")
        return (f"{name}.mp4",)


POLICIES = """
import os, time
import numpy as np

class Policy:
    def __init__(self, task=None, kind="solve", **rest):
        self.task, self.kind, self.current = task, kind, None
        if "size" in rest:
            self.native_image_size = rest["size"]

    def reset(self):
        pass

    def episode_start(self, task_id, seed):
        self.current, self.asked = task_id, 0

    def infer_actions(self, obs, prompt, resize_size):
        self.asked += 1
        self.seen = obs
        chunk = np.zeros((10, 7))
        if self.task is not None and self.current != self.task:
            return chunk
        kind = self.kind if isinstance(self.kind, str) else self.kind.get(str(self.current), "hold")
        return getattr(self, kind)(chunk)

    def solve(self, chunk):
        chunk[:, 0] = 1.0
        return chunk

    def hold(self, chunk):
        return chunk

    def wild(self, chunk):
        return chunk + 3.0

    def drifts(self, chunk):
        return chunk + 0.01 * self.asked

    def raises(self, chunk):
        if self.asked == 3:
            raise ValueError("my model broke")
        return chunk

    def looks(self, chunk):
        keys = ("observation/image", "right_wrist_0_rgb", "left_wrist_0_rgb", "agentview_image")
        raise ValueError(" ".join(str(self.seen[key].shape) for key in keys))

    def flat(self, chunk):
        return chunk[0]

    def eight(self, chunk):
        return np.zeros((10, 8))

    def nan(self, chunk):
        chunk[2, 3] = np.nan
        return chunk

    def sleeps(self, chunk):
        open("asleep", "w").close()
        try:
            time.sleep(60)
        except Exception:
            pass
        return chunk

    def waits_for_a_video(self, chunk):
        return self.waits(chunk, "who")

    def waits_for_a_failure(self, chunk):
        return self.waits(chunk, "robomem-results/render-queue/task02_seed100.pending")

    def waits(self, chunk, path):
        for _ in range(600):
            if os.path.exists(path):
                return chunk
            time.sleep(0.05)
        raise TimeoutError(path)

    def dies(self, chunk):
        os._exit(3)

    def creeps(self, chunk):
        return chunk + 0.001 * self.asked

    def dies_late(self, chunk):
        if self.asked == 61:  # after 300 steps
            time.sleep(0.5)  # the blocks are written by another thread
            os._exit(3)
        return self.creeps(chunk)

    def sleeps_late(self, chunk):
        return self.sleeps(chunk) if self.asked == 61 else self.creeps(chunk)

class NoInfer:
    def reset(self):
        pass

def build_adapter(**kwargs):
    return Policy(**kwargs)

def build_broken(**kwargs):
    raise RuntimeError("no weights")

def build_incomplete():
    return NoInfer()
"""

CONFTEST = """
import pytest
from pytest_robomem import rendering
from tests.fakes import FakeScenes

REAL = rendering.SceneCache

def pytest_configure():
    rendering.SceneCache = FakeScenes

def pytest_unconfigure():
    rendering.SceneCache = REAL

@pytest.fixture(scope="session")
def robomem_scenes():
    return FakeScenes()
"""
