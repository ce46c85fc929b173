"""Order and fixtures of the scoring tests."""

import pytest

from tests.golden import Golden, Stage, golden_for, stage_for


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of one task together, so that each scene is built once."""

    def task_of(item: pytest.Item) -> int:
        callspec = getattr(item, "callspec", None)
        return callspec.params.get("task_id", 0) if callspec else 0

    here = [index for index, item in enumerate(items) if "tests/scoring" in item.path.as_posix()]
    for index, item in zip(here, sorted((items[i] for i in here), key=task_of), strict=True):
        items[index] = item


@pytest.fixture
def stage(task_id: int) -> Stage:
    """The task's scene."""
    return stage_for(task_id)


@pytest.fixture
def golden(task_id: int) -> Golden:
    """The task's recorded outcomes."""
    return golden_for(task_id)
