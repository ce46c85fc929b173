"""What recording a trajectory costs of the time of its steps, and how large it is.

Times are processor times of the whole process, so that the thread that compresses and writes counts
too, and that a shared machine's waiting does not.

    python -m benchmarks record --tasks 1 --steps 1000 --rounds 3
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.measure import Comparison, arguments, report, scene_files
from benchmarks.rollouts import random_actions
from pytest_robomem.scene.model import Scene
from pytest_robomem.scene.recorder import TrajectoryRecorder
from pytest_robomem.scene.recording import write_trajectory

LARGEST = 1e6  # bytes for 1,000 steps
SHARE = 0.02  # of the time of the steps


def main() -> None:
    """Measure and report."""
    options = arguments(__doc__, tasks="1", steps=1000, rounds=3)
    everything = Comparison("steps : recording them, all threads, CPU s", 1 / SHARE)
    loop = Comparison("steps : recording them, control loop alone, CPU s", 1 / SHARE)
    sizes: dict[str, dict[str, int]] = {}
    for path in scene_files(options.tasks):
        scene = Scene(path)
        actions = random_actions(options.steps, 1)
        for _ in range(options.rounds):
            stepping, states = _episode(scene, actions)
            in_loop, in_all, sizes[path.stem] = _record(scene, actions, states)
            everything.add(stepping, in_all)
            loop.add(stepping, in_loop)
        scene.close()
    within = max(size for kinds in sizes.values() for size in kinds.values()) <= LARGEST
    report(
        "record",
        [everything, loop],
        options.json,
        bytes_per_1000_steps=sizes,
        small_enough=within,
    )


def _episode(scene: Scene, actions: np.ndarray) -> tuple[float, list[tuple[np.ndarray, ...]]]:
    """Processor time of the steps, and the states after each."""
    scene.reset(100)
    states, seconds = [(scene.data.qpos.copy(), scene.kinematics_qpos.copy())], 0.0
    for action in actions:
        started = time.process_time()
        scene.step(action)
        seconds += time.process_time() - started
        states.append((scene.data.qpos.copy(), scene.kinematics_qpos.copy()))
    return seconds, states


def _record(
    scene: Scene, actions: np.ndarray, states: list[tuple[np.ndarray, ...]]
) -> tuple[float, float, dict[str, int]]:
    """Processor times of recording, in the loop and in all, and bytes for 1,000 steps."""
    with tempfile.TemporaryDirectory() as folder:
        partial, final = Path(folder) / "e.partial", Path(folder) / "e.npz"
        with TrajectoryRecorder(partial) as recorder:

            def feed() -> None:
                recorder.begin(states[0][0], *scene.body_placements)
                recorder.add_state(*states[0], scene.end_effector())
                for action, (qpos, kinematics_qpos) in zip(actions, states[1:], strict=True):
                    recorder.add_action(action)
                    recorder.add_state(qpos, kinematics_qpos, scene.end_effector())

            def finish() -> None:
                recorder.wait()
                write_trajectory(recorder.finish({}), final, {})
                recorder_sizes["partial"] = partial.stat().st_size
                recorder.discard()

            recorder_sizes: dict[str, int] = {}
            feeding = _measured(feed)
            finishing = _measured(finish)
            recorder_sizes["final"] = final.stat().st_size
    sizes = {kind: round(size * 1000 / len(actions)) for kind, size in recorder_sizes.items()}
    return feeding[1], feeding[0] + finishing[0], sizes


def _measured(action: Callable[[], None]) -> tuple[float, float]:
    """Processor times of a call: of all threads, and of this one."""
    process, thread = time.process_time(), time.thread_time()
    action()
    return time.process_time() - process, time.thread_time() - thread
