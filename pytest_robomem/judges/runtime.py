"""The judges of one process, for callers that are not asynchronous."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TypeVar

from .client import JudgeClient, make_client
from .engine import JudgeEngine
from .ledger import Ledger
from .loop import LoopThread
from .navigation import judge_navigation
from .navigation_samples import NavigationSample
from .plan import judge_plan
from .prices import check_budget_can_be_kept, load_prices
from .rollout import RolloutSample, judge_rollout
from .settings import JudgeSettings
from .traces import PlanTrace
from .verdicts import NavigationVerdict, PlanVerdict, RolloutVerdict

Result = TypeVar("Result")


class JudgeRuntime:
    """Starts judgements in a thread of its own.

    At most `settings.concurrency` of them are asked about at a time, and at most
    `settings.window` are in hand, so that the next samples are ready when a reply comes.
    Raises `JudgeInputError` where the price file cannot be used, or knows no price for a budget.
    """

    def __init__(
        self,
        settings: JudgeSettings,
        ledger_path: Path,
        client_factory: Callable[[JudgeSettings], JudgeClient] = make_client,
    ) -> None:
        prices = load_prices(settings.prices)
        check_budget_can_be_kept(settings)
        self.settings = settings
        ledger = Ledger(
            ledger_path,
            requests_per_minute=settings.requests_per_minute,
            budget_usd=settings.budget_usd,
        )
        self.engine = JudgeEngine(settings, ledger, prices, client_factory)
        self._loop = LoopThread()
        self._places = asyncio.Semaphore(settings.window)

    def _start(self, work: Callable[[], Awaitable[Result]]) -> Future[Result]:
        async def limited() -> Result:
            async with self._places:
                return await work()

        return self._loop.submit(limited())

    def plan(
        self, trace: PlanTrace, *, source: str, source_path: str | None = None
    ) -> Future[PlanVerdict]:
        """Start judging a plan."""
        return self._start(
            lambda: judge_plan(self.engine, trace, source=source, source_path=source_path)
        )

    def navigation(
        self,
        sample: NavigationSample,
        *,
        folder: Path,
        source: str,
        source_path: str | None = None,
    ) -> Future[NavigationVerdict]:
        """Start judging a navigation output; its paths are relative to `folder`."""
        return self._start(
            lambda: judge_navigation(
                self.engine, sample, folder=folder, source=source, source_path=source_path
            )
        )

    def rollout(self, sample: RolloutSample, *, source: str) -> Future[RolloutVerdict]:
        """Start judging the video of an episode."""
        return self._start(lambda: judge_rollout(self.engine, sample, source=source))

    def close(self) -> None:
        """Cancel what is running, delete what was uploaded, and close the connections."""
        self._loop.close(before_stop=self.engine.close)
