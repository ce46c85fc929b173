"""What a worker of pytest-xdist has to know from the controller."""

import faulthandler
from contextlib import suppress
from typing import Any

import pytest

from pytest_robomem.scene.gl import renders_failed
from pytest_robomem.settings import Settings

DONE_KEY = "robomem_done"


def deselect_done(config: pytest.Config, items: list[pytest.Item], done: frozenset[str]) -> None:
    """Leave out the episodes whose results are already there."""
    kept = [item for item in items if item.nodeid not in done]
    if len(kept) < len(items):
        dropped = [item for item in items if item.nodeid in done]
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept


class Worker:
    """Hooks of a worker process.

    Args:
        worker_input: what the controller sent.
        settings: of the run.
    """

    def __init__(self, worker_input: dict[str, Any], settings: Settings) -> None:
        self._settings = settings
        self._done = frozenset(worker_input.get(DONE_KEY, ()))
        faulthandler.enable()  # a crash leaves its stack on the worker's standard error

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Leave out what is done; all workers are told the same, so they agree on the items."""
        deselect_done(config, items, self._done)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Nothing more to run: make videos of failed episodes, whoever ran them."""
        if exitstatus == pytest.ExitCode.INTERRUPTED or not renders_failed(self._settings.video):
            return
        from pytest_robomem.rendering import render_pending  # noqa: PLC0415 - heavy

        # The controller tells which episodes were left without.
        with suppress(KeyboardInterrupt, OSError):
            render_pending(self._settings.results, self._settings.render)
