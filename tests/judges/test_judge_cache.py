"""The cache: what is in its key, what is stored, replay, and exactly the calls that are needed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_gemini import FakeGemini, failed, generated, plan_json
from judge_samples import sample, trace, write_image

from pytest_robomem.judges.navigation_samples import NavigationSample
from pytest_robomem.judges.outcomes import ReplayMissError
from pytest_robomem.judges.prompts import (
    load_prompt,
    normalised_sha256,
    prompt_root,
    prompt_set_sha256,
)
from pytest_robomem.judges.provenance import config_sha256
from pytest_robomem.judges.traces import PlanTrace

MakeRuntime = Callable[..., Any]
TRACES = [
    PlanTrace.model_validate(trace(id=f"t{number}", instruction=f"Do {number}."))
    for number in range(3)
]


def judge_all(runtime: Any, media: Path) -> list[Any]:
    """Three plans, a video and an image."""
    samples = [
        NavigationSample.model_validate(sample(sample_id="v")),
        NavigationSample.model_validate(
            sample(sample_id="i", modality="image", output_path="end.png", task="top_down")
        ),
    ]
    pending = [runtime.plan(each, source="p") for each in TRACES]
    pending += [runtime.navigation(each, folder=media, source="n") for each in samples]
    return [each.result(60) for each in pending]


def calls_of(server: FakeGemini, action: Callable[[], Any]) -> dict[str, int]:
    before = len(server.calls)
    action()
    kinds = [call.kind for call in server.calls[before:]]
    return {kind: kinds.count(kind) for kind in sorted(set(kinds))}


def test_a_second_run_asks_nothing_and_finds_the_same(
    server: FakeGemini, make_runtime: MakeRuntime, media: Path
) -> None:
    first = judge_all(make_runtime(), media)
    assert len(server.calls) == 5
    second = judge_all(make_runtime(), media)
    assert len(server.calls) == 5
    assert all(vote.cached and vote.cost_usd == 0 for each in second for vote in each.votes)
    drop = {"votes"}
    assert [each.model_dump(exclude=drop) for each in first] == [
        each.model_dump(exclude=drop) for each in second
    ]


def test_exactly_the_needed_calls(
    server: FakeGemini, make_runtime: MakeRuntime, media: Path, tmp_path: Path
) -> None:
    def again(**settings: Any) -> dict[str, int]:
        return calls_of(server, lambda: judge_all(make_runtime(**settings), media))

    assert again() == {"navigation": 2, "plan": 3}
    assert again() == {}
    content = bytearray((media / "walk.mp4").read_bytes())
    content[-1] ^= 1
    (media / "walk.mp4").write_bytes(content)
    assert again() == {"navigation": 1}, "one byte of one video"
    write_image(media / "scene.png", 201)
    assert again() == {"navigation": 2}, "the scene that both share"
    assert again(fps=5) == {"navigation": 1}, "only videos have frames to sample"
    assert again(media_resolution="low") == {"navigation": 2}, "plans have no media"
    assert again(media_order="media-first") == {"navigation": 2}
    assert again(model="gemini-2.5-flash") == {"navigation": 2, "plan": 3}
    assert again(temperature=0.5) == {"navigation": 2, "plan": 3}
    assert again(seed=1) == {"navigation": 2, "plan": 3}
    assert again(thinking_budget=100) == {"navigation": 2, "plan": 3}
    assert again(max_output_tokens=9000) == {"navigation": 2, "plan": 3}
    assert again(api_version="v1") == {"navigation": 2, "plan": 3}
    assert again(votes=3) == {"navigation": 4, "plan": 6}, "the first vote is there already"
    same = {
        "call_timeout": 9.0,
        "deadline": 99.0,
        "attempts": 2,
        "concurrency": 1,
        "profile": "literal",
    }
    assert again(**same, requests_per_minute=10_000, errors="zero") == {}
    prompts = Path(shutil.copytree(prompt_root(), tmp_path / "prompts"))
    change_prompt(prompts, "plan/system")
    assert again(prompts=prompts) == {"plan": 3}
    change_prompt(prompts, "navigation/top_down/image")
    assert again(prompts=prompts) == {"navigation": 1}


def change_prompt(root: Path, name: str) -> None:
    """Add a byte and raise the version, as a person has to."""
    path = root / f"{name}.md"
    path.write_bytes(path.read_bytes() + b"\n")
    manifest = json.loads((root / "manifest.json").read_text())
    entry = manifest["prompts"][name]
    entry["version"] += 1
    entry["sha256"][str(entry["version"])] = normalised_sha256(path.read_bytes())[1]
    (root / "manifest.json").write_text(json.dumps(manifest))
    load_prompt.cache_clear()

    prompt_set_sha256.cache_clear()
    config_sha256.cache_clear()


def test_the_port_of_a_server_is_no_part_of_the_key(make_runtime: MakeRuntime, media: Path) -> None:
    with FakeGemini() as one:
        judge_all(make_runtime(base_url=one.url), media)
    with FakeGemini() as two:
        judge_all(make_runtime(base_url=two.url), media)
        assert not two.calls


def test_replay_never_asks(
    server: FakeGemini, make_runtime: MakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_runtime().plan(TRACES[0], source="p").result(30)
    monkeypatch.delenv("GEMINI_API_KEY")
    replay = make_runtime(replay=True)
    assert replay.plan(TRACES[0], source="p").result(30).score == 4
    with pytest.raises(ReplayMissError, match="no cached reply"):
        replay.plan(TRACES[1], source="p").result(30)
    assert len(server.calls) == 1


def test_torn_foreign_and_mislaid_entries_are_asked_again(
    server: FakeGemini, make_runtime: MakeRuntime
) -> None:
    runtime = make_runtime()
    runtime.plan(TRACES[0], source="p").result(30)
    (entry,) = runtime.engine.cache.folder.glob("*/*.json")
    whole = entry.read_text()
    unparsable = json.dumps(json.loads(whole) | {"text": "no JSON any more"})
    damaged = [
        whole[:50],
        "",
        "[]",
        "\0",
        unparsable,
        whole.replace('"entry_version": 1', '"entry_version": 2'),
        json.dumps(json.loads(whole) | {"key": "0" * 64}),
    ]
    for number, content in enumerate(damaged, start=2):
        entry.write_text(content)
        assert make_runtime().plan(TRACES[0], source="p").result(30).score == 4
        assert len(server.calls) == number
        assert json.loads(entry.read_text())["key"] == entry.stem, "and mended"


def test_entries_hold_what_was_asked_but_no_key(
    server: FakeGemini, make_runtime: MakeRuntime
) -> None:
    runtime = make_runtime()
    server.script.append(generated(plan_json(2), model_version="gemini-2.5-pro"))
    runtime.plan(TRACES[0], source="p").result(30)
    (path,) = runtime.engine.cache.folder.glob("*/*.json")
    entry = json.loads(path.read_text())
    assert entry["fields"]["model"] == entry["model_version"] == "gemini-2.5-pro"
    assert entry["fields"]["host"] == "127.0.0.1"
    assert set(entry) == {
        "entry_version",
        "key",
        "fields",
        "text",
        "model_version",
        "usage",
        "cost_usd",
    }
    assert not list(runtime.engine.cache.folder.glob("*/.new-*"))


def test_an_unwritable_cache_costs_no_verdict(
    server: FakeGemini, make_runtime: MakeRuntime, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    assert make_runtime(cache=tmp_path / "file").plan(TRACES[0], source="p").result(30).score == 4


def test_a_vote_is_kept_even_if_another_fails(
    server: FakeGemini, make_runtime: MakeRuntime
) -> None:
    server.script.append(failed(403, "PERMISSION_DENIED"))
    verdict = make_runtime(votes=3).plan(TRACES[0], source="p").result(30)
    assert (verdict.status, len(server.calls)) == ("ok", 3)
    again = make_runtime(votes=3).plan(TRACES[0], source="p").result(30)
    assert [vote.status for vote in again.votes] == ["ok"] * 3
    assert len(server.calls) == 4
