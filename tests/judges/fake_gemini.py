"""A local server that speaks the Gemini protocol (and OpenAI's chat completions) well enough.

Replies come from `script` while it lasts (one entry a generate call, in the order of arrival),
then from `responder`. Everything that was asked is kept in `calls`, uploads and deletions beside
it. It listens on the loopback only.
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "gemini-2.5-pro"
USAGE = {"promptTokenCount": 1000, "candidatesTokenCount": 100, "thoughtsTokenCount": 50}


def camel(fields: dict[str, Any]) -> dict[str, Any]:
    """The API takes mimeType and mime_type alike, and the SDK sends both kinds."""

    def spelled(name: str) -> str:
        first, *rest = name.split("_")
        return first + "".join(word.title() for word in rest)

    return {spelled(name): value for name, value in fields.items()}


def lowered(headers: Any) -> dict[str, str]:
    """Headers by lower-case name."""
    return {name.lower(): value for name, value in headers.items()}


@dataclass
class Call:
    """One generate request."""

    model: str
    body: dict[str, Any]
    headers: dict[str, str]
    path: str
    started: float = 0.0
    finished: float = 0.0

    @property
    def parts(self) -> list[dict[str, Any]]:
        return [part for content in self.body.get("contents", []) for part in content["parts"]]

    @property
    def texts(self) -> list[str]:
        return [part["text"] for part in self.parts if "text" in part]

    @property
    def text(self) -> str:
        return "\n".join(self.texts)

    @property
    def system(self) -> str:
        parts = self.body.get("systemInstruction", {}).get("parts", [])
        return "".join(part.get("text", "") for part in parts)

    @property
    def config(self) -> dict[str, Any]:
        return self.body.get("generationConfig", {})

    @property
    def schema(self) -> dict[str, Any]:
        return self.config["responseJsonSchema"]

    @property
    def media(self) -> list[tuple[str, str]]:
        """(MIME type, sha256 or file URI) of each media part, in order."""
        found = []
        for part in self.parts:
            if "inlineData" in part:
                inline = camel(part["inlineData"])
                data = base64.urlsafe_b64decode(inline["data"])
                found.append((inline["mimeType"], hashlib.sha256(data).hexdigest()))
            elif "fileData" in part:
                file = camel(part["fileData"])
                found.append((file["mimeType"], file["fileUri"]))
        return found

    @property
    def kind(self) -> str:
        keys = self.schema["properties"]
        return "plan" if "score" in keys else "navigation" if "SCORES" in keys else "rollout"


@dataclass
class Behaviour:
    """What the server does with a request: answer, after a wait, or break off."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    wait: float = 0.0
    cut: bool = False
    drip: bool = False
    content_type: str = "application/json"


def generated(
    text: str | None,
    *,
    finish: str = "STOP",
    model_version: str = MODEL,
    usage: dict[str, Any] | None = USAGE,
    thought: str | None = None,
    wait: float = 0.0,
) -> Behaviour:
    """A generateContent response; without text the candidate has no parts."""
    parts = [{"text": thought, "thought": True}] if thought else []
    parts += [{"text": text}] if text is not None else []
    candidate: dict[str, Any] = {"finishReason": finish, "index": 0, "content": {"role": "model"}}
    if parts:
        candidate["content"]["parts"] = parts
    body: dict[str, Any] = {"candidates": [candidate], "modelVersion": model_version}
    if usage is not None:
        body["usageMetadata"] = usage
    return Behaviour(body=body, wait=wait)


def blocked(reason: str = "PROHIBITED_CONTENT") -> Behaviour:
    """A blocked prompt: HTTP 200 without candidates."""
    return Behaviour(
        body={"promptFeedback": {"blockReason": reason}, "usageMetadata": {"promptTokenCount": 7}}
    )


