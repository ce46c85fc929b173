"""Fingerprints of rules, so that scores made by different ones are never mixed."""

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from enum import Enum
from typing import Any

from pytest_robomem.scoring.rulebook import Rulebook

_DIGITS = 16


def rules_hash(rulebook: Rulebook) -> str:
    """Hash (16 hexadecimal digits) over every constant that decides a rulebook's scores."""
    text = json.dumps(
        {"version": rulebook.version, "rules": _plain(rulebook.rules)},
        sort_keys=True,
        separators=(",", ":"),
        allow_nan=False,
    )
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {
            field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
        return {"kind": type(value).__name__, **fields}
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, frozenset | set):
        return sorted(_plain(entry) for entry in value)
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"a rule has a constant of a type that cannot be hashed: {type(value)}")
