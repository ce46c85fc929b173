"""Food into a basket, in order."""

from pytest_robomem.results.records import EpisodeResult
from pytest_robomem.task import task


@task(
    1,
    scene="1_cookies_tomato_basket",
    prompt="Put the cookies into the basket first, and then the tomato sauce into the same basket.",
    published=(
        "Pick and place cookies into the basket, then pick and place tomato sauce into "
        "the same basket."
    ),
    family="basket",
    memory=("sequence",),
)
def test_cookies_then_tomato_sauce_into_basket(episode: EpisodeResult) -> None:
    episode.require_success()


@task(
    2,
    scene="2_butter_popcorn_basket",
    prompt="Put the butter into the basket first, and then the popcorn into the same basket.",
    published=(
        "Pick and place butter into the basket, then pick and place popcorn into the same basket."
    ),
    family="basket",
    memory=("sequence",),
)
def test_butter_then_popcorn_into_basket(episode: EpisodeResult) -> None:
    episode.require_success()


@task(
    3,
    scene="3_cream_pudding_basket",
    prompt=(
        "Put the cream cheese into the basket first, and then the chocolate pudding into "
        "the same basket."
    ),
    published=(
        "Pick and place cream into the basket, then pick and place chocolate into the same basket."
    ),
    family="basket",
    memory=("sequence",),
)
def test_cream_cheese_then_chocolate_into_basket(episode: EpisodeResult) -> None:
    episode.require_success()
