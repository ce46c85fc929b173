"""A task of your own: a scene file, an instruction, and stages.

pytest examples/custom_task --policy=examples/custom_task/reach.py --seeds=0:5
"""

import math
from dataclasses import dataclass

from pytest_robomem.results.records import EpisodeResult
from pytest_robomem.scoring.checks import History, Limit, Names
from pytest_robomem.scoring.stages import Stage
from pytest_robomem.scoring.state import StateView
from pytest_robomem.task import task

HAND = "gripper0_eef"


@dataclass(frozen=True)
class HandOver:
    """A check of your own: what it measures, and the limits that it has to keep."""

    obj: str
    xy: float  # m
    height: tuple[float, float]  # m above the object

    def names(self) -> Names:
        return Names(bodies=frozenset({self.obj, HAND}))

    def limits(self, state: StateView, history: History) -> tuple[Limit, ...]:
        x, y, z = state.body_position(HAND) - state.body_position(self.obj)
        return (
            Limit(f"horizontal distance of the hand to {self.obj}", math.hypot(x, y), high=self.xy),
            Limit(f"height of the hand over {self.obj}", z, *self.height),
        )


@task(
    scene="reach_over_butter.bddl",
    prompt="Hold the hand over the butter, then lower it.",
    family="reaching",
    stages=[
        Stage("over_the_butter", HandOver("butter_1", xy=0.03, height=(0.10, 0.40))),
        Stage("lowered", HandOver("butter_1", xy=0.03, height=(0.0, 0.09))),
    ],
    max_steps=200,
)
def test_reach_over_the_butter(episode: EpisodeResult) -> None:
    episode.require_success()
    assert episode.steps < 150, "it got there, but took its time"
