"""Fixtures of a task's test. Heavy imports wait until a fixture is used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_robomem.policy import Policy
    from pytest_robomem.results.records import EpisodeResult
    from pytest_robomem.scene.model import Scene
    from pytest_robomem.scene_cache import SceneCache
    from pytest_robomem.settings import Settings


@pytest.fixture
def robomem_seed(request: pytest.FixtureRequest) -> int:
    """Seed of this episode."""
    return int(request.param)


@pytest.fixture(scope="session")
def robomem_settings(request: pytest.FixtureRequest) -> Settings:
    """Settings of the run."""
    from pytest_robomem.session.run import SETTINGS  # noqa: PLC0415

    settings = request.config.stash.get(SETTINGS, None)
    if settings is None:
        pytest.skip("no --policy given")
    return settings


@pytest.fixture(scope="session")
def policy(robomem_settings: Settings, request: pytest.FixtureRequest) -> Iterator[Policy]:
    """The policy under test, built once in each process. Override it to build your own."""
    from pytest_robomem.policy import PolicyLoadError, load_policy  # noqa: PLC0415

    try:
        built: Any = load_policy(robomem_settings.policy, robomem_settings.policy_kwargs)
    except PolicyLoadError as error:
        # Every further episode would fail in the same way.
        request.session.shouldstop = f"the policy cannot be loaded: {error}"
        raise
    yield built
    if callable(close := getattr(built, "close", None)):
        close()


@pytest.fixture(scope="session")
def robomem_scenes(robomem_settings: Settings) -> Iterator[SceneCache]:
    """The scene that this process keeps compiled."""
    from pytest_robomem.scene_cache import SceneCache  # noqa: PLC0415

    cache = SceneCache(robomem_settings.render, robomem_settings.stepper)
    yield cache
    cache.close()


@pytest.fixture
def scene(request: pytest.FixtureRequest, robomem_scenes: SceneCache) -> Scene:
    """The task's scene, compiled once and placed anew for every seed."""
    from pytest_robomem.task import task_of  # noqa: PLC0415

    declared = task_of(request.function)
    if declared is None:
        pytest.fail("the scene fixture needs a test with @task(...)", pytrace=False)
    return robomem_scenes.scene(declared.scene)


@pytest.fixture
def episode(
    request: pytest.FixtureRequest,
    robomem_seed: int,
    robomem_settings: Settings,
    policy: Policy,
    robomem_scenes: SceneCache,
    scene: Scene,
) -> EpisodeResult:
    """The policy's episode, run to its end.

    It runs while the test is set up: what goes wrong here is an error of the evaluation. What the
    test then asserts about the result is the policy's success or failure.
    """
    from pytest_robomem.session.reporting import run_and_record  # noqa: PLC0415
    from pytest_robomem.session.rollouts import judge_episode, rollouts_wanted  # noqa: PLC0415

    result = run_and_record(
        request.node, robomem_seed, robomem_settings, scene, policy, robomem_scenes.build_seconds()
    )
    if rollouts_wanted(request.config):
        judge_episode(request.node, result, robomem_settings.results)
    return result
