"""Collecting the benchmark's tests, against pytest collecting as many empty ones.

    python -m benchmarks collect --seeds 50
"""

import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.measure import Comparison, arguments, report, seconds

TASKS = 26


def collect(folder: Path, *options: str) -> None:
    """``pytest --collect-only`` in a folder."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    subprocess.run([*command, *options], cwd=folder, check=True, capture_output=True, timeout=300)


def main() -> None:
    """Measure and report."""
    options = arguments(__doc__, seeds=50, rounds=3)
    comparison = Comparison("empty tests : ours, s to collect")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "test_empty.py").write_text(
            "import pytest\n"
            f"@pytest.mark.parametrize('seed', range({TASKS * options.seeds}))\n"
            "def test_empty(seed): pass\n",
            encoding="utf-8",
        )
        empty = folder / "empty"
        empty.mkdir()
        ours = partial(collect, empty, "--policy=hold", f"--seeds=100:{100 + options.seeds}")
        plain = partial(collect, folder, "-p", "no:robomem", "test_empty.py")
        for _ in range(options.rounds):
            comparison.add(seconds(plain), seconds(ours))
    report("collect", [comparison], options.json, tests=TASKS * options.seeds)
