"""The compiled scene that a process keeps: one at a time, for all its seeds."""

import time
from pathlib import Path

from pytest_robomem.scene.model import Scene


class SceneCache:
    """Builds a scene when it is asked for, and keeps it until another one is.

    One compiled scene takes about 1 GB, and items come ordered by task, so one is enough.

    Args:
        render: GL back end of the scenes.
        stepper: how the scenes advance.
    """

    def __init__(self, render: str, stepper: str) -> None:
        self._render = render
        self._stepper = stepper
        self._path: Path | None = None
        self._scene: Scene | None = None
        self._build_seconds = 0.0

    def scene(self, path: Path) -> Scene:
        """The scene of a file."""
        if self._scene is None or self._path != path:
            self.close()
            started = time.perf_counter()
            self._scene = Scene(path, self._render, self._stepper)
            self._path = path
            self._build_seconds = time.perf_counter() - started
        return self._scene

    def build_seconds(self) -> float:
        """Seconds spent building since this was asked last."""
        seconds, self._build_seconds = self._build_seconds, 0.0
        return seconds

    def close(self) -> None:
        """Release the scene."""
        if self._scene is not None:
            self._scene.close()
        self._scene, self._path = None, None
