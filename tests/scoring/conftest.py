"""Fixtures of the scoring tests."""

import pytest

from tests.golden import Golden, Stage, golden_for, stage_for


@pytest.fixture
def stage(task_id: int) -> Stage:
    """The task's scene."""
    return stage_for(task_id)


@pytest.fixture
def golden(task_id: int) -> Golden:
    """The task's recorded outcomes."""
    return golden_for(task_id)
