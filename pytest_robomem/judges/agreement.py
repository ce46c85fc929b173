"""Judge against people: joined by sample, by value."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .navigation_metrics import METRICS, TASKS, keys_of
from .outcomes import JudgeInputError
from .plan_rules import PERFECT_SCORE, SUCCESS_SCORE
from .statistics import (
    cohen_kappa,
    confusion,
    defined,
    krippendorff_alpha,
    rate,
    share_equal,
    wilson,
)
from .verdicts import AnyVerdict, NavigationVerdict, PlanVerdict
from .voting import lower_median, majority

_KEY_COLUMNS = ("sample_id", "source", "rater")
_PLAN_SCORE = "score"


@dataclass(slots=True)
class HumanLabels:
    """Marks by (sample_id, source or "") and column; one mark a rater."""

    marks: dict[tuple[str, str], dict[str, list[int]]] = field(default_factory=dict)
    columns: tuple[str, ...] = ()


def _known_columns() -> dict[str, str]:
    """Accepted column names, each with the wire key or canonical name that it stands for."""
    names = {_PLAN_SCORE: _PLAN_SCORE}
    for task in TASKS:
        for metric in METRICS[task]:
            names[metric] = metric
            names |= {key: key for key in keys_of(task, metric)}
    return names


def read_labels(path: Path) -> HumanLabels:
    """Read `human.csv`: `sample_id`, optional `source` and `rater`, then `score` and metrics.

    Metrics may be named as in the tables or as in the replies; an empty cell is no mark. Raises
    `JudgeInputError` that names line and column.
    """
    labels = HumanLabels()
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            header = [name.strip() for name in reader.fieldnames or []]
            reader.fieldnames = header
            _check_header(path, header)
            labels.columns = tuple(name for name in header if name not in _KEY_COLUMNS)
            seen: set[tuple[str, ...]] = set()
            for row in reader:
                _read_row(labels, row, seen, f"{path.name}:{reader.line_num}")
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise JudgeInputError(f"{path.name}: {error}") from None
    if not labels.marks:
        raise JudgeInputError(f"{path.name}: no labels")
    return labels


def _check_header(path: Path, header: Sequence[str]) -> None:
    if "sample_id" not in header:
        raise JudgeInputError(f"{path.name}: the column sample_id is missing")
    known = {*_KEY_COLUMNS, *_known_columns()}
    if unknown := [name for name in header if name not in known]:
        raise JudgeInputError(f"{path.name}: unknown columns: {', '.join(unknown)}")
    if len(set(header)) != len(header):
        raise JudgeInputError(f"{path.name}: a column stands twice")


def _read_row(
    labels: HumanLabels, row: Mapping[Any, Any], seen: set[tuple[str, ...]], place: str
) -> None:
    if None in row or None in row.values():
        raise JudgeInputError(f"{place}: the number of cells differs from the header's")
    cells = {name: str(value).strip() for name, value in row.items()}
    identity = tuple(cells.get(name, "") for name in _KEY_COLUMNS)
    if not cells["sample_id"]:
        raise JudgeInputError(f"{place}: sample_id is empty")
    if identity in seen:
        raise JudgeInputError(f"{place}: a second row for {' '.join(filter(None, identity))}")
    seen.add(identity)
    marks = labels.marks.setdefault((identity[0], identity[1]), {})
    for name in labels.columns:
        if not cells[name]:
            continue
        highest = PERFECT_SCORE if name == _PLAN_SCORE else 1
        if cells[name] not in {str(value) for value in range(highest + 1)}:
            raise JudgeInputError(f"{place}: {name} must be 0 to {highest}, got {cells[name]!r}")
        marks.setdefault(name, []).append(int(cells[name]))


@dataclass(slots=True)
class _Pairs:
    judge: list[int] = field(default_factory=list)
    human: list[int] = field(default_factory=list)
    units: list[list[int | None]] = field(default_factory=list)
    people: list[list[int | None]] = field(default_factory=list)

    def add(self, judge: int, human: int, raters: Sequence[int]) -> None:
        self.judge.append(judge)
        self.human.append(human)
        self.units.append([judge, *raters])
        self.people.append(list(raters))


def compare(verdicts: Sequence[AnyVerdict], labels: HumanLabels) -> dict[str, Any]:
    """Compare scored verdicts with labels, by judge, kind and value.

    Several raters of a sample count as their median (0-4) or majority (0/1). Raises
    `JudgeInputError` where nothing can be joined.
    """
    pairs: dict[tuple[str, str, str], _Pairs] = {}
    joined: set[tuple[str, str]] = set()
    unscored = 0
    for verdict in verdicts:
        key, marks = _labels_of(verdict, labels)
        if key is None or marks is None:
            continue
        joined.add(key)
        if not verdict.scored:
            unscored += 1
            continue
        for name, judge, human, raters in _values(verdict, marks):
            row = pairs.setdefault((verdict.judge_label, verdict.kind, name), _Pairs())
            row.add(judge, human, raters)
    if not joined:
        raise JudgeInputError("no label belongs to a judged sample: compare the sample ids")
    return {
        "labelled": len(labels.marks),
        "labels_without_verdict": len(labels.marks) - len(joined),
        "labelled_but_unscored": unscored,
        "values": [
            {"judge": judge, "kind": kind, "value": name, **_row(name, pairs[judge, kind, name])}
            for judge, kind, name in sorted(pairs)
        ],
    }


def _labels_of(
    verdict: AnyVerdict, labels: HumanLabels
) -> tuple[tuple[str, str] | None, dict[str, list[int]] | None]:
    for key in ((verdict.sample_id, verdict.source), (verdict.sample_id, "")):
        if key in labels.marks:
            return key, labels.marks[key]
    return None, None


def _values(
    verdict: AnyVerdict, marks: Mapping[str, list[int]]
) -> list[tuple[str, int, int, list[int]]]:
    """(value, judge, human, raters) of everything that both sides marked."""
    if isinstance(verdict, PlanVerdict) and _PLAN_SCORE in marks and verdict.score is not None:
        raters = marks[_PLAN_SCORE]
        human = lower_median(raters)
        successes = [int(mark >= SUCCESS_SCORE) for mark in raters]
        judged, seen = int(verdict.score >= SUCCESS_SCORE), int(human >= SUCCESS_SCORE)
        return [
            ("score", verdict.score, human, raters),
            ("success", judged, seen, successes),
        ]
    if not isinstance(verdict, NavigationVerdict) or not verdict.metrics or not verdict.gates:
        return []
    task = next(name for name in TASKS if name == verdict.task)
    rows = []
    human_metrics = {}
    for metric, mark in verdict.metrics.items():
        names = [name for name in (metric, *keys_of(task, metric)) if name in marks]
        if len(names) > 1:
            raise JudgeInputError(f"{verdict.sample_id}: {' and '.join(names)} are one metric")
        if names:
            raters = marks[names[0]]
            human_metrics[metric] = majority(raters)
            rows.append((metric, mark, human_metrics[metric], raters))
    if len(human_metrics) == len(verdict.metrics):
        human = int(all(human_metrics.values()))
        rows.append(("overall", verdict.gates["overall"], human, [human]))
    return rows


def _row(name: str, pairs: _Pairs) -> dict[str, Any]:
    graded = name == "score"
    categories = PERFECT_SCORE + 1 if graded else 2
    weights = "quadratic" if graded else "nominal"
    level = "ordinal" if graded else "nominal"
    total = len(pairs.judge)
    equal = sum(a == b for a, b in zip(pairs.judge, pairs.human, strict=True))
    row: dict[str, Any] = {
        "samples": total,
        "equal_rate": share_equal(pairs.human, pairs.judge),
        "equal_interval": wilson(equal, total),
        "confusion_human_by_judge": confusion(pairs.human, pairs.judge, categories),
        "cohen_kappa": defined(
            cohen_kappa(pairs.human, pairs.judge, categories, weights)  # type: ignore[arg-type]
        ),
        "kappa_weights": weights,
        "krippendorff_alpha": defined(
            krippendorff_alpha(pairs.units, level)  # type: ignore[arg-type]
        ),
        "krippendorff_alpha_people": defined(
            krippendorff_alpha(pairs.people, level)  # type: ignore[arg-type]
        ),
    }
    if not graded:
        negatives = [j for j, h in zip(pairs.judge, pairs.human, strict=True) if not h]
        positives = [j for j, h in zip(pairs.judge, pairs.human, strict=True) if h]
        row |= {
            "false_positive_rate": rate(sum(negatives), len(negatives)),
            "false_positive_interval": wilson(sum(negatives), len(negatives)),
            "false_negative_rate": rate(len(positives) - sum(positives), len(positives)),
            "judge_rate": rate(sum(pairs.judge), total),
            "judge_interval": wilson(sum(pairs.judge), total),
            "human_rate": rate(sum(pairs.human), total),
            "human_interval": wilson(sum(pairs.human), total),
        }
    return row
