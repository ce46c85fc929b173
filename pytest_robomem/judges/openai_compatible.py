"""An OpenAI-compatible endpoint, such as a local vLLM that serves a Qwen-VL judge."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import openai

from .client import Media, Question, Reply, UsageSpent, base_url
from .http_facts import RETRYABLE_CODES, parse_seconds
from .outcomes import AttemptFailedError, JudgeStatus
from .settings import JudgeSettings
from .textsafe import one_line, redact, remove
from .verdicts import Usage


class OpenAICompatibleClient:
    """Asks `chat.completions` with a JSON schema; media go inline as data URLs."""

    def __init__(self, settings: JudgeSettings, api_key: str) -> None:
        self._settings = settings
        self._secrets = (api_key,) if api_key != "none" else ()
        self._client = openai.AsyncOpenAI(
            api_key=api_key, base_url=base_url(settings), max_retries=0
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    @asynccontextmanager
    async def prepared(
        self,
        question: Question,
        *,
        timeout: float,
    ) -> AsyncIterator[Sequence[Any]]:
        """Check that everything fits one request, since there is no upload here."""
        size = sum(media.size for media in question.media)
        if size > self._settings.inline_limit:
            raise AttemptFailedError(
                JudgeStatus.FILE_FAILED,
                f"{size} bytes of media exceed the inline limit of "
                f"{self._settings.inline_limit}, and this provider has no upload",
            )
        yield question.parts

    async def _wire_part(self, part: str | Media) -> dict[str, Any]:
        if isinstance(part, str):
            return {"type": "text", "text": part}
        try:
            data = await asyncio.to_thread(Path(part.path).read_bytes)
        except OSError as error:
            raise AttemptFailedError(JudgeStatus.FILE_FAILED, one_line(str(error))) from None
        kind = "video_url" if part.is_video else "image_url"
        url = f"data:{part.mime_type};base64,{base64.b64encode(data).decode('ascii')}"
        return {"type": kind, kind: {"url": url}}

    async def generate(
        self,
        question: Question,
        parts: Sequence[Any],
        *,
        timeout: float,
        max_output_tokens: int | None,
        seed: int | None,
        spent: UsageSpent,
    ) -> Reply:
        """Ask once. Raises `AttemptFailedError` for everything but a reply that ended normally."""
        messages: list[Any] = []
        if question.system is not None:
            messages.append({"role": "system", "content": question.system})
        content = [await self._wire_part(part) for part in parts]
        messages.append({"role": "user", "content": content})
        optional: dict[str, Any] = {
            "temperature": self._settings.temperature,
            "seed": seed,
            "max_tokens": max_output_tokens,
        }
        extra: dict[str, Any] = {}
        if any(media.is_video for media in question.media):
            extra["mm_processor_kwargs"] = {"fps": self._settings.fps}
        try:
            response = await self._client.chat.completions.create(
                model=self._settings.model,
                messages=messages,
                response_format={
                    "type": "json_schema",
                    "json_schema": {"name": "verdict", "schema": question.schema, "strict": True},
                },
                timeout=timeout,
                extra_body=extra or None,
                **{name: value for name, value in optional.items() if value is not None},
            )
        except openai.APIError as error:
            raise self._failure(error) from None
        except (ValueError, AttributeError, TypeError) as error:
            raise AttemptFailedError(
                JudgeStatus.API_ERROR,
                f"the server's reply is not the API's ({type(error).__name__})",
                retryable=True,
            ) from None
        if isinstance(response, str) or not hasattr(response, "choices"):
            raise AttemptFailedError(
                JudgeStatus.API_ERROR, "the server's reply is not the API's", retryable=True
            )
        usage = _usage(response.usage)
        version = one_line(redact(response.model, self._secrets)) if response.model else None
        spent(usage, version)
        return Reply(remove(_checked_text(response.choices), self._secrets), version, usage)

    def _failure(self, error: openai.APIError) -> AttemptFailedError:
        message = one_line(redact(f"{type(error).__name__}: {error}", self._secrets))
        if isinstance(error, openai.APITimeoutError):
            return AttemptFailedError(JudgeStatus.TIMEOUT, "no reply in time", retryable=True)
        if not isinstance(error, openai.APIStatusError):
            return AttemptFailedError(JudgeStatus.API_ERROR, message, retryable=True)
        code = error.status_code
        return AttemptFailedError(
            JudgeStatus.TIMEOUT if code in (408, 504) else JudgeStatus.API_ERROR,
            message,
            retryable=code in RETRYABLE_CODES,
            retry_after=parse_seconds(error.response.headers.get("retry-after")),
            rate_limited=code == 429,
        )


def _usage(usage: Any) -> Usage:
    if usage is None:
        return Usage()
    details = getattr(usage, "prompt_tokens_details", None)
    return Usage(
        prompt=usage.prompt_tokens or 0,
        output=usage.completion_tokens or 0,
        cached=(getattr(details, "cached_tokens", None) or 0) if details else 0,
    )


def _checked_text(choices: Sequence[Any] | None) -> str:
    if not choices:
        raise AttemptFailedError(JudgeStatus.EMPTY, "the reply has no choices", retryable=True)
    choice = choices[0]
    if choice.finish_reason == "length":
        raise AttemptFailedError(
            JudgeStatus.TRUNCATED, "the reply was cut off: length", retryable=True
        )
    if choice.finish_reason == "content_filter" or getattr(choice.message, "refusal", None):
        raise AttemptFailedError(JudgeStatus.BLOCKED, "the reply was filtered")
    text = choice.message.content or ""
    if not text.strip():
        raise AttemptFailedError(JudgeStatus.EMPTY, "the reply has no text", retryable=True)
    return str(text)
