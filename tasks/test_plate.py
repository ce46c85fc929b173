"""Food from one plate to the other."""

from pytest_robomem.results.records import EpisodeResult
from pytest_robomem.task import task


@task(
    25,
    scene="25_butter_cream",
    prompt="Move the butter and then the cream cheese from the first plate to the second plate.",
    published="Pick and place butter and cream from plate1 to plate2, respectively.",
    family="plate",
    memory=("transferring",),
)
def test_butter_then_cream_cheese_to_second_plate(episode: EpisodeResult) -> None:
    episode.require_success()


@task(
    26,
    scene="26_chocolate_pudding_cream",
    prompt=(
        "Move the chocolate pudding and then the cream cheese from the first plate to the"
        " second plate."
    ),
    published="Pick and place chocolate and cream from plate1 to plate2, respectively.",
    family="plate",
    memory=("transferring",),
)
def test_chocolate_then_cream_cheese_to_second_plate(episode: EpisodeResult) -> None:
    episode.require_success()
