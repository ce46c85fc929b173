"""Reading `*.plan.jsonl` and `*.nav.jsonl`: one validated sample a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from .outcomes import JudgeInputError
from .textsafe import one_line

Sample = TypeVar("Sample", bound=BaseModel)
SHOWN_FAULTS = 10


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def describe(error: ValidationError) -> str:
    """The faults of a record, each with the field that it is in."""
    faults = []
    for fault in error.errors(include_url=False, include_input=False, include_context=False):
        place = ".".join(map(str, fault["loc"]))
        message = fault["msg"].removeprefix("Value error, ")
        faults.append(f"{place}: {message}" if place else message)
    return one_line("; ".join(faults))


def read_rows(path: Path, model: type[Sample], id_field: str) -> list[Sample]:
    """Read the samples of a file; blank lines are skipped.

    Raises `JudgeInputError` that names file, line and field of up to ten faults.
    """
    faults: list[str] = []
    samples: list[Sample] = []
    first_line: dict[str, int] = {}
    try:
        lines = path.read_text("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise JudgeInputError(f"{path.name}: {error}") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            sample = model.model_validate(json.loads(line, parse_constant=_refuse_constant))
        except ValidationError as error:
            faults.append(f"{path.name}:{number}: {describe(error)}")
            continue
        except (ValueError, RecursionError) as error:
            faults.append(one_line(f"{path.name}:{number}: {error}"))
            continue
        identity = getattr(sample, id_field)
        if identity in first_line:
            faults.append(
                f"{path.name}:{number}: {id_field} {identity!r} stands in line "
                f"{first_line[identity]} already"
            )
            continue
        first_line[identity] = number
        samples.append(sample)
    if faults:
        more = len(faults) - SHOWN_FAULTS
        shown = faults[:SHOWN_FAULTS] + ([f"and {more} more"] if more > 0 else [])
        raise JudgeInputError("\n".join(shown))
    return samples
