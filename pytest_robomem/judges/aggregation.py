"""Navigation results by group, with both denominators, and a check of every conjunction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .navigation_metrics import (
    ALL_METRICS,
    GATES,
    METRICS,
    TASKS,
    Task,
    gate_parts,
    gates,
    oracle_metric,
    primary_metric,
)
from .statistics import rate, wilson
from .verdicts import Level, NavigationVerdict

UNJUDGED = "unjudged"


@dataclass(frozen=True, slots=True)
class Output:
    """One row of a manifest, and its verdict if it has one."""

    task: Task
    modality: str
    level: Level
    model: str
    verdict: NavigationVerdict | None = None

    @property
    def metrics(self) -> Mapping[str, int] | None:
        """The marks, or None where the output has no score."""
        return self.verdict.metrics if self.verdict is not None else None

    @property
    def gates(self) -> Mapping[str, int] | None:
        """The conjunctions, or None where the output has no score."""
        return self.verdict.gates if self.verdict is not None else None


def output_of(verdict: NavigationVerdict) -> Output:
    """The row that a verdict speaks of."""
    task = next(name for name in TASKS if name == verdict.task)
    return Output(task, verdict.modality, verdict.level, verdict.model, verdict)


@dataclass(frozen=True, slots=True)
class _Marks:
    task: Task
    metrics: Mapping[str, int]
    gates: Mapping[str, int]


_GROUPINGS: dict[str, Callable[[Output], str | None]] = {
    "all": lambda _: "all",
    "task": lambda output: output.task,
    "modality": lambda output: output.modality,
    "task and modality": lambda output: f"{output.task}/{output.modality}",
    "generator": lambda output: output.model or None,
    "floors": lambda output: output.level.floors,
    "fidelity": lambda output: output.level.fidelity,
    "distance": lambda output: output.level.distance,
    "destination": lambda output: output.level.destination,
    "level": lambda output: (
        "/".join(value or "?" for value in output.level.model_dump().values())
        if any(output.level.model_dump().values())
        else None
    ),
}


def aggregate(outputs: Sequence[Output], *, zero_unscored: bool = False) -> list[dict[str, Any]]:
    """Summarise outputs by judge, and within it by task, modality, generator and level.

    What one judge scored is never mixed with what another scored; an output without a score
    counts in the denominators of all of them. With `zero_unscored` it counts as scored, all 0.
    """
    by_judge: dict[str, list[Output]] = defaultdict(list)
    unscored: list[Output] = []
    for output in outputs:
        if output.verdict is not None and output.metrics is not None:
            by_judge[output.verdict.judge_label].append(output)
        else:
            unscored.append(output)
    if not by_judge and unscored:
        labels = [output.verdict.judge_label for output in unscored if output.verdict is not None]
        by_judge[labels[0] if labels else UNJUDGED] = []
    rows: list[dict[str, Any]] = []
    for judge in sorted(by_judge):
        for grouping, name_of in _GROUPINGS.items():
            members: dict[str, list[Output]] = defaultdict(list)
            for output in (*by_judge[judge], *unscored):
                name = name_of(output)
                if name is not None:
                    members[name].append(output)
            rows.extend(
                {
                    "judge": judge,
                    "grouping": grouping,
                    "group": name,
                    **summarise(members[name], zero_unscored=zero_unscored),
                }
                for name in sorted(members)
            )
    return rows


def summarise(outputs: Sequence[Output], *, zero_unscored: bool = False) -> dict[str, Any]:
    """Summarise one group: counts, rates over all outputs and over the scored ones."""
    marks = list(_marks(outputs, zero_unscored=zero_unscored))
    result: dict[str, Any] = {
        "outputs": len(outputs),
        "scored": len(marks),
        "coverage": rate(len(marks), len(outputs)),
    }
    result |= _rates(
        "success", [each.metrics[primary_metric(each.task)] for each in marks], len(outputs)
    )
    result |= _rates(
        "oracle", [each.metrics[oracle_metric(each.task)] for each in marks], len(outputs)
    )
    for metric in ALL_METRICS:
        having = sum(metric in METRICS[output.task] for output in outputs)
        if having:
            values = [each.metrics[metric] for each in marks if metric in each.metrics]
            result |= _rates(metric, values, having)
    for gate in GATES:
        result |= _rates(gate, [each.gates[gate] for each in marks], len(outputs))
    result["success_interval"] = wilson(result["success_ones"], len(outputs))
    result["families"] = _families(result)
    result["inconsistent"] = sum(
        bool(output.verdict and output.verdict.inconsistent) for output in outputs
    )
    result["bound_violations"] = bound_violations(
        [(each.task, each.metrics, each.gates) for each in marks]
    )
    return result


def _marks(outputs: Iterable[Output], *, zero_unscored: bool) -> Iterable[_Marks]:
    for output in outputs:
        if output.metrics is not None and output.gates is not None:
            yield _Marks(output.task, output.metrics, output.gates)
        elif zero_unscored:
            zeros = dict.fromkeys(METRICS[output.task], 0)
            yield _Marks(output.task, zeros, gates(output.task, zeros))


def _rates(name: str, values: Sequence[int], outputs: int) -> dict[str, Any]:
    ones = sum(values)
    return {
        f"{name}_ones": ones,
        f"{name}_rate": rate(ones, outputs),
        f"{name}_rate_scored": rate(ones, len(values)),
    }


_FAMILIES = {
    "completeness": (
        "success_3d",
        "oracle_success_3d",
        "success_2d",
        "oracle_success_2d",
        "trajectory_alignment",
    ),
    "physical": ("object_semantic", "agent_consistency", "spatial_alignment"),
    "instruction": ("destination_integrity", "scene_consistency"),
}


def _families(result: Mapping[str, Any]) -> dict[str, float | None]:
    """Means of the rates over the scored outputs, as the paper has them."""
    families: dict[str, float | None] = {}
    for family, metrics in _FAMILIES.items():
        rates = [result.get(f"{metric}_rate_scored") for metric in metrics]
        known = [value for value in rates if value is not None]
        families[family] = sum(known) / len(known) if known else None
    families["holistic"] = result["overall_rate_scored"]
    return families


def bound_violations(
    marks: Sequence[tuple[Task, Mapping[str, int], Mapping[str, int]]],
) -> list[str]:
    """Name every conjunction that its parts make impossible.

    Of n outputs, a conjunction of k parts holds at least sum(parts) - (k - 1) n times, and at
    most as often as its rarest part.
    """
    faults = []
    for task in TASKS:
        rows = [(metrics, found) for name, metrics, found in marks if name == task]
        for gate, parts in gate_parts(task).items():
            if not rows:
                continue
            counts = [sum(metrics[part] for metrics, _ in rows) for part in parts]
            least = max(0, sum(counts) - (len(parts) - 1) * len(rows))
            holds = sum(found[gate] for _, found in rows)
            if not least <= holds <= min(counts):
                faults.append(
                    f"{task} {gate}: {holds} of {len(rows)}, possible are {least} to {min(counts)}"
                )
    return faults
