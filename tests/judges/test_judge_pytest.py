"""The judges as pytest sees them: items, fixtures, outcomes, results, workers, interruptions."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_gemini import MODEL, Call, FakeGemini, failed, generated, navigation_json, plan_json
from judge_samples import ENVIRONMENT, command_line, sample, trace

Run = Callable[..., Any]


def by_instruction(call: Call) -> Any:
    """Plans get the score that their instruction ends with, or the fault that it names."""
    if call.kind != "plan":
        return generated(navigation_json(call))
    instruction = call.text.split("## Instruction\n\n")[1].split("\n")[0]
    last = instruction.split()[-1]
    return failed(403, "PERMISSION_DENIED") if last == "fault" else generated(plan_json(int(last)))


def outcomes(done: Any) -> str:
    """The counts of the last line, warnings left out."""
    words = re.findall(r"(\d+) (failed|passed|skipped|errors?)\b", done.stdout.splitlines()[-1])
    return ", ".join(" ".join(pair) for pair in words)


@pytest.fixture
def judged(server: FakeGemini) -> list[str]:
    """Options that judge by the local server."""
    server.responder = by_instruction
    return [f"--judge-model={MODEL}", f"--judge-base-url={server.url}", "--judge-cache=cache"]


def write_plans(folder: Path, *ends: object) -> Path:
    path = folder / "p.plan.jsonl"
    rows = [
        trace(id=f"t{number}", instruction=f"Number {number}: {end}")
        for number, end in enumerate(ends)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def table(folder: Path, name: str = "plan_scores.tsv") -> dict[str, dict[str, str]]:
    with (folder / name).open(encoding="utf-8", newline="") as file:
        return {
            row["id"]: row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        }


@pytest.mark.parametrize("workers", ["0", "2"])
def test_each_line_is_an_item(
    workers: str,
    run_pytest: Run,
    run_process: Run,
    server: FakeGemini,
    judged: list[str],
    media: Path,
    tmp_path: Path,
) -> None:
    write_plans(tmp_path, 4, 2, "fault")
    (media / "n.nav.jsonl").write_text(
        json.dumps(sample(sample_id="good"))
        + "\n"
        + json.dumps(sample(sample_id="gone", output_path=None))
        + "\n"
    )
    run = run_pytest if workers == "0" else run_process
    done = run(
        "p.plan.jsonl", "media/n.nav.jsonl", "-v", "-n", workers, *judged, "--junitxml=j.xml"
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "p.plan.jsonl::t0" in done.stdout
    assert outcomes(done) == "1 failed, 2 passed, 2 errors"
    assert "score 2 of 4 (the judge said 2)" in done.stdout
    assert "t2 has no score: api_error: 403" in done.stdout
    assert "gone has no score: file_failed: the generator gave no output" in done.stdout
    assert "raise " not in done.stdout, "no traceback of ours"
    results = tmp_path / "robomem-results"
    assert {name: row["score"] for name, row in table(results).items()} == {
        "t0": "4",
        "t1": "2",
        "t2": "",
    }
    navigation = table(results, "navigation_scores.tsv")
    assert {name: row["success"] for name, row in navigation.items()} == {"good": "1", "gone": ""}
    report = json.loads((results / "judges.json").read_text())
    assert report["statuses"] == {"api_error": 1, "file_failed": 1, "ok": 3}
    assert (report["plan"][0]["plans"], report["plan"][0]["scored"]) == (3, 2)
    assert len((results / "judge_verdicts.jsonl").read_text().splitlines()) == 5
    assert "success 33.3%" in done.stdout
    assert 'name="judge_score" value="4"' in (tmp_path / "j.xml").read_text()
    assert "provenance" not in (tmp_path / "j.xml").read_text()
    assert len(server.calls) == 4


@pytest.mark.parametrize(
    ("policy", "outcome"),
    [
        ("error", "1 passed, 1 error"),
        ("fail", "1 failed, 1 passed"),
        ("skip", "1 passed, 1 skipped"),
        ("zero", "1 failed, 1 passed"),
    ],
)
def test_unscored_samples(
    policy: str, outcome: str, run_pytest: Run, judged: list[str], tmp_path: Path
) -> None:
    write_plans(tmp_path, 4, "fault")
    done = run_pytest("p.plan.jsonl", *judged, f"--judge-errors={policy}")
    assert outcome == outcomes(done)
    (tmp_path / "test_own.py").write_text(
        "def test_good(plan_judge):\n"
        f"    assert plan_judge({trace(instruction='Do 4')!r}).score == 4\n"
        f"def test_bad(plan_judge):\n    verdict = plan_judge({trace(instruction='Do fault')!r})\n"
        "    assert verdict.score == 4\n"
    )
    done = run_pytest("test_own.py", *judged, f"--judge-errors={policy}")
    assert outcome == outcomes(done)
    rows = json.loads((tmp_path / "robomem-results" / "judges.json").read_text())["plan"]
    assert rows[0]["scored"] == (4 if policy == "zero" else 2)


def test_fixtures(
    run_pytest: Run, server: FakeGemini, judged: list[str], media: Path, tmp_path: Path
) -> None:
    (tmp_path / "test_own.py").write_text(
        "from pathlib import Path\n"
        "def test_plan(plan_judge):\n"
        f"    assert plan_judge({trace(instruction='Do 3')!r}).success\n"
        "def test_navigation(navigation_judge):\n"
        f"    verdict = navigation_judge({sample()!r}, folder=Path('media'))\n"
        "    assert verdict.success and verdict.gates['overall'] == 1\n"
        "def test_wrong(plan_judge):\n    plan_judge({'id': 'x'})\n"
    )
    done = run_pytest("test_own.py", *judged)
    assert outcomes(done) == "1 failed, 2 passed"
    assert "ValidationError" in done.stdout
    rows = table(tmp_path / "robomem-results")
    assert rows["t1"]["source"] == "test_own.py::test_plan"


def test_files_without_a_model(run_pytest: Run, run_process: Run, tmp_path: Path) -> None:
    write_plans(tmp_path, 4)
    named = run_pytest("p.plan.jsonl")
    assert (named.returncode, "needs --judge-model" in named.stderr) == (4, True)
    named = run_process("p.plan.jsonl", "-n", "2")
    assert (named.returncode, "needs --judge-model" in named.stderr) == (4, True)
    found = run_pytest("-rs")
    assert "1 skipped" in found.stdout
    assert "needs --judge-model" in found.stdout
    (tmp_path / "test_own.py").write_text("def test_own(plan_judge): pass\n")
    fixture = run_pytest("test_own.py")
    assert "judging needs --judge-model" in fixture.stdout


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--judge-votes=2", "votes must be odd"),
        ("--judge-votes=many", "votes: Input should be a valid integer"),
        ("--judge-profile=strict", "profile: Input should be 'semantic' or 'literal'"),
        ("--judge-errors=ignore", "errors: Input should be"),
        ("--judge-fps=0", "fps: Input should be greater than 0"),
        ("--judge-fps=25", "fps: Input should be less than or equal to 24"),
        ("--judge-budget=0", "budget_usd"),
        ("--judge-temperature=9", "temperature"),
        ("--judge-base-url=ftp://x", "base_url"),
        ("--judge-prices=none.json", "price file"),
    ],
)
def test_nonsense_is_refused_before_anything_runs(
    option: str, message: str, run_pytest: Run, tmp_path: Path
) -> None:
    extra = ["--judge-budget=1"] if "prices" in option else []
    done = run_pytest(f"--judge-model={MODEL}", option, *extra)
    assert done.returncode == 4, done.stdout
    assert message in done.stderr
    assert "INTERNALERROR" not in done.stdout + done.stderr


def test_more_refusals(run_pytest: Run) -> None:
    cases = [
        (["--judge-rollouts"], "--judge-rollouts needs --judge-model"),
        ([f"--judge-model={MODEL}", "--judge-replay", "--judge-cache=off"], "the cache is off"),
        (["--judge-model=qwen", "--judge-budget=3"], "does not list qwen"),
    ]
    for options, message in cases:
        done = run_pytest(*options)
        assert (done.returncode, message in done.stderr) == (4, True), done.stderr


def test_ini_twins(run_pytest: Run, server: FakeGemini, tmp_path: Path) -> None:
    server.responder = by_instruction
    write_plans(tmp_path, 4)
    (tmp_path / "pytest.ini").write_text(
        f"[pytest]\njudge_model = {MODEL}\njudge_base_url = {server.url}\njudge_votes = 3\n"
        "judge_cache = mine\nrobomem_results = out\njudge_pin_model = true\n"
    )
    done = run_pytest(tmp_path / "p.plan.jsonl")
    assert "1 passed" in done.stdout, done.stdout + done.stderr
    assert len(server.calls) == 3
    assert (tmp_path / "out" / "plan_scores.tsv").exists()
    assert len(list((tmp_path / "mine").glob("*/*.json"))) == 3
    (tmp_path / "again").mkdir()
    run_pytest("--judge-votes=1", "--judge-cache=off", "--robomem-results=other")
    assert len(server.calls) == 4, "the command line wins"
    assert (tmp_path / "other" / "judges.json").exists()


def test_bad_lines_stop_the_collection_before_anything_is_paid(
    run_pytest: Run, server: FakeGemini, judged: list[str], tmp_path: Path
) -> None:
    path = write_plans(tmp_path, 4)
    path.write_text(path.read_text() + json.dumps(trace(id="x", steps_completed=7)) + "\n")
    done = run_pytest("p.plan.jsonl", *judged)
    assert "p.plan.jsonl:2: steps_completed is 7" in done.stdout
    assert done.returncode == 2
    assert not server.calls


def test_without_a_key(run_pytest: Run, judged: list[str], tmp_path: Path) -> None:
    write_plans(tmp_path, 4)
    done = run_pytest("p.plan.jsonl", *judged, GEMINI_API_KEY="")
    assert "set GEMINI_API_KEY or GOOGLE_API_KEY" in done.stdout
    assert done.returncode == 2


def test_replay_of_a_whole_run(
    run_pytest: Run, server: FakeGemini, judged: list[str], tmp_path: Path
) -> None:
    write_plans(tmp_path, 4, 3)
    run_pytest("p.plan.jsonl", *judged)
    replay = run_pytest("p.plan.jsonl", *judged, "--judge-replay", GEMINI_API_KEY="")
    assert "2 passed" in replay.stdout
    write_plans(tmp_path, 4, 3, 2)
    replay = run_pytest(
        "p.plan.jsonl", *judged, "--judge-replay", "--judge-errors=zero", GEMINI_API_KEY=""
    )
    assert outcomes(replay) == "2 passed, 1 error", "a miss is an error whatever the policy"
    assert "replay: no cached reply" in replay.stdout
    assert len(server.calls) == 2


def test_the_budget_stops_cleanly(
    run_pytest: Run, server: FakeGemini, judged: list[str], tmp_path: Path
) -> None:
    write_plans(tmp_path, *[4] * 30)
    done = run_pytest("p.plan.jsonl", *judged, "--judge-budget=0.02", "--judge-concurrency=2")
    assert done.returncode == 2, done.stdout
    assert "samples were not judged: the judges' budget of 0.02 USD is spent" in done.stdout
    calls = len(server.calls)
    assert 8 <= calls <= 10, "0.02 USD are 7.3 calls, and those in flight may end"
    assert outcomes(done) == f"{calls} passed, {30 - calls} skipped"
    report = json.loads((tmp_path / "robomem-results" / "judges.json").read_text())
    assert (report["plan"][0]["plans"], report["plan"][0]["scored"]) == (30, calls)
    done = run_pytest("p.plan.jsonl", *judged)
    assert (done.returncode, len(server.calls)) == (0, 30), "a later run asks what is missing"


def test_the_navigation_pass_option(
    run_pytest: Run, server: FakeGemini, judged: list[str], media: Path
) -> None:
    server.responder = lambda call: generated(navigation_json(call, {"OBJECT_SEMANTIC_SCORE": "0"}))
    (media / "n.nav.jsonl").write_text(json.dumps(sample()) + "\n")
    assert "1 passed" in run_pytest("media/n.nav.jsonl", *judged).stdout
    done = run_pytest("media/n.nav.jsonl", *judged, "--judge-navigation-pass=overall")
    assert "1 failed" in done.stdout
    assert "0 for object_semantic" in done.stdout


def test_other_model_versions_are_shown(
    run_pytest: Run, server: FakeGemini, judged: list[str], tmp_path: Path
) -> None:
    write_plans(tmp_path, 4)
    server.responder = lambda _: generated(plan_json(4), model_version="gemini-3.8-flash")
    done = run_pytest("p.plan.jsonl", *judged)
    assert f"warning: {MODEL} was requested, gemini-3.8-flash answered (1 verdicts)" in done.stdout
    assert "(gemini-3.8-flash@" in done.stdout


def test_votes_are_reported(
    run_pytest: Run, server: FakeGemini, judged: list[str], tmp_path: Path
) -> None:
    write_plans(tmp_path, 4, 4)
    server.script.extend(generated(plan_json(score)) for score in (4, 4, 3))
    done = run_pytest("p.plan.jsonl", *judged, "--judge-votes=3", "--judge-concurrency=1")
    assert "plan votes" in done.stdout
    assert "agreement 83.3%, flipped 50.0% of 2" in done.stdout


def test_prefetching_keeps_the_set_concurrency(
    run_pytest: Run, server: FakeGemini, judged: list[str], tmp_path: Path
) -> None:
    write_plans(tmp_path, *[4] * 24)
    server.latency = 0.05
    done = run_pytest("p.plan.jsonl", *judged, "--judge-concurrency=6")
    assert "24 passed" in done.stdout
    assert 2 <= server.most_in_flight <= 6


def test_workers_ask_about_one_sample_at_a_time_each(
    run_process: Run, server: FakeGemini, judged: list[str], tmp_path: Path
) -> None:
    write_plans(tmp_path, *[4] * 16)
    server.latency = 0.05
    done = run_process("p.plan.jsonl", *judged, "-n", "2", "--judge-concurrency=8")
    assert "16 passed" in done.stdout
    assert len(server.calls) == 16, "what was prepared ahead is asked once"
    assert server.most_in_flight <= 2


def test_failing_fast_asks_little_more(
    run_pytest: Run, server: FakeGemini, judged: list[str], tmp_path: Path
) -> None:
    write_plans(tmp_path, 0, *[4] * 40)
    done = run_pytest("p.plan.jsonl", *judged, "-x", "--judge-concurrency=2")
    assert "1 failed" in done.stdout
    assert len(server.calls) <= 2 * 2 + 1


def stop_half_way(
    server: FakeGemini, arguments: list[str], cwd: Path, *, calls: int, how: int
) -> tuple[int, str]:
    """Run pytest, send it a signal once `calls` were answered, and wait for its end."""
    with subprocess.Popen(
        command_line(*arguments),
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **ENVIRONMENT},
        start_new_session=True,
    ) as process:
        deadline = time.monotonic() + 40
        while (
            sum(call.finished > 0 for call in server.calls) < calls and time.monotonic() < deadline
        ):
            time.sleep(0.01)
        if how == signal.SIGKILL:
            os.killpg(process.pid, how)
        else:
            process.send_signal(how)
        output, _ = process.communicate(timeout=40)
    return process.returncode, output


@pytest.mark.parametrize(
    ("how", "workers"),
    [(signal.SIGINT, "2"), (signal.SIGINT, "0"), (signal.SIGKILL, "0")],
    ids=["ctrl-c with workers", "ctrl-c", "kill"],
)
def test_a_run_that_ends_half_way_is_taken_up_again(
    how: signal.Signals,
    workers: str,
    run_pytest: Run,
    server: FakeGemini,
    judged: list[str],
    tmp_path: Path,
) -> None:
    write_plans(tmp_path, *[4] * 40)
    server.latency = 0.05
    arguments = ["p.plan.jsonl", *judged, "-n", workers, "--judge-concurrency=2"]
    _, output = stop_half_way(server, arguments, tmp_path, calls=15, how=how)
    asked = len(server.calls)
    assert 15 <= asked < 40
    kept = len(list((tmp_path / "cache").glob("*/*.json")))
    assert kept >= 15 - 2, "all but those on their way"
    if how == signal.SIGINT:
        results = tmp_path / "robomem-results"
        assert len(table(results)) >= 5, output
        report = json.loads((results / "judges.json").read_text())
        assert report["plan"][0]["plans"] == 40, "what was not judged stays in the denominator"
    server.latency = 0
    done = run_pytest(*arguments, "-n", "0")
    assert "40 passed" in done.stdout
    assert len(server.calls) - asked == 40 - kept, "exactly what was missing"
    assert len(table(tmp_path / "robomem-results")) == 40


def test_loading_the_plugin_imports_nothing_heavy(run_process: Run, tmp_path: Path) -> None:
    (tmp_path / "test_light.py").write_text(
        "import sys\n"
        "def test_light(request):\n"
        "    assert 'pytest_robomem.judges.plugin' in sys.modules\n"
        "    heavy = {'pydantic', 'google.genai', 'numpy', 'scipy', 'cv2', 'PIL', 'tenacity'}\n"
        "    assert not heavy & set(sys.modules)\n"
    )
    done = run_process("test_light.py")
    assert "1 passed" in done.stdout, done.stdout
