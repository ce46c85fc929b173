"""What workers share: request slots, pauses, money; and what a reply costs."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_gemini import MODEL, FakeGemini
from judge_samples import trace

from pytest_robomem.judges.ledger import LONGEST_PAUSE_S, Ledger
from pytest_robomem.judges.outcomes import BudgetSpentError, JudgeInputError
from pytest_robomem.judges.prices import load_prices
from pytest_robomem.judges.traces import PlanTrace
from pytest_robomem.judges.verdicts import Usage

MakeRuntime = Callable[..., Any]


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_slots_are_shared_between_ledgers(tmp_path: Path) -> None:
    clock = Clock()
    one, two = (Ledger(tmp_path / "l", requests_per_minute=30, clock=clock) for _ in range(2))
    assert [one.take_slot(), two.take_slot(), one.take_slot()] == [0, 2, 4]
    clock.now += 100
    assert two.take_slot() == 0, "unused slots are not saved up"
    assert two.take_slot() == 2


def test_without_a_rate_nobody_waits(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "l")
    assert [ledger.take_slot() for _ in range(3)] == [0, 0, 0]


def test_a_pause_holds_for_all_and_is_bounded(tmp_path: Path) -> None:
    clock = Clock()
    one, two = (Ledger(tmp_path / "l", clock=clock) for _ in range(2))
    one.pause(5)
    one.pause(2)
    assert two.take_slot() == 5
    one.pause(1e9)
    assert two.take_slot() == LONGEST_PAUSE_S


def test_the_budget_is_shared_and_refuses_once_spent(tmp_path: Path) -> None:
    one, two = (Ledger(tmp_path / "l", budget_usd=0.5) for _ in range(2))
    one.add_cost(0.3)
    two.take_slot()
    two.add_cost(0.2)
    assert one.spent == pytest.approx(0.5)
    with pytest.raises(BudgetSpentError, match=r"0\.5 USD is spent"):
        one.take_slot()
    with pytest.raises(BudgetSpentError):
        two.check_budget()


def _spend(path: Path) -> None:
    ledger = Ledger(path)
    for _ in range(200):
        ledger.add_cost(0.001)


def test_processes_lose_no_money(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_spend, args=(tmp_path / "l",)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert Ledger(tmp_path / "l").spent == pytest.approx(0.8)


def test_the_rate_spaces_requests(
    server: FakeGemini, make_runtime: MakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = make_runtime(requests_per_minute=600)
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("pytest_robomem.judges.ledger.asyncio", SimpleNamespace(sleep=sleep))
    monkeypatch.setattr(runtime.engine.ledger, "_clock", Clock())
    pending = [
        runtime.plan(PlanTrace.model_validate(trace(id=f"t{n}", instruction=str(n))), source="s")
        for n in range(5)
    ]
    assert {each.result(30).status for each in pending} == {"ok"}
    assert sorted(waits) == pytest.approx([0.1, 0.2, 0.3, 0.4])


def test_waiting_for_a_slot_uses_up_no_deadline(
    server: FakeGemini, make_runtime: MakeRuntime
) -> None:
    runtime = make_runtime(requests_per_minute=25, deadline=2.0, cache=None)
    assert runtime.plan(PlanTrace.model_validate(trace()), source="s").result(30).status == "ok"
    # The next slot is 2.4 s after the first one.
    assert runtime.plan(PlanTrace.model_validate(trace()), source="s").result(30).status == "ok"


def test_the_budget_ends_the_asking(server: FakeGemini, make_runtime: MakeRuntime) -> None:
    # A call costs 0.00275 USD, so the second one is the last that may begin.
    runtime = make_runtime(budget_usd=0.003, concurrency=1)
    pending = [
        runtime.plan(PlanTrace.model_validate(trace(id=f"t{n}", instruction=str(n))), source="s")
        for n in range(5)
    ]
    done = [each for each in pending if each.exception(30) is None]
    assert len(done) == len(server.calls) == 2
    assert all(isinstance(each.exception(), BudgetSpentError) for each in pending[2:])
    cached = make_runtime(budget_usd=0.003)
    cached.engine.ledger.add_cost(1)
    first = PlanTrace.model_validate(trace(id="t0", instruction="0"))
    assert cached.plan(first, source="s").result(30).status == "ok", "what is cached is free"


def test_costs_by_hand() -> None:
    prices = load_prices()
    usage = Usage(prompt=100_000, output=2_000, thinking=3_000, cached=40_000)
    assert prices.cost(MODEL, usage) == pytest.approx(0.06 * 1.25 + 0.04 * 0.125 + 0.005 * 10)
    assert prices.cost(f"models/{MODEL}", usage) == prices.cost(MODEL, usage)
    edge = Usage(prompt=200_000)
    assert prices.cost(MODEL, edge) == pytest.approx(0.25)
    assert prices.cost(MODEL, Usage(prompt=200_001)) == pytest.approx(0.5000025)
    undiscounted = Usage(prompt=1_000_000, cached=1_000_000)
    assert prices.cost("gemini-3.8-flash", undiscounted) == pytest.approx(0.75)
    assert prices.cost("qwen", usage) is None


def test_the_price_file_is_dated() -> None:
    prices = load_prices()
    assert prices.as_of == "2026-11-29"
    assert prices.source
    for tiers in prices.models.values():
        assert tiers[-1].up_to_prompt_tokens is None


@pytest.mark.parametrize("content", ["", "{}", '{"as_of": 1}', "[]"])
def test_wrong_price_files(tmp_path: Path, content: str) -> None:
    (tmp_path / "p.json").write_text(content)
    with pytest.raises(JudgeInputError, match="price file"):
        load_prices(tmp_path / "p.json")
    with pytest.raises(JudgeInputError, match="price file"):
        load_prices(tmp_path / "none.json")


def test_own_prices_and_budgets_without_prices(
    tmp_path: Path, server: FakeGemini, make_runtime: MakeRuntime
) -> None:
    with pytest.raises(JudgeInputError, match="does not list qwen"):
        make_runtime(model="qwen", budget_usd=1)
    own = {
        "as_of": "2026-01-01",
        "currency": "USD",
        "source": "mine",
        "models": {"qwen": [{"up_to_prompt_tokens": None, "input": 10, "output": 0}]},
    }
    (tmp_path / "p.json").write_text(json.dumps(own))
    runtime = make_runtime(model="qwen", budget_usd=1, prices=tmp_path / "p.json")
    verdict = runtime.plan(PlanTrace.model_validate(trace()), source="s").result(30)
    assert verdict.votes[0].cost_usd == pytest.approx(0.01), "of the model that was asked for"
    assert verdict.provenance.prices_as_of == "2026-01-01"
