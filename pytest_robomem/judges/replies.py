"""From the text of a reply to a JSON object, without trusting it."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from .outcomes import AttemptFailedError, JudgeStatus
from .textsafe import encodable, one_line

_FENCED = re.compile(r"\A```[A-Za-z0-9_-]*[ \t]*\n(?P<body>.*?)\n?[ \t]*```\Z", re.DOTALL)


class _DuplicateKeyError(ValueError):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        names = [name for name, _ in pairs]
        twice = sorted({name for name in names if names.count(name) > 1})
        raise _DuplicateKeyError(f"the same key twice: {', '.join(twice)}")
    return result


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def parse_object(text: str) -> dict[str, Any]:
    """Read one JSON object, alone or inside one code fence.

    Raises `AttemptFailedError` with PARSE_ERROR where the text is no JSON, and with SCHEMA_ERROR
    where it is JSON but no object, or where a key stands twice.
    """
    body = text.strip()
    if fenced := _FENCED.match(body):
        body = fenced.group("body")
    try:
        value = json.loads(body, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except _DuplicateKeyError as error:
        raise schema_error(str(error)) from None
    except (ValueError, RecursionError) as error:
        reason = one_line(f"the reply is not JSON ({type(error).__name__}): {body[:120]}")
        raise AttemptFailedError(JudgeStatus.PARSE_ERROR, reason, retryable=True) from None
    if not isinstance(value, dict):
        raise schema_error(f"the reply is a JSON {type(value).__name__}, not an object")
    return value


def schema_error(message: str) -> AttemptFailedError:
    """The failure of a reply that is JSON but breaks the agreed form."""
    return AttemptFailedError(JudgeStatus.SCHEMA_ERROR, one_line(message), retryable=True)


def binary(value: object, name: str) -> bool:
    """Read a yes/no mark: "0", "1", 0, 1, true or false; all else is a schema error."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int) and value in (0, 1):
        return value == 1
    if isinstance(value, str) and value.strip() in ("0", "1"):
        return value.strip() == "1"
    raise schema_error(f'{name} must be "0" or "1", got {value!r}')


def text_field(value: object, name: str) -> str:
    """Read a string; all else is a schema error."""
    if not isinstance(value, str):
        raise schema_error(f"{name} must be a string, got {type(value).__name__}")
    return encodable(value)
