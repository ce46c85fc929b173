"""Robot-memory benchmarks as pytest tests."""

__all__ = ["package_version"]


def package_version() -> str:
    """Version of the installed package; ``0+unknown`` in a source tree that was never installed."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - slow to import

    try:
        return version("pytest-robomem")
    except PackageNotFoundError:
        return "0+unknown"
