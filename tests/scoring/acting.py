"""Constructed episodes: for every kind of strict stage, the states that complete it."""

from collections.abc import Sequence

import numpy as np

from pytest_robomem.scoring.strict.pouring import PourTarget
from pytest_robomem.scoring.strict.regions import Region, SiteBox, StartPlace, TopOf
from pytest_robomem.scoring.strict.rulebook import scorer_for
from pytest_robomem.scoring.strict.stages import (
    KeptShut,
    Opened,
    Placed,
    Poured,
    ShutAgain,
    StrictStage,
)
from pytest_robomem.scoring.strict.tasks import TASKS
from tests.golden import Stage, golden_for
from tests.scoring.demanded import DEMANDED
from tests.scoring.puppet import Puppet, drop_point, radians

REST_STEPS = 12  # longer than an object has to rest
FULLY_OPEN = {"level": -0.155, "microjoint": -1.9}  # by the end of the joint's name
POUR_ANGLES = (0.0, 30.0, 60.0, 30.0, 0.0)  # degrees
SLOTS = (-0.028, 0.028, 0.0)  # m, for several objects in one place


def puppet_for(task_id: int, stage: Stage) -> Puppet:
    """The settled scene of the task, with a strict scorer that has begun."""
    puppet = Puppet(stage, golden_for(task_id).settled, scorer_for(task_id))
    if pouring := TASKS[task_id].pouring:
        put_under_hand(puppet, pouring.target)
    puppet.begin()
    return puppet


def put_under_hand(
    puppet: Puppet, target: PourTarget, offset: tuple[float, float] = (0.0, 0.0)
) -> None:
    """Put what is poured into under the hand, so that the arm can stay where it is."""
    view = puppet.view()
    middle = view.body_position(target.body) + view.body_rotation(target.body) @ np.array(
        [*target.centre, 0.0]
    )
    away = puppet.grip() - middle + np.array([*offset, 0.0])
    puppet.shift(target.body, away[0], away[1])


def full_opening(joint: str) -> float:
    """Joint position of an open drawer (m) or door (rad)."""
    return next(value for end, value in FULLY_OPEN.items() if joint.endswith(end))


def drawer_of(region: Region) -> str | None:
    """The slide joint of a drawer's region."""
    site = region.site if isinstance(region, SiteBox) else ""
    return site.replace("_region", "_level") if "cabinet" in site else None


def occupied_or_empty(puppet: Puppet, stage: Placed) -> Region:
    """The place that a placing stage means."""
    return puppet.scorer._places[stage.name][0].region


class Actor:
    """Performs a task's stages one after another in constructed states."""

    def __init__(self, task_id: int, stage: Stage) -> None:
        self.task = TASKS[task_id]
        self.puppet = puppet_for(task_id, stage)
        self._placed: list[str] = []

    @property
    def scorer(self):
        """The strict scorer."""
        return self.puppet.scorer

    def done(self, name: str) -> bool:
        """Whether a stage counts as complete now."""
        (result,) = (entry for entry in self.scorer.card().stages if entry.name == name)
        return result.completed_at is not None

    def before(self, name: str) -> None:
        """Perform all stages that come before one."""
        for stage in self.task.stages:
            if stage.name == name:
                return
            self.perform(stage)

    def all(self) -> None:
        """Perform all stages."""
        for stage in self.task.stages:
            self.perform(stage)

    def perform(self, stage: StrictStage) -> None:
        """Perform one stage as demanded."""
        if isinstance(stage, Opened):
            self.open(self._joint_to_open(stage))
        elif isinstance(stage, ShutAgain | KeptShut):
            for joint in stage.joints:
                self.move_joint(joint, 0.0)
        elif isinstance(stage, Placed):
            self.place(stage)
        elif isinstance(stage, Poured):
            self.pour()

    def _joint_to_open(self, stage: Opened) -> str:
        if len(stage.joints) == 1:
            return stage.joints[0]
        later = [
            drawer_of(occupied_or_empty(self.puppet, other))
            for other in self.task.stages
            if isinstance(other, Placed) and other.name not in self._placed
        ]
        return next(joint for joint in later if joint in stage.joints)

    def open(self, joint: str) -> None:
        """Open a drawer or door."""
        self.move_joint(joint, full_opening(joint))

    def move_joint(self, joint: str, value: float) -> None:
        """Move a drawer or door in one step."""
        self.puppet.move_joint(joint, value)
        self.puppet.show()

    def place(self, stage: Placed, *, steps: int = REST_STEPS) -> None:
        """Lift an object, put it into its place and let it rest there."""
        self.lift(stage.obj)
        self.lay_down(stage)
        self.puppet.show(steps)
        self._placed.append(stage.name)

    def lift(self, obj: str) -> None:
        """Take an object away from where it is."""
        self.puppet.open_hand()
        self.puppet.park(obj)
        self.puppet.show()

    def lay_down(self, stage: Placed, region: Region | None = None) -> None:
        """Put an object into its place, in contact with what carries it."""
        puppet = self.puppet
        region = region or occupied_or_empty(puppet, stage)
        if isinstance(region, StartPlace):
            at = puppet._free(stage.obj)
            puppet.put(stage.obj, puppet.settled[at : at + 3])
            return
        puppet.drop(stage.obj, drop_point(puppet, region, self.offset(region)))

    def offset(self, region: Region) -> tuple[float, float]:
        """Where in a place the next object goes, so that several fit side by side."""
        aside = SLOTS[len(self._placed) % len(SLOTS)]
        if isinstance(region, TopOf) or drawer_of(region):
            return ((1.9 if drawer_of(region) else 2.6) * aside, 0.0)
        return (0.0, aside) if region.support == "plate_2" else (0.0, 0.0)

    def tilt(self, degrees: float, steps: int = 1) -> None:
        """Hold the container in the hand at an angle for some steps."""
        self.puppet.in_hand(self.task.pouring.container, radians(degrees))
        self.puppet.show(steps)

    def pour(self, angles: Sequence[float] = POUR_ANGLES) -> None:
        """Pour once."""
        for angle in angles:
            self.tilt(angle, DEMANDED.pour_steps if angle >= 45 else 1)
