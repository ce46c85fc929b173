"""Every way in which a reply can fail: the real SDK against the local server."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from fake_gemini import (
    MODEL,
    Behaviour,
    FakeGemini,
    blocked,
    camel,
    cut_off,
    dripping,
    failed,
    generated,
    hanging,
    html,
    plan_json,
)
from judge_samples import trace

from pytest_robomem.judges.engine import same_model
from pytest_robomem.judges.http_facts import parse_seconds
from pytest_robomem.judges.outcomes import JudgeStatus, MissingKeyError
from pytest_robomem.judges.traces import PlanTrace

TRACE = PlanTrace.model_validate(trace())
MakeRuntime = Callable[..., Any]


def judge(runtime: Any) -> Any:
    return runtime.plan(TRACE, source="s").result(30)


DEEP = "[" * 100_000
PERMANENT: dict[str, tuple[Behaviour, str]] = {
    "blocked prompt": (blocked(), "blocked"),
    "blocked for OTHER": (blocked("OTHER"), "blocked"),
    "stopped for SAFETY": (generated(None, finish="SAFETY"), "blocked"),
    "stopped for RECITATION": (generated("{", finish="RECITATION"), "blocked"),
    "400": (failed(400, "INVALID_ARGUMENT"), "api_error"),
    "400 file not active": (failed(400, "FAILED_PRECONDITION"), "api_error"),
    "401": (failed(401, "UNAUTHENTICATED"), "api_error"),
    "403": (failed(403, "PERMISSION_DENIED"), "api_error"),
    "404": (failed(404, "NOT_FOUND"), "api_error"),
    "404 as HTML": (html(404), "api_error"),
    "MAX_TOKENS without a limit": (generated('{"score"', finish="MAX_TOKENS"), "truncated"),
    "MAX_TOKENS in thinking": (generated(None, finish="MAX_TOKENS"), "truncated"),
}


@pytest.mark.parametrize("name", PERMANENT)
def test_what_cannot_get_better_is_asked_once(
    name: str, server: FakeGemini, make_runtime: MakeRuntime
) -> None:
    behaviour, status = PERMANENT[name]
    server.script.append(behaviour)
    verdict = judge(make_runtime())
    assert (verdict.status, verdict.score, verdict.success) == (status, None, None)
    assert verdict.reason
    assert len(server.calls) == 1


TRANSIENT: dict[str, tuple[Behaviour, str]] = {
    "500": (failed(500, "INTERNAL"), "api_error"),
    "502 as HTML": (html(502), "api_error"),
    "503": (failed(503, "UNAVAILABLE"), "api_error"),
    "503 exhausted": (failed(503, "RESOURCE_EXHAUSTED"), "api_error"),
    "504": (failed(504, "DEADLINE_EXCEEDED"), "timeout"),
    "408": (failed(408, "ABORTED"), "timeout"),
    "429": (failed(429, "RESOURCE_EXHAUSTED"), "api_error"),
    "cut connection": (cut_off(), "api_error"),
    "HTML with 200": (html(), "api_error"),
    "JSON of another form": (Behaviour(body={"candidates": [{"content": 3}]}), "api_error"),
    "a JSON string": (Behaviour(body='"hello"'), "empty"),
}


@pytest.mark.parametrize("name", TRANSIENT)
def test_what_may_get_better_is_asked_again(
    name: str, server: FakeGemini, make_runtime: MakeRuntime
) -> None:
    server.script.append(TRANSIENT[name][0])
    verdict = judge(make_runtime())
    assert (verdict.status, verdict.score) == ("ok", 4)
    assert len(server.calls) == 2
    assert verdict.votes[0].attempts == 2


@pytest.mark.parametrize("name", TRANSIENT)
def test_tries_are_bounded_and_do_not_multiply(
    name: str, server: FakeGemini, make_runtime: MakeRuntime
) -> None:
    behaviour, status = TRANSIENT[name]
    server.responder = lambda _: behaviour
    verdict = judge(make_runtime(attempts=3))
    assert (verdict.status, verdict.score) == (status, None)
    assert len(server.calls) == 3


UNUSABLE: dict[str, tuple[str | None, str]] = {
    "STOP without parts": (None, "empty"),
    "white space": ("  \n", "empty"),
    "prose": ("The score is 4.", "parse_error"),
    "prose around JSON": ("Here: " + plan_json(4), "parse_error"),
    "half of it": (plan_json(4)[:-9], "parse_error"),
    "two objects": (plan_json(4) * 2, "parse_error"),
    "NaN": (plan_json(4).replace(": 4", ": NaN"), "parse_error"),
    "endless nesting": (DEEP, "parse_error"),
    "a huge number": (plan_json(4).replace(": 4", ": " + "9" * 6000), "parse_error"),
    "a list": ("[]", "schema_error"),
    "a bare number": ("4", "schema_error"),
    "out of range": (plan_json(5, True), "schema_error"),
    "negative": (plan_json(-1), "schema_error"),
    "score as a word": (plan_json("four", True), "schema_error"),
    "score as a fraction": (plan_json(3.5, True), "schema_error"),
    "score as a boolean": (plan_json(True, True), "schema_error"),
    "score null": (plan_json(None, True), "schema_error"),
    "extra key": (plan_json(4, confidence=1), "schema_error"),
    "missing key": (plan_json(4, summary=...), "schema_error"),
    "text as a list": (plan_json(4, summary=["a"]), "schema_error"),
    "boolean as a number": (plan_json(4, 1), "schema_error"),
    "doubled key": (plan_json(4)[:-1] + ', "score": 0}', "schema_error"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_unusable_replies_never_become_scores(
    name: str, server: FakeGemini, make_runtime: MakeRuntime
) -> None:
    text, status = UNUSABLE[name]
    server.responder = lambda _: generated(text)
    verdict = judge(make_runtime())
    assert (verdict.status, verdict.score) == (status, None)
    assert len(server.calls) == 3, "a question is repeated twice at most"
    if name != "endless nesting":  # the SDK itself gives up on it, tokens and all
        assert verdict.votes[0].usage.prompt == 3000, "every reply is paid for"
    assert not list(make_runtime().engine.cache.folder.glob("*/*.json"))


@pytest.mark.parametrize("name", UNUSABLE)
def test_an_unusable_reply_is_asked_again(
    name: str, server: FakeGemini, make_runtime: MakeRuntime
) -> None:
    server.script.append(generated(UNUSABLE[name][0]))
    verdict = judge(make_runtime())
    assert (verdict.status, verdict.score) == ("ok", 4)
    assert len(server.calls) == 2


@pytest.mark.parametrize(
    "text",
    [
        "```json\n" + plan_json(3) + "\n```",
        "```\n" + plan_json(3) + "```",
        "\n " + plan_json(3) + " \n",
        plan_json("3", "true"),
    ],
)
def test_fences_and_strings_are_read_without_asking_again(
    text: str, server: FakeGemini, make_runtime: MakeRuntime
) -> None:
    server.script.append(generated(text, thought="let me see"))
    verdict = judge(make_runtime())
    assert (verdict.score, verdict.success, len(server.calls)) == (3, True, 1)
    assert "let me see" not in verdict.votes[0].text


def test_a_cut_off_reply_is_asked_again_once_and_larger(
    server: FakeGemini, make_runtime: MakeRuntime
) -> None:
    server.responder = lambda _: generated(None, finish="MAX_TOKENS")
    verdict = judge(make_runtime(max_output_tokens=500))
    assert verdict.status == "truncated"
    assert [call.config["maxOutputTokens"] for call in server.calls] == [500, 8192]


def test_the_servers_delay_is_honoured_and_bounded_by_the_deadline(
    server: FakeGemini, make_runtime: MakeRuntime
) -> None:
    server.script.append(failed(429, "RESOURCE_EXHAUSTED", delay="0.4s"))
    started = time.monotonic()
    assert judge(make_runtime()).status == "ok"
    assert server.calls[1].started - server.calls[0].finished >= 0.4
    server.script.append(failed(429, "RESOURCE_EXHAUSTED", delay="86400s"))
    verdict = judge(make_runtime(cache=None, deadline=100))
    assert (verdict.status, len(server.calls)) == ("api_error", 3)
    assert time.monotonic() - started < 60


def test_the_retry_after_header_counts_too(server: FakeGemini, make_runtime: MakeRuntime) -> None:
    server.script.append(failed(503, "UNAVAILABLE", header="1"))
    assert judge(make_runtime()).status == "ok"
    assert server.calls[1].started - server.calls[0].finished >= 1.0


def test_one_workers_429_pauses_the_others(server: FakeGemini, make_runtime: MakeRuntime) -> None:
    server.script.append(failed(429, "RESOURCE_EXHAUSTED", delay="1.5s"))
    runtime = make_runtime(cache=None)
    first = runtime.plan(TRACE, source="s")
    while runtime.engine.ledger.take_slot() == 0:
        time.sleep(0.01)
    assert runtime.plan(TRACE, source="s").result(30).status == "ok"
    assert first.result(30).status == "ok"
    assert all(call.started - server.calls[0].finished >= 1.4 for call in server.calls[1:])


@pytest.mark.parametrize("behaviour", [hanging(), dripping()], ids=["hanging", "dripping"])
def test_a_silent_or_dripping_server_is_left_in_time(
    behaviour: Behaviour, server: FakeGemini, make_runtime: MakeRuntime
) -> None:
    server.responder = lambda _: behaviour
    verdict = judge(make_runtime(call_timeout=0.3, attempts=2))
    assert verdict.status == "timeout"
    assert len(server.calls) == 2


def test_the_deadline_of_a_sample_ends_its_retries(
    server: FakeGemini, make_runtime: MakeRuntime
) -> None:
    server.responder = lambda _: hanging()
    verdict = judge(make_runtime(call_timeout=0.4, deadline=1.0, attempts=50))
    assert verdict.status == "timeout"
    assert len(server.calls) <= 4


def test_no_server_at_all(make_runtime: MakeRuntime) -> None:
    verdict = judge(make_runtime(base_url="http://127.0.0.1:9", attempts=2))
    assert (verdict.status, verdict.votes[0].attempts) == ("api_error", 2)
    assert "connection" in verdict.reason


def test_without_a_key_nothing_is_asked(
    monkeypatch: pytest.MonkeyPatch, server: FakeGemini, make_runtime: MakeRuntime
) -> None:
    monkeypatch.delenv("GEMINI_API_KEY")
    with pytest.raises(MissingKeyError, match="GEMINI_API_KEY or GOOGLE_API_KEY"):
        judge(make_runtime())
    assert not server.calls


def test_another_model_is_a_warning_and_a_group_of_its_own(
    server: FakeGemini, make_runtime: MakeRuntime
) -> None:
    server.script.append(generated(plan_json(4), model_version="gemini-3.8-flash"))
    runtime = make_runtime(cache=None)
    other, own = judge(runtime), judge(runtime)
    assert other.warnings == (f"{MODEL} was requested, gemini-3.8-flash answered",)
    assert other.provenance.model_requested == MODEL
    assert other.judge_label != own.judge_label
    assert own.warnings == ()


def test_a_pinned_model_accepts_no_other_not_even_from_the_cache(
    server: FakeGemini, make_runtime: MakeRuntime
) -> None:
    server.script.append(generated(plan_json(4), model_version="gemini-3.8-flash"))
    assert judge(make_runtime()).status == "ok"
    server.script.append(generated(plan_json(4), model_version="gemini-3.8-flash"))
    verdict = judge(make_runtime(pin_model=True))
    assert (verdict.status, verdict.score) == ("api_error", None)
    assert "pinned" in verdict.reason
    assert len(server.calls) == 2
    assert judge(make_runtime(pin_model=True)).score == 4


@pytest.mark.parametrize(
    ("requested", "returned", "same"),
    [
        ("gemini-2.5-pro", "gemini-2.5-pro", True),
        ("models/gemini-2.5-pro", "gemini-2.5-pro", True),
        ("gemini-2.0-flash", "gemini-2.0-flash-001", True),
        ("gemini-2.5-pro", "gemini-2.5-pro-preview-06-05", False),
        ("gemini-2.5-flash", "gemini-2.5-flash-lite", False),
        ("gemini-2.5-pro", "gemini-3.8-flash", False),
    ],
)
def test_which_versions_are_the_requested_model(requested: str, returned: str, same: bool) -> None:
    assert same_model(requested, returned) is same


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7s", 7.0),
        ("1.5s", 1.5),
        ("30", 30.0),
        ("-1s", None),
        ("infs", None),
        ("soon", None),
        ("nan", None),
        (None, None),
    ],
)
def test_delays(text: object, seconds: float | None) -> None:
    assert parse_seconds(text) == seconds


def test_what_is_sent(server: FakeGemini, make_runtime: MakeRuntime) -> None:
    judge(make_runtime(temperature=0.3, seed=7, thinking_budget=128, votes=3, call_timeout=50.0))
    call = server.calls[0]
    assert call.path == f"/v1beta/models/{MODEL}:generateContent"
    assert call.system.startswith("# Role")
    assert call.kind == "plan"
    assert len(call.parts) == 1
    assert "place_in(apple, bowl)" in call.text
    assert call.config["responseMimeType"] == "application/json"
    assert call.config["temperature"] == 0.3
    assert sorted(each.config["seed"] for each in server.calls) == [7, 8, 9]
    assert camel(call.config["thinkingConfig"]) == {"thinkingBudget": 128}
    assert call.headers["x-server-timeout"] == "50"
    wire = json.dumps(call.schema)
    assert "additionalProperties" not in wire
    assert "const" not in wire
    assert "enum" not in wire


def test_nothing_is_forced_on_the_model(server: FakeGemini, make_runtime: MakeRuntime) -> None:
    judge(make_runtime())
    sent = set(server.calls[0].config)
    assert sent == {"responseMimeType", "responseJsonSchema"}
    assert "tools" not in server.calls[0].body


def test_usage_and_cost_are_summed_over_attempts(
    server: FakeGemini, make_runtime: MakeRuntime
) -> None:
    server.script.extend([generated("no"), generated(plan_json(4), usage=None)])
    vote = judge(make_runtime()).votes[0]
    assert (vote.usage.prompt, vote.usage.output, vote.usage.thinking) == (1000, 100, 50)
    assert vote.cost_usd == pytest.approx((1000 * 1.25 + 150 * 10) / 1e6)


@pytest.mark.parametrize("status", list(JudgeStatus))
def test_only_ok_and_rule_carry_scores(status: JudgeStatus) -> None:
    assert status.scored is (status.value in ("ok", "rule"))
    assert len(JudgeStatus) == 10
