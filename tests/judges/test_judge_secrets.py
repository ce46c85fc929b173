"""The API key reaches no log, file, exception text, report or traceback."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_gemini import Behaviour, Call, FakeGemini, failed, generated, plan_json
from judge_samples import KEY, sample, trace

from pytest_robomem.judges.client import Question
from pytest_robomem.judges.navigation_samples import NavigationSample
from pytest_robomem.judges.outcomes import AttemptFailedError
from pytest_robomem.judges.textsafe import REDACTED, redact
from pytest_robomem.judges.traces import PlanTrace

MakeRuntime = Callable[..., Any]

ECHOES: dict[str, Callable[[Call], Behaviour]] = {
    "error message": lambda call: failed(400, "INVALID_ARGUMENT", f"bad key {sent_key(call)}"),
    "error status": lambda call: failed(403, sent_key(call)),
    "retried error": lambda call: failed(503, "UNAVAILABLE", sent_key(call)),
    "HTML error page": lambda call: Behaviour(
        status=401, body=f"<p>{sent_key(call)}</p>", content_type="text/html"
    ),
    "HTML with 200": lambda call: Behaviour(
        body=f"<p>{sent_key(call)}</p>", content_type="text/html"
    ),
    "a reply": lambda call: generated(plan_json(4, summary=f"key {sent_key(call)}")),
    "prose": lambda call: generated(f"my key is {sent_key(call)}"),
    "a model version": lambda call: generated(plan_json(4), model_version=sent_key(call)),
}


def sent_key(call: Call) -> str:
    return call.headers["x-goog-api-key"]


def contents(folder: Path) -> str:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return "\n".join(path.read_text("utf-8", "replace") for path in files)


@pytest.mark.parametrize("key", [KEY, "an-unusual-key-of-no-known-shape"])
@pytest.mark.parametrize("name", ECHOES)
def test_a_server_that_echoes_the_key(
    name: str,
    key: str,
    server: FakeGemini,
    make_runtime: MakeRuntime,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", key)
    caplog.set_level(logging.DEBUG)
    server.responder = ECHOES[name]
    verdict = (
        make_runtime(attempts=2).plan(PlanTrace.model_validate(trace()), source="s").result(30)
    )
    assert sent_key(server.calls[0]) == key, "otherwise this test shows nothing"
    assert key not in verdict.model_dump_json()
    assert key not in caplog.text
    assert key not in contents(tmp_path)


def test_uploads_and_deletions_that_echo_the_key(
    server: FakeGemini,
    make_runtime: MakeRuntime,
    tmp_path: Path,
    media: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    server.upload_script.append(failed(403, "PERMISSION_DENIED", f"not with {KEY}"))
    checked = NavigationSample.model_validate(sample())
    verdict = make_runtime(inline_limit=0).navigation(checked, folder=media, source="s").result(30)
    assert verdict.status == "file_failed"
    assert REDACTED in verdict.reason
    assert KEY not in caplog.text + verdict.model_dump_json() + contents(tmp_path)


def test_exceptions_have_no_chain_to_the_key(server: FakeGemini, make_runtime: MakeRuntime) -> None:
    server.responder = ECHOES["error message"]
    runtime = make_runtime()
    work = runtime.engine.client.generate(
        Question(None, ("x",), {"type": "object"}),
        ("x",),
        timeout=5.0,
        max_output_tokens=None,
        seed=None,
        spent=lambda *_: None,
    )
    with pytest.raises(AttemptFailedError) as caught:
        runtime._loop.submit(work).result(30)
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_a_password_in_the_endpoint_is_not_recorded(
    server: FakeGemini, make_runtime: MakeRuntime, tmp_path: Path
) -> None:
    url = server.url.replace("http://", "http://ann:hunter2secret@")
    verdict = (
        make_runtime(base_url=url).plan(PlanTrace.model_validate(trace()), source="s").result(30)
    )
    assert verdict.status == "ok"
    assert "hunter2secret" not in verdict.model_dump_json() + contents(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        f"x {KEY} y",
        "https://h/v1?key=abc123&alt=json",
        "Authorization: Bearer abc123",
        "sk-abcdefghijklmnopqrstuvwx",
        "{'x-goog-api-key': 'abc123'}",
    ],
)
def test_redaction_by_shape(text: str) -> None:
    redacted = redact(text)
    assert REDACTED in redacted
    assert "abc123" not in redacted
    assert KEY not in redacted
    assert redact("nothing to hide: task-score") == "nothing to hide: task-score"


def test_a_whole_run_with_tracebacks_and_locals(
    run_process: Callable[..., Any], server: FakeGemini, tmp_path: Path
) -> None:
    server.responder = ECHOES["error message"]
    (tmp_path / "a.plan.jsonl").write_text(json.dumps(trace()) + "\n")
    (tmp_path / "test_own.py").write_text(
        f"def test_own(plan_judge):\n    plan_judge({trace()!r})\n"
    )
    done = run_process(
        "a.plan.jsonl",
        "test_own.py",
        "-vv",
        "--showlocals",
        "--full-trace",
        "--log-level=DEBUG",
        "-o",
        "log_cli=true",
        "--judge-model=gemini-2.5-pro",
        f"--judge-base-url={server.url}",
        "--junitxml=junit.xml",
        "-rA",
    )
    assert len(server.calls) == 2, done.stdout
    assert "2 errors" in done.stdout
    assert KEY not in done.stdout + done.stderr + contents(tmp_path)
