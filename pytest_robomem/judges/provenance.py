"""What a verdict rests on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from .cache import digest
from .client import Question, host, sdk_version
from .engine import JudgeEngine, same_model
from .prompts import Prompt, prompt_root, prompt_set_sha256
from .settings import JudgeSettings
from .verdicts import Provenance, Vote


@lru_cache(maxsize=64)
def config_sha256(settings: JudgeSettings, asked_host: str, kind: str) -> str:
    """Hash of the settings and prompts that change the verdicts of a kind of judge."""
    fields: dict[str, Any] = {
        "kind": kind,
        "provider": settings.provider,
        "host": asked_host,
        "api_version": settings.api_version,
        "model": settings.model,
        "votes": settings.votes,
        "temperature": settings.temperature,
        "seed": settings.seed,
        "thinking_budget": settings.thinking_budget,
        "max_output_tokens": settings.max_output_tokens,
        "prompts": prompt_set_sha256(prompt_root(settings.prompts), kind),
    }
    if kind == "plan":
        fields["profile"] = settings.profile
    else:
        fields |= {
            "fps": settings.fps,
            "media_resolution": settings.media_resolution,
            "media_order": settings.media_order,
        }
    return digest(fields)


def provenance(
    engine: JudgeEngine, kind: str, prompts: Sequence[Prompt], question: Question | None
) -> Provenance:
    """Describe how a verdict came about; `question` is None where nothing could be asked."""
    settings = engine.settings
    media = question.media if question is not None else ()
    has_video = any(item.is_video for item in media)
    return Provenance(
        provider=settings.provider,
        host=host(settings),
        api_version=settings.api_version,
        sdk=sdk_version(settings.provider),
        model_requested=settings.model,
        prompts={prompt.prompt_id: prompt.version for prompt in prompts},
        prompt_sha256=tuple(prompt.sha256 for prompt in prompts),
        schema_sha256=digest(question.schema) if question is not None else "",
        media_sha256=tuple(item.sha256 for item in media),
        fps=settings.fps if has_video else None,
        media_resolution=settings.media_resolution if media else None,
        media_order=settings.media_order,
        temperature=settings.temperature,
        seed=settings.seed,
        thinking_budget=settings.thinking_budget,
        max_output_tokens=settings.max_output_tokens,
        config_sha256=config_sha256(settings, host(settings), kind),
        prices_as_of=engine.prices.as_of,
    )


def answered_by(engine: JudgeEngine, votes: Sequence[Vote]) -> tuple[str | None, tuple[str, ...]]:
    """The model version behind the votes, and warnings where it is not the requested model."""
    versions = sorted({vote.model_version for vote in votes if vote.model_version})
    requested = engine.settings.model
    warnings = [
        f"{requested} was requested, {version} answered"
        for version in versions
        if not same_model(requested, version)
    ]
    if len(versions) > 1:
        warnings.append(f"votes of different models: {', '.join(versions)}")
    return ("+".join(versions) or None), tuple(warnings)
