"""Rulebook ``official``: the public scorer of revision 2026-07-21, faults included.

Source of every number: that revision's stages and loop. Its optional final stages are followed but
count neither for the score nor for success. Tasks that ask for two pours are watched for a third.

Steps here are policy steps from 1. The public scorer numbers from the first settling step (0), so
with its 10 settling steps its step ``t`` is policy step ``t - 9`` here.
"""

from dataclasses import dataclass

from pytest_robomem.results.cards import ScoreCard, StageResult
from pytest_robomem.scoring.checks import (
    MICROWAVE_HINGE,
    Check,
    DrawerClosed,
    DrawerOpen,
    HingeOpen,
    History,
    Lifted,
    Names,
    NearBody,
    NearSite,
    NearSiteRadius,
    holds,
)
from pytest_robomem.scoring.pours import PourSample, PourWindow, TiltAndReturn
from pytest_robomem.scoring.rulebook import INCOMPLETE, Rulebook
from pytest_robomem.scoring.stages import require_names
from pytest_robomem.scoring.state import StateView
from pytest_robomem.scoring.versions import OFFICIAL as VERSION

NAME = "official"
REVISION = "2026-07-21"
MAX_STEPS = 2500  # policy steps
REPLAN_STEPS = 10
STEPS_AFTER_SUCCESS = 200
EXTRA_POUR_STEPS = 30  # watched after the second pour
SEVERAL_PER_STEP = frozenset({1})  # task 1's own loop tests on after a completion

EXTRA_POUR = "extra_pour"
MONITOR_INCOMPLETE = "monitor_incomplete"


@dataclass(frozen=True)
class OfficialStage:
    """A stage; one that is not ``required`` counts for nothing."""

    name: str
    check: Check | TiltAndReturn
    required: bool = True


def _drawer(level: str) -> str:
    return f"wooden_cabinet_1_{level}_region"


def _opened(level: str) -> DrawerOpen:
    return DrawerOpen(_drawer(level), 0.10)


def _closed(level: str) -> DrawerClosed:
    return DrawerClosed(_drawer(level), 0.08)


def _check_drawers() -> tuple[OfficialStage, ...]:
    return (
        OfficialStage("01_Open_Top_Drawer", _opened("top")),
        OfficialStage("02_Close_Top_Drawer", _closed("top")),
        OfficialStage("03_Open_Middle_Drawer", _opened("middle")),
        OfficialStage("04_Close_Middle_Drawer", _closed("middle")),
        OfficialStage("05_Open_Bottom_Drawer", _opened("bottom")),
        OfficialStage("06_Close_Bottom_Drawer", _closed("bottom")),
    )


def _in_drawer_box(obj: str, level: str) -> NearSite:
    return NearSite(obj, _drawer(level), (-0.15, 0.15), (-0.15, 0.15), (-0.05, 0.15))


def _in_drawer_window(obj: str, level: str) -> NearSite:
    return NearSite(obj, _drawer(level), (-0.15, 0.15), (-0.20, 0.10), (-0.10, 0.10))


def _in_basket(obj: str) -> NearBody:
    return NearBody(obj, "basket_1", 0.12, (-0.05, 0.20))


def _on_second_cabinet(obj: str, xy: float, height: float) -> NearBody:
    return NearBody(obj, "wooden_cabinet_2", xy, (0.10, height))


def _on_second_plate(obj: str) -> NearBody:
    return NearBody(obj, "plate_2", 0.06, (0.01, 0.10))


def _in_microwave(obj: str) -> NearSite:
    region = "microwave_1_heating_region"
    return NearSite(obj, region, (-0.20, 0.20), (-0.20, 0.20), (-1.0, 1.0))


def _pours(lift: str, obj: str, target: str, *, site: bool = False) -> tuple[OfficialStage, ...]:
    pour = TiltAndReturn(obj, target, target_is_site=site)
    return (
        OfficialStage(lift, Lifted(obj, 0.03)),
        OfficialStage("02_Pour_One", pour),
        OfficialStage("03_Pour_Two", pour),
    )


def _tomato_over(target: str, *, site: bool = False) -> tuple[OfficialStage, ...]:
    return _pours("01_Lift_Tomato_Sauce", "tomato_sauce_1", target, site=site)


