"""Gemini through google-genai: `models.generate_content` and the Files API."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, NoReturn

import httpx2
from google import genai
from google.genai import errors, types

from .client import Media, Question, Reply, UsageSpent, base_url
from .http_facts import RETRYABLE_CODES, parse_seconds
from .outcomes import AttemptFailedError, JudgeStatus
from .settings import JudgeSettings
from .textsafe import one_line, redact, remove
from .verdicts import Usage

log = logging.getLogger(__name__)

FILE_POLL_S = 2.0
CLEANUP_TIMEOUT_S = 10.0
_RESOLUTIONS = {
    "low": types.MediaResolution.MEDIA_RESOLUTION_LOW,
    "medium": types.MediaResolution.MEDIA_RESOLUTION_MEDIUM,
    "high": types.MediaResolution.MEDIA_RESOLUTION_HIGH,
}
_STOPPED_BY_FILTER = frozenset(
    {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "LANGUAGE"}
)
# What a broken connection, a reply that is no JSON, or JSON of another form raise in the SDK.
_TRANSPORT_ERRORS = (httpx2.HTTPError, httpx2.StreamError, OSError)
_FOREIGN_REPLY_ERRORS = (ValueError, KeyError, AttributeError, TypeError)


class GeminiClient:
    """Asks Gemini; the SDK's own retries stay off, since the engine has the one loop."""

    def __init__(self, settings: JudgeSettings, api_key: str) -> None:
        self._settings = settings
        self._secrets = (api_key,)
        # One set of certificates; the SDK's other client would read them all again.
        trusted = httpx2.create_ssl_context()
        # An explicit transport keeps the SDK off aiohttp, whose path retries on its own.
        self._client = genai.Client(
            vertexai=False,
            api_key=api_key,
            http_options=types.HttpOptions(
                base_url=base_url(settings),
                api_version=settings.api_version,
                client_args={"verify": trusted},
                async_client_args={"transport": httpx2.AsyncHTTPTransport(verify=trusted)},
            ),
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aio.aclose()

    def _config(
        self, question: Question, timeout: float, max_output_tokens: int | None, seed: int | None
    ) -> types.GenerateContentConfig:
        settings = self._settings
        resolution = settings.media_resolution if question.media else None
        return types.GenerateContentConfig(
            system_instruction=question.system,
            response_mime_type="application/json",
            response_json_schema=question.schema,
            temperature=settings.temperature,
            seed=seed,
            max_output_tokens=max_output_tokens,
            media_resolution=_RESOLUTIONS[resolution] if resolution else None,
            thinking_config=(
                None
                if settings.thinking_budget is None
                else types.ThinkingConfig(thinking_budget=settings.thinking_budget)
            ),
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
            http_options=types.HttpOptions(timeout=max(1, round(timeout * 1000))),
        )

    def _video_metadata(self, media: Media) -> types.VideoMetadata | None:
        return types.VideoMetadata(fps=self._settings.fps) if media.is_video else None

    async def _wire_parts(self, parts: Sequence[str | types.Part | Media]) -> list[types.Part]:
        def wired() -> list[types.Part]:
            return [self._wire_part(part) for part in parts]

        reads_files = any(isinstance(part, Media) for part in parts)
        return await asyncio.to_thread(wired) if reads_files else wired()

    def _wire_part(self, part: str | types.Part | Media) -> types.Part:
        if isinstance(part, str):
            return types.Part(text=part)
        if isinstance(part, types.Part):
            return part
        try:
            data = part.path.read_bytes()
        except OSError as error:
            raise AttemptFailedError(JudgeStatus.FILE_FAILED, one_line(str(error))) from None
        return types.Part(
            inline_data=types.Blob(data=data, mime_type=part.mime_type),
            video_metadata=self._video_metadata(part),
        )

    def _uploads(self, question: Question) -> set[str]:
        """sha256 of the media that must be uploaded so that the rest fits one request."""
        left = sum(media.size for media in question.media)
        chosen: set[str] = set()
        for media in sorted(question.media, key=lambda item: -item.size):
            if left <= self._settings.inline_limit:
                break
            chosen.add(media.sha256)
            left -= media.size
        return chosen

    @asynccontextmanager
    async def prepared(self, question: Question, *, timeout: float) -> AsyncIterator[Sequence[Any]]:
        """Upload what is too large to go inline, wait until it is ready; delete it afterwards."""
        to_upload = self._uploads(question)
        uploaded: list[types.File] = []
        parts: list[str | Media | types.Part] = []
        try:
            try:
                async with asyncio.timeout(timeout):
                    for part in question.parts:
                        if isinstance(part, Media) and part.sha256 in to_upload:
                            parts.append(await self._uploaded(part, uploaded, timeout))
                        else:
                            parts.append(part)
            except TimeoutError:
                raise AttemptFailedError(
                    JudgeStatus.FILE_FAILED, f"uploaded media was not ready within {timeout:g} s"
                ) from None
            yield parts
        finally:
            for file in uploaded:
                await self._delete(file)

    async def _uploaded(
        self, media: Media, uploaded: list[types.File], timeout: float
    ) -> types.Part:
        options = types.HttpOptions(timeout=max(1, round(timeout * 1000)))
        try:
            # No `name`: the same one twice is an error of the server.
            file = await self._client.aio.files.upload(
                file=media.path,
                config=types.UploadFileConfig(mime_type=media.mime_type, http_options=options),
            )
            uploaded.append(file)
            while file.state == types.FileState.PROCESSING:
                await asyncio.sleep(FILE_POLL_S)
                file = await self._client.aio.files.get(
                    name=file.name or "", config=types.GetFileConfig(http_options=options)
                )
        except (errors.APIError, *_TRANSPORT_ERRORS, *_FOREIGN_REPLY_ERRORS) as error:
            failure = self._failure(error)
            raise AttemptFailedError(
                JudgeStatus.FILE_FAILED,
                f"upload: {failure}",
                retryable=failure.retryable,
                retry_after=failure.retry_after,
                rate_limited=failure.rate_limited,
            ) from None
        if file.state != types.FileState.ACTIVE or not file.uri:
            detail = file.error.message if file.error else file.state
            raise AttemptFailedError(
                JudgeStatus.FILE_FAILED, self._safe(f"the server could not use the file: {detail}")
            )
        return types.Part(
            file_data=types.FileData(file_uri=file.uri, mime_type=media.mime_type),
            video_metadata=self._video_metadata(media),
        )

    async def _delete(self, file: types.File) -> None:
        options = types.HttpOptions(timeout=round(CLEANUP_TIMEOUT_S * 1000))
        try:
            async with asyncio.timeout(CLEANUP_TIMEOUT_S):
                await self._client.aio.files.delete(
                    name=file.name or "", config=types.DeleteFileConfig(http_options=options)
                )
        except (errors.APIError, *_TRANSPORT_ERRORS, *_FOREIGN_REPLY_ERRORS) as error:
            log.warning("an uploaded file was not deleted: %s", self._safe(str(error)))

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
        content = types.Content(role="user", parts=await self._wire_parts(parts))
        config = self._config(question, timeout, max_output_tokens, seed)
        try:
            response = await self._client.aio.models.generate_content(
                model=self._settings.model, contents=content, config=config
            )
        except (errors.APIError, *_TRANSPORT_ERRORS, *_FOREIGN_REPLY_ERRORS) as error:
            raise self._failure(error) from None
        except RecursionError:
            raise AttemptFailedError(
                JudgeStatus.PARSE_ERROR, "the reply is nested without end", retryable=True
            ) from None
        usage = _usage(response.usage_metadata)
        version = response.model_version and self._safe(response.model_version)
        spent(usage, version)
        return Reply(remove(_checked_text(response), self._secrets), version, usage)

    def _safe(self, text: str) -> str:
        return one_line(redact(text, self._secrets))

    def _failure(self, error: Exception) -> AttemptFailedError:
        if isinstance(error, errors.APIError):
            code = error.code if isinstance(error.code, int) else 0
            return AttemptFailedError(
                JudgeStatus.TIMEOUT if code in (408, 504) else JudgeStatus.API_ERROR,
                self._safe(f"{code} {error.status}: {error.message}"),
                retryable=code in RETRYABLE_CODES,
                retry_after=_server_delay(error),
                rate_limited=code == 429 or "RESOURCE_EXHAUSTED" in str(error.status),
            )
        if isinstance(error, (httpx2.TimeoutException, TimeoutError)):
            return AttemptFailedError(JudgeStatus.TIMEOUT, "no reply in time", retryable=True)
        if isinstance(error, _TRANSPORT_ERRORS):
            message = self._safe(f"connection: {type(error).__name__}: {error}")
            return AttemptFailedError(JudgeStatus.API_ERROR, message, retryable=True)
        message = self._safe(f"the server's reply is not the API's ({type(error).__name__})")
        return AttemptFailedError(JudgeStatus.API_ERROR, message, retryable=True)


def _checked_text(response: types.GenerateContentResponse) -> str:
    feedback = response.prompt_feedback
    if feedback is not None and feedback.block_reason is not None:
        _fail(JudgeStatus.BLOCKED, f"the prompt was blocked: {_name(feedback.block_reason)}")
    if not response.candidates:
        _fail(JudgeStatus.EMPTY, "the reply has no candidates", retryable=True)
    candidate = response.candidates[0]
    reason = _name(candidate.finish_reason)
    if reason in _STOPPED_BY_FILTER:
        _fail(JudgeStatus.BLOCKED, f"the reply was stopped: {reason}")
    if reason == "MAX_TOKENS":
        _fail(JudgeStatus.TRUNCATED, "the reply was cut off: MAX_TOKENS", retryable=True)
    parts = (candidate.content.parts if candidate.content else None) or []
    text = "".join(part.text for part in parts if part.text and not part.thought)
    if not text.strip():
        _fail(JudgeStatus.EMPTY, f"the reply has no text (finish reason {reason})", retryable=True)
    return text


def _fail(status: JudgeStatus, message: str, *, retryable: bool = False) -> NoReturn:
    raise AttemptFailedError(status, one_line(message), retryable=retryable)


def _name(value: object) -> str:
    return str(getattr(value, "value", value))


def _usage(metadata: types.GenerateContentResponseUsageMetadata | None) -> Usage:
    if metadata is None:
        return Usage()
    media = sum(
        detail.token_count or 0
        for detail in metadata.prompt_tokens_details or []
        if _name(detail.modality) in ("VIDEO", "IMAGE")
    )
    return Usage(
        prompt=metadata.prompt_token_count or 0,
        output=metadata.candidates_token_count or 0,
        thinking=metadata.thoughts_token_count or 0,
        cached=metadata.cached_content_token_count or 0,
        media=media,
    )


def _server_delay(error: errors.APIError) -> float | None:
    """The delay that the server names, in its error details or in the Retry-After header."""
    details = error.details if isinstance(error.details, dict) else {}
    inner = details.get("error")
    rows = (inner if isinstance(inner, dict) else details).get("details")
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict) and str(row.get("@type", "")).endswith("RetryInfo"):
            delay = parse_seconds(row.get("retryDelay"))
            if delay is not None:
                return delay
    headers = getattr(error.response, "headers", None) or {}
    return parse_seconds(headers.get("retry-after"))
