"""Statistics against independent implementations, and the comparison with people's labels."""

from __future__ import annotations

import argparse
import json
import math
import random
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from pytest_robomem.judges import agreement_cli
from pytest_robomem.judges.agreement import compare, read_labels
from pytest_robomem.judges.navigation_metrics import METRICS, gates
from pytest_robomem.judges.outcomes import JudgeInputError, JudgeStatus
from pytest_robomem.judges.rollout_report import compare_with_simulator
from pytest_robomem.judges.session import JOURNAL_NAME
from pytest_robomem.judges.statistics import (
    cohen_kappa,
    confusion,
    kappa_interval,
    krippendorff_alpha,
    wilson,
)
from pytest_robomem.judges.verdicts import (
    NavigationVerdict,
    PlanVerdict,
    Provenance,
    RolloutVerdict,
    StageJudgement,
)
from pytest_robomem.results.journal import Journal

PROVENANCE = Provenance(
    provider="gemini",
    host="h",
    api_version="v",
    sdk="s",
    model_requested="m",
    prompts={},
    prompt_sha256=(),
    schema_sha256="",
    media_sha256=(),
    fps=None,
    media_resolution=None,
    media_order="",
    temperature=None,
    seed=None,
    thinking_budget=None,
    max_output_tokens=None,
    config_sha256="c" * 64,
    prices_as_of=None,
)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("weights", ["nominal", "quadratic"])
def test_kappa_equals_scikit_learn(seed: int, weights: Any) -> None:
    draw = random.Random(seed)
    first = [draw.randrange(5) for _ in range(30)]
    second = [value if draw.random() < 0.6 else draw.randrange(5) for value in first]
    oracle = cohen_kappa_score(
        first, second, labels=range(5), weights=None if weights == "nominal" else weights
    )
    assert cohen_kappa(first, second, 5, weights) == pytest.approx(oracle)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_equals_the_krippendorff_package(seed: int, level: Any) -> None:
    draw = random.Random(seed)
    units = []
    for _ in range(25):
        true = draw.randrange(5)
        marks = [true if draw.random() < 0.7 else draw.randrange(5) for _ in range(4)]
        units.append([mark if draw.random() < 0.8 else None for mark in marks])
    table = np.array([[math.nan if m is None else m for m in unit] for unit in units]).T
    oracle = krippendorff.alpha(reliability_data=table, level_of_measurement=level)
    assert krippendorff_alpha(units, level) == pytest.approx(oracle)


def test_constant_ratings_give_nan_and_no_exception() -> None:
    assert math.isnan(cohen_kappa([1, 1], [1, 1], 2))
    assert cohen_kappa([1, 1], [0, 0], 2) == 0.0
    assert math.isnan(krippendorff_alpha([[1, 1], [1, 1]], "nominal"))
    assert math.isnan(krippendorff_alpha([[1, None], [2, None]], "nominal"))
    assert math.isnan(krippendorff_alpha([], "ordinal"))
    assert math.isnan(cohen_kappa([], [], 2))
    assert kappa_interval([[[5, 0], [0, 0]]] * 9) is None
    assert kappa_interval([]) is None


def test_wilson_by_hand() -> None:
    low, high = wilson(8, 10) or (0, 0)
    assert (low, high) == (pytest.approx(0.4902, abs=1e-4), pytest.approx(0.9433, abs=1e-4))
    assert wilson(0, 0) is None


def test_confusion_rows_are_the_first_rater() -> None:
    assert confusion([0, 0, 1], [1, 1, 0], 2) == [[0, 2], [1, 0]]


def plan(sample_id: str, score: int | None, **changes: Any) -> PlanVerdict:
    values: dict[str, Any] = {
        "sample_id": sample_id,
        "source": "p.plan.jsonl",
        "provenance": PROVENANCE,
        "status": JudgeStatus.OK if score is not None else JudgeStatus.EMPTY,
        "model_version": "m",
        "profile": "semantic",
        "score": score,
        "sim_success": True,
        "steps_completed": 1,
        "total_steps": 1,
        "progress_ratio": 1.0,
    }
    return PlanVerdict(**values | changes)


