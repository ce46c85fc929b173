"""Pour exactly twice, then put the bottle away."""

from pytest_robomem.results.records import EpisodeResult
from pytest_robomem.task import task


@task(
    6,
    scene="6_pour_tomato_sauce_into_bowl_drainer",
    prompt=(
        "Pour tomato sauce over the cookies exactly twice, and then stand the bottle in "
        "the bowl drainer."
    ),
    published=(
        "Pour tomato sauce over cookies twice and place the sauce bottle into the bowl drainer."
    ),
    family="pour",
    memory=("counting", "occlusion"),
)
def test_tomato_sauce_over_cookies(episode: EpisodeResult) -> None:
    episode.require_success()


@task(
    7,
    scene="7_pour_tomato_sauce_into_frypan",
    prompt=(
        "Pour tomato sauce into the frying pan exactly twice, and then stand the bottle "
        "in the bowl drainer."
    ),
    published=(
        "Pour tomato sauce over the frypan twice and place the sauce bottle into the bowl drainer."
    ),
    family="pour",
    memory=("counting", "occlusion"),
)
def test_tomato_sauce_into_frypan(episode: EpisodeResult) -> None:
    episode.require_success()


@task(
    8,
    scene="8_pick_chocolate_in_frypan_pour_tomato_sauce_twice",
    prompt=(
        "Put the chocolate pudding into the frying pan, pour tomato sauce over it exactly"
        " twice, and then stand the bottle in the bowl drainer."
    ),
    published=(
        "Pick and place chocolate into the frypan, pour tomato sauce over it twice, then "
        "place the sauce bottle into the bowl drainer."
    ),
    family="pour",
    memory=("counting",),
)
def test_tomato_sauce_over_chocolate_in_frypan(episode: EpisodeResult) -> None:
    episode.require_success()


@task(
    9,
    scene="9_pick_butter_in_frypan_pour_tomato_sauce_twice_and_place_tomato_sauce_in_bowl_drainer",
    prompt=(
        "Put the butter into the frying pan, pour tomato sauce over it exactly twice, and"
        " then stand the bottle in the bowl drainer."
    ),
    published=(
        "Put butter into the frypan, pour tomato sauce over it twice, then place the "
        "sauce bottle into the bowl drainer."
    ),
    family="pour",
    memory=("counting",),
)
def test_tomato_sauce_over_butter_in_frypan(episode: EpisodeResult) -> None:
    episode.require_success()


@task(
    10,
    scene="10_pour_wine_bottle_into_mug",
    prompt="Pour wine into the mug exactly twice, and put the bottle back where it stood.",
    published="Pour wine into the mug twice.",
    family="pour",
    memory=("counting",),
)
def test_wine_into_mug(episode: EpisodeResult) -> None:
    episode.require_success()


@task(
    15,
    scene="15_butter_milk_frypan",
    prompt=(
        "Put the butter into the frying pan, pour milk over it exactly twice, and put the"
        " milk back where it stood."
    ),
    published="Pick and place butter into the frypan, then pour milk over it twice.",
    family="pour",
    memory=("counting",),
)
def test_milk_over_butter_in_frypan(episode: EpisodeResult) -> None:
    episode.require_success()


@task(
    16,
    scene="16_pour_milk_in_red_coffee_mug_twice_and_place_milk_in_bowl_drainer",
    prompt="Pour milk into the red mug exactly twice, and then stand the milk in the bowl drainer.",
    published=(
        "Pick milk from the table, pour it into the mug twice, then place the milk "
        "container into the bowl drainer."
    ),
    family="pour",
    memory=("counting", "occlusion"),
)
def test_milk_into_mug(episode: EpisodeResult) -> None:
    episode.require_success()
