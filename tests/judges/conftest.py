"""Fixtures of the judges' tests: a local server, fast retries, small media."""

from __future__ import annotations

import io
import os
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from pytest_robomem.judges.runtime import JudgeRuntime
from pytest_robomem.judges.settings import JudgeSettings

sys.path.insert(0, str(Path(__file__).parent))

from fake_gemini import MODEL, FakeGemini
from judge_samples import ENVIRONMENT, KEY, QUICK_START, command_line, write_image, write_video


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


@dataclass
class Done:
    """How a run of pytest ended."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run_pytest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """Run pytest inside this process, in the test's folder; much faster than a process each."""

    def run(*arguments: object, **environment: str) -> Done:
        output, errors = io.StringIO(), io.StringIO()
        with monkeypatch.context() as patch:
            patch.chdir(tmp_path)
            for name, value in {**ENVIRONMENT, **environment}.items():
                patch.setenv(name, value)
            patch.setattr("sys.path", list(sys.path))
            with redirect_stdout(output), redirect_stderr(errors):
                code = pytest.main(
                    [
                        *QUICK_START,
                        "--import-mode=importlib",
                        "-p",
                        "no:faulthandler",
                        *map(str, arguments),
                    ]
                )
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
                del sys.modules[name]
        return Done(int(code), output.getvalue(), errors.getvalue())

    return run


@pytest.fixture
def run_process(tmp_path: Path) -> Callable[..., Done]:
    """Run pytest in a process of its own, in the test's folder."""

    def run(*arguments: object, cwd: Path = tmp_path, **environment: str) -> Done:
        done = subprocess.run(
            command_line(*arguments),
            cwd=cwd,
            env={**os.environ, **ENVIRONMENT, **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return run
