"""From the start of a process to its first control step.

    python -m benchmarks startup --tasks 1 --rounds 3
"""

from benchmarks.measure import Comparison, arguments, report, scene_files
from benchmarks.processes import OURS, STOCK, run

BAR = 4.0  # without cameras


def main() -> None:
    """Measure and report; what can be cached is, on both sides."""
    options = arguments(__doc__, tasks="1", rounds=3, cameras=0)
    cameras = bool(options.cameras)
    what = "two cameras" if cameras else "no camera"
    comparison = Comparison(f"stock : ours to the first step, {what}, s", None if cameras else BAR)
    for path in scene_files(options.tasks):
        run(STOCK, path, cameras)
        run(OURS, path, cameras)
        for _ in range(options.rounds):
            comparison.add(
                run(STOCK, path, cameras)["seconds"], run(OURS, path, cameras)["seconds"]
            )
    report("startup", [comparison], options.json)
