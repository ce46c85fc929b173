"""What a policy may return."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pytest_robomem.policies.hold import STAND_STILL
from pytest_robomem.policies.random import build_adapter as build_random
from pytest_robomem.policy import PolicyOutputError, check_chunk, load_policy


class Tensor:
    """Converts to numpy as tensors of other libraries do."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.ones((4, 7), dtype=np.float32)


class OnAnotherDevice:
    """Refuses to convert, as a tensor on an accelerator does."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise TypeError("can't convert cuda:0 device type tensor to numpy")


@pytest.mark.parametrize(
    "returned",
    [np.zeros((1, 7)), np.zeros((50, 7), dtype=np.float16), [[0, 1, 2, 3, 4, 5, 6]], Tensor()],
)
def test_chunks_that_are_accepted(returned: Any) -> None:
    chunk = check_chunk(returned)
    assert chunk.dtype == np.float64
    assert chunk.shape[1] == 7


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: np.zeros(7), r"ndarray of shape \(7,\), dtype float64"),
        (lambda: np.zeros((0, 7)), r"shape \(0, 7\)"),
        (lambda: np.zeros((2, 8)), r"shape \(2, 8\)"),
        (lambda: np.zeros((1, 2, 7)), r"shape \(1, 2, 7\)"),
        (lambda: None, "NoneType of shape"),
        (lambda: [["a"] * 7], "dtype <U1"),
        (lambda: np.zeros((1, 7), dtype=complex), "dtype complex128"),
        (lambda: np.zeros((1, 7), dtype=bool), "dtype bool"),
        (lambda: np.full((1, 7), np.nan), "value nan at row 0, column 0"),
        (lambda: np.full((1, 7), np.inf), "value inf at row 0, column 0"),
        (lambda: [[0.0] * 7, [0.0] * 6], "list does not convert"),
        (OnAnotherDevice, "cuda:0"),
        (lambda: {"actions": np.zeros((1, 7))}, "dict of shape"),
    ],
)
def test_anything_else_is_refused_with_what_came(make: Callable[[], Any], said: str) -> None:
    with pytest.raises(PolicyOutputError, match=said):
        check_chunk(make())


def test_values_beyond_the_limits_are_allowed() -> None:
    np.testing.assert_array_equal(check_chunk(np.full((1, 7), 9.0)), np.full((1, 7), 9.0))


def test_the_checked_chunk_is_a_copy() -> None:
    mine = np.zeros((2, 7))
    check_chunk(mine)[0, 0] = 5.0
    assert mine[0, 0] == 0.0


def test_random_depends_on_the_episode_alone() -> None:
    def actions(order: list[tuple[int, int]]) -> dict[tuple[int, int], bytes]:
        policy = build_random(horizon=3)
        drawn = {}
        for task_id, seed in order:
            policy.reset()
            policy.episode_start(task_id, seed)
            drawn[task_id, seed] = policy.infer_actions({}, "", 256).tobytes()
        return drawn

    episodes = [(1, 100), (1, 101), (2, 100)]
    forwards, backwards = actions(episodes), actions(episodes[::-1])
    assert forwards == backwards
    assert len(set(forwards.values())) == 3
    other = build_random(seed=1, horizon=3)
    other.episode_start(1, 100)
    assert other.infer_actions({}, "", 256).tobytes() != forwards[1, 100]


def test_hold_stands_still_with_the_gripper_open() -> None:
    policy = load_policy("hold", {})
    policy.reset()
    np.testing.assert_array_equal(policy.infer_actions({}, "", 256), STAND_STILL)
    assert STAND_STILL.tolist() == [[0, 0, 0, 0, 0, 0, -1]]
