"""Make foreign text safe to store and to show."""

from __future__ import annotations

import re
from collections.abc import Iterable

REDACTED = "[api key removed]"

# Keys of Google ("AIza...", "AQ....") and OpenAI ("sk-...") in a text that did not come from us.
_KEY_SHAPES = re.compile(r"AIza[0-9A-Za-z_\-]{20,}|AQ\.[0-9A-Za-z_\-]{20,}|sk-[0-9A-Za-z_\-]{16,}")
_KEY_PARAMETERS = re.compile(r"(?i)((?:[?&]key=)|(?:bearer\s+)|(?:x-goog-api-key\W+))[^\s&\"']+")


def encodable(text: str) -> str:
    """Replace lone surrogates, which neither UTF-8 files nor the wire to a worker can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")


def remove(text: str, secrets: Iterable[str]) -> str:
    """Remove the given secrets from `text`."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, REDACTED)
    return text


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Remove the given secrets, and anything shaped like an API key, from `text`."""
    text = remove(text, secrets)
    text = _KEY_SHAPES.sub(REDACTED, text)
    return _KEY_PARAMETERS.sub(lambda found: found.group(1) + REDACTED, text)


def one_line(text: str, limit: int = 400) -> str:
    """Collapse white space and control characters, and shorten to `limit` characters."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in encodable(text)).split())
    return flat if len(flat) <= limit else flat[: limit - 3] + "..."
