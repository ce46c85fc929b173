"""Control steps: stock robosuite without cameras, and bare physics, against the exact stepper.

    python -m benchmarks step --tasks 1,20 --rounds 6 --steps 25
"""

import mujoco
import numpy as np

from benchmarks.measure import Comparison, arguments, report, scene_files, seconds
from pytest_robomem.scene.model import Scene
from pytest_robomem.scene.stepper import SUBSTEPS

STOCK_BAR = 4.0  # times the steps of stock, on a current MuJoCo
RAW_BAR = 1 / 1.4  # of the time of as many bare mj_step calls


def random_actions(steps: int, seed: int) -> np.ndarray:
    """[steps, 7]; the hand tends down, so that it meets objects and table."""
    actions = np.random.default_rng(seed).uniform(-1.0, 1.0, (steps, 7))
    actions[:, 2] -= 0.15
    return actions


def bare_physics(scene: Scene, copy: mujoco.MjData) -> float:
    """Seconds of as many mj_step calls as a control step has, from the scene's state."""
    mujoco.mj_copyData(copy, scene.model, scene.data)
    return seconds(lambda: mujoco.mj_step(scene.model, copy, SUBSTEPS))


def measure(scene: Scene, rounds: int, steps: int) -> tuple[list[float], list[float], list[float]]:
    """Seconds of whole rounds: stock, ours, bare physics."""
    stock, ours, raw = [], [], []
    environment, copy = scene._environment, mujoco.MjData(scene.model)
    scene.reset(100)
    scene.step(np.zeros(7))  # compiled, or loaded
    for number in range(rounds):
        actions = random_actions(steps, number)
        scene.reset(100 + number)
        ours_seconds = raw_seconds = 0.0
        for action in actions:
            raw_seconds += bare_physics(scene, copy)
            ours_seconds += seconds(lambda action=action: scene.step(action))
        scene.reset(100 + number)
        stock.append(sum(seconds(lambda a=action: environment.step(a)) for action in actions))
        ours.append(ours_seconds)
        raw.append(raw_seconds)
    return stock, ours, raw


def main() -> None:
    """Measure and report."""
    options = arguments(__doc__, tasks="", rounds=4, steps=25)
    against_stock = Comparison("stock : exact, s a round", STOCK_BAR)
    against_raw = Comparison("bare mj_step : exact, s a round", RAW_BAR)
    for path in scene_files(options.tasks):
        scene = Scene(path)
        stock, ours, raw = measure(scene, options.rounds, options.steps)
        scene.close()
        for stock_seconds, our_seconds, raw_seconds in zip(stock, ours, raw, strict=True):
            against_stock.add(stock_seconds, our_seconds)
            against_raw.add(raw_seconds, our_seconds)
        print(
            f"{path.stem:45} stock/exact {np.median(np.array(stock) / ours):.2f}  "
            f"exact/bare {np.median(np.array(ours) / raw):.2f}  "
            f"{np.median(ours) / options.steps * 1e3:.2f} ms a step",
            flush=True,
        )
    report("step", [against_stock, against_raw], options.json)
