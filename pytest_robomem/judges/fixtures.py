"""Fixtures that judge inside users' own tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from .judging import (
    ERROR_PROPERTY,
    UnscoredError,
    record_unjudged,
    record_verdict,
    unscored_reason,
)
from .state import judge_state

if TYPE_CHECKING:
    from .navigation_samples import NavigationSample
    from .rollout import RolloutSample
    from .traces import PlanTrace
    from .verdicts import NavigationVerdict, PlanVerdict, RolloutVerdict

    AnyOf = TypeVar("AnyOf", PlanVerdict, NavigationVerdict, RolloutVerdict)


def _settle(request: pytest.FixtureRequest, sample_id: str, pending: Future[AnyOf]) -> AnyOf:
    from .outcomes import BudgetSpentError, JudgeError  # noqa: PLC0415

    item: pytest.Item = request.node
    try:
        verdict = pending.result()
    except BudgetSpentError as error:
        record_unjudged(item, sample_id, str(error))
        pytest.skip(str(error))
    except JudgeError as error:
        item.user_properties.append((ERROR_PROPERTY, str(error)))
        raise UnscoredError(f"{sample_id}: {error}") from None
    record_verdict(item, verdict)
    policy = judge_state(request.config).runtime.settings.errors
    if not verdict.scored and policy != "zero":
        reason = unscored_reason(verdict)
        if policy == "skip":
            pytest.skip(reason)
        if policy == "fail":
            pytest.fail(reason, pytrace=False)
        item.user_properties.append((ERROR_PROPERTY, reason))
        raise UnscoredError(reason)
    return verdict


@pytest.fixture
def plan_judge(
    request: pytest.FixtureRequest,
) -> Callable[[PlanTrace | Mapping[str, Any]], PlanVerdict]:
    """Judge a plan: `plan_judge(trace).score`; a mapping is validated as a `PlanTrace`.

    A verdict without a score does what --judge-errors says (with `zero` it is returned, with
    None for a score). Calling it raises `pydantic.ValidationError` where the trace is wrong.
    """
    runtime = judge_state(request.config).runtime

    def judge(trace: PlanTrace | Mapping[str, Any]) -> PlanVerdict:
        from .traces import PlanTrace  # noqa: PLC0415

        checked = PlanTrace.model_validate(trace)
        return _settle(request, checked.id, runtime.plan(checked, source=request.node.nodeid))

    return judge


@pytest.fixture
def navigation_judge(
    request: pytest.FixtureRequest,
) -> Callable[..., NavigationVerdict]:
    """Judge a navigation output: `navigation_judge(sample, folder=Path("media"))`.

    A mapping is validated as a `NavigationSample`; its paths are relative to `folder`, by default
    the test's own. A verdict without a score does what --judge-errors says. Calling it raises
    `pydantic.ValidationError` where the sample is wrong.
    """
    runtime = judge_state(request.config).runtime

    def judge(
        sample: NavigationSample | Mapping[str, Any], folder: Path | None = None
    ) -> NavigationVerdict:
        from .navigation_samples import NavigationSample  # noqa: PLC0415

        checked = NavigationSample.model_validate(sample)
        pending = runtime.navigation(
            checked, folder=folder or request.path.parent, source=request.node.nodeid
        )
        return _settle(request, checked.sample_id, pending)

    return judge


@pytest.fixture
def rollout_judge(
    request: pytest.FixtureRequest,
) -> Callable[[RolloutSample | Mapping[str, Any]], RolloutVerdict]:
    """Ask which stages the video of an episode shows; a mapping becomes a `RolloutSample`.

    The verdict only stands beside the simulator's. A verdict without marks does what
    --judge-errors says. Calling it raises `pydantic.ValidationError` where the sample is wrong.
    """
    runtime = judge_state(request.config).runtime

    def judge(sample: RolloutSample | Mapping[str, Any]) -> RolloutVerdict:
        from .rollout import RolloutSample  # noqa: PLC0415

        checked = RolloutSample.model_validate(sample)
        pending = runtime.rollout(checked, source=request.node.nodeid)
        return _settle(request, checked.sample_id, pending)

    return judge
