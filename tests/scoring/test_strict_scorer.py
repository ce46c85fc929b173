"""What the strict scorer makes of whole episodes: order, undoing, too much, choice of drawers."""

import dataclasses

import numpy as np
import pytest

from pytest_robomem.scoring.strict.rulebook import scorer_for
from pytest_robomem.scoring.strict.stages import Placed, Poured
from pytest_robomem.scoring.strict.tasks import TASKS
from tests.golden import TASK_IDS, Stage, golden_for
from tests.scoring.acting import REST_STEPS, Actor, drawer_of
from tests.scoring.demanded import DEMANDED
from tests.scoring.puppet import Puppet

POUR_TASKS = [task_id for task_id, task in TASKS.items() if task.pouring]
ORDERED = [
    (task_id, first, second)
    for task_id, task in TASKS.items()
    for second in task.stages
    if isinstance(second, Placed)
    for first in task.stages
    if isinstance(first, Placed) and first.name in second.after
]


def _ids(value: object) -> str:
    return f"task{value:02d}" if isinstance(value, int) else getattr(value, "name", "")


tasks = pytest.mark.parametrize("task_id", TASK_IDS, ids=_ids)
pour_tasks = pytest.mark.parametrize("task_id", POUR_TASKS, ids=_ids)


@tasks
def test_doing_nothing_completes_nothing(task_id: int, stage: Stage) -> None:
    actor = Actor(task_id, stage)
    actor.puppet.show(40)
    card = actor.scorer.card()
    assert (card.stage_score, card.stage_success) == (0.0, False)
    assert card.failure_reason == "incomplete_stage"
    assert card.details["ever_stage_score"] == 0.0


@tasks
def test_scoring_again_needs_no_new_scorer(task_id: int, stage: Stage) -> None:
    actor = Actor(task_id, stage)
    first_state = actor.puppet.qpos.copy()
    cards = []
    for _ in range(2):
        actor.puppet.qpos[:] = first_state
        actor.puppet.begin()
        actor.all()
        cards.append(actor.scorer.card())
        actor._placed.clear()
    assert cards[0] == cards[1]
    assert cards[0].stage_success


def _into_place(actor: Actor, placed: Placed) -> None:
    region = actor.scorer._places[placed.name][0].region
    joint = drawer_of(region)
    if joint is not None:
        actor.open(joint)
    actor.place(placed)


@pytest.mark.parametrize(("task_id", "first", "second"), ORDERED, ids=_ids)
def test_the_wrong_order_is_no_success(
    task_id: int, first: Placed, second: Placed, stage: Stage
) -> None:
    actor = Actor(task_id, stage)
    _into_place(actor, second)
    _into_place(actor, first)
    card = actor.scorer.card()
    assert not card.stage_success
    assert card.failure_reason == "wrong_order"
    assert card.details["misordered"] == second.name
    assert second.name in actor.scorer.explain(actor.puppet.view())


@pytest.mark.parametrize("task_id", [11, 14, 18, 19, 25, 26], ids=_ids)
def test_an_order_that_nobody_asked_for_is_not_demanded(task_id: int, stage: Stage) -> None:
    actor = Actor(task_id, stage)
    stages = list(actor.task.stages)
    placed = [entry for entry in stages if isinstance(entry, Placed)]
    if task_id in (11, 14):  # each object after its own drawer was opened
        order = [stages[2], stages[3], stages[0], stages[1], stages[4]]
    else:
        order = placed[::-1]
    for entry in order:
        actor.perform(entry)
    assert actor.scorer.card().stage_success, actor.scorer.explain(actor.puppet.view())


@tasks
def test_what_is_undone_counts_no_more(task_id: int, stage: Stage) -> None:
    actor = Actor(task_id, stage)
    actor.all()
    assert actor.scorer.card().stage_success
    last = [entry for entry in actor.task.stages if isinstance(entry, Placed)][-1]
    actor.lift(last.obj)
    card = actor.scorer.card()
    assert not card.stage_success
    assert card.failure_reason == "undone"
    assert last.name in str(card.details["undone"])
    assert card.details["ever_stage_score"] == 100.0
    assert card.stage_score < 100.0
    actor.puppet.show(DEMANDED.watch_steps + 2)
    assert not actor.scorer.finished


