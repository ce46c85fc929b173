"""Compiling Python to machine code that calls MuJoCo's C functions.

Compiled code is kept in the user's cache folder, for each combination of versions that it depends
on. Nothing is written beside installed packages; where no folder can be written, it is compiled
anew in each process.
"""

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import mujoco
import numba
from llvmlite import binding
from numba import types

from pytest_robomem.scene.caching import cache_folder

_Function = TypeVar("_Function", bound=Callable[..., Any])

ADDRESS = types.uintp  # of a C structure or of an array's first element


class NativeLibraryError(RuntimeError):
    """MuJoCo's shared library, or a function in it, is not where it should be."""


@cache
def _mujoco_library() -> ctypes.CDLL:
    """The shared library that the Python package has already loaded."""
    folder = Path(mujoco.__file__).parent
    for pattern in ("libmujoco.so*", "libmujoco*.dylib", "mujoco.dll"):
        for path in sorted(folder.glob(pattern)):
            return ctypes.CDLL(str(path))
    raise NativeLibraryError(f"no MuJoCo library in {folder}")


def mujoco_function(name: str, *arguments: Any) -> Any:
    """A function of MuJoCo's C API without a result, to be called from compiled code.

    Raises:
        NativeLibraryError: this MuJoCo has no such function.
    """
    try:
        function = getattr(_mujoco_library(), name)
    except AttributeError as error:
        raise NativeLibraryError(f"MuJoCo {mujoco.__version__} has no {name}") from error
    binding.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)
    return types.ExternalFunction(name, types.void(*arguments))


@contextmanager
def kept_compiled() -> Iterator[None]:
    """Functions declared in here keep their compiled code in the user's cache folder.

    numba looks at this setting when a function is declared; without it, the code is kept beside
    the source file. What the user has set counts more.
    """
    folder = cache_folder("compiled")
    if folder is None or numba.config.CACHE_DIR:
        yield
    else:
        with patch.object(numba.config, "CACHE_DIR", str(folder)):
            yield


def compiled(function: _Function) -> _Function:
    """Decorator: compile a function when it is first called, or load it from the cache."""
    keep = cache_folder("compiled") is not None or bool(numba.config.CACHE_DIR)
    with kept_compiled():
        dispatcher: _Function = numba.njit(cache=keep)(function)
    return dispatcher