STAGES: dict[int, tuple[OfficialStage, ...]] = {
    1: (
        OfficialStage("01_Place_Cookies_Basket", _in_basket("cookies_1")),
        OfficialStage("02_Place_Tomato_Basket", _in_basket("tomato_sauce_1")),
    ),
    2: (
        OfficialStage("01_Place_Butter_Basket", _in_basket("butter_1")),
        OfficialStage("02_Place_Popcorn_Basket", _in_basket("popcorn_1")),
    ),
    3: (
        OfficialStage("01_Place_Cream_Basket", _in_basket("cream_cheese_1")),
        OfficialStage("02_Place_Pudding_Basket", _in_basket("chocolate_pudding_1")),
    ),
    4: (
        *_check_drawers(),
        OfficialStage("07_Open_Top_Drawer_Again", _opened("top")),
        OfficialStage(
            "08_Put_Butter_Top_Drawer", NearSiteRadius("butter_1", _drawer("top"), 0.25, 0.15)
        ),
        OfficialStage("09_Close_Top_Drawer_Final", _closed("top"), required=False),
    ),
    5: (
        *_check_drawers(),
        OfficialStage("07_Open_Middle_Drawer_Again", _opened("middle")),
        OfficialStage(
            "08_Put_Butter_Middle_Drawer",
            NearSiteRadius("butter_1", _drawer("middle"), 0.25, 0.15),
        ),
        OfficialStage("09_Close_Middle_Drawer_Final", _closed("middle"), required=False),
    ),
    6: _tomato_over("cookies_1"),
    7: _tomato_over("frypan_1_default_site", site=True),
    8: _tomato_over("chocolate_pudding_1"),
    9: _tomato_over("butter_1"),
    10: _pours(
        "01_Lift_Wine_Bottle", "wine_bottle_1", "white_yellow_mug_1_default_site", site=True
    ),
    11: (
        OfficialStage("01_Open_Top_Drawer", _opened("top")),
        OfficialStage("02_Place_Cookies_Top_Drawer", _in_drawer_box("cookies_1", "top")),
        OfficialStage("03_Close_Top_Drawer", _closed("top")),
        OfficialStage("04_Open_Middle_Drawer", _opened("middle")),
        OfficialStage("05_Place_Butter_Middle_Drawer", _in_drawer_box("butter_1", "middle")),
        OfficialStage("06_Close_Middle_Drawer", _closed("middle"), required=False),
    ),
    12: (
        OfficialStage("01_Open_Middle_Drawer", _opened("middle")),
        OfficialStage("02_Place_Cookies_Middle_Drawer", _in_drawer_box("cookies_1", "middle")),
        OfficialStage(
            "03_Place_Chocolate_Middle_Drawer", _in_drawer_box("chocolate_pudding_1", "middle")
        ),
        OfficialStage("04_Close_Middle_Drawer", _closed("middle"), required=False),
    ),
    13: (
        OfficialStage("01_Open_Middle_Drawer", _opened("middle")),
        OfficialStage("02_Place_Cookies_Middle_Drawer", _in_drawer_window("cookies_1", "middle")),
        OfficialStage("03_Place_Butter_Middle_Drawer", _in_drawer_window("butter_1", "middle")),
        OfficialStage("04_Close_Middle_Drawer", _closed("middle"), required=False),
    ),
    14: (
        OfficialStage("01_Open_Top_Drawer", _opened("top")),
        OfficialStage("02_Place_Cookies_Top_Drawer", _in_drawer_window("cookies_1", "top")),
        OfficialStage("03_Close_Top_Drawer", _closed("top")),
        OfficialStage("04_Open_Middle_Drawer", _opened("middle")),
        OfficialStage(
            "05_Place_Chocolate_Middle_Drawer", _in_drawer_window("chocolate_pudding_1", "middle")
        ),
        OfficialStage("06_Close_Middle_Drawer", _closed("middle"), required=False),
    ),
    15: _pours("01_Lift_Milk", "milk_1", "butter_1"),
    16: _pours("01_Lift_Milk", "milk_1", "red_coffee_mug_1_default_site", site=True),
    17: (
        OfficialStage("01_Open_Middle_Drawer", _opened("middle")),
        OfficialStage("02_Place_Butter_Middle_Drawer", _in_drawer_window("butter_1", "middle")),
        OfficialStage(
            "03_Place_Chocolate_Middle_Drawer", _in_drawer_window("chocolate_pudding_1", "middle")
        ),
        OfficialStage("04_Close_Middle_Drawer", _closed("middle"), required=False),
    ),
    18: (
        OfficialStage(
            "01_Place_Chocolate_Cabinet2", _on_second_cabinet("chocolate_pudding_1", 0.15, 0.25)
        ),
        OfficialStage("02_Place_Butter_Cabinet2", _on_second_cabinet("butter_1", 0.15, 0.25)),
    ),
    19: (
        OfficialStage(
            "01_Place_Tomato_Sauce_Cabinet2", _on_second_cabinet("tomato_sauce_1", 0.30, 0.30)
        ),
        OfficialStage("02_Place_Milk_Cabinet2", _on_second_cabinet("milk_1", 0.30, 0.30)),
        OfficialStage(
            "03_Place_Orange_Juice_Cabinet2", _on_second_cabinet("orange_juice_1", 0.30, 0.30)
        ),
    ),
    20: (
        OfficialStage("01_Open_Microwave", HingeOpen(MICROWAVE_HINGE, 0.30)),
        OfficialStage("02_Place_Cookies_Microwave", _in_microwave("cookies_1")),
        OfficialStage("03_Place_Chocolate_Microwave", _in_microwave("chocolate_pudding_1")),
    ),
    21: (
        OfficialStage("01_Open_Microwave", HingeOpen(MICROWAVE_HINGE, 0.50)),
        OfficialStage("02_Place_Butter_Microwave", _in_microwave("butter_1")),
        OfficialStage("03_Place_Chocolate_Microwave", _in_microwave("chocolate_pudding_1")),
    ),
    22: _tomato_over("cookies_1"),
    23: (
        OfficialStage("01_Open_Microwave", HingeOpen(MICROWAVE_HINGE, 0.50)),
        OfficialStage("02_Place_Cream_Microwave", _in_microwave("cream_cheese_1")),
        OfficialStage("03_Place_Popcorn_Microwave", _in_microwave("popcorn_1")),
    ),
    24: (
        OfficialStage("01_Open_Microwave", HingeOpen(MICROWAVE_HINGE, 0.50)),
        OfficialStage("02_Place_Cookies_Microwave", _in_microwave("cookies_1")),
        OfficialStage("03_Place_Popcorn_Microwave", _in_microwave("popcorn_1")),
    ),
    25: (
        OfficialStage("01_Place_Butter_Plate2", _on_second_plate("butter_1")),
        OfficialStage("02_Place_Cream_Cheese_Plate2", _on_second_plate("cream_cheese_1")),
    ),
    26: (
        OfficialStage("01_Place_Chocolate_Pudding_Plate2", _on_second_plate("chocolate_pudding_1")),
        OfficialStage("02_Place_Cream_Cheese_Plate2", _on_second_plate("cream_cheese_1")),
    ),
}


