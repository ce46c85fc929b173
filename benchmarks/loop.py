"""Whole episodes: the public way of running them against ours, with a policy that costs nothing.

The public way renders both cameras at every step, flips and resizes both, keeps the frames of a
video, and compiles the scene again for every seed. Ours is what ``pytest --policy`` runs, with
scoring by all rulebooks and trajectories.

    python -m benchmarks loop --steps 100 --episodes 2 --workers 1,2
"""

import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.measure import Comparison, arguments, report, scene_files
from benchmarks.processes import STOCK, run

SETTLE_STEPS = 10
_WHAT = ("no images", "images")
_EPISODES = """
import time
import cv2
total = 0.0
for episode in range({episodes} + 1):
    started = time.perf_counter()
    np.random.seed(100 + episode)
    observation = environment.reset()
    frames = []
    for step in range({settle}):
        observation = environment.step(np.array([0, 0, 0, 0, 0, 0, -1.0]))[0]
    for step in range({steps}):
        for camera in ("agentview_image", "robot0_eye_in_hand_image"):
            upright = np.ascontiguousarray(observation[camera][::-1])
            frames.append(cv2.resize(upright, (256, 256), interpolation=cv2.INTER_AREA))
        observation = environment.step(np.array([0.1, 0, 0, 0, 0, 0, -1.0]))[0]
    if episode:  # the first one warms up
        total += time.perf_counter() - started
print(json.dumps(dict(episode_seconds=total / {episodes})))
"""
POLICY = """
import numpy as np

class Free:
    def __init__(self, images):
        self.images = images
    def reset(self):
        pass
    def infer_actions(self, obs, prompt, resize_size):
        if self.images:
            obs["observation/image"], obs["observation/wrist_image"]
        return np.tile(np.array([0.1, 0, 0, 0, 0, 0, -1.0]), (10, 1))

def build_adapter(images):
    return Free(images)
"""


def public_way(task: str, steps: int, episodes: int, workers: int) -> float:
    """Seconds that an episode takes, of so many processes together."""
    more = _EPISODES.format(episodes=episodes, steps=steps, settle=SETTLE_STEPS)
    (scene,) = scene_files(task)
    with ThreadPoolExecutor(workers) as pool:
        runs = [pool.submit(run, STOCK, scene, True, more) for _ in range(workers)]
        return sum(found.result()["episode_seconds"] for found in runs) / workers**2


def our_way(task: str, steps: int, episodes: int, workers: int, images: int, replan: int) -> float:
    """The same of ours, from the records of a run; the first episode of a worker warms up."""
    count = (episodes + 1) * workers
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "free.py").write_text(POLICY, encoding="utf-8")
        command = [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"),
            *("-m", f"task{int(task):02}", f"--policy={folder / 'free.py'}"),
            *("--policy-kwargs", json.dumps({"images": bool(images)})),
            *(f"--seeds=100:{100 + count}", f"--robomem-max-steps={steps}"),
            *(f"--robomem-replan-steps={replan}", "--robomem-video=off", "--robomem-results=out"),
            *(["-n", str(workers)] if workers > 1 else []),
        ]
        subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=1800)
        lines = (folder / "out" / "episodes.jsonl").read_text(encoding="utf-8").splitlines()
        records = [json.loads(line) for line in lines]
    parts: dict[str, float] = {}
    warm = [r["wall_times"] for r in records if not r["wall_times"]["build"]][: episodes * workers]
    for times in warm:
        for part, spent in times.items():
            parts[part] = parts.get(part, 0.0) + spent / len(warm)
    shares = ", ".join(f"{part} {1e3 * spent / steps:.2f}" for part, spent in parts.items())
    way = f"replan {replan}, images {images}, -n {workers}"
    print(f"  ours, {way}, ms a step: {shares}", flush=True)
    return parts["total"] / workers


def main() -> None:
    """Measure and report."""
    options = arguments(__doc__, tasks="1", steps=100, episodes=2, rounds=1, workers="1,2")
    bars = {(1, 10): 8.0, (1, 5): 4.4, (0, 10): 60.0}
    comparisons, per_worker = [], {}
    for workers in map(int, options.workers.split(",")):
        found = {
            ways: Comparison(
                f"public : ours, s, replan {ways[1]}, {_WHAT[ways[0]]}, -n {workers}", bar
            )
            for ways, bar in bars.items()
        }
        for task in options.tasks.split(",") * options.rounds:
            public = public_way(task, options.steps, options.episodes, workers)
            for ways, comparison in found.items():
                ours = our_way(task, options.steps, options.episodes, workers, *ways)
                comparison.add(public, ours)
                print(comparison.line(), flush=True)
        for comparison in found.values():
            comparisons.append(comparison)
            per_worker[comparison.what] = comparison.summary()["ours_median"]
    report("loop", comparisons, options.json, seconds_an_episode=per_worker)
