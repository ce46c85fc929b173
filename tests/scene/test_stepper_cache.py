"""Where compiled code is kept."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_robomem.scene.caching import cache_folder, cache_root

_PROGRAM = (
    "from pytest_robomem.scene.simulator import load_simulator; load_simulator()\n"
    "from pytest_robomem.scene.native import compiled\n"
    "from pytest_robomem.scene import exactness\n"
    "stats = exactness._product.stats\n"
    "print(exactness.same_arithmetic(), sum(stats.cache_hits.values()), stats.cache_path)\n"
)


def run(cache: Path) -> tuple[str, int, Path]:
    """A fresh process: whether arithmetic is the same, what came from the cache, and where."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    environment.pop("NUMBA_CACHE_DIR", None)
    output = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
    ).stdout.split(maxsplit=2)
    return output[0], int(output[1]), Path(output[2].strip())


def test_compiled_code_is_kept_in_the_users_cache(tmp_path: Path) -> None:
    """The second process loads what the first one compiled, and it computes the same."""
    first = run(tmp_path)
    second = run(tmp_path)
    assert first[1] == 0
    assert second[1] > 0
    assert first[0] == second[0]
    assert first[2].is_relative_to(tmp_path)


def test_each_set_of_versions_has_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Machine code of one MuJoCo must never run with another."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache_folder.cache_clear()
    here = cache_folder("compiled")
    monkeypatch.setattr(
        "pytest_robomem.scene.caching.simulator_versions", lambda: {"mujoco": "9.9.9"}
    )
    cache_folder.cache_clear()
    there = cache_folder("compiled")
    cache_folder.cache_clear()
    assert here is not None
    assert there is not None
    assert here != there
    assert there.is_relative_to(cache_root())


def test_without_a_folder_it_still_works(tmp_path: Path) -> None:
    """A home folder that cannot be written costs time, nothing else."""
    blocked = tmp_path / "file"
    blocked.write_text("not a folder", encoding="utf-8")
    same, hits, _ = run_without_path(blocked)
    assert same in {"True", "False"}
    assert hits == 0


def run_without_path(cache: Path) -> tuple[str, int, str]:
    """As :func:`run`, where there is no cache to name."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    environment.pop("NUMBA_CACHE_DIR", None)
    output = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
    ).stdout.split(maxsplit=2)
    return output[0], int(output[1]), output[2].strip() if len(output) > 2 else ""
