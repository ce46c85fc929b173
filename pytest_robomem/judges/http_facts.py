"""What HTTP status codes and delay headers mean, for every provider."""

from __future__ import annotations

# Those that google-genai's own retry options list as transient.
RETRYABLE_CODES = frozenset({408, 429, 500, 502, 503, 504})


def parse_seconds(text: object) -> float | None:
    """Read a delay such as "7s", "1.5s" or "30"; None where it is none or is negative."""
    try:
        seconds = float(str(text).strip().removesuffix("s"))
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None
