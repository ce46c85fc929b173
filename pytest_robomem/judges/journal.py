"""An append-only file of JSON lines that survives whatever ends the run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


class Journal:
    """Appends records to `path`; each is on the disk when `append` returns."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one line, flush it and sync it. Raises `OSError` where that fails."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps(record, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"
        with self.path.open("a+b") as file:
            if file.tell() > 0:
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    line = b"\n" + line
            file.write(line)
            file.flush()
            os.fsync(file.fileno())


def read_journal(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a journal; a line torn by a kill is left out. A missing file is empty.

    Raises `ValueError` where a line is whole JSON but no object.
    """
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if not isinstance(record, dict):
                raise ValueError(f"{path}:{number}: not a JSON object")
            yield record
