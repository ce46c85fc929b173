"""Items from the top of one cabinet to the top of the other."""

from pytest_robomem.results.records import EpisodeResult
from pytest_robomem.task import task


@task(
    18,
    scene="18_chocolate_butter_cabinet",
    prompt=(
        "Move the chocolate pudding and then the butter from the top of the first cabinet"
        " to the top of the second one."
    ),
    published="Pick and place chocolate and butter from cabinet1 to cabinet2, respectively.",
    family="cabinet",
    memory=("transferring",),
)
def test_chocolate_then_butter_to_second_cabinet(episode: EpisodeResult) -> None:
    episode.require_success()


@task(
    19,
    scene="19_tomato_milk_orange_cabinet",
    prompt=(
        "Move the tomato sauce, then the milk, and then the orange juice from the top of "
        "the first cabinet to the top of the second one."
    ),
    published="Pick and place tomato sauce, milk, and orange juice from cabinet1 to cabinet2.",
    family="cabinet",
    memory=("transferring",),
)
def test_tomato_sauce_milk_orange_juice_to_second_cabinet(episode: EpisodeResult) -> None:
    episode.require_success()
