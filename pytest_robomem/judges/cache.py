"""Content-addressed cache of good replies: JSON files, replaced atomically."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from .verdicts import Record, Usage

ENTRY_VERSION = 1


def canonical_json(value: object) -> str:
    """One spelling for one value: sorted keys, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(value: object) -> str:
    """sha256 of the canonical JSON of `value`."""
    return hashlib.sha256(canonical_json(value).encode("ascii")).hexdigest()


class CacheEntry(Record):
    """A stored reply: its text is parsed again on each reading."""

    entry_version: int
    key: str
    fields: dict[str, Any]
    text: str
    model_version: str | None
    usage: Usage
    cost_usd: float | None


class ReplyCache:
    """Replies under `folder`, one file a key, safe to share between processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"

    def get(self, key: str) -> CacheEntry | None:
        """Return the entry, or None where there is none or it is torn or of another form."""
        try:
            entry = CacheEntry.model_validate_json(self._path(key).read_bytes())
        except (OSError, ValidationError):
            return None
        if entry.entry_version != ENTRY_VERSION or entry.key != key:
            return None
        return entry

    def put(self, key: str, fields: Mapping[str, Any], entry: Mapping[str, Any]) -> None:
        """Store a good reply. Raises `OSError` where the folder cannot be written."""
        record = CacheEntry(entry_version=ENTRY_VERSION, key=key, fields=dict(fields), **entry)
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            # No fsync: a file torn by a power cut is refused on reading and asked for again.
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(record.model_dump_json(indent=1))
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
