"""Hostile traces, manifests and replies: nothing but the documented exceptions, no wrong score."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from judge_samples import failed_trace, sample, trace

from pytest_robomem.judges.navigation_metrics import METRICS, TASKS, keys_of, parse_navigation_reply
from pytest_robomem.judges.navigation_samples import NavigationSample
from pytest_robomem.judges.outcomes import AttemptFailedError, JudgeInputError
from pytest_robomem.judges.plan import parse_plan_reply
from pytest_robomem.judges.plan_rules import apply_rules, facts_of
from pytest_robomem.judges.prompts import fill, load_prompt, prompt_root
from pytest_robomem.judges.replies import parse_object
from pytest_robomem.judges.rollout import parse_rollout_reply
from pytest_robomem.judges.rows import read_rows
from pytest_robomem.judges.tables import cell
from pytest_robomem.judges.textsafe import one_line, redact
from pytest_robomem.judges.traces import PlanTrace, prompt_values

QUICK = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
ANY_TEXT = st.text(st.characters(), max_size=60)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=8,
)
KEYS = ["summary", "execution_analysis", "evaluate", "score", "success_boolean"]


def read(parse: Callable[[str], Any], text: str) -> tuple[Any, str | None]:
    """The value, or the status of the only exception that a parser may raise."""
    try:
        return parse(text), None
    except AttemptFailedError as failure:
        return None, failure.status


@QUICK
@given(ANY_TEXT | JSON.map(json.dumps))
def test_any_text_as_a_reply(text: str) -> None:
    for parse in (
        parse_object,
        parse_plan_reply,
        lambda each: parse_rollout_reply(each, 2),
        *(lambda each, task=task: parse_navigation_reply(each, task) for task in TASKS),
    ):
        assert read(parse, text)[1] in (None, "parse_error", "schema_error")


@QUICK
@given(
    st.dictionaries(st.sampled_from([*KEYS, "extra"]), JSON | st.integers(-2, 6) | st.booleans())
)
def test_any_object_as_a_plan_reply(reply: dict[str, Any]) -> None:
    parsed, status = read(parse_plan_reply, json.dumps(reply))
    if parsed is None:
        assert status == "schema_error"
        return
    assert set(reply) == set(KEYS)
    assert type(parsed.score) is int
    assert 0 <= parsed.score <= 4
    assert not isinstance(reply["score"], (bool, float))
    assert int(reply["score"]) == parsed.score


@QUICK
@given(st.data(), st.sampled_from(TASKS))
def test_any_marks_as_a_navigation_reply(data: st.DataObject, task: Any) -> None:
    names = [name for metric in METRICS[task] for name in keys_of(task, metric)]
    mark = st.sampled_from(["0", "1", 0, 1, True, False, "2", None, 0.0, "", "yes", [], 7])
    scores = data.draw(st.dictionaries(st.sampled_from([*names, "OTHER"]), mark))
    if data.draw(st.booleans()):
        scores = {keys_of(task, metric)[0]: data.draw(mark) for metric in METRICS[task]} | scores
    text = json.dumps({"SCORES": scores, "reasoning": "r"})
    parsed, status = read(lambda each: parse_navigation_reply(each, task), text)
    if parsed is None:
        assert status == "schema_error"
        return
    assert tuple(parsed.metrics) == METRICS[task]
    assert len(scores) == len(METRICS[task])
    for metric, found in parsed.metrics.items():
        (given_name,) = [name for name in keys_of(task, metric) if name in scores]
        assert str(int(scores[given_name])) == str(found)


@QUICK
@given(st.dictionaries(st.sampled_from([*trace(), "remaining_actions", "goal_met"]), JSON))
def test_any_trace(changes: dict[str, Any]) -> None:
    try:
        plan = PlanTrace.model_validate(trace() | changes)
    except ValueError:
        return
    text = fill(load_prompt(prompt_root(), "plan/user").text, prompt_values(plan))
    text.encode("utf-8")
    assert 0 <= plan.progress_ratio <= 1


@QUICK
@given(ANY_TEXT.filter(bool), ANY_TEXT, JSON)
def test_any_instruction_stays_whole_and_inert(instruction: str, spatial: str, graph: Any) -> None:
    try:
        plan = PlanTrace.model_validate(
            trace(instruction=instruction, spatial_relationships=spatial, scene_graph=graph)
        )
    except ValueError:
        return
    values = prompt_values(plan)
    text = fill(load_prompt(prompt_root(), "plan/user").text, values)
    assert len(text) == len(load_prompt(prompt_root(), "plan/user").text) + sum(
        len(value) - len(name) - 2 for name, value in values.items()
    )


@QUICK
@given(
    st.integers(0, 4),
    st.integers(1, 6),
    st.integers(0, 6),
    st.sampled_from([None, True, False]),
    st.sampled_from(["semantic", "literal"]),
)
def test_rules_keep_scores_in_bounds(
    raw: int, done: int, left: int, goal_met: bool | None, profile: Any
) -> None:
    row = failed_trace(done, done + left, goal_met=goal_met) if left else trace(goal_met=goal_met)
    facts = facts_of(PlanTrace.model_validate(row))
    ruled = apply_rules(raw, facts, profile)
    assert 0 <= ruled.score <= 4
    if facts.failed:
        assert ruled.score == 3 if goal_met else ruled.score <= 2
    for lower in range(raw):
        assert apply_rules(lower, facts, profile).score <= ruled.score, "rules keep the order"


@QUICK
@given(
    st.lists(
        st.binary(max_size=80) | JSON.map(lambda value: json.dumps(value).encode()), max_size=5
    )
)
@pytest.mark.parametrize(
    ("model", "id_field"), [(PlanTrace, "id"), (NavigationSample, "sample_id")]
)
def test_any_file(tmp_path: Path, model: Any, id_field: str, lines: list[bytes]) -> None:
    path = tmp_path / "f.jsonl"
    path.write_bytes(b"\n".join(lines))
    with suppress(JudgeInputError):
        rows = read_rows(path, model, id_field)
        assert len({getattr(row, id_field) for row in rows}) == len(rows) <= len(lines)


@QUICK
@given(st.dictionaries(st.sampled_from([*sample(), "location_text", "attempt"]), JSON))
def test_any_manifest_row(changes: dict[str, Any]) -> None:
    try:
        row = NavigationSample.model_validate(sample() | changes)
    except ValueError:
        return
    assert row.task in TASKS


@QUICK
@given(ANY_TEXT)
def test_text_is_safe_to_store_and_show(text: str) -> None:
    assert not {"\t", "\n", "\r"} & set(cell(text))
    cell(text).encode("utf-8")
    shown = one_line(redact(text))
    assert shown.isprintable()
    shown.encode("utf-8")
