"""Robot-memory benchmarks as pytest tests."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("pytest-robomem")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"

__all__ = ["__version__"]
