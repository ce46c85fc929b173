"""What is prepared while replies are waited for: how far ahead, and what never follows from it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_gemini import MODEL, Call, FakeGemini, friendly
from judge_samples import sample, trace, write_video

from pytest_robomem.judges.media import fingerprint_all
from pytest_robomem.judges.navigation_samples import NavigationSample
from pytest_robomem.judges.outcomes import BudgetSpentError
from pytest_robomem.judges.settings import LOOKAHEAD, JudgeSettings
from pytest_robomem.judges.state import LEDGER_INPUT, JudgeState
from pytest_robomem.judges.traces import PlanTrace

MakeRuntime = Callable[..., Any]


class Gate:
    """A server's responder that answers nobody until it is opened."""

    def __init__(self) -> None:
        self.opened = threading.Event()

    def __call__(self, call: Call) -> Any:
        assert self.opened.wait(30)
        return friendly(call)


def wait_for(condition: Callable[[], bool]) -> None:
    """Return once the condition holds; fail where it does not within 20 s."""
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the outputs whose preparation began, in order."""
    names: list[str] = []

    def noted(files: Any) -> Any:
        files = tuple(files)
        names.append(files[-1][0].name)
        return fingerprint_all(files)

    monkeypatch.setattr("pytest_robomem.judges.navigation.fingerprint_all", noted)
    return names


def start_videos(runtime: Any, media: Path, count: int) -> list[Future[Any]]:
    """Start judging `count` different videos."""
    pending = []
    for number in range(count):
        write_video(media / f"v{number}.mp4", shade=10 * number)
        row = sample(sample_id=f"v{number}", output_path=f"v{number}.mp4")
        checked = NavigationSample.model_validate(row)
        pending.append(runtime.navigation(checked, folder=media, source="s"))
    return pending


def test_the_next_samples_are_prepared_while_the_calls_wait_and_no_more(
    server: FakeGemini, make_runtime: MakeRuntime, media: Path, hashed: list[str]
) -> None:
    server.responder = gate = Gate()
    runtime = make_runtime(concurrency=2)
    pending = start_videos(runtime, media, 10)
    wait_for(lambda: len(server.calls) == 2 and len(hashed) == 2 * LOOKAHEAD)
    # Whatever could begin without a reply has begun, once the loop has come to rest.
    time.sleep(0.3)
    assert len(hashed) == 2 * LOOKAHEAD, "prepared, but no further ahead"
    assert len(server.calls) == 2, "and asked about no more than two"
    gate.opened.set()
    assert {each.result(30).status for each in pending} == {"ok"}
    assert sorted(hashed) == [f"v{number}.mp4" for number in range(10)]
    assert (len(server.calls), server.most_in_flight) == (10, 2)


def test_prepared_samples_are_not_asked_once_the_budget_is_spent(
    server: FakeGemini, make_runtime: MakeRuntime, media: Path, hashed: list[str]
) -> None:
    # A call costs 0.00275 USD, so the second one is the last that may begin.
    server.responder = gate = Gate()
    runtime = make_runtime(budget_usd=0.003, concurrency=1)
    pending = start_videos(runtime, media, 6)
    wait_for(lambda: len(hashed) == LOOKAHEAD)
    gate.opened.set()
    done = [each for each in pending if each.exception(30) is None]
    assert len(done) == len(server.calls) == 2
    assert sum(isinstance(each.exception(), BudgetSpentError) for each in pending) == 4


def test_a_sample_that_waits_for_its_turn_keeps_all_of_its_time(
    server: FakeGemini, make_runtime: MakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(
        "pytest_robomem.judges.engine.time", SimpleNamespace(monotonic=lambda: clock.now)
    )

    def slow(call: Call) -> Any:
        clock.now += 1000
        return friendly(call)

    server.responder = slow
    runtime = make_runtime(concurrency=1, deadline=20.0)
    pending = [
        runtime.plan(PlanTrace.model_validate(trace(id=f"t{n}", instruction=str(n))), source="s")
        for n in range(4)
    ]
    assert {each.result(30).status for each in pending} == {"ok"}


def test_closing_leaves_prepared_samples_unasked(
    server: FakeGemini, make_runtime: MakeRuntime, media: Path, hashed: list[str]
) -> None:
    server.responder = gate = Gate()
    runtime = make_runtime(concurrency=2)
    pending = start_videos(runtime, media, 8)
    wait_for(lambda: len(server.calls) == 2 and len(hashed) == 2 * LOOKAHEAD)
    runtime.close()
    gate.opened.set()
    assert all(each.cancelled() for each in pending)
    assert len(server.calls) == 2


def test_storing_a_reply_holds_up_no_call_and_outlives_a_stop(
    server: FakeGemini, make_runtime: MakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = make_runtime(concurrency=1)
    cache, disk = runtime.engine.cache, threading.Event()
    put = cache.put

    def slow(*arguments: Any) -> None:
        assert disk.wait(30)
        put(*arguments)

    monkeypatch.setattr(cache, "put", slow)
    for number in range(2):
        row = trace(id=f"t{number}", instruction=str(number))
        runtime.plan(PlanTrace.model_validate(row), source="s")
    wait_for(lambda: len(server.calls) == 2)
    closing = threading.Thread(target=runtime.close)
    closing.start()
    disk.set()
    closing.join(30)
    assert not closing.is_alive()
    assert len(list(cache.folder.glob("*/*.json"))) >= 1, "the first reply is paid for, and kept"


class Item:
    """An item that notes when its judgement is started."""

    def __init__(self, name: str, started: list[str]) -> None:
        self.name = name
        self.started = started

    def start(self, runtime: Any) -> Future[Any]:
        self.started.append(self.name)
        future: Future[Any] = Future()
        future.set_result(self.name)
        return future


@pytest.fixture
def make_state(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[[dict[str, Any]], JudgeState]:
    """Make the state of a session; with the input of a worker, that of a worker."""
    settings = JudgeSettings(model=MODEL, concurrency=2)
    monkeypatch.setattr("pytest_robomem.judges.state.settings_of", lambda _: settings)

    def make(config: dict[str, Any]) -> JudgeState:
        return JudgeState(SimpleNamespace(**config))  # type: ignore[arg-type]

    return make


def test_a_process_starts_a_window_ahead(make_state: Callable[..., JudgeState]) -> None:
    state, started = make_state({}), []
    items = [Item(str(number), started) for number in range(6)]
    state.expect(items)
    try:
        assert state.verdict_of(items[0]) == "0"
        assert started == ["0", "1", "2", "3"]
        for item in items[1:]:
            assert state.verdict_of(item) == item.name
        assert started == ["0", "1", "2", "3", "4", "5"], "each once"
        state.verdict_of(items[2])
        assert started[6:] == ["2"], "an item that runs again is judged again"
    finally:
        state.close()


def test_a_worker_starts_what_comes_next_and_asks_one_at_a_time(
    make_state: Callable[..., JudgeState], tmp_path: Path
) -> None:
    state = make_state({"workerinput": {LEDGER_INPUT: str(tmp_path / "ledger.json")}})
    started: list[str] = []
    items = [Item(str(number), started) for number in range(4)]
    state.expect(items)
    try:
        assert state.runtime.settings.concurrency == 1
        state.comes_next(items[2])
        assert state.verdict_of(items[0]) == "0"
        assert started == ["0", "2"], "the order of a worker is not that of the session"
        state.comes_next(None)
        assert state.verdict_of(items[2]) == "2"
        assert started == ["0", "2"]
        state.verdict_of(items[2])
        assert started == ["0", "2", "2"], "an item that runs again is judged again"
    finally:
        state.close()
