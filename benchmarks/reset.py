"""Placing a scene anew: stock's hard reset against ours.

    python -m benchmarks reset --tasks 1 --rounds 5
"""

from functools import partial
from unittest.mock import patch

import numpy as np

from benchmarks.measure import Comparison, arguments, report, scene_files, seconds
from pytest_robomem.scene import compiled_scene
from pytest_robomem.scene.model import Scene

BAR = 30.0  # without cameras


def hard_reset(scene: Scene, seed: int) -> None:
    """Stock's: parse, compile and place anew. Leaves a simulation that ours does not use."""
    np.random.seed(seed)
    scene._environment.hard_reset = True
    # Stock compiles with the textures, each time.
    with patch.object(compiled_scene, "cache_folder", return_value=None):
        scene._environment.reset()


def main() -> None:
    """Measure and report."""
    options = arguments(__doc__, tasks="1", rounds=5)
    comparison = Comparison("stock hard reset : reset, s", BAR)
    for path in scene_files(options.tasks):
        ours, stock = Scene(path), Scene(path)
        hard_reset(stock, 99)
        ours.reset(99)
        for seed in range(100, 100 + options.rounds):
            comparison.add(
                seconds(partial(hard_reset, stock, seed)), seconds(partial(ours.reset, seed))
            )
        ours.close()
        stock.close()
    report("reset", [comparison], options.json)