def failed(
    code: int,
    status: str,
    message: str = "no",
    *,
    delay: str | None = None,
    header: str | None = None,
) -> Behaviour:
    """An API error, with the server's delay in the details or in a header."""
    error: dict[str, Any] = {"code": code, "status": status, "message": message}
    if delay is not None:
        error["details"] = [
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}
        ]
    return Behaviour(
        status=code, body={"error": error}, headers={"Retry-After": header} if header else {}
    )


def html(status: int = 200) -> Behaviour:
    """What a proxy answers instead of the API."""
    return Behaviour(
        status=status, body="<html><body>Bad day</body></html>", content_type="text/html"
    )


def hanging(seconds: float = 60.0) -> Behaviour:
    """Headers never come."""
    return Behaviour(wait=seconds, body={})


def dripping(seconds: float = 60.0) -> Behaviour:
    """A byte now and then, so that no read ever times out."""
    return Behaviour(wait=seconds, drip=True, body={})


def cut_off() -> Behaviour:
    """The connection ends in the middle of the body."""
    return Behaviour(cut=True, body={"candidates": []})


def plan_json(score: Any = 4, success: Any = None, **changes: Any) -> str:
    """A reply of the plan judge."""
    reply = {
        "summary": "did things",
        "execution_analysis": "all worked",
        "evaluate": "branch B",
        "score": score,
        "success_boolean": score in (3, 4) if success is None else success,
        **changes,
    }
    return json.dumps({name: value for name, value in reply.items() if value is not ...})


def navigation_json(call: Call, marks: dict[str, Any] | None = None, default: Any = "1") -> str:
    """A reply of the navigation judge with the keys of the call's own schema."""
    keys = call.schema["properties"]["SCORES"]["required"]
    scores = dict.fromkeys(keys, default) | (marks or {})
    return json.dumps({"SCORES": scores, "reasoning": "looked closely"})


def rollout_json(call: Call, marks: dict[str, Any] | None = None) -> str:
    """A reply of the rollout judge."""
    keys = call.schema["properties"]["STAGES"]["required"]
    return json.dumps({"STAGES": dict.fromkeys(keys, "1") | (marks or {}), "reasoning": "saw it"})


def friendly(call: Call) -> Behaviour:
    """The best score for everything."""
    replies = {
        "plan": lambda: plan_json(4),
        "navigation": lambda: navigation_json(call),
        "rollout": lambda: rollout_json(call),
    }
    return generated(replies[call.kind]())


@dataclass
class StoredFile:
    """An uploaded file and the states that its next polls will show."""

    name: str
    mime_type: str
    expected: int
    data: int = 0
    sha256: Any = field(default_factory=hashlib.sha256)
    states: deque[str] = field(default_factory=deque)
    deleted: bool = False


class FakeGemini:
    """The server; use it as a context manager."""

    def __init__(
        self,
        responder: Callable[[Call], Behaviour] = friendly,
        *,
        latency: float = 0.0,
        file_states: tuple[str, ...] = ("PROCESSING", "ACTIVE"),
    ) -> None:
        self.responder = responder
        self.latency = latency
        self.file_states = file_states
        self.script: deque[Behaviour] = deque()
        self.upload_script: deque[Behaviour] = deque()
        self.calls: list[Call] = []
        self.files: dict[str, StoredFile] = {}
        self.in_flight = 0
        self.most_in_flight = 0
        self.stopping = threading.Event()
        self.lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._server.request_queue_size = 128
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    @property
    def url(self) -> str:
        host, port = self._server.server_address[:2]
        return f"http://{host}:{port}"

    def __enter__(self) -> FakeGemini:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()

    def decide(self, call: Call) -> Behaviour:
        with self.lock:
            self.calls.append(call)
            if self.script:
                return self.script.popleft()
        return self.responder(call)


