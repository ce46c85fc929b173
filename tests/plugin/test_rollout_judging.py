"""A judge that watches the episodes' videos."""

import json

import pytest

from pytest_robomem.session.rollouts import stage_kind
from tests.judges.fake_gemini import MODEL, FakeGemini, generated
from tests.plugin.conftest import Bench


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("01_Open_Top_Drawer", "open"),
        ("08_Put_Butter_Top_Drawer", "place"),
        ("02_Pour_One", "pour"),
        ("cookies_in_basket", "other"),
        ("06_Close_Microwave", "close"),
    ],
)
def test_kinds_of_stages(name: str, kind: str) -> None:
    assert stage_kind(name) == kind


def test_verdicts_stand_beside_the_simulators(
    bench: Bench, needs_images: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "sesame")
    with FakeGemini() as server:
        marks = {"STAGES": {"stage_1": "1", "stage_2": "0"}, "reasoning": "seen"}
        server.responder = lambda call: generated(json.dumps(marks))
        result = bench.run(
            *("-m", "task02 or task03", "--robomem-max-steps=6", "--robomem-video=on"),
            *("--judge-rollouts", f"--judge-model={MODEL}", f"--judge-base-url={server.url}"),
            "--judge-cache=off",
            task=2,
        )
        calls = len(server.calls)
    result.assert_outcomes(passed=1, failed=1)  # what the simulator says, whatever the judge sees
    assert calls == 2
    result.stdout.fnmatch_lines(["*rollouts place*"])
    assert b"sesame" not in b"".join(
        path.read_bytes() for path in bench.results.rglob("*") if path.is_file()
    )


def test_a_judge_that_cannot_be_reached_is_no_error_of_the_episode(
    bench: Bench, needs_images: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "sesame")
    result = bench.run(
        *("-m", "task02", "--robomem-video=on", "--judge-rollouts", f"--judge-model={MODEL}"),
        *("--judge-base-url=http://127.0.0.1:9", "--judge-attempts=1", "--judge-cache=off"),
        task=2,
    )
    result.assert_outcomes(passed=1)


def test_watching_needs_every_video(bench: Bench) -> None:
    result = bench.run("--judge-rollouts", f"--judge-model={MODEL}", "-m", "task02")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--judge-rollouts needs --robomem-video=on*"])
