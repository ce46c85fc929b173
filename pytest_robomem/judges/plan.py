"""The plan judge: how well did an LLM's plan serve its instruction, 0 to 4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .client import Question
from .engine import JudgeEngine
from .outcomes import JudgeStatus
from .plan_rules import (
    PERFECT_SCORE,
    SUCCESS_SCORE,
    apply_rules,
    decided_without_model,
    facts_of,
)
from .prompts import fill, load_prompt, prompt_root
from .provenance import answered_by, provenance
from .replies import parse_object, schema_error, text_field
from .traces import PlanTrace, prompt_values
from .verdicts import PlanVerdict, RuleApplied
from .voting import agreement, lower_median, ok_values, overall_status, votes_of

_TEXTS = ("summary", "execution_analysis", "evaluate")
_FIELDS = (*_TEXTS, "score", "success_boolean")

# No additionalProperties and no integer enum: the API refuses the one and mangles the other, so
# the reply is validated strictly here instead.
PLAN_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        **{name: {"type": "string"} for name in _TEXTS},
        "score": {"type": "integer", "minimum": 0, "maximum": 4},
        "success_boolean": {"type": "boolean"},
    },
    "required": list(_FIELDS),
    "propertyOrdering": list(_FIELDS),
}


@dataclass(frozen=True, slots=True)
class PlanReply:
    """A validated reply."""

    summary: str
    execution_analysis: str
    evaluate: str
    score: int
    success_boolean: bool


def parse_plan_reply(text: str) -> PlanReply:
    """Read a reply of the plan judge. Raises `AttemptFailedError`."""
    reply = parse_object(text)
    if set(reply) != set(_FIELDS):
        missing, unknown = set(_FIELDS) - set(reply), set(reply) - set(_FIELDS)
        raise schema_error(f"missing keys {sorted(missing)}, unknown keys {sorted(unknown)}")
    summary, analysis, evaluate = (text_field(reply[name], name) for name in _TEXTS)
    return PlanReply(
        summary, analysis, evaluate, _score(reply["score"]), _boolean(reply["success_boolean"])
    )


def _score(value: object) -> int:
    if isinstance(value, str) and value.strip() in ("0", "1", "2", "3", "4"):
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= PERFECT_SCORE:
        return value
    raise schema_error(f"score must be an integer from 0 to 4, got {value!r}")


def _boolean(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    raise schema_error(f"success_boolean must be true or false, got {value!r}")


async def judge_plan(
    engine: JudgeEngine, trace: PlanTrace, *, source: str, source_path: str | None = None
) -> PlanVerdict:
    """Judge one plan; faults of the model or the way to it are the verdict's status.

    Raises `PromptError`, `ReplayMissError`, `BudgetSpentError` or `MissingKeyError`.
    """
    root = prompt_root(engine.settings.prompts)
    system, user = (load_prompt(root, name) for name in ("plan/system", "plan/user"))
    question = Question(system.text, (fill(user.text, prompt_values(trace)),), PLAN_SCHEMA)
    common: dict[str, Any] = {
        "sample_id": trace.id,
        "source": source,
        "source_path": source_path,
        "group": trace.group,
        "profile": engine.settings.profile,
        "provenance": provenance(engine, "plan", (system, user), question),
        "sim_success": not trace.failed,
        "steps_completed": trace.steps_completed,
        "total_steps": trace.total_steps,
        "progress_ratio": round(trace.progress_ratio, 6),
    }
    facts = facts_of(trace)
    if (rule := decided_without_model(facts)) is not None:
        return PlanVerdict(
            **common,
            status=JudgeStatus.RULE,
            reason=rule,
            score=0,
            success=False,
            strict_success=False,
            rules=(RuleApplied(rule=rule, before=0, after=0),),
        )
    answers = await engine.ask(question, parse_plan_reply)
    votes = votes_of(
        answers,
        lambda reply: {"score": reply.score, "success_boolean": int(reply.success_boolean)},
    )
    model_version, warnings = answered_by(engine, votes)
    common |= {"votes": votes, "model_version": model_version, "warnings": warnings}
    status, reason = overall_status(votes)
    if status is not JudgeStatus.OK:
        return PlanVerdict(**common, status=status, reason=reason)
    scores = [{"score": values["score"]} for values in ok_values(votes)]
    score_raw = lower_median([each["score"] for each in scores])
    ruled = apply_rules(score_raw, facts, engine.settings.profile)
    chosen = next(
        answer.value for answer in answers if answer.value and answer.value.score == score_raw
    )
    share, flipped = agreement(scores, {"score": score_raw})
    success = ruled.score >= SUCCESS_SCORE
    return PlanVerdict(
        **common,
        status=status,
        score_raw=score_raw,
        score=ruled.score,
        success=success,
        strict_success=ruled.score == PERFECT_SCORE,
        rules=ruled.rules,
        progress_conflict=ruled.progress_conflict,
        judge_success=chosen.success_boolean,
        judge_success_differs=chosen.success_boolean != success,
        agreement=share,
        flipped=flipped,
        summary=chosen.summary,
        execution_analysis=chosen.execution_analysis,
        evaluate=chosen.evaluate,
    )
