"""Which GL back end there is on this machine. Imports no renderer and no simulator."""

import ctypes.util
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Literal

Backend = Literal["egl", "osmesa"]

_SOFTWARE_RENDERERS = ("llvmpipe", "softpipe", "swrast")
_PROBE_TIMEOUT = 60  # s; a driver that hangs must not hang the run
_PROBE = (
    "import os; os.environ['MUJOCO_GL'] = 'egl'\n"
    "from mujoco.egl import GLContext\n"
    "context = GLContext(64, 64); context.make_current()\n"
    "from OpenGL.GL import GL_RENDERER, glGetString\n"
    "import sys; sys.stdout.write(glGetString(GL_RENDERER).decode())\n"
)
LIBRARIES = {"egl": "EGL", "osmesa": "OSMesa"}
PACKAGES = {"egl": "libegl1 and the GPU's driver", "osmesa": "libosmesa6"}


class RenderError(RuntimeError):
    """No camera image can be rendered; the message names the fix."""


def library_missing(backend: str) -> str:
    """Why a back end cannot work at all on this machine, in a sentence; empty if it might."""
    if ctypes.util.find_library(LIBRARIES[backend]) is not None:
        return ""
    return (
        f"camera images need {LIBRARIES[backend]}, which is not installed: "
        f"apt-get install {PACKAGES[backend]}"
    )


@cache
def gpu_renderer() -> str:
    """Name of the GPU that EGL renders on; empty without one.

    EGL on a CPU is slower than OSMesa and is not counted. It is tried in a child process, since a
    process cannot change its mind about the platform and a broken driver may hang.
    """
    if not any(Path(device).exists() for device in ("/dev/dri", "/dev/nvidiactl", "/dev/nvidia0")):
        return ""
    try:
        probe = subprocess.run(
            [sys.executable, "-c", _PROBE],
            capture_output=True,
            text=True,
            timeout=_PROBE_TIMEOUT,
            check=False,
            env={key: value for key, value in os.environ.items() if key != "PYOPENGL_PLATFORM"},
        )
    except subprocess.TimeoutExpired:
        return ""
    found = probe.stdout.strip() if probe.returncode == 0 else ""
    software = any(word in found.lower() for word in _SOFTWARE_RENDERERS)
    return "" if software else found


def renders_failed(when: str) -> bool:
    """Whether failed episodes are rendered, by the setting ``--robomem-video``."""
    return when == "failed" or (when == "auto" and bool(gpu_renderer()))


def choose_backend(wanted: str) -> Backend:
    """The back end to use: as asked, or EGL where a GPU answers, else OSMesa.

    Raises:
        RenderError: its library is not installed.
    """
    if wanted == "auto":
        already = os.environ.get("PYOPENGL_PLATFORM", "")
        chosen = already if already in LIBRARIES else ("egl" if gpu_renderer() else "osmesa")
    else:
        chosen = wanted
    missing = library_missing(chosen)
    if missing:
        raise RenderError(missing)
    return "egl" if chosen == "egl" else "osmesa"
