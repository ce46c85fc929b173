"""The rollout judge: which stages of an episode does a viewer of its video see?

Its verdicts never decide a test. They stand beside the simulator's, so that a user learns how far
such a judge can be trusted where there is no simulator.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from .client import Question
from .engine import JudgeEngine
from .media import fingerprint
from .outcomes import AttemptFailedError, JudgeStatus
from .prompts import load_prompt, prompt_root
from .provenance import answered_by, provenance
from .replies import binary, parse_object, schema_error, text_field
from .textsafe import encodable
from .verdicts import RolloutVerdict, StageJudgement
from .voting import agreement, majority, ok_values, overall_status, votes_of


class RolloutStage(BaseModel):
    """A stage: its name, its kind ("pour", "drawer", ...) and whether the simulator saw it.

    `description` tells a viewer what to look for; the name is shown where it is empty.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    kind: str = Field(min_length=1)
    simulator: bool
    description: str = ""


class RolloutSample(BaseModel):
    """An episode as plain data: id, video, prompt and stages in their order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sample_id: str = Field(min_length=1)
    video_path: Path
    prompt: str = Field(min_length=1)
    stages: tuple[RolloutStage, ...] = Field(min_length=1, max_length=64)
    group: str | None = None


def reply_schema(stages: int) -> dict[str, Any]:
    """JSON schema of a reply; stages go by number, so that their names stay data."""
    names = [f"stage_{number}" for number in range(1, stages + 1)]
    mark = {"type": "string", "enum": ["0", "1"]}
    return {
        "type": "object",
        "properties": {
            "STAGES": {
                "type": "object",
                "properties": dict.fromkeys(names, mark),
                "required": names,
                "propertyOrdering": names,
            },
            "reasoning": {"type": "string"},
        },
        "required": ["STAGES", "reasoning"],
        "propertyOrdering": ["STAGES", "reasoning"],
    }


@dataclass(frozen=True, slots=True)
class RolloutReply:
    """A validated reply: 0/1 by `stage_<number>`."""

    marks: dict[str, int]
    reasoning: str


@dataclass(frozen=True, slots=True)
class _Parser:
    stages: int

    def __call__(self, text: str) -> RolloutReply:
        return parse_rollout_reply(text, self.stages)


def parse_rollout_reply(text: str, stages: int) -> RolloutReply:
    """Read a reply of the rollout judge. Raises `AttemptFailedError`."""
    reply = parse_object(text)
    if set(reply) != {"STAGES", "reasoning"} or not isinstance(reply["STAGES"], dict):
        raise schema_error(f"STAGES and reasoning are expected, got {sorted(reply)}")
    marks = reply["STAGES"]
    names = [f"stage_{number}" for number in range(1, stages + 1)]
    if set(marks) != set(names):
        raise schema_error(f"one mark for each of {stages} stages is expected, got {sorted(marks)}")
    return RolloutReply(
        {name: int(binary(marks[name], name)) for name in names},
        text_field(reply["reasoning"], "reasoning"),
    )


def _episode_text(sample: RolloutSample) -> str:
    stages = [
        {"number": number, "stage": stage.description or stage.name}
        for number, stage in enumerate(sample.stages, start=1)
    ]
    data = {"instruction": sample.prompt, "stages": stages}
    return encodable(json.dumps(data, ensure_ascii=False, indent=1))


async def judge_rollout(
    engine: JudgeEngine, sample: RolloutSample, *, source: str
) -> RolloutVerdict:
    """Ask which stages the video shows; the simulator's verdicts are never shown to the judge.

    Faults of the file, of the model or of the way to it are the verdict's status. Raises
    `PromptError`, `ReplayMissError`, `BudgetSpentError` or `MissingKeyError`.
    """
    settings = engine.settings
    prompt = load_prompt(prompt_root(settings.prompts), "rollout/video")
    common: dict[str, Any] = {
        "sample_id": sample.sample_id,
        "source": source,
        "group": sample.group,
    }
    unjudged = tuple(
        StageJudgement(name=stage.name, stage_kind=stage.kind, simulator=stage.simulator)
        for stage in sample.stages
    )
    try:
        video = await asyncio.to_thread(fingerprint, sample.video_path, "video")
    except AttemptFailedError as failure:
        return RolloutVerdict(
            **common,
            provenance=provenance(engine, "rollout", (prompt,), None),
            stages=unjudged,
            status=failure.status,
            reason=str(failure),
        )
    texts = (prompt.text, _episode_text(sample))
    parts = (video, *texts) if settings.media_order == "media-first" else (*texts, video)
    question = Question(None, parts, reply_schema(len(sample.stages)))
    answers = await engine.ask(question, _Parser(len(sample.stages)))
    votes = votes_of(answers, lambda reply: reply.marks)
    model_version, warnings = answered_by(engine, votes)
    common |= {
        "provenance": provenance(engine, "rollout", (prompt,), question),
        "votes": votes,
        "model_version": model_version,
        "warnings": warnings,
    }
    status, reason = overall_status(votes)
    if status is not JudgeStatus.OK:
        return RolloutVerdict(**common, stages=unjudged, status=status, reason=reason)
    values = ok_values(votes)
    final = {name: majority([each[name] for each in values]) for name in values[0]}
    share, flipped = agreement(values, final)
    return RolloutVerdict(
        **common,
        status=status,
        stages=tuple(
            stage.model_copy(update={"judge": bool(final[f"stage_{number}"])})
            for number, stage in enumerate(unjudged, start=1)
        ),
        agreement=share,
        flipped=flipped,
        reasoning=next(answer.value.reasoning for answer in answers if answer.value),
    )
