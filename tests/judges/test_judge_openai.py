"""The OpenAI-compatible client against the local server's chat completions."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_gemini import Behaviour, FakeGemini, hanging, html, plan_json
from judge_samples import KEY, sample, trace

from pytest_robomem.judges.navigation_samples import NavigationSample
from pytest_robomem.judges.outcomes import MissingKeyError
from pytest_robomem.judges.traces import PlanTrace

MODEL = "Qwen/Qwen2.5-VL-7B-Instruct"
TRACE = PlanTrace.model_validate(trace())


def chat(text: str | None, finish: str = "stop", **message: Any) -> Behaviour:
    return Behaviour(
        body={
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": MODEL,
            "choices": [
                {
                    "index": 0,
                    "finish_reason": finish,
                    "message": {"role": "assistant", "content": text, **message},
                }
            ],
            "usage": {"prompt_tokens": 50, "completion_tokens": 5, "total_tokens": 55},
        }
    )


def refused(code: int, message: str = "no", **headers: str) -> Behaviour:
    return Behaviour(status=code, body={"error": {"message": message}}, headers=headers)


@pytest.fixture
def local(server: FakeGemini, make_runtime: Callable[..., Any]) -> Callable[..., Any]:
    server.responder = lambda _: chat(plan_json(3))

    def make(**settings: Any) -> Any:
        values = {"provider": "openai", "model": MODEL, "base_url": f"{server.url}/v1"}
        return make_runtime(**values | settings)

    return make


def judge(runtime: Any) -> Any:
    return runtime.plan(TRACE, source="s").result(30)


def test_plans(server: FakeGemini, local: Callable[..., Any]) -> None:
    verdict = judge(local(temperature=0.5, seed=3, max_output_tokens=99))
    assert (verdict.status, verdict.score, verdict.model_version) == ("ok", 3, MODEL)
    assert (verdict.votes[0].usage.prompt, verdict.votes[0].usage.output) == (50, 5)
    assert verdict.votes[0].cost_usd is None, "the price of a local model is not known"
    body = server.calls[0].body
    assert body["model"] == MODEL
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert body["response_format"]["json_schema"]["schema"]["required"][3] == "score"
    assert (body["temperature"], body["seed"], body["max_tokens"]) == (0.5, 3, 99)
    assert "mm_processor_kwargs" not in body
    assert judge(local(temperature=0.5, seed=3, max_output_tokens=99)).votes[0].cached


def test_videos_go_as_data_urls(server: FakeGemini, local: Callable[..., Any], media: Path) -> None:
    keys = [
        "SUCCESS_SCORE_3D",
        "ORACLE_SUCCESS_SCORE_3D",
        "OBJECT_SEMANTIC_SCORE",
        "AGENT_CONSISTENCY_SCORE",
        "SPATIAL_ALIGNMENT_SCORE",
        "DESTINATION_INTEGRITY_SCORE",
        "SCENE_CHANGE_SCORE",
    ]
    scores = ", ".join(f'"{key}": "1"' for key in keys)
    server.responder = lambda _: chat(f'{{"SCORES": {{{scores}}}, "reasoning": "r"}}')
    checked = NavigationSample.model_validate(sample())
    verdict = local(fps=2).navigation(checked, folder=media, source="s").result(30)
    assert (verdict.status, verdict.success) == ("ok", True)
    body = server.calls[0].body
    parts = body["messages"][0]["content"]
    assert [part["type"] for part in parts] == ["text", "image_url", "video_url"]
    head, data = parts[2]["video_url"]["url"].split(",", 1)
    assert head == "data:video/mp4;base64"
    assert base64.b64decode(data) == (media / "walk.mp4").read_bytes()
    assert body["mm_processor_kwargs"] == {"fps": 2.0}
    verdict = local(fps=2, inline_limit=10).navigation(checked, folder=media, source="s").result(30)
    assert (verdict.status, len(server.calls)) == ("ok", 1), "cached before"
    verdict = (
        local(inline_limit=10, cache=None).navigation(checked, folder=media, source="s").result(30)
    )
    assert (verdict.status, len(server.calls)) == ("file_failed", 1)
    assert "no upload" in verdict.reason


@pytest.mark.parametrize(
    ("behaviour", "status", "calls"),
    [
        (refused(400), "api_error", 1),
        (refused(401), "api_error", 1),
        (refused(429), "api_error", 3),
        (refused(500), "api_error", 3),
        (refused(504), "timeout", 3),
        (hanging(), "timeout", 3),
        (html(), "api_error", 3),
        (Behaviour(cut=True, body={"choices": []}), "api_error", 3),
        (Behaviour(body={"choices": []}), "empty", 3),
        (Behaviour(body={}), "empty", 3),
        (chat(None), "empty", 3),
        (chat("{", "length"), "truncated", 1),
        (chat(None, "content_filter"), "blocked", 1),
        (chat(None, refusal="I will not"), "blocked", 1),
        (chat("prose"), "parse_error", 3),
        (chat(plan_json(9)), "schema_error", 3),
    ],
)
def test_faults(
    behaviour: Behaviour, status: str, calls: int, server: FakeGemini, local: Callable[..., Any]
) -> None:
    server.responder = lambda _: behaviour
    verdict = judge(local(attempts=3, call_timeout=0.5 if status == "timeout" else 20))
    assert (verdict.status, verdict.score, len(server.calls)) == (status, None, calls)


def test_retry_after_is_honoured(server: FakeGemini, local: Callable[..., Any]) -> None:
    server.script.append(refused(429, **{"retry-after": "1"}))
    assert judge(local()).status == "ok"
    assert server.calls[1].started - server.calls[0].finished >= 1.0


def test_the_key(
    server: FakeGemini, local: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    judge(local(cache=None))
    assert server.calls[0].headers["authorization"] == "Bearer none", "a local server needs none"
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.responder = lambda call: refused(401, f"wrong: {call.headers['authorization']}")
    verdict = judge(local(cache=None))
    assert server.calls[-1].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in verdict.model_dump_json()
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(MissingKeyError, match="OPENAI_API_KEY"):
        judge(local(base_url=None))