@pour_tasks
def test_a_pour_too_many_fails_and_ends_the_episode(task_id: int, stage: Stage) -> None:
    actor = Actor(task_id, stage)
    pours = [entry for entry in actor.task.stages if isinstance(entry, Poured)]
    for entry in actor.task.stages:
        actor.perform(entry)
        if entry is pours[-1]:
            break
    assert actor.scorer.card().details["pours"] == 2
    assert not actor.scorer.finished
    actor.pour()
    card = actor.scorer.card()
    assert actor.scorer.finished
    assert (card.stage_success, card.failure_reason) == (False, "extra_pour")
    assert card.details["extra_pour_detected"] is True
    assert "too many" in actor.scorer.explain(actor.puppet.view())


@pytest.mark.parametrize("task_id", [task for task in POUR_TASKS if task != 22], ids=_ids)
def test_a_pour_in_the_watch_fails(task_id: int, stage: Stage) -> None:
    actor = Actor(task_id, stage)
    actor.all()
    assert actor.scorer.card().stage_success
    actor.pour()
    assert actor.scorer.card().failure_reason == "extra_pour"


@pytest.mark.parametrize(
    "task_id", [task for task in POUR_TASKS if TASKS[task].pouring.after], ids=_ids
)
def test_pouring_before_the_food_is_served_is_the_wrong_order(task_id: int, stage: Stage) -> None:
    actor = Actor(task_id, stage)
    actor.pour()
    actor.perform(actor.task.stages[0])
    card = actor.scorer.card()
    assert card.details["pours"] == 1
    assert [entry.completed_at for entry in card.stages[1:3]] == [None, None]
    assert card.failure_reason == "wrong_order"
    actor.pour()
    actor.pour()
    assert actor.scorer.card().failure_reason == "extra_pour"


def _with_cream_cheese_in(level: str, stage: Stage, task_id: int) -> Actor:
    """The task with another drawer occupied at the start."""
    actor = Actor(task_id, stage)
    puppet = actor.puppet
    shift = puppet.view().site_pose(f"wooden_cabinet_1_{level}_region").position
    shift = shift - puppet.view().site_pose("wooden_cabinet_1_top_region").position
    puppet.shift("cream_cheese_1", *shift)
    puppet.begin()
    return actor


@pytest.mark.parametrize("task_id", [4], ids=_ids)
@pytest.mark.parametrize("level", ["top", "middle", "bottom"])
def test_the_occupied_drawer_is_the_one_that_holds_something(
    task_id: int, level: str, stage: Stage
) -> None:
    actor = _with_cream_cheese_in(level, stage, task_id)
    (place,) = actor.scorer._places["place_butter_1"]
    assert place.region.site == f"wooden_cabinet_1_{level}_region"
    actor.all()
    assert actor.scorer.card().stage_success, actor.scorer.explain(actor.puppet.view())


@pytest.mark.parametrize("task_id", [5], ids=_ids)
@pytest.mark.parametrize(
    ("level", "empty"),
    [
        ("top", {"middle", "bottom"}),
        ("middle", {"top", "bottom"}),
        ("bottom", {"top", "middle"}),
    ],
)
def test_any_empty_drawer_will_do(task_id: int, level: str, empty: set[str], stage: Stage) -> None:
    actor = _with_cream_cheese_in(level, stage, task_id)
    places = actor.scorer._places["place_butter_1"]
    assert {place.region.site.split("_")[3] for place in places} == empty
    for chosen in places:
        actor = _with_cream_cheese_in(level, stage, task_id)
        actor.before("open_drawer_again")
        joint = drawer_of(chosen.region)
        actor.open(joint)
        (placed,) = (entry for entry in actor.task.stages if isinstance(entry, Placed))
        actor.lift(placed.obj)
        actor.lay_down(placed, chosen.region)
        actor.puppet.show(REST_STEPS)
        actor.move_joint(joint, 0.0)
        assert actor.scorer.card().stage_success, actor.scorer.explain(actor.puppet.view())


@pytest.mark.parametrize("task_id", [4, 5], ids=_ids)
def test_all_drawers_are_shut_in_the_end(task_id: int, stage: Stage) -> None:
    actor = Actor(task_id, stage)
    actor.all()
    actor.move_joint("wooden_cabinet_1_bottom_level", -0.02)
    assert actor.scorer.card().failure_reason == "undone"


