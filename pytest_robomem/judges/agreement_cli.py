"""`robomem agreement DIR human.csv`: does the judge agree with people?"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

NAME = "agreement"
HELP = "compare the judges' verdicts in a results folder with people's labels"
OUTPUT_NAME = "agreement.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="results folder of a judged run")
    parser.add_argument(
        "labels",
        type=Path,
        metavar="human.csv",
        help="sample_id, optional source and rater, then score (0-4) and metrics (0/1)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write `agreement.json`, show a table, and return an exit status (2: unusable input)."""
    from pytest_robomem.results.files import write_text  # noqa: PLC0415

    from .agreement import compare, read_labels  # noqa: PLC0415
    from .outcomes import JudgeError  # noqa: PLC0415
    from .report import latest_verdicts  # noqa: PLC0415
    from .session import JOURNAL_NAME  # noqa: PLC0415

    try:
        journal = arguments.folder / JOURNAL_NAME
        if not journal.is_file():
            raise JudgeError(f"{journal} does not exist: judge something first")
        result = compare(latest_verdicts(journal), read_labels(arguments.labels))
        target = arguments.folder / OUTPUT_NAME
        write_text(target, json.dumps(result, indent=1, allow_nan=False) + "\n")
    except (JudgeError, OSError, ValueError) as error:
        sys.stderr.write(f"robomem agreement: {error}\n")
        return 2
    sys.stdout.write("\n".join([*lines(result), f"written: {target}", ""]))
    return 0


def _number(value: float | None, *, as_percent: bool = False) -> str:
    if value is None:
        return "nan"
    return f"{100 * value:.1f}%" if as_percent else f"{value:.3f}"


def _bounds(value: tuple[float, float] | list[float] | None) -> str:
    return "" if value is None else f" [{100 * value[0]:.1f}, {100 * value[1]:.1f}]"


def lines(result: Mapping[str, Any]) -> Iterator[str]:
    """The comparison for people; nan stands where ratings are all equal or absent."""
    yield (
        f"labelled samples {result['labelled']}, without a verdict "
        f"{result['labels_without_verdict']}, unscored {result['labelled_but_unscored']}"
    )
    for row in result["values"]:
        yield (
            f"{row['kind']} {row['value']} ({row['judge']}): n {row['samples']}, equal "
            f"{_number(row['equal_rate'], as_percent=True)}{_bounds(row['equal_interval'])}, "
            f"kappa {_number(row['cohen_kappa'])} ({row['kappa_weights']}), "
            f"alpha {_number(row['krippendorff_alpha'])}"
        )
        if "false_positive_rate" in row:
            yield (
                f"  false positives {_number(row['false_positive_rate'], as_percent=True)}"
                f"{_bounds(row['false_positive_interval'])}, "
                f"judge {_number(row['judge_rate'], as_percent=True)}"
                f"{_bounds(row['judge_interval'])}, people "
                f"{_number(row['human_rate'], as_percent=True)}{_bounds(row['human_interval'])}"
            )
        yield f"  human by judge: {row['confusion_human_by_judge']}"
