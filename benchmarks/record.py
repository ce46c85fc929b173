"""What recording a trajectory costs of the time of its steps, and how large it is.

    python -m benchmarks record --tasks 1 --steps 1000
"""

import tempfile
from functools import partial
from pathlib import Path

from benchmarks.measure import Comparison, arguments, report, scene_files, seconds
from benchmarks.rollouts import random_actions
from pytest_robomem.scene.model import Scene
from pytest_robomem.scene.recording import TrajectoryRecorder, write_trajectory

LARGEST = 1e6  # bytes for 1,000 steps
SHARE = 0.02  # of the time of the steps


def main() -> None:
    """Measure and report."""
    options = arguments(__doc__, tasks="1", steps=1000)
    comparison = Comparison("steps : recording them, s", 1 / SHARE)
    sizes = {}
    for path in scene_files(options.tasks):
        scene = Scene(path)
        scene.reset(100)
        recorder = TrajectoryRecorder(scene.data.qpos.copy(), *scene.body_placements)
        stepping = recording = 0.0

        def add(scene: Scene = scene, recorder: TrajectoryRecorder = recorder) -> None:
            recorder.add_state(
                scene.data.qpos.copy(), scene.kinematics_qpos.copy(), scene.end_effector()
            )

        add()
        for action in random_actions(options.steps, 1):
            stepping += seconds(partial(scene.step, action))
            recording += seconds(partial(recorder.add_action, action)) + seconds(add)
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "trajectory.npz"
            trajectory = recorder.finish({})
            recording += seconds(partial(write_trajectory, trajectory, target, {}))
            sizes[path.stem] = round(target.stat().st_size * 1000 / options.steps)
        scene.close()
        comparison.add(stepping, recording)
    within = max(sizes.values()) <= LARGEST
    report("record", [comparison], options.json, bytes_per_1000_steps=sizes, small_enough=within)
