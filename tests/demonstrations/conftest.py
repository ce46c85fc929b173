"""Recordings that several tests look at, each made once."""

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_robomem.cli import main
from pytest_robomem.scene.model import Scene
from tests.fakes import POLICIES, FakeScenes

# As in tests.plugin: pytester forgets what a run inside this process imported, and a module must
# not be there twice while it is patched.
for _module in (
    *("cli", "demonstrations.command", "demonstrations.lerobot", "demonstrations.recorder"),
    *("demonstrations.selection", "fixtures", "policies.replay", "report.replay"),
    *("results.tables", "scene.gl", "scene_cache", "session.run", "settings"),
):
    importlib.import_module(f"pytest_robomem.{_module}")

TASK, SEED = 3, 100
FOLDER = "Multi-Sequence/3_cream_pudding_basket_dataset"
FULL_NAME = "cream_pudding_basket_seed100_task3.hdf5"
FULL = f"{FOLDER}/full_trajectory/{FULL_NAME}"
SMALL = 16  # pixels


def record(out: Path, *arguments: str) -> int:
    """``robomem record`` of one short task, in this process; gives the exit code."""
    return main(["record", f"--tasks={TASK}", f"--seeds={SEED}", f"--out={out}", *arguments])


def cheap_image(scene: Scene, camera: str) -> Any:
    """In place of a rendered image: tells the cameras and the states apart, and costs nothing."""
    image = np.full((480, 640, 3), 10 if camera == "agentview" else 200, dtype=np.uint8)
    image[:, :, 1] = int(1e5 * abs(scene.data.qpos[0])) % 256
    return image


@pytest.fixture(scope="session")
def demonstrations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole episode of the expert, in the real scene, with images that cost nothing."""
    out = tmp_path_factory.mktemp("recorded") / "demonstrations"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Scene, "render", cheap_image)
        patch.setattr("pytest_robomem.scene.gl.library_missing", lambda backend: "")
        assert record(out, f"--image-size={SMALL}") == 0
    return out


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Callable[[], str]:
    """What was printed since this was asked last, standard error included."""

    def read() -> str:
        printed = capsys.readouterr()
        return printed.out + printed.err

    return read


class FakeSceneCache(FakeScenes):
    """Looks like ``SceneCache``, with scenes that cost nothing."""

    def __init__(self, render: str, stepper: str) -> None:
        pass

    def close(self) -> None:
        pass


@pytest.fixture
def fake_scenes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder to record in, with ``mine.py``, whose policies solve fake scenes at once."""
    monkeypatch.setattr("pytest_robomem.scene_cache.SceneCache", FakeSceneCache)
    monkeypatch.setattr("pytest_robomem.scene.gl.library_missing", lambda backend: "")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    Path("mine.py").write_text(POLICIES)
    yield tmp_path
    sys.modules.pop("mine", None)


def record_fake(out: str, *arguments: str, kind: str = "solve", **kwargs: Any) -> int:
    """Record fake episodes of tasks 2 and 3, seeds 100 and 101; later arguments win."""
    words = json.dumps({"kind": kind, **kwargs})
    return main(
        [
            *("record", "--policy=mine", f"--policy-kwargs={words}", "--rules=guide"),
            *("--tasks=2:4", "--seeds=100:102", "--image-size=8", "--max-steps=30"),
            *(f"--out={out}", *arguments),
        ]
    )


def files_below(folder: Path) -> list[str]:
    """Names of all demonstration files below a folder, whole or not."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.hdf5*"))
