"""Fixtures of the judges' tests: a local server, fast retries, small media."""

from __future__ import annotations

import os
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fake_gemini import MODEL, FakeGemini  # noqa: E402
from judge_samples import KEY, command_line, write_image, write_video  # noqa: E402



@pytest.fixture(autouse=True)
def quiet_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A key of ours, no endpoint of the machine's, a cache folder of the test's own."""
    for name in ("GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user-cache"))


@pytest.fixture(autouse=True, scope="session")
def certificates_are_read_once() -> Iterator[None]:
    """Each client reads all certificates three times, which no plain HTTP server needs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ssl.create_default_context", lru_cache(ssl.create_default_context))
        yield


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """The delays between attempts, a hundred times shorter."""
    monkeypatch.setattr("pytest_robomem.judges.engine.FIRST_DELAY_S", 0.01)
    monkeypatch.setattr("pytest_robomem.judges.gemini.FILE_POLL_S", 0.01)


@pytest.fixture
def server() -> Iterator[FakeGemini]:
    """A running local server."""
    with FakeGemini() as running:
        yield running


@pytest.fixture
def make_runtime(server: FakeGemini, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Make a runtime that asks the local server: `make_runtime(votes=3)`."""
    from pytest_robomem.judges.runtime import JudgeRuntime
    from pytest_robomem.judges.settings import JudgeSettings

    made: list[Any] = []

    def make(**settings: Any) -> JudgeRuntime:
        values = {"model": MODEL, "base_url": server.url, "cache": tmp_path / "cache"} | settings
        runtime = JudgeRuntime(JudgeSettings(**values), tmp_path / f"ledger{len(made)}.json")
        made.append(runtime)
        return runtime

    yield make
    for runtime in made:
        runtime.close()


@pytest.fixture(scope="session")
def shared_media(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with scene.png, walk.mp4 and end.png."""
    folder = tmp_path_factory.mktemp("media")
    write_image(folder / "scene.png", 200)
    write_image(folder / "end.png", 90)
    write_video(folder / "walk.mp4", 30)
    return folder


@pytest.fixture
def media(shared_media: Path, tmp_path: Path) -> Path:
    """A copy of the media that a test may change."""
    folder = tmp_path / "media"
    folder.mkdir()
    for path in shared_media.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


@pytest.fixture
def run_pytest(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run pytest in a process of its own, in the test's folder."""

    def run(
        *arguments: object, cwd: Path = tmp_path, timeout: float = 60, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command_line(*arguments),
            cwd=cwd,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    return run
