"""The journal: one JSON line for each finished episode, on disk before the next one ends."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


class JournalError(ValueError):
    """A journal that cannot be read."""


class Journal:
    """Appends records so that a killed process loses none that was finished.

    Args:
        path: of the file; its folder is made when the first record comes.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._heals_torn_line = True

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one record and wait until the disk has it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps(dict(record), allow_nan=False, ensure_ascii=False, separators=(",", ":"))
        with self.path.open("ab") as file:
            if self._heals_torn_line and _ends_torn(self.path):
                file.write(b"\n")
            self._heals_torn_line = False
            file.write(line.encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())


def _ends_torn(path: Path) -> bool:
    size = path.stat().st_size
    if size == 0:
        return False
    with path.open("rb") as file:
        file.seek(size - 1)
        return file.read(1) != b"\n"


def read_journal(path: Path) -> Iterator[dict[str, Any]]:
    """Records of a journal, oldest first.

    A line that was torn by a crash while it was written is left out: its episode never finished.

    Raises:
        JournalError: a whole line is not a JSON object.
    """
    if not path.exists():
        return
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            if _torn(line, error):
                continue
            raise JournalError(f"{path}, line {number}: not JSON: {error}") from error
        if not isinstance(record, dict):
            raise JournalError(f"{path}, line {number}: not a JSON object")
        yield record


def _torn(line: bytes, error: ValueError) -> bool:
    """Whether a line begins like a record and breaks off, wherever that was."""
    complete = isinstance(error, json.JSONDecodeError) and error.msg == "Extra data"
    return line.startswith(b"{") and not complete
