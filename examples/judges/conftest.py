"""Lets the example run offline: a local server answers instead of the model.

With your own key, delete this file and run `pytest examples/judges -n 2` against the real model.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent / "tests" / "judges"))

from fake_gemini import (  # noqa: E402
    Behaviour,
    Call,
    FakeGemini,
    generated,
    navigation_json,
    plan_json,
)

# What this pretended judge thinks of each plan, by a part of its instruction.
PLAN_SCORES = {
    "Rinse the spinach": 4,
    "Put the letter": 4,
    "Bring the blanket": 1,
    "Slice the bread": 3,
    "Empty the bin": 2,
}
# What it sees in each output: the marks that are 0.
ZEROS: dict[str, tuple[str, ...]] = {
    "arrives.mp4": (),
    "stops_short.mp4": ("SUCCESS_SCORE", "ORACLE_SUCCESS_SCORE"),
    "jumps.mp4": ("AGENT_CONSISTENCY_SCORE",),
    "end_inside.png": (),
    "end_outside.png": ("ORACLE_SUCCESS_SCORE", "SCENE_CHANGE_SCORE"),
}
_BY_SHA256 = {
    hashlib.sha256((HERE / "media" / name).read_bytes()).hexdigest(): marks
    for name, marks in ZEROS.items()
}
SERVER = pytest.StashKey[FakeGemini]()


def answer(call: Call) -> Behaviour:
    """Answer as the tables above say."""
    if call.kind == "plan":
        (score,) = [score for text, score in PLAN_SCORES.items() if text in call.text]
        return generated(plan_json(score))
    zeros = _BY_SHA256[call.media[-1][1]]
    return generated(navigation_json(call, dict.fromkeys(zeros, "0")))


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        return
    server = FakeGemini(answer)
    server.__enter__()
    config.stash[SERVER] = server
    os.environ["GOOGLE_GEMINI_BASE_URL"] = server.url
    os.environ["GEMINI_API_KEY"] = "none-needed-here"


def pytest_unconfigure(config: pytest.Config) -> None:
    server = config.stash.get(SERVER, None)
    if server is not None:
        server.__exit__()
