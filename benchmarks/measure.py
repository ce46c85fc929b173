"""Paired measurements: two ways of doing the same, taken in turn, compared pair by pair.

A shared machine slows both of a pair alike, so the median of the ratios says more than either
time does.
"""

import argparse
import json
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pytest_robomem.resources import resource_dir
from pytest_robomem.scene.simulator import simulator_versions


@dataclass
class Comparison:
    """Pairs of seconds (or bytes): of the other way and of ours.

    Attributes:
        what: a title.
        bar: least wanted median ratio, other / ours.
    """

    what: str
    bar: float | None = None
    other: list[float] = field(default_factory=list)
    ours: list[float] = field(default_factory=list)

    def add(self, other: float, ours: float) -> None:
        """Add a pair that was measured one right after the other."""
        self.other.append(other)
        self.ours.append(ours)

    @property
    def ratios(self) -> np.ndarray:
        """Other / ours, pair by pair."""
        return np.array(self.other) / np.array(self.ours)

    def summary(self) -> dict[str, Any]:
        """Medians and quartiles."""
        low, median, high = np.percentile(self.ratios, (25, 50, 75))
        return {
            "what": self.what,
            "pairs": len(self.ours),
            "other_median": float(np.median(self.other)),
            "ours_median": float(np.median(self.ours)),
            "ratio_median": float(median),
            "ratio_quartiles": [float(low), float(high)],
            "bar": self.bar,
            "reached": None if self.bar is None else bool(median >= self.bar),
        }

    def line(self) -> str:
        """One line for the terminal."""
        found = self.summary()
        low, high = found["ratio_quartiles"]
        verdict = {None: "", True: f"  bar {self.bar}: reached", False: f"  bar {self.bar}: SHORT"}
        return (
            f"{self.what:44} {found['other_median']:10.5g} : {found['ours_median']:<10.5g} "
            f"x{found['ratio_median']:.2f} [{low:.2f} .. {high:.2f}]"
            f"{verdict[found['reached']]}"
        )


def seconds(action: Callable[[], object]) -> float:
    """Wall time of a call."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def arguments(description: str | None, **defaults: Any) -> argparse.Namespace:
    """Options of a benchmark: ``--json FILE`` and one for each default."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    for name, default in defaults.items():
        flag = "--" + name.replace("_", "-")
        parser.add_argument(flag, type=type(default), default=default, help=f"[{default}]")
    return parser.parse_args()


def scene_files(tasks: str = "") -> list[Path]:
    """The scene files of tasks such as ``1,2,20`` (all without any)."""
    files = sorted(resource_dir("bddl").glob("*.bddl"), key=_number)
    wanted = {int(task) for task in tasks.split(",") if task}
    return [path for path in files if not wanted or _number(path) in wanted]


def _number(path: Path) -> int:
    return int(path.stem.partition("_")[0])


def report(name: str, comparisons: list[Comparison], json_file: Path | None, **more: Any) -> None:
    """Print the comparisons and write the JSON file."""
    for comparison in comparisons:
        print(comparison.line())
    for key, value in more.items():
        print(f"{key}: {value}")
    if json_file is not None:
        content = {
            "benchmark": name,
            "machine": platform.processor() or platform.machine(),
            "versions": simulator_versions(),
            "comparisons": [comparison.summary() for comparison in comparisons],
            **more,
        }
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