class OfficialScorer:
    """Scores an episode as the 2026-07-21 loop does.

    Args:
        stages: in order.
        several_per_step: whether stages may complete on one and the same step.
    """

    def __init__(
        self, stages: tuple[OfficialStage, ...], *, several_per_step: bool = False
    ) -> None:
        self._stages = stages
        self._several_per_step = several_per_step
        self._pours = tuple(stage for stage in stages if isinstance(stage.check, TiltAndReturn))
        self._start(History())

    def _start(self, history: History) -> None:
        self._history = history
        self._completed_at: dict[str, int] = {}
        self._window: PourWindow | None = None
        self._carried_over: list[PourSample] = []
        self._success_step: int | None = None
        self._extra_pour_step: int | None = None
        self._monitor_end_step: int | None = None
        self._finished = False

    def names(self) -> Names:
        """Everything of the scene that the stages read."""
        names = Names()
        for stage in self._stages:
            names |= stage.check.names()
        return names

    def begin(self, state: StateView) -> None:
        """See :class:`~pytest_robomem.scoring.rulebook.Scorer`."""
        names = self.names()
        require_names(names, state)
        self._start(History.of(names, state))

    @property
    def finished(self) -> bool:
        """Whether the scorer would have ended the episode, success or not."""
        return self._finished

    @property
    def _current(self) -> OfficialStage | None:
        done = len(self._completed_at)
        return self._stages[done] if done < len(self._stages) else None

    @property
    def _counts_pours(self) -> bool:
        return bool(self._pours)

    def update(self, state: StateView, step: int) -> None:
        """See :class:`~pytest_robomem.scoring.rulebook.Scorer`."""
        if self._finished:
            return
        if self._counts_pours and self._success_step is not None:
            self._watch_for_extra_pour(state, step)
            return
        self._advance(state, step)
        if self._success_step is None and self._required_done:
            self._success_step = step
        elif self._success_step is not None and not self._counts_pours:
            self._finished = step - self._success_step >= STEPS_AFTER_SUCCESS

    def _advance(self, state: StateView, step: int) -> None:
        while (stage := self._current) is not None and self._holds(stage, state):
            self._completed_at[stage.name] = step
            if not self._several_per_step:
                return

    def _holds(self, stage: OfficialStage, state: StateView) -> bool:
        check = stage.check
        if not isinstance(check, TiltAndReturn):
            return holds(check, state, self._history)
        window = self._window_of(check)
        window.append(check.sample(state))
        if not window.poured:
            return False
        self._window, self._carried_over = None, window.samples[-1:]
        return True

    def _window_of(self, pour: TiltAndReturn) -> PourWindow:
        if self._window is None:
            self._window = PourWindow(pour, self._carried_over)
        return self._window

    def _watch_for_extra_pour(self, state: StateView, step: int) -> None:
        check = self._pours[-1].check
        assert isinstance(check, TiltAndReturn)
        assert self._success_step is not None
        window = self._window_of(check)
        window.append(check.sample(state))
        if window.poured:
            self._extra_pour_step = step
            self._finished = True
        if step - self._success_step >= EXTRA_POUR_STEPS:
            self._monitor_end_step = step
            self._finished = True

    @property
    def _required_done(self) -> bool:
        return all(stage.name in self._completed_at for stage in self._stages if stage.required)

    @property
    def _failure_reason(self) -> str:
        if self._extra_pour_step is not None:
            return EXTRA_POUR
        if self._counts_pours and self._required_done and self._monitor_end_step is None:
            return MONITOR_INCOMPLETE
        return "" if self._required_done else INCOMPLETE

    def card(self) -> ScoreCard:
        """See :class:`~pytest_robomem.scoring.rulebook.Scorer`."""
        completed = self._completed_at
        required = [stage for stage in self._stages if stage.required]
        done = sum(stage.name in completed for stage in required)
        pour_steps = [completed.get(stage.name) for stage in self._pours] or [None, None]
        reason = self._failure_reason
        return ScoreCard(
            rules=VERSION,
            stages=tuple(
                StageResult(
                    name=stage.name,
                    completed_at=completed.get(stage.name),
                    required=stage.required,
                )
                for stage in self._stages
            ),
            stage_score=100.0 * done / len(required),
            stage_success=not reason,
            failure_reason=reason,
            details={
                "pour_1_step": pour_steps[0],
                "pour_2_step": pour_steps[1],
                "extra_pour_detected": self._extra_pour_step is not None,
                "extra_monitor_end_step": self._monitor_end_step,
            },
        )

    def explain(self, state: StateView) -> str:
        """See :class:`~pytest_robomem.scoring.rulebook.Scorer`."""
        if self._extra_pour_step is not None:
            return f"a pour too many at step {self._extra_pour_step}"
        current = self._current
        if self._failure_reason == MONITOR_INCOMPLETE:
            return "the episode ended before the watch for an extra pour was over"
        if current is None or not current.required:
            return ""
        check = current.check
        limits = (
            check.limits(self._window_of(check).samples)
            if isinstance(check, TiltAndReturn)
            else check.limits(state, self._history)
        )
        missed = "; ".join(limit.describe() for limit in limits if not limit.kept)
        done = ", ".join(self._completed_at) or "none"
        return f"stage {current.name} is missing ({missed}); completed before: {done}"


def scorer_for(task_id: int) -> OfficialScorer:
    """Scorer of a benchmark task (1 to 26)."""
    return OfficialScorer(STAGES[task_id], several_per_step=task_id in SEVERAL_PER_STEP)


RULES = {
    "stages": STAGES,
    "several_per_step": SEVERAL_PER_STEP,
    "steps_after_success": STEPS_AFTER_SUCCESS,
    "extra_pour_steps": EXTRA_POUR_STEPS,
}
OFFICIAL = Rulebook(NAME, VERSION, MAX_STEPS, REPLAN_STEPS, scorer_for, RULES)
