"""Compiled scenes, kept in the user's cache folder without what only images need.

All but a hundredth of a compiled scene are textures and meshes that touch nothing, which nobody
needs who reads no image, and compiling takes seconds and a gigabyte. So a scene is compiled once in
a child process, which makes sure that nothing else is missing (see ``bare_model.py``), and every
worker loads the result. The whole scene is compiled again when an image is asked for, goes to
OpenGL, and is forgotten.
"""

import hashlib
import html
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import mujoco

from pytest_robomem.scene.caching import cache_folder

try:
    import fcntl
except ImportError:  # not on Windows; there, workers may compile the same scene at once
    fcntl = None  # type: ignore[assignment]

_FILE = re.compile(r'\bfile="([^"]+)"')
_FORMAT = b"bare-1\0"  # changes with what a kept model lacks
_TIMEOUT = 600  # s; compiling takes a few


class _CompileError(RuntimeError):
    """The child process has not left a model."""


class CompiledScene:
    """A scene's model, as small as it can be.

    Args:
        xml: MJCF of the whole scene, with absolute paths of its assets.

    Attributes:
        model: ``mujoco.MjModel``, with or without textures and visual meshes.
    """

    def __init__(self, xml: str) -> None:
        self._xml = xml
        self.model: Any = _load_physics(xml)
        self._complete = self.model is None
        if self._complete:
            self.model = mujoco.MjModel.from_xml_string(xml)

    def whole(self) -> Any:
        """A model with textures and all meshes; drop it when OpenGL has them."""
        if self._complete:
            return self.model
        with tempfile.TemporaryDirectory(prefix="robomem-scene-") as folder:
            target = Path(folder) / "full.mjb"
            try:
                _compile(self._xml, "full", target)
                return mujoco.MjModel.from_binary_path(str(target))
            except (_CompileError, OSError):
                return mujoco.MjModel.from_xml_string(self._xml)


def _load_physics(xml: str) -> Any:
    """The bare model from the cache, made if need be; None if that cannot be done."""
    folder = cache_folder("scenes")
    if folder is None:
        return None
    try:
        key = _key(xml)
        if (found := _load(folder, key)) is not None:
            return found
        with _alone(folder / f"{key}.lock"):
            if (found := _load(folder, key)) is not None:  # another worker was faster
                return found
            with tempfile.TemporaryDirectory(dir=folder, prefix=".making-") as making:
                target = Path(making) / "physics.mjb"
                _compile(xml, "physics", target)
                os.replace(target, folder / f"{key}-{_digest(target)}.mjb")
            return _load(folder, key)
    except (_CompileError, OSError):
        return None


def _load(folder: Path, key: str) -> Any:
    """A kept model whose content is what its name says; anything else is removed."""
    for path in folder.glob(f"{key}-*.mjb"):
        try:
            if _digest(path) == path.stem.partition("-")[2]:
                return mujoco.MjModel.from_binary_path(str(path))
            path.unlink(missing_ok=True)
        except (OSError, ValueError):  # gone meanwhile, or not for this MuJoCo
            path.unlink(missing_ok=True)
    return None


def _key(xml: str) -> str:
    """Names a scene by its text and by the state of the files that it names."""
    digest = hashlib.sha256(_FORMAT + xml.encode())
    for name in sorted(set(map(html.unescape, _FILE.findall(xml)))):
        state = os.stat(name)
        digest.update(f"{name}\0{state.st_size}\0{state.st_mtime_ns}\0".encode())
    return digest.hexdigest()[:32]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _compile(xml: str, kind: str, target: Path) -> None:
    source = target.with_suffix(".xml")
    source.write_text(xml, encoding="utf-8")
    command = [sys.executable, "-m", "pytest_robomem.scene.compile_scene"]
    try:
        child = subprocess.run(
            [*command, str(source), kind, str(target)],
            capture_output=True,
            check=False,
            timeout=_TIMEOUT,
        )
    except subprocess.TimeoutExpired as error:
        raise _CompileError("compiling a scene takes too long") from error
    if child.returncode != 0 or not target.is_file():
        raise _CompileError(f"compiling a scene ended with {child.returncode}")


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Keep other processes out; the lock ends with the process, however it ends."""
    with path.open("a", encoding="utf-8") as lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
