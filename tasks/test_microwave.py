"""Food into a microwave, one item after the other."""

from pytest_robomem.results.records import EpisodeResult
from pytest_robomem.task import task


@task(
    20,
    scene="20_cookies_chocolate_microwave",
    prompt=(
        "Open the microwave, put the cookies into it, then put the chocolate pudding "
        "where the cookies went, and close the door."
    ),
    published=(
        "Put cookies into the microwave and then put chocolate into the location where "
        "the cookies were placed."
    ),
    family="microwave",
    memory=("occlusion",),
)
def test_cookies_then_chocolate_into_microwave(episode: EpisodeResult) -> None:
    episode.require_success()


@task(
    21,
    scene="21_butter_chocolate_microwave",
    prompt=(
        "Open the microwave, put the butter into it, then put the chocolate pudding where"
        " the butter went, and close the door."
    ),
    published=(
        "Put butter into the microwave and then put chocolate into the location where the"
        " butter was placed."
    ),
    family="microwave",
    memory=("occlusion",),
)
def test_butter_then_chocolate_into_microwave(episode: EpisodeResult) -> None:
    episode.require_success()


@task(
    22,
    scene="22_pour_tomato_cookies_microwave",
    prompt=(
        "Pour tomato sauce over the cookies exactly twice and put the bottle aside. Then "
        "open the microwave, put the cookies into it and close the door."
    ),
    published="Pour tomato sauce over cookies twice, then put the cookies into the microwave.",
    family="microwave",
    memory=("sequence",),
)
def test_cookies_with_tomato_sauce_into_microwave(episode: EpisodeResult) -> None:
    episode.require_success()


@task(
    23,
    scene="23_cream_popcorn_microwave",
    prompt=(
        "Open the microwave, put the cream cheese into it, then put the popcorn where the"
        " cream cheese went, and close the door."
    ),
    published=(
        "Put cream into the microwave and then put popcorn into the location where the "
        "cream was placed."
    ),
    family="microwave",
    memory=("occlusion",),
)
def test_cream_cheese_then_popcorn_into_microwave(episode: EpisodeResult) -> None:
    episode.require_success()


@task(
    24,
    scene="24_cookies_popcorn_microwave",
    prompt=(
        "Open the microwave, put the cookies into it, then put the popcorn where the "
        "cookies went, and close the door."
    ),
    published=(
        "Put cookies into the microwave and then put popcorn into the location where the "
        "cookies were placed."
    ),
    family="microwave",
    memory=("occlusion",),
)
def test_cookies_then_popcorn_into_microwave(episode: EpisodeResult) -> None:
    episode.require_success()
