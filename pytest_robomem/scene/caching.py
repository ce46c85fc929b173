"""Folders in the user's cache for what is dear to make and can be made again."""

import shutil
import tempfile
from functools import cache
from pathlib import Path

from platformdirs import user_cache_path

from pytest_robomem.scene.simulator import simulator_versions

APPLICATION = "pytest-robomem"


def cache_root() -> Path:
    """Folder of everything that is cached; it need not exist."""
    return user_cache_path(APPLICATION)


@cache
def cache_folder(kind: str) -> Path | None:
    """Folder for one kind of thing, for the installed versions; None if it cannot be written."""
    versions = sorted(simulator_versions().items())
    name = "-".join(f"{package}-{version}" for package, version in versions)
    folder = cache_root() / kind / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return None


def cache_size() -> int:
    """Bytes that are cached."""
    return sum(path.stat().st_size for path in cache_root().rglob("*") if path.is_file())


def clear_cache() -> int:
    """Remove everything that is cached, of all versions; gives the bytes.

    Raises:
        OSError: something cannot be removed.
    """
    size = cache_size()
    if cache_root().exists():
        shutil.rmtree(cache_root())
    cache_folder.cache_clear()
    return size
