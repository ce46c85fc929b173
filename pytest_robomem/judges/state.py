"""What the judges keep with a pytest session: settings, the runtime, and what comes next."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from .options import settings_of

if TYPE_CHECKING:
    from .runtime import JudgeRuntime
    from .settings import JudgeSettings
    from .verdicts import AnyVerdict

LEDGER_INPUT = "robomem_judge_ledger"


class Startable(Protocol):
    """An item whose judgement can be started before its turn."""

    def start(self, runtime: JudgeRuntime) -> Future[Any]:
        """Start the judgement."""


class JudgeState:
    """Lives in `config.stash`; creates the runtime when it is first needed."""

    def __init__(self, config: pytest.Config) -> None:
        self.settings: JudgeSettings | None = settings_of(config)
        self._worker_input: dict[str, Any] | None = getattr(config, "workerinput", None)
        self._folder: Path | None = None
        self._runtime: JudgeRuntime | None = None
        self._queue: list[Startable] = []
        self._position: dict[int, int] = {}
        self._next: Startable | None = None
        self._started: dict[int, Future[Any]] = {}
        self._done: set[int] = set()

    @property
    def ledger_path(self) -> Path:
        """The file that the workers of this run share."""
        if self._worker_input is not None:
            return Path(self._worker_input[LEDGER_INPUT])
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="robomem-judges-"))
        return self._folder / "ledger.json"

    @property
    def runtime(self) -> JudgeRuntime:
        """The judges of this process. Raises `pytest.UsageError` where no model is chosen."""
        if self.settings is None:
            raise pytest.UsageError("judging needs --judge-model NAME (or judge_model in the ini)")
        if self._runtime is None:
            from .runtime import JudgeRuntime  # noqa: PLC0415

            settings = self.settings
            if self._worker_input is not None:
                # The workers are the concurrency then, so each asks about one sample at a time.
                settings = settings.model_copy(update={"concurrency": 1})
            self._runtime = JudgeRuntime(settings, self.ledger_path)
        return self._runtime

    def expect(self, items: Sequence[Startable]) -> None:
        """Note the items in their order; a worker of xdist does not know which will be its own."""
        if self._worker_input is None:
            self._queue = list(items)
            self._position = {id(item): index for index, item in enumerate(items)}

    def comes_next(self, item: Startable | None) -> None:
        """Note the item after the one that begins, which is all that a worker knows."""
        self._next = item

    def _following(self, item: Startable, runtime: JudgeRuntime) -> Iterable[Startable]:
        """The items whose judgement is started ahead while `item` is waited for."""
        position = self._position.get(id(item))
        if position is not None:
            return self._queue[position + 1 : position + runtime.settings.window]
        return () if self._next is None else (self._next,)

    def verdict_of(self, item: Startable) -> AnyVerdict:
        """Wait for the judgement of `item`, having started those that come next."""
        runtime = self.runtime
        if id(item) in self._done:
            return item.start(runtime).result()  # type: ignore[no-any-return]
        self._start(item, runtime)
        for other in self._following(item, runtime):
            self._start(other, runtime)
        self._done.add(id(item))
        verdict: AnyVerdict = self._started.pop(id(item)).result()
        return verdict

    def _start(self, item: Startable, runtime: JudgeRuntime) -> None:
        if id(item) not in self._started and id(item) not in self._done:
            self._started[id(item)] = item.start(runtime)

    def close(self) -> None:
        """Stop the judges and remove the shared file."""
        if self._runtime is not None:
            self._runtime.close()
            self._runtime = None
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


STATE_KEY = pytest.StashKey[JudgeState]()


def judge_state(config: pytest.Config) -> JudgeState:
    """The judges' state of this session."""
    return config.stash[STATE_KEY]
