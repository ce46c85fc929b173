"""From a test item to an episode's record, and from there into pytest's report."""

from typing import Any

import pytest

from pytest_robomem.episode import EpisodeError, EpisodeRun
from pytest_robomem.policy import Policy
from pytest_robomem.request import episode_request
from pytest_robomem.results.records import EpisodeFailedError, EpisodeResult
from pytest_robomem.scene.model import Scene
from pytest_robomem.session.collection import SEED_FIXTURE
from pytest_robomem.session.run import SETTINGS
from pytest_robomem.session.transfer import (
    RECORD_PROPERTY,
    error_record,
    figures_of,
    repeat_command,
)
from pytest_robomem.settings import Settings
from pytest_robomem.storage import EpisodeFiles
from pytest_robomem.task import task_of
from pytest_robomem.tracebacks import traceback_text

_RESULT = pytest.StashKey[EpisodeResult]()


def run_and_record(
    item: pytest.Item,
    seed: int,
    settings: Settings,
    scene: Scene,
    policy: Policy,
    build_seconds: float,
) -> EpisodeResult:
    """Run the episode of a test item, leave its files and remember its record.

    Raises:
        EpisodeError: the episode could not be evaluated.
    """
    task = task_of(getattr(item, "function", None))
    assert task is not None
    request = episode_request(
        task,
        seed,
        settings,
        node_id=item.nodeid,
        repeat=repeat_command(item.config, item.nodeid, seed),
        build_seconds=build_seconds,
    )
    files = EpisodeFiles(settings, task, seed)
    with files.recording() as (recorder, listeners):
        try:
            outcome = EpisodeRun(request, scene, policy, listeners, recorder).run()
        except EpisodeError as error:
            item.stash[_RESULT] = files.keep(error.result, error.trajectory, scene)
            raise
        result = files.keep(outcome.result, outcome.trajectory, scene)
    item.stash[_RESULT] = result
    return result


def _seed_of(item: pytest.Item) -> int:
    return int(getattr(item, "callspec").params[SEED_FIXTURE])  # noqa: B009 - only Functions have it


def attach_record(item: pytest.Item, call: pytest.CallInfo[None], report: Any) -> None:
    """Put the record into the report of the phase that decides the outcome."""
    deciding = report.when == "call" or (report.when == "setup" and report.failed)
    if not deciding or SETTINGS not in item.config.stash:
        return
    status = "error" if report.when == "setup" else report.outcome
    if status == "skipped":
        return
    if call.excinfo is not None and item.config.option.tbstyle == "auto":
        _shorten(call.excinfo, report)
    known = item.stash.get(_RESULT, None)
    reason = f"{call.excinfo.typename}: {call.excinfo.value}" if call.excinfo else ""
    if known is None:
        if status != "error":
            return  # a test that declares a task but runs no episode
        record = _bare_error(item, reason)
    else:
        record = known.model_copy(
            update={"status": status, "message": known.message or _own_assertion(status, reason)}
        )
    report.user_properties.append((RECORD_PROPERTY, record.to_builtins()))
    figures = figures_of(record)
    item.user_properties.extend(figures)  # reports of later phases copy them, which JUnit reads
    report.user_properties.extend(figures)


def _shorten(failure: pytest.ExceptionInfo[BaseException], report: Any) -> None:
    """Show what helps, unless a style of traceback was asked for.

    The test's source says nothing about a failed episode, and pytest's frames nothing about an
    error. pytest's own style would also show arguments of functions, among which a policy's
    secrets may be.
    """
    if failure.errisinstance(EpisodeFailedError):
        report.longrepr = failure.getrepr(style="value")
    elif report.when == "setup":
        report.longrepr = failure.getrepr(style="value", chain=False)
        report.sections.append(("traceback", traceback_text(failure.value)))


def _own_assertion(status: str, reason: str) -> str:
    return reason if status == "failed" else ""


def _bare_error(item: pytest.Item, reason: str) -> EpisodeResult:
    """Record of an episode that did not even start."""
    task = task_of(getattr(item, "function", None))
    assert task is not None
    settings, seed = item.config.stash[SETTINGS], _seed_of(item)
    repeat = repeat_command(item.config, item.nodeid, seed)
    return error_record(task, seed, item.nodeid, settings, reason, repeat)
