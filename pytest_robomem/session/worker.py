"""What a worker of pytest-xdist has to know from the controller."""

import faulthandler
from typing import Any

import pytest

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
    """

    def __init__(self, worker_input: dict[str, Any]) -> None:
        self._done = frozenset(worker_input.get(DONE_KEY, ()))
        faulthandler.enable()  # a crash leaves its stack on the worker's standard error

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Leave out what is done; all workers are told the same, so they agree on the items."""
        deselect_done(config, items, self._done)
