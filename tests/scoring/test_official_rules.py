"""Rules of the official scorer that no recorded timeline reaches."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_robomem.scoring.official import scorer_for
from pytest_robomem.scoring.pours import PourSample, PourWindow, TiltAndReturn
from tests.golden import Stage, golden_for
from tests.scoring.puppet import Puppet

POUR = TiltAndReturn("bottle", "bowl")
REST = [PourSample(0.0, 0.3)] * 5


def _puppet(task_id: int, stage: Stage) -> Puppet:
    puppet = Puppet(stage, golden_for(task_id).settled, scorer_for(task_id))
    puppet.begin()
    return puppet


def _succeed(puppet: Puppet) -> None:
    basket = puppet.view().body_position("basket_1")
    for obj in ("butter_1", "popcorn_1"):
        puppet.put(obj, basket + np.array([0.0, 0.0, 0.05]))
        puppet.show()


@pytest.mark.parametrize("task_id", [2])
def test_the_episode_ends_200_steps_after_success(task_id: int, stage: Stage) -> None:
    puppet = _puppet(task_id, stage)
    _succeed(puppet)
    assert puppet.scorer.card().stage_success
    puppet.show(199)
    assert not puppet.scorer.finished
    puppet.show()
    assert puppet.scorer.finished
    assert puppet.scorer.explain(puppet.view()) == ""


@pytest.mark.parametrize("task_id", [2])
def test_at_most_one_stage_a_step(task_id: int, stage: Stage) -> None:
    puppet = _puppet(task_id, stage)
    basket = puppet.view().body_position("basket_1")
    for obj in ("butter_1", "popcorn_1"):
        puppet.put(obj, basket + np.array([0.0, 0.0, 0.05]))
    puppet.show()
    assert [entry.completed_at for entry in puppet.scorer.card().stages] == [1, None]
    assert puppet.scorer.card().failure_reason == "incomplete_stage"
    assert "02_Place_Popcorn_Basket is missing" in puppet.scorer.explain(puppet.view())


@pytest.mark.parametrize("task_id", [12])
def test_optional_final_stages_count_for_nothing(task_id: int, stage: Stage) -> None:
    puppet = _puppet(task_id, stage)
    puppet.move_joint("wooden_cabinet_1_middle_level", -0.15)
    puppet.show()
    for obj in ("cookies_1", "chocolate_pudding_1"):
        puppet.put(obj, puppet.view().site_pose("wooden_cabinet_1_middle_region").position)
        puppet.show()
    card = puppet.scorer.card()
    assert (card.stage_score, card.stage_success) == (100.0, True)
    assert [entry.required for entry in card.stages] == [True, True, True, False]
    assert card.stages[-1].completed_at is None
    puppet.move_joint("wooden_cabinet_1_middle_level", 0.0)
    puppet.show()
    assert puppet.scorer.card().stages[-1].completed_at == 4


def _pour_twice(puppet: Puppet) -> None:
    """Lift the milk over the mug and tilt it twice about an axis that the scorer sees."""
    mug = puppet.view().body_position("red_coffee_mug_1") + np.array([0.0, 0.0, 0.3])
    puppet.put("milk_1", mug)
    puppet.show()
    for _ in range(2):
        _tilts(puppet, mug, *[0.0] * 12, 0.4, 0.0)


def _tilts(puppet: Puppet, position: np.ndarray, *angles: float) -> None:
    for angle in angles:
        puppet.put("milk_1", position, puppet.turned("milk_1", np.array([0.0, 1.0, 0.0]), angle))
        puppet.show()


@pytest.mark.parametrize("task_id", [16])
def test_a_watch_that_was_cut_short_is_said(task_id: int, stage: Stage) -> None:
    puppet = _puppet(task_id, stage)
    _pour_twice(puppet)
    card = puppet.scorer.card()
    assert (card.stage_score, card.stage_success) == (100.0, False)
    assert card.failure_reason == "monitor_incomplete"
    assert "before the watch" in puppet.scorer.explain(puppet.view())
    puppet.show(29)
    assert not puppet.scorer.finished
    puppet.show()
    assert puppet.scorer.finished
    assert puppet.scorer.card().stage_success


@pytest.mark.parametrize("task_id", [16])
def test_a_third_pour_ends_the_episode(task_id: int, stage: Stage) -> None:
    puppet = _puppet(task_id, stage)
    _pour_twice(puppet)
    position, _ = puppet.pose("milk_1")
    _tilts(puppet, position, *[0.0] * 12, 0.4, 0.0)
    card = puppet.scorer.card()
    assert puppet.scorer.finished
    assert (card.failure_reason, card.details["extra_pour_detected"]) == ("extra_pour", True)
    assert "too many" in puppet.scorer.explain(puppet.view())


@pytest.mark.parametrize(
    ("samples", "poured"),
    [
        ([*REST, *[PourSample(0.15, 0.20)] * 4, PourSample(0.10, 0.3)], True),
        ([*REST, *[PourSample(0.15, 0.20)] * 3, PourSample(0.10, 0.3)], False),  # nine samples
        ([*REST, *[PourSample(0.149, 0.20)] * 4, PourSample(0.10, 0.3)], False),
        ([*REST, *[PourSample(0.15, 0.201)] * 4, PourSample(0.10, 0.3)], False),
        ([*REST, *[PourSample(0.15, 0.20)] * 4, PourSample(0.101, 0.3)], False),
        ([*REST, *[PourSample(-0.15, 0.20)] * 4, PourSample(-0.10, 0.3)], True),
        # Near only before the tilt, or only after the first return: neither counts, ever.
        ([PourSample(0.0, 0.1)] * 5 + [PourSample(0.5, 0.3)] * 5 + [PourSample(0.0, 0.3)], False),
        (
            [
                *REST,
                *[PourSample(0.5, 0.3)] * 5,
                *[PourSample(0.0, 0.3), PourSample(0.5, 0.1), PourSample(0.0, 0.1)],
            ],
            False,
        ),
        # The angle at rest is the median of five samples: two that are off do not matter.
        (
            [PourSample(0.4, 0.3)] * 2
            + [PourSample(0.0, 0.1)] * 7
            + [PourSample(0.16, 0.1), PourSample(0.05, 0.1)],
            True,
        ),
        ([PourSample(0.4, 0.3)] * 3 + [PourSample(0.3, 0.1)] * 7, False),
        ([], False),
    ],
)
def test_what_a_pour_is(samples: list[PourSample], poured: bool) -> None:
    assert POUR.poured(samples) is poured
    assert PourWindow(POUR, samples).poured is poured


@given(
    st.lists(
        st.builds(
            PourSample,
            st.sampled_from([0.0, 0.05, 0.1, 0.15, 0.16, 0.3]),
            st.sampled_from([0.1, 0.2, 0.21]),
        ),
        max_size=24,
    )
)
def test_a_window_that_grows_says_at_every_step_what_all_its_samples_say(
    samples: list[PourSample],
) -> None:
    window = PourWindow(POUR)
    for count, sample in enumerate(samples, start=1):
        window.append(sample)
        assert window.poured is POUR.poured(samples[:count])
