"""Memory of a worker, with and without images, and whether it grows over resets.

    python -m benchmarks memory --tasks 1 --resets 200
"""

from benchmarks.measure import Comparison, arguments, report, scene_files
from benchmarks.processes import OURS, STOCK, run

STATE_BAR = 350e6  # bytes, of a worker without images
IMAGE_BAR = 1 / 0.6  # of stock's, with images
_RESETS = """
for seed in range({resets}):
    scene.reset(seed)
    scene.step(np.zeros(7))
"""


def main() -> int:
    """Measure and report."""
    options = arguments(__doc__, tasks="1", resets=200, cameras=1)
    comparisons, figures = [], {}
    for cameras in (False, True)[: 1 + options.cameras]:
        what = "images" if cameras else "no images"
        comparison = Comparison(
            f"stock : ours, resident bytes, {what}", IMAGE_BAR if cameras else None
        )
        for path in scene_files(options.tasks):
            run(OURS, path, cameras)  # fills the caches
            ours = run(OURS, path, cameras)["VmRSS"]
            comparison.add(run(STOCK, path, cameras)["VmRSS"], ours)
        comparisons.append(comparison)
    path = scene_files(options.tasks)[0]
    later = run(OURS, path, False, _RESETS.format(resets=options.resets))["VmRSS"]
    first = comparisons[0].ours[0]
    figures["no_images_mb"] = round(max(comparisons[0].ours) / 1e6)
    figures["no_images_within_bar"] = max(comparisons[0].ours) <= STATE_BAR
    figures[f"growth_over_{options.resets}_resets_mb"] = round((later - first) / 1e6, 1)
    report("memory", comparisons, options.json, **figures)
    return 0