def navigation(sample_id: str, zeros: tuple[str, ...] = ()) -> NavigationVerdict:
    metrics = {name: int(name not in zeros) for name in METRICS["top_down"]}
    return NavigationVerdict(
        sample_id=sample_id,
        source="n.nav.jsonl",
        provenance=PROVENANCE,
        status=JudgeStatus.OK,
        model_version="m",
        task="top_down",
        modality="video",
        metrics=metrics,
        gates=gates("top_down", metrics),
        success=bool(metrics["success_2d"]),
    )


def labels(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "human.csv"
    path.write_text(text)
    return path


def value(result: dict[str, Any], name: str) -> dict[str, Any]:
    (row,) = [each for each in result["values"] if each["value"] == name]
    return row


def test_plans_by_hand(tmp_path: Path) -> None:
    verdicts = [plan(f"p{index}", score) for index, score in enumerate([4, 3, 3, 1, 0, None])]
    text = "sample_id,score\np0,4\np1,2\np2,3\np3,1\np4,0\np5,4\nother,3\n"
    result = compare(verdicts, read_labels(labels(tmp_path, text)))
    assert (
        result["labelled"],
        result["labels_without_verdict"],
        result["labelled_but_unscored"],
    ) == (7, 1, 1)
    score = value(result, "score")
    assert (score["samples"], score["equal_rate"]) == (5, 0.8)
    assert score["confusion_human_by_judge"][2] == [0, 0, 0, 1, 0]
    assert score["cohen_kappa"] == pytest.approx(
        cohen_kappa_score([4, 2, 3, 1, 0], [4, 3, 3, 1, 0], weights="quadratic"), abs=1e-6
    )
    assert score["kappa_weights"] == "quadratic"
    success = value(result, "success")
    assert success["confusion_human_by_judge"] == [[2, 1], [0, 2]]
    assert success["false_positive_rate"] == pytest.approx(1 / 3)
    assert success["false_negative_rate"] == 0.0
    assert (success["judge_rate"], success["human_rate"]) == (0.6, 0.4)
    assert success["false_positive_interval"] == pytest.approx(wilson(1, 3))


def test_metrics_aliases_raters_and_sources(tmp_path: Path) -> None:
    verdicts = [navigation("a"), navigation("b", ("success_2d",)), plan("a", 4)]
    text = (
        "sample_id,source,rater,SUCCESS_SCORE,object_semantic,score\n"
        "a,n.nav.jsonl,ann,1,1,\na,n.nav.jsonl,bob,0,1,\na,n.nav.jsonl,cem,1,,\n"
        "b,,ann,1,0,\na,p.plan.jsonl,ann,,,3\na,p.plan.jsonl,bob,,,4\n"
    )
    result = compare(verdicts, read_labels(labels(tmp_path, text)))
    success = value(result, "success_2d")
    assert success["confusion_human_by_judge"] == [[0, 0], [1, 1]], "the majority says 1 of a"
    assert value(result, "object_semantic")["confusion_human_by_judge"] == [[0, 1], [0, 1]]
    assert value(result, "score")["confusion_human_by_judge"][3][4] == 1, "the lower median is 3"
    assert success["krippendorff_alpha"] == pytest.approx(
        krippendorff_alpha([[1, 1, 0, 1], [0, 1]], "nominal"), abs=1e-6
    )
    assert success["krippendorff_alpha_people"] is not None


def test_overall_needs_all_metrics_of_a_person(tmp_path: Path) -> None:
    names = METRICS["top_down"]
    full = labels(
        tmp_path, f"sample_id,{','.join(names)}\na,{','.join('1' * 7)}\nb,{','.join('1' * 7)}\n"
    )
    result = compare([navigation("a"), navigation("b", ("object_semantic",))], read_labels(full))
    assert value(result, "overall")["confusion_human_by_judge"] == [[0, 0], [1, 1]]
    part = labels(tmp_path, "sample_id,success_2d\na,1\n")
    rows = compare([navigation("a")], read_labels(part))["values"]
    assert [row["value"] for row in rows] == ["success_2d"]
    assert rows[0]["cohen_kappa"] is None, "nan in JSON is null"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "sample_id is missing"),
        ("id,score\na,1\n", "sample_id is missing"),
        ("sample_id,score\n", "no labels"),
        ("sample_id,score\na,5\n", "human.csv:2: score must be 0 to 4, got '5'"),
        ("sample_id,success_2d\na,2\n", "must be 0 to 1"),
        ("sample_id,score\na,yes\n", "got 'yes'"),
        ("sample_id,mood\na,1\n", "unknown columns: mood"),
        ("sample_id,score\na,1\na,2\n", "a second row"),
        ("sample_id,score\na\n", "number of cells"),
        ("sample_id,score\na,1,2\n", "number of cells"),
        ("sample_id,score,score\na,1,1\n", "stands twice"),
        ("sample_id,score\n,1\n", "sample_id is empty"),
    ],
)
def test_wrong_labels_say_where(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(JudgeInputError, match=message):
        read_labels(labels(tmp_path, text))


def test_labels_of_other_samples_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(JudgeInputError, match="compare the sample ids"):
        compare([plan("a", 1)], read_labels(labels(tmp_path, "sample_id,score\nz,1\n")))


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    agreement_cli.add_arguments(parser)
    path = labels(tmp_path, "sample_id,score\na,4\nb,4\n")
    arguments = parser.parse_args([str(tmp_path / "results"), str(path)])
    assert agreement_cli.run(arguments) == 2
    assert "judge something first" in capsys.readouterr().err
    journal = Journal(tmp_path / "results" / JOURNAL_NAME)
    for verdict in (plan("a", 4), plan("b", 4)):
        journal.append(verdict.model_dump(mode="json"))
    assert agreement_cli.run(arguments) == 0
    shown = capsys.readouterr().out
    assert "kappa nan (quadratic), alpha nan" in shown
    assert "equal 100.0%" in shown
    written = json.loads((tmp_path / "results" / "agreement.json").read_text())
    assert value(written, "score")["cohen_kappa"] is None
    path.write_text("sample_id,score\na,9\n")
    assert agreement_cli.run(arguments) == 2
    assert "0 to 4" in capsys.readouterr().err


def rollout(number: int, stages: list[tuple[str, bool, bool | None]]) -> RolloutVerdict:
    return RolloutVerdict(
        sample_id=f"r{number}",
        source="s",
        provenance=PROVENANCE,
        model_version="m",
        status=JudgeStatus.OK,
        stages=tuple(
            StageJudgement(name="x", stage_kind=kind, simulator=simulator, judge=judge)
            for kind, simulator, judge in stages
        ),
    )


def test_judge_against_simulator_by_kind() -> None:
    verdicts = [
        rollout(number, [("pour", number % 2 == 0, number % 2 == 0), ("drawer", number < 5, True)])
        for number in range(10)
    ]
    rows = {row["stage_kind"]: row for row in compare_with_simulator(verdicts)}
    assert set(rows) == {"all", "pour", "drawer"}
    assert (rows["pour"]["kappa"], rows["pour"]["kappa_interval"]) == (1.0, (1.0, 1.0))
    drawer = rows["drawer"]
    assert (drawer["stages"], drawer["episodes"], drawer["false_positives"]) == (10, 10, 5)
    assert (drawer["kappa"], drawer["simulator_rate"], drawer["judge_rate"]) == (0.0, 0.5, 1.0)
    simulator = [value for n in range(10) for value in (n % 2 == 0, n < 5)]
    judge = [value for n in range(10) for value in (n % 2 == 0, True)]
    everything = rows["all"]
    assert everything["kappa"] == pytest.approx(cohen_kappa_score(simulator, judge), abs=1e-6)
    low, high = everything["kappa_interval"]
    assert low < everything["kappa"] < high


def test_unscored_rollouts_are_left_out() -> None:
    verdict = rollout(0, [("pour", True, None)]).model_copy(update={"status": JudgeStatus.EMPTY})
    assert compare_with_simulator([verdict]) == []


def test_bootstrap_draws_whole_episodes() -> None:
    agreeing, opposing = [[4, 0], [0, 4]], [[0, 4], [4, 0]]
    low, high = kappa_interval([agreeing] * 5 + [opposing] * 5) or (0, 0)
    flat = [[[1, 0], [0, 0]], [[0, 0], [0, 1]], [[0, 1], [0, 0]], [[0, 0], [1, 0]]] * 20
    narrow_low, narrow_high = kappa_interval(flat) or (0, 0)
    assert low < narrow_low < 0 < narrow_high < high
