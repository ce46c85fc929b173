"""The protocol between the judges and a provider of models."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from .outcomes import MissingKeyError
from .settings import JudgeSettings, Provider
from .verdicts import Usage

# What Gemini documents as input; other containers would be refused after the upload.
VIDEO_TYPES = {
    ".mp4": "video/mp4",
    ".mov": "video/quicktime",
    ".webm": "video/webm",
    ".avi": "video/x-msvideo",
    ".mpg": "video/mpeg",
    ".mpeg": "video/mpeg",
}
IMAGE_TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
}


@dataclass(frozen=True, slots=True)
class Media:
    """A checked file: absolute path, MIME type, size in bytes and sha256 of its content."""

    path: Path
    mime_type: str
    size: int
    sha256: str

    @property
    def is_video(self) -> bool:
        """Whether frames are sampled from it."""
        return self.mime_type.startswith("video/")


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, in the order in which it is sent; `schema` is the JSON schema of the reply."""

    system: str | None
    parts: tuple[str | Media, ...]
    schema: dict[str, Any]

    @property
    def media(self) -> tuple[Media, ...]:
        """The media parts in order."""
        return tuple(part for part in self.parts if isinstance(part, Media))


@dataclass(frozen=True, slots=True)
class Reply:
    """The text of a reply that ended normally."""

    text: str
    model_version: str | None
    usage: Usage


class UsageSpent(Protocol):
    """Called with the tokens of each reply, usable or not."""

    def __call__(self, usage: Usage, model_version: str | None) -> None: ...


class JudgeClient(Protocol):
    """A provider of models.

    `prepared` makes the media ready (uploads the large ones) and cleans up afterwards; what it
    yields is handed to `generate`. Both raise nothing but `AttemptFailedError`.
    """

    def prepared(
        self, question: Question, *, timeout: float
    ) -> AbstractAsyncContextManager[Sequence[Any]]:
        """Make the parts ready within `timeout` seconds."""

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
        """Ask once, within `timeout` seconds."""

    async def close(self) -> None:
        """Close connections."""


_KEY_VARIABLES = {"gemini": ("GOOGLE_API_KEY", "GEMINI_API_KEY"), "openai": ("OPENAI_API_KEY",)}


def find_api_key(settings: JudgeSettings) -> str:
    """Return the API key from the environment, in the order in which the SDK looks.

    A local OpenAI-compatible server needs none. Raises `MissingKeyError` where one is needed.
    """
    names = _KEY_VARIABLES[settings.provider]
    for name in names:
        if value := os.environ.get(name, "").strip():
            return value
    if settings.provider == "openai" and settings.base_url is not None:
        return "none"
    raise MissingKeyError(
        f"set {' or '.join(reversed(names))} to ask {settings.model}, "
        "or --judge-replay to use cached replies only"
    )


_DEFAULT_HOSTS = {"gemini": "generativelanguage.googleapis.com", "openai": "api.openai.com"}
_URL_VARIABLES = {"gemini": "GOOGLE_GEMINI_BASE_URL", "openai": "OPENAI_BASE_URL"}


def base_url(settings: JudgeSettings) -> str | None:
    """The endpoint set by option or environment, or None for the provider's own."""
    return settings.base_url or os.environ.get(_URL_VARIABLES[settings.provider]) or None


def host(settings: JudgeSettings) -> str:
    """The host that is asked; without port, path or user, which are no part of a result."""
    url = base_url(settings)
    return _DEFAULT_HOSTS[settings.provider] if url is None else (urlsplit(url).hostname or "")


@cache
def sdk_version(provider: Provider) -> str:
    """Name and version of the provider's SDK, without importing it."""
    name = {"gemini": "google-genai", "openai": "openai"}[provider]
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return f"{name} (not installed)"


def make_client(settings: JudgeSettings) -> JudgeClient:
    """Create the client of the chosen provider. Raises `MissingKeyError`."""
    key = find_api_key(settings)
    if settings.provider == "openai":
        from .openai_compatible import OpenAICompatibleClient  # noqa: PLC0415

        return OpenAICompatibleClient(settings, key)
    from .gemini import GeminiClient  # noqa: PLC0415

    return GeminiClient(settings, key)
