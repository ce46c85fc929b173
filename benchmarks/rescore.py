"""Scoring recorded episodes again, against the rollouts that they come from.

    python -m benchmarks rescore --tasks 2,10,20 --seeds 100:104

First the expert runs the tasks, then its trajectories are scored again, all in this machine's one
process at a time. Building a scene is in neither of a pair; the whole command is compared as well.
"""

import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.measure import Comparison, arguments, report, seconds
from pytest_robomem.rescoring import rescore
from pytest_robomem.results.stored import stored_records
from pytest_robomem.scene_cache import SceneCache

BAR = 20.0


def main() -> None:
    """Measure and report."""
    options = arguments(__doc__, tasks="2,10,20", seeds="100:104")
    markers = " or ".join(f"task{int(task):02d}" for task in options.tasks.split(","))
    episodes = Comparison("an episode : scoring it again, s", BAR)
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        command = [
            *(sys.executable, "-m", "pytest", "--policy=expert", "-m", markers, "-q"),
            *(f"--seeds={options.seeds}", f"--robomem-results={run}", "-p", "no:cacheprovider"),
        ]
        rollouts = seconds(partial(subprocess.run, command, stdout=subprocess.DEVNULL, cwd=folder))
        records, scenes = stored_records(run), SceneCache("auto", "stock")
        for record in records:
            list(rescore(run, [record], "strict", scenes))  # builds the scene
            again = seconds(lambda record=record: list(rescore(run, [record], "strict", scenes)))
            episodes.add(record.wall_times.total, again)
        scenes.close()
        command_line = "import sys; from pytest_robomem.cli import main; sys.exit(main())"
        again = [sys.executable, "-c", command_line, "rescore", str(run)]
        whole = Comparison(f"the command for {len(records)} episodes : again, s")
        rescoring = partial(
            subprocess.run, [*again, "--rules", "strict"], stdout=subprocess.DEVNULL, check=True
        )
        whole.add(rollouts, seconds(rescoring))
    report("rescore", [episodes, whole], options.json)


if __name__ == "__main__":
    main()
