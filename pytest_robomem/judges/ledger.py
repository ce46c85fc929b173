"""What all workers of a run share: request slots, pauses asked for by the server, and money."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .outcomes import BudgetSpentError

# A server may name any delay; past this one it is more honest to give up than to sit still.
LONGEST_PAUSE_S = 600.0


class Ledger:
    """A small locked file with the next free request slot (Unix time, s) and the USD spent."""

    def __init__(
        self,
        path: Path,
        *,
        requests_per_minute: float | None = None,
        budget_usd: float | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.path = path
        self.interval = 60.0 / requests_per_minute if requests_per_minute else 0.0
        self.budget_usd = budget_usd
        self._clock = clock

    @contextmanager
    def _state(self) -> Iterator[dict[str, float]]:
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "r+", encoding="ascii") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            state = {"next_slot": 0.0, "spent": 0.0}
            content = file.read()
            if content:
                state.update(json.loads(content))
            before = dict(state)
            yield state
            if state != before:
                file.seek(0)
                file.truncate()
                file.write(json.dumps(state))

    @property
    def spent(self) -> float:
        """USD spent by all workers so far."""
        with self._state() as state:
            return state["spent"]

    def add_cost(self, usd: float) -> None:
        """Count money that is spent."""
        if usd:
            with self._state() as state:
                state["spent"] += usd

    def pause(self, seconds: float) -> None:
        """Let no worker send a request for `seconds`, because the server said so."""
        until = self._clock() + min(seconds, LONGEST_PAUSE_S)
        with self._state() as state:
            state["next_slot"] = max(state["next_slot"], until)

    def take_slot(self) -> float:
        """Reserve the next request slot and return how many seconds to wait for it.

        Raises `BudgetSpentError` where the budget is used up.
        """
        with self._state() as state:
            self._refuse_overspending(state["spent"])
            now = self._clock()
            slot = max(now, state["next_slot"])
            if self.interval:
                state["next_slot"] = slot + self.interval
            return slot - now

    def check_budget(self) -> None:
        """Raise `BudgetSpentError` where the budget is used up."""
        if self.budget_usd is not None:
            self._refuse_overspending(self.spent)

    def _refuse_overspending(self, spent: float) -> None:
        if self.budget_usd is not None and spent >= self.budget_usd:
            raise BudgetSpentError(
                f"the judges' budget of {self.budget_usd:g} USD is spent ({spent:.4f} USD)"
            )

    async def wait_for_slot(self) -> float:
        """Wait for a request slot; return the seconds waited. Raises `BudgetSpentError`."""
        wait = self.take_slot()
        if wait > 0:
            await asyncio.sleep(wait)
        return wait
