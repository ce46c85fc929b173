"""Control steps: stock robosuite without cameras, and bare physics, against the exact stepper.

    python -m benchmarks step --tasks 1,20 --rounds 6 --steps 25
"""

from functools import partial

import mujoco
import numpy as np

from benchmarks.measure import Comparison, arguments, report, scene_files, seconds
from benchmarks.rollouts import random_actions
from pytest_robomem.scene.model import Scene
from pytest_robomem.scene.stepper import SUBSTEPS

STOCK_BAR = 4.0  # times the steps of stock, on a current MuJoCo
RAW_BAR = 1 / 1.4  # of the time of as many bare mj_step calls


class Steps:
    """The same steps again and again, in one way or another.

    Args:
        scene: where.
        seed: of the placement and of the actions.
        steps: of a round.
    """

    def __init__(self, scene: Scene, seed: int, steps: int) -> None:
        self._scene = scene
        self._seed = seed
        self._actions = random_actions(steps, seed)
        self._states: list[tuple[np.ndarray, ...]] = []

    def exact(self) -> float:
        """Seconds of our control steps."""
        self._scene.reset(self._seed)
        return sum(seconds(partial(self._scene.step, action)) for action in self._actions)

    def stock(self) -> float:
        """Seconds of robosuite's own step, with its observations, without cameras."""
        self._scene.reset(self._seed)
        environment = self._scene._environment
        self._states = []
        total = 0.0
        for action in self._actions:
            data = self._scene.data
            state = (data.qpos, data.qvel, data.qacc_warmstart, data.ctrl)
            self._states.append(tuple(values.copy() for values in state))
            total += seconds(partial(environment.step, action))
        return total

    def bare(self) -> float:
        """Seconds of as many mj_step calls, each control step from where the stock one began."""
        scene, total = self._scene, 0.0
        for qpos, qvel, warm_start, ctrl in self._states:
            scene.data.qpos[:], scene.data.qvel[:] = qpos, qvel
            scene.data.qacc_warmstart[:], scene.data.ctrl[:] = warm_start, ctrl
            total += seconds(partial(mujoco.mj_step, scene.model, scene.data, SUBSTEPS))
        return total


def main() -> None:
    """Measure and report."""
    options = arguments(__doc__, tasks="", rounds=4, steps=25)
    against_stock = Comparison("stock : exact, s a round", STOCK_BAR)
    against_raw = Comparison("bare mj_step : exact, s a round", RAW_BAR)
    for path in scene_files(options.tasks):
        scene = Scene(path)
        scene.reset(100)
        scene.step(np.zeros(7))  # compiled, or loaded
        rounds = [Steps(scene, 100 + number, options.steps) for number in range(options.rounds)]
        times = np.array([(steps.stock(), steps.exact(), steps.bare()) for steps in rounds])
        scene.close()
        stock, ours, raw = times.T
        for stock_seconds, our_seconds, raw_seconds in times:
            against_stock.add(stock_seconds, our_seconds)
            against_raw.add(raw_seconds, our_seconds)
        print(
            f"{path.stem:45} stock/exact {np.median(stock / ours):.2f}  "
            f"exact/bare {np.median(ours / raw):.2f}  "
            f"{np.median(ours) / options.steps * 1e3:.2f} ms a step",
            flush=True,
        )
    report("step", [against_stock, against_raw], options.json)
