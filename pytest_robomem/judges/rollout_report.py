"""How far a judge that watches rollouts agrees with the simulator, by kind of stage."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from .statistics import defined, kappa_interval, kappa_of_counts, rate
from .verdicts import RolloutVerdict

ALL_KINDS = "all"


def compare_with_simulator(verdicts: Sequence[RolloutVerdict]) -> list[dict[str, Any]]:
    """Kappa of judge against simulator by judge and kind of stage, with a bootstrap interval.

    The interval draws whole episodes. `false_positives` counts stages that only the judge saw.
    """
    tables: dict[tuple[str, str], list[list[list[int]]]] = defaultdict(list)
    for verdict in verdicts:
        if not verdict.scored:
            continue
        by_kind: dict[str, list[list[int]]] = defaultdict(lambda: [[0, 0], [0, 0]])
        for stage in verdict.stages:
            if stage.judge is not None:
                for kind in (ALL_KINDS, stage.stage_kind):
                    by_kind[kind][int(stage.simulator)][int(stage.judge)] += 1
        for kind, table in by_kind.items():
            tables[verdict.judge_label, kind].append(table)
    return [
        {"judge": judge, "stage_kind": kind, **_row(tables[judge, kind])}
        for judge, kind in sorted(tables)
    ]


def _row(tables: Sequence[list[list[int]]]) -> dict[str, Any]:
    (neither, only_judge), (only_simulator, both) = [
        [sum(table[row][column] for table in tables) for column in (0, 1)] for row in (0, 1)
    ]
    total = neither + only_judge + only_simulator + both
    interval = kappa_interval(tables)
    kappa = kappa_of_counts([[neither, only_judge], [only_simulator, both]], "nominal")
    return {
        "episodes": len(tables),
        "stages": total,
        "simulator_rate": rate(only_simulator + both, total),
        "judge_rate": rate(only_judge + both, total),
        "equal_rate": rate(neither + both, total),
        "false_positives": only_judge,
        "false_negatives": only_simulator,
        "kappa": defined(kappa),
        "kappa_interval": interval,
    }
