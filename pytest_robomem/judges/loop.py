"""An event loop in a thread of its own, for callers that are not asynchronous."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

log = logging.getLogger(__name__)

Result = TypeVar("Result")


class LoopThread:
    """Runs coroutines; the calling thread may be interrupted at any moment while it waits."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="robomem-judges", daemon=True
        )
        self._thread.start()

    def submit(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Start a coroutine and return its future."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(
        self, before_stop: Callable[[], Awaitable[None]] | None = None, timeout: float = 15.0
    ) -> None:
        """Cancel what is running, let it clean up for at most `timeout` seconds, and stop."""
        if self._loop.is_closed():
            return
        try:
            self.submit(_wind_down(before_stop)).result(timeout)
        except TimeoutError:
            log.warning("the judges did not clean up within %g s", timeout)
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(timeout)
            if not self._thread.is_alive():
                self._loop.close()


async def _wind_down(before_stop: Callable[[], Awaitable[None]] | None) -> None:
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    if before_stop is not None:
        await before_stop()
