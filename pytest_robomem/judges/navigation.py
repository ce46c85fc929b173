"""The navigation judge: binary metrics of generated videos and images."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .client import Media, Question
from .engine import JudgeEngine
from .media import fingerprint_all
from .navigation_metrics import (
    METRICS,
    NavigationReply,
    Task,
    gates,
    parse_navigation_reply,
    primary_metric,
    reply_schema,
    without_contradictions,
)
from .navigation_samples import NavigationSample
from .outcomes import AttemptFailedError, JudgeStatus
from .prompts import load_prompt, prompt_root
from .provenance import answered_by, provenance
from .verdicts import NavigationVerdict
from .voting import agreement, majority, ok_values, overall_status, votes_of


def build_question(
    prompt: str, sample: NavigationSample, scene: Media, output: Media, *, media_first: bool
) -> Question:
    """One message: prompt, initial scene, location text where the sample has one, the output.

    With `media_first` the media come first in the same order, and the texts after them.
    """
    texts = [prompt]
    if sample.location_text is not None:
        texts.append(f"Location description of the destination:\n{sample.location_text}")
    parts: tuple[str | Media, ...] = (texts[0], scene, *texts[1:], output)
    if media_first:
        parts = (scene, output, *texts)
    return Question(None, parts, reply_schema(sample.task))


def prompt_id(task: Task, modality: str) -> str:
    """Id of the prompt of a task and modality."""
    return f"navigation/{task}/{modality}"


@dataclass(frozen=True, slots=True)
class _Parser:
    task: Task

    def __call__(self, text: str) -> NavigationReply:
        return parse_navigation_reply(text, self.task)


async def judge_navigation(
    engine: JudgeEngine,
    sample: NavigationSample,
    *,
    folder: Path,
    source: str,
    source_path: str | None = None,
) -> NavigationVerdict:
    """Judge one output; `folder` is what the sample's paths are relative to.

    Faults of the file, of the model or of the way to it are the verdict's status. Raises
    `PromptError`, `ReplayMissError`, `BudgetSpentError` or `MissingKeyError`.
    """
    settings = engine.settings
    prompt = load_prompt(prompt_root(settings.prompts), prompt_id(sample.task, sample.modality))
    common: dict[str, Any] = {
        "sample_id": sample.sample_id,
        "source": source,
        "source_path": source_path,
        "task": sample.task,
        "modality": sample.modality,
        "level": sample.level,
        "model": sample.model,
        "attempt": sample.attempt,
    }
    try:
        if sample.output_path is None:
            raise AttemptFailedError(JudgeStatus.FILE_FAILED, "the generator gave no output")
        scene, output = await asyncio.to_thread(
            fingerprint_all,
            ((folder / sample.scene_ref, "image"), (folder / sample.output_path, sample.modality)),
        )
    except AttemptFailedError as failure:
        return NavigationVerdict(
            **common,
            provenance=provenance(engine, "navigation", (prompt,), None),
            status=failure.status,
            reason=str(failure),
        )
    question = build_question(
        prompt.text, sample, scene, output, media_first=settings.media_order == "media-first"
    )
    parse: Callable[[str], NavigationReply] = _Parser(sample.task)
    answers = await engine.ask(question, parse)
    votes = votes_of(answers, lambda reply: reply.metrics)
    model_version, warnings = answered_by(engine, votes)
    common |= {
        "provenance": provenance(engine, "navigation", (prompt,), question),
        "votes": votes,
        "model_version": model_version,
        "warnings": warnings,
    }
    status, reason = overall_status(votes)
    if status is not JudgeStatus.OK:
        return NavigationVerdict(**common, status=status, reason=reason)
    values = ok_values(votes)
    raw = {name: majority([each[name] for each in values]) for name in METRICS[sample.task]}
    metrics, inconsistent = without_contradictions(sample.task, raw)
    share, flipped = agreement(values, raw)
    return NavigationVerdict(
        **common,
        status=status,
        metrics_raw=raw,
        metrics=metrics,
        gates=gates(sample.task, metrics),
        inconsistent=inconsistent,
        success=bool(metrics[primary_metric(sample.task)]),
        agreement=share,
        flipped=flipped,
        reasoning=next(answer.value.reasoning for answer in answers if answer.value),
    )
