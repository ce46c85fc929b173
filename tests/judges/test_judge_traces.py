"""Validation of plan traces, and what the prompt says about them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from judge_samples import failed_trace, trace
from pydantic import ValidationError

from pytest_robomem.judges.outcomes import JudgeInputError
from pytest_robomem.judges.rows import read_rows
from pytest_robomem.judges.traces import PlanTrace, prompt_values, split_action


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("stop()", ("stop", ())),
        ("navigate(sink)", ("navigate", ("sink",))),
        ("navigate(kitchen, sink)", ("navigate", ("kitchen", "sink"))),
        ("navigate(agent,kitchen,sink)", ("navigate", ("agent", "kitchen", "sink"))),
        ("Place_In( a b , c )", ("place_in", ("a b", "c"))),
    ],
)
def test_actions_have_up_to_three_arguments(
    text: str, expected: tuple[str, tuple[str, ...]]
) -> None:
    assert split_action(text) == expected


@pytest.mark.parametrize(
    "text", ["", "open_fridge", "f(a,b,c,d)", "f(a,)", "f(,)", "f(a", "f(a))", "1f(a)", "f((a))"]
)
def test_other_forms_of_actions_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="an action"):
        split_action(text)


@pytest.mark.parametrize(
    ("status", "failed"),
    [("SUCCESS", False), ("✅ SUCCESS", False), ("FAILED", True), ("❌ FAILED", True)],
)
def test_status_spellings(status: str, failed: bool) -> None:
    row = failed_trace(1, 3) if failed else trace()
    assert PlanTrace.model_validate(row | {"simulation_status": status}).failed is failed


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"simulation_status": "maybe"}, "SUCCESS or FAILED"),
        ({"steps_completed": 1}, "belongs to remaining_actions"),
        ({"total_steps": 3}, "no action may stand in both"),
        ({"remaining_actions": ["pick(a)"], "total_steps": 3}, "not empty"),
        ({"executed_actions": ["pick(a)", "place(a) --> ❌ FAILED here"]}, "marked as failed"),
        ({"executed_actions": ["pick(a)", "pick"]}, "written verb"),
        ({"id": "a b"}, "pattern"),
        ({"id": "a::b"}, "pattern"),
        ({"id": "a\n"}, "pattern"),
        ({"id": ""}, "pattern"),
        ({"id": "é" * 201}, "at most 200 characters"),
        ({"instruction": ""}, "at least 1 character"),
        ({"implied_steps": ["toggle on"]}, "written verb"),
        ({"surprise": 1}, "Extra inputs"),
        ({"simulation_status": "FAILED"}, "no action remains"),
    ],
)
def test_wrong_traces_say_what_is_wrong(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        PlanTrace.model_validate(trace(**changes))


def test_failing_action_listed_as_executed_and_remaining_is_refused() -> None:
    row = failed_trace(1, 3)
    row["executed_actions"].append(row["remaining_actions"][0])
    row["steps_completed"] = 2
    with pytest.raises(ValidationError, match="no action may stand in both"):
        PlanTrace.model_validate(row)


def test_empty_plan_has_no_progress() -> None:
    row = trace(executed_actions=[], steps_completed=0, total_steps=0)
    plan = PlanTrace.model_validate(row)
    assert plan.progress_ratio == 0.0
    assert prompt_values(plan)["progress_ratio"] == "0.0%"
    assert prompt_values(plan)["executed_actions"] == "(none)"


def test_prompt_values_of_a_failed_trace() -> None:
    values = prompt_values(PlanTrace.model_validate(failed_trace(2, 7)))
    assert values["progress_ratio"] == "28.6%"
    assert values["simulation_status"] == "❌ FAILED"
    assert values["error_reason"] == "Reason: cannot reach"
    assert values["executed_actions"] == "1. pick(thing0)\n2. pick(thing1)"
    assert values["remaining_actions"].startswith("3. place(thing2)\n4. ")
    assert "place(thing2)" not in values["executed_actions"]
    assert len(values) == 10


def test_implied_steps_match_verb_and_arguments() -> None:
    actions = ["place_in(mug, sink)", "toggle_on(lamp)"]
    plan = PlanTrace.model_validate(
        trace(
            executed_actions=actions, implied_steps=["toggle_on(faucet)", "Toggle_On", "place_in"]
        )
    )
    assert plan.missing_implied_steps == ("toggle_on(faucet)",)


def test_bad_lines_are_named_all_at_once(tmp_path: Path) -> None:
    path = tmp_path / "p.plan.jsonl"
    rows = [
        json.dumps(trace()),
        "",
        json.dumps(trace()),
        "{",
        json.dumps(trace(id="x", total_steps=9)),
    ]
    path.write_text("\n".join(rows) + '\n{"id": NaN}\n[]\n')
    with pytest.raises(JudgeInputError) as caught:
        read_rows(path, PlanTrace, "id")
    faults = str(caught.value).splitlines()
    assert [fault.split(": ")[0] for fault in faults] == [
        f"p.plan.jsonl:{line}" for line in (3, 4, 5, 6, 7)
    ]
    assert "stands in line 1 already" in faults[0]
    assert "total_steps is 9" in faults[2]
