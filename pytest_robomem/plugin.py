"""pytest hooks, nothing else. Imports nothing heavy: every pytest run of every user loads it."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from pytest_robomem import fixtures
from pytest_robomem.options import add_options, raw_values
from pytest_robomem.task import BENCHMARK_TASKS, FAMILIES, MEMORY_TYPES, task_of


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options and their ini twins."""
    add_options(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register markers and fixtures; with a policy, validate the settings and take up work."""
    for name, meaning in {**FAMILIES, **MEMORY_TYPES}.items():
        config.addinivalue_line("markers", f"{name}: robot-memory tasks: {meaning}")
    for number in BENCHMARK_TASKS:
        config.addinivalue_line("markers", f"task{number:02d}: RoboMemArena task {number}")
    config.pluginmanager.register(fixtures, "robomem_fixtures")
    values = raw_values(config)
    if values["policy"] is None:
        return
    from pytest_robomem.session.run import configure_run  # noqa: PLC0415 - only with a policy

    configure_run(config, values)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> Any:
    """Give the packaged tasks the same ids wherever the package is installed."""
    from pytest_robomem.session.collection import packaged_module  # noqa: PLC0415 - only at collection

    return packaged_module(module_path, parent)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one item of every task for each seed."""
    if task_of(metafunc.function) is not None:
        from pytest_robomem.session.collection import parametrize_seeds  # noqa: PLC0415

        parametrize_seeds(metafunc)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach the episode's record to its report."""
    report = yield
    if task_of(getattr(item, "function", None)) is not None:
        from pytest_robomem.session.reporting import attach_record  # noqa: PLC0415

        attach_record(item, call, report)
    return report