def _handler(server: FakeGemini) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def log_message(self, *_: Any) -> None:
            pass

        def _body(self) -> bytes:
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))

        def _answer(self, behaviour: Behaviour) -> None:
            if behaviour.drip:
                self._drip(behaviour.wait)
                return
            if behaviour.wait and server.stopping.wait(behaviour.wait):
                self.close_connection = True
                return
            body = behaviour.body
            data = body.encode() if isinstance(body, str) else json.dumps(body or {}).encode()
            self.send_response(behaviour.status)
            self.send_header("Content-Type", behaviour.content_type)
            for name, value in behaviour.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data) + (100 if behaviour.cut else 0)))
            self.end_headers()
            self.wfile.write(data)
            if behaviour.cut:
                self.close_connection = True

        def _drip(self, seconds: float) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "100000")
            self.end_headers()
            end = time.monotonic() + seconds
            while time.monotonic() < end and not server.stopping.wait(0.05):
                try:
                    self.wfile.write(b" ")
                    self.wfile.flush()
                except OSError:
                    break
            self.close_connection = True

        def do_POST(self) -> None:
            if self.path.startswith("/upload/"):
                self._start_upload()
            elif self.path.startswith("/store/"):
                self._receive()
            elif self.path.endswith("/chat/completions"):
                self._chat()
            else:
                self._generate()

        def _generate(self) -> None:
            body = json.loads(self._body())
            model = self.path.split("/models/")[-1].split(":")[0]
            call = Call(model, body, lowered(self.headers), self.path, time.monotonic())
            with server.lock:
                server.in_flight += 1
                server.most_in_flight = max(server.most_in_flight, server.in_flight)
            try:
                behaviour = server.decide(call)
                if server.latency:
                    server.stopping.wait(server.latency)
                call.finished = time.monotonic()
            finally:
                with server.lock:
                    server.in_flight -= 1
            self._answer(behaviour)

        def _chat(self) -> None:
            body = json.loads(self._body())
            call = Call(body["model"], body, lowered(self.headers), self.path, time.monotonic())
            self._answer(server.decide(call))

        def _start_upload(self) -> None:
            meta = json.loads(self._body() or b"{}").get("file", {})
            with server.lock:
                scripted = server.upload_script.popleft() if server.upload_script else None
                number = len(server.files)
            if scripted is not None:
                self._answer(scripted)
                return
            name = f"files/f{number}"
            stored = StoredFile(
                name,
                meta.get("mimeType") or self.headers["X-Goog-Upload-Header-Content-Type"],
                int(self.headers["X-Goog-Upload-Header-Content-Length"]),
                states=deque(server.file_states),
            )
            server.files[name] = stored
            headers = {"X-Goog-Upload-URL": f"{server.url}/store/{name}"}
            self._answer(Behaviour(body={}, headers=headers))

        def _receive(self) -> None:
            stored = server.files[self.path.removeprefix("/store/")]
            data = self._body()
            stored.data += len(data)
            stored.sha256.update(data)
            if "finalize" in self.headers["X-Goog-Upload-Command"]:
                headers = {"X-Goog-Upload-Status": "final"}
                self._answer(Behaviour(body={"file": self._file(stored)}, headers=headers))
            else:
                self._answer(Behaviour(body={}, headers={"X-Goog-Upload-Status": "active"}))

        def _file(self, stored: StoredFile) -> dict[str, Any]:
            with server.lock:
                state = stored.states[0]
                if len(stored.states) > 1:
                    stored.states.popleft()
            file = {
                "name": stored.name,
                "uri": f"{server.url}/v1beta/{stored.name}",
                "mimeType": stored.mime_type,
                "sizeBytes": str(stored.data),
                "state": state,
            }
            if state == "FAILED":
                file["error"] = {"code": 3, "message": "codec not supported"}
            return file

        def do_GET(self) -> None:
            name = "files/" + self.path.rsplit("/files/", maxsplit=1)[-1]
            self._answer(Behaviour(body=self._file(server.files[name])))

        def do_DELETE(self) -> None:
            name = "files/" + self.path.rsplit("/files/", maxsplit=1)[-1]
            server.files[name].deleted = True
            self._answer(Behaviour(body={}))

    return Handler
