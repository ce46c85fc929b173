"""Collects `*.plan.jsonl` and `*.nav.jsonl`: each line is a test item.

Only pytest and the standard library are imported on loading; pytest reads this on every start.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .judging import (
    NotPassedError,
    UnscoredError,
    explain_navigation,
    explain_plan,
    navigation_passes,
    plan_passes,
    record_unjudged,
    record_verdict,
    unscored_reason,
)
from .options import add_options, judge_model
from .state import judge_state

if TYPE_CHECKING:
    from .navigation_samples import NavigationSample
    from .runtime import JudgeRuntime
    from .traces import PlanTrace
    from .verdicts import AnyVerdict

__all__ = ["add_options", "collect_file", "refuse_files_without_model"]

PLAN_SUFFIX = ".plan.jsonl"
NAVIGATION_SUFFIX = ".nav.jsonl"
_NO_MODEL = "needs --judge-model NAME (or judge_model in the ini file) to be judged"


def collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Return a collector for a file of plans or navigation outputs, None for other files."""
    if file_path.name.endswith(PLAN_SUFFIX):
        return PlanFile.from_parent(parent, path=file_path)
    if file_path.name.endswith(NAVIGATION_SUFFIX):
        return NavigationFile.from_parent(parent, path=file_path)
    return None


def refuse_files_without_model(config: pytest.Config) -> None:
    """Raise `pytest.UsageError` where such a file is named, but no model that could judge it."""
    for argument in config.args:
        path = str(argument).split("::")[0]
        if path.endswith((PLAN_SUFFIX, NAVIGATION_SUFFIX)) and judge_model(config) is None:
            raise pytest.UsageError(f"{path} {_NO_MODEL}")


class JudgeFile(pytest.File):
    """A file whose lines are samples."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield an item a line. Raises `CollectError` where a line cannot be used."""
        if judge_model(self.config) is None:
            pytest.skip(f"{self.path.name} {_NO_MODEL}", allow_module_level=True)
        from .client import find_api_key  # noqa: PLC0415
        from .outcomes import JudgeInputError, MissingKeyError, PromptError  # noqa: PLC0415

        settings = judge_state(self.config).settings
        try:
            if settings is not None and not settings.replay:
                find_api_key(settings)
            yield from self.items()
        except (JudgeInputError, MissingKeyError, PromptError) as error:
            raise self.CollectError(str(error)) from None

    def items(self) -> Iterator[pytest.Item]:
        """Yield the items."""
        raise NotImplementedError

    @property
    def source(self) -> str:
        """The file as node ids name it."""
        return self.nodeid or self.path.name


class PlanFile(JudgeFile):
    """A `*.plan.jsonl` file."""

    def items(self) -> Iterator[pytest.Item]:
        """Yield an item for each trace."""
        from .rows import read_rows  # noqa: PLC0415
        from .traces import PlanTrace  # noqa: PLC0415

        for trace in read_rows(self.path, PlanTrace, "id"):
            yield PlanItem.from_parent(self, name=trace.id, sample=trace)


class NavigationFile(JudgeFile):
    """A `*.nav.jsonl` file."""

    def items(self) -> Iterator[pytest.Item]:
        """Yield an item for each output."""
        from .navigation_samples import NavigationSample  # noqa: PLC0415
        from .rows import read_rows  # noqa: PLC0415

        for sample in read_rows(self.path, NavigationSample, "sample_id"):
            yield NavigationItem.from_parent(self, name=sample.sample_id, sample=sample)


class JudgeItem(pytest.Item):
    """A sample. It is judged in the setup, so that a fault of the judging is an error there."""

    parent: JudgeFile

    def __init__(self, *, sample: Any, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.sample = sample
        self.verdict: AnyVerdict | None = None
        self.unjudged: str | None = None

    def start(self, runtime: JudgeRuntime) -> Future[Any]:
        """Start the judgement."""
        raise NotImplementedError

    def passes(self) -> bool:
        """Whether the verdict is good enough."""
        raise NotImplementedError

    def explanation(self) -> str:
        """Why it is not."""
        raise NotImplementedError

    def setup(self) -> None:
        """Get the verdict; without a score, do what --judge-errors says."""
        from .outcomes import BudgetSpentError, JudgeError  # noqa: PLC0415

        super().setup()
        self.verdict = self.unjudged = None
        state = judge_state(self.config)
        try:
            self.verdict = state.verdict_of(self)
        except BudgetSpentError as error:
            self.unjudged = str(error)
            pytest.skip(str(error))
        except JudgeError as error:
            raise UnscoredError(f"{self.name}: {error}") from None
        if not self.verdict.scored:
            policy = state.runtime.settings.errors
            if policy == "error":
                raise UnscoredError(unscored_reason(self.verdict))
            if policy == "skip":
                pytest.skip(unscored_reason(self.verdict))

    def runtest(self) -> None:
        """Pass or fail by the verdict."""
        assert self.verdict is not None
        if not self.verdict.scored:
            raise UnscoredError(unscored_reason(self.verdict))
        if not self.passes():
            raise NotPassedError(self.explanation())

    def teardown(self) -> None:
        """Hand the verdict to the report of the teardown, which is made whatever happened."""
        if self.verdict is not None:
            record_verdict(self, self.verdict)
            self.verdict = None
        elif self.unjudged is not None:
            record_unjudged(self, self.name, self.unjudged)
        super().teardown()

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show the reason alone."""
        if isinstance(excinfo.value, NotPassedError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        """Name the sample in headings; were it the end of the id, pytest would respell its dots."""
        return self.path, None, f"{self.path.name} {self.name}"


class PlanItem(JudgeItem):
    """One plan."""

    sample: PlanTrace

    def start(self, runtime: JudgeRuntime) -> Future[Any]:
        """Start the judgement."""
        return runtime.plan(self.sample, source=self.parent.source, source_path=str(self.path))

    def passes(self) -> bool:
        """Whether the score is 3 or 4."""
        return plan_passes(self.verdict)  # type: ignore[arg-type]

    def explanation(self) -> str:
        """Score, rules, and the judge's reasons."""
        return explain_plan(self.verdict)  # type: ignore[arg-type]


class NavigationItem(JudgeItem):
    """One generated video or image."""

    sample: NavigationSample

    def start(self, runtime: JudgeRuntime) -> Future[Any]:
        """Start the judgement."""
        return runtime.navigation(
            self.sample,
            folder=self.path.parent,
            source=self.parent.source,
            source_path=str(self.path),
        )

    def passes(self) -> bool:
        """Whether the chosen metric holds."""
        wanted = judge_state(self.config).runtime.settings.navigation_pass
        return navigation_passes(self.verdict, wanted)  # type: ignore[arg-type]

    def explanation(self) -> str:
        """The metrics that are 0, and the judge's reasons."""
        return explain_navigation(self.verdict)  # type: ignore[arg-type]
