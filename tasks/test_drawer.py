"""Food into the right drawer of a closed cabinet."""

from pytest_robomem.results.records import EpisodeResult
from pytest_robomem.task import task


@task(
    4,
    scene="4_drawer_butter",
    prompt=(
        "Look into all three drawers first: open and close the top, the middle and the "
        "bottom drawer, in this order. Then put the butter into the drawer that already "
        "holds something, and close it."
    ),
    published=(
        "Open and close all drawers in order to check. Put butter into the drawer that "
        "already contains an object."
    ),
    family="drawer",
    memory=("occlusion",),
)
def test_butter_into_occupied_drawer(episode: EpisodeResult) -> None:
    episode.require_success()


@task(
    5,
    scene="5_butter_middle_drawer",
    prompt=(
        "Look into all three drawers first: open and close the top, the middle and the "
        "bottom drawer, in this order. Then put the butter into the empty middle drawer, "
        "and close it."
    ),
    published="Open and close all drawers in order to check. Put butter into the empty drawer.",
    family="drawer",
    memory=("occlusion",),
)
def test_butter_into_empty_drawer(episode: EpisodeResult) -> None:
    episode.require_success()


@task(
    11,
    scene="11_cookies_top_butter_middle",
    prompt=(
        "Open the top drawer, put the cookies into it and close it. Then open the middle "
        "drawer, put the butter into it and close it."
    ),
    published="Put cookies into the top drawer and put butter into another drawer.",
    family="drawer",
    memory=("occlusion", "counting"),
)
def test_cookies_top_butter_middle(episode: EpisodeResult) -> None:
    episode.require_success()


@task(
    12,
    scene="12_cookies_chocolate_middle_drawer",
    prompt=(
        "Open the middle drawer, put the cookies into it, then the chocolate pudding into"
        " the same drawer, and close it."
    ),
    published="Put cookies into the middle drawer and then put chocolate into the same drawer.",
    family="drawer",
    memory=("occlusion",),
)
def test_cookies_and_chocolate_middle(episode: EpisodeResult) -> None:
    episode.require_success()


@task(
    13,
    scene="13_butter_cookies_middle_drawer",
    prompt=(
        "Open the middle drawer, put the cookies into it, then the butter into the same "
        "drawer, and close it."
    ),
    published="Put cookies into the middle drawer and then put butter into the same drawer.",
    family="drawer",
    memory=("occlusion",),
)
def test_cookies_and_butter_middle(episode: EpisodeResult) -> None:
    episode.require_success()


@task(
    14,
    scene="14_cookies_chocolate_drawers",
    prompt=(
        "Open the top drawer, put the cookies into it and close it. Then open the middle "
        "drawer, put the chocolate pudding into it and close it."
    ),
    published="Put cookies into the top drawer and put chocolate into another drawer.",
    family="drawer",
    memory=("occlusion",),
)
def test_cookies_top_chocolate_middle(episode: EpisodeResult) -> None:
    episode.require_success()


@task(
    17,
    scene="17_butter_chocolate_middle_drawer",
    prompt=(
        "Open the middle drawer, put the butter into it, then the chocolate pudding into "
        "the same drawer, and close it."
    ),
    published="Put butter into the middle drawer and then put chocolate into the same drawer.",
    family="drawer",
    memory=("occlusion",),
)
def test_butter_and_chocolate_middle(episode: EpisodeResult) -> None:
    episode.require_success()