@pytest.mark.parametrize("task_id", [22], ids=_ids)
def test_the_bottle_must_not_go_into_the_microwave(task_id: int, stage: Stage) -> None:
    actor = Actor(task_id, stage)
    stages = {entry.name: entry for entry in actor.task.stages}
    actor.before("put_tomato_sauce_1_away")
    away = stages["put_tomato_sauce_1_away"]
    actor.perform(stages["open_microwave"])
    actor.lift(away.obj)
    actor.lay_down(away, stages["place_cookies_1"].regions[0])
    actor.puppet.show(REST_STEPS)
    assert not actor.done(away.name)


@pytest.mark.parametrize("task_id", [12], ids=_ids)
def test_shutting_a_drawer_does_not_stir_what_lies_in_it(task_id: int, stage: Stage) -> None:
    actor = Actor(task_id, stage)
    for entry in actor.task.stages[:-1]:
        actor.perform(entry)
    joint = "wooden_cabinet_1_middle_level"
    for position in np.linspace(-0.155, 0.0, 12):
        actor.move_joint(joint, float(position))
        assert actor.scorer.card().stage_score >= 75.0
    assert actor.scorer.card().stage_success


@pytest.mark.parametrize("task_id", [1, 20], ids=_ids)
def test_contacts_of_what_lies_still_may_flicker(task_id: int, stage: Stage) -> None:
    """A body at rest loses contact for a few steps now and then; it is put down all the same."""
    actor = Actor(task_id, stage)
    placed = next(entry for entry in actor.task.stages if isinstance(entry, Placed))
    actor.before(placed.name)
    actor.perform(placed)
    assert actor.done(placed.name)
    position, quaternion = actor.puppet.pose(placed.obj)
    raised = position + np.array([0.0, 0.0, 0.001])
    for _ in range(3):
        actor.puppet.put(placed.obj, raised, quaternion)
        assert not actor.puppet.state().touching(placed.obj)
        actor.puppet.show(DEMANDED.contact_gap)
        assert actor.done(placed.name)
        actor.puppet.put(placed.obj, position, quaternion)
        actor.puppet.show()
        assert actor.done(placed.name)
    actor.puppet.put(placed.obj, raised, quaternion)
    actor.puppet.show(DEMANDED.contact_gap + 1)
    assert not actor.done(placed.name)


@pytest.mark.parametrize("change", ["hand", "away"])
@pytest.mark.parametrize("task_id", [1], ids=_ids)
def test_an_old_contact_carries_nothing(task_id: int, stage: Stage, change: str) -> None:
    """What was taken into the hand or moved out since has to touch its support anew."""
    actor = Actor(task_id, stage)
    placed = next(entry for entry in actor.task.stages if isinstance(entry, Placed))
    actor.perform(placed)
    position, quaternion = actor.puppet.pose(placed.obj)
    if change == "away":
        actor.puppet.park(placed.obj)
        actor.puppet.show()
    else:
        before = actor.puppet.qpos.copy()
        actor.puppet.reach(actor.puppet.state().centre(placed.obj))
        actor.puppet.grasp(placed.obj, sides="left")
        assert not actor.puppet.state().released(placed.obj)
        actor.puppet.show()
        actor.puppet.qpos[:] = before
    actor.puppet.put(placed.obj, position + np.array([0.0, 0.0, 0.001]), quaternion)
    actor.puppet.show()
    (tracker,) = actor.scorer._places[placed.name]
    assert "does not rest on" in tracker.shortfall


@pytest.mark.parametrize("task_id", [1], ids=_ids)
def test_one_changed_threshold_changes_the_card_it_should(task_id: int, stage: Stage) -> None:
    cards = {}
    for steps in (10, 13):
        actor = Actor(task_id, stage)
        limits = dataclasses.replace(DEMANDED, rest_steps=steps)
        actor.puppet.scorer = scorer_for(task_id, limits)
        actor.puppet.begin()
        actor.all()
        cards[steps] = actor.scorer.card()
    assert cards[10].stage_success
    assert not cards[13].stage_success


@pytest.mark.parametrize("task_id", [1], ids=_ids)
def test_missing_names_are_errors_before_the_first_step(task_id: int, stage: Stage) -> None:
    puppet = Puppet(stage, golden_for(task_id).settled, scorer_for(4))
    with pytest.raises(LookupError, match="butter_1"):
        puppet.begin()
