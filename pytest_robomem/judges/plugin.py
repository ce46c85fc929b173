"""Every pytest hook of the judges."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from .collection import JudgeItem, add_options, collect_file, refuse_files_without_model
from .fixtures import navigation_judge, plan_judge, rollout_judge
from .judging import ERROR_PROPERTY
from .options import DEFAULT_RESULTS, results_folder
from .session import JudgeResults, on_controller
from .state import LEDGER_INPUT, STATE_KEY, JudgeState, judge_state

__all__ = ["navigation_judge", "plan_judge", "rollout_judge"]


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)
    try:
        parser.getgroup("robomem").addoption(
            "--robomem-results",
            metavar="DIR",
            default=None,
            help=f"folder of results ({DEFAULT_RESULTS})",
        )
    except ValueError:
        pass  # the main plugin has registered it
    else:
        parser.addini("robomem_results", f"folder of results ({DEFAULT_RESULTS})", default=None)


def pytest_configure(config: pytest.Config) -> None:
    refuse_files_without_model(config)
    state = JudgeState(config)
    config.stash[STATE_KEY] = state
    if on_controller(config):
        zero = state.settings is not None and state.settings.errors == "zero"
        results = JudgeResults(results_folder(config), zero_unscored=zero)
        config.pluginmanager.register(results, "robomem-judge-results")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput[LEDGER_INPUT] = str(judge_state(node.config).ledger_path)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    return collect_file(file_path, parent)


def pytest_collection_finish(session: pytest.Session) -> None:
    judge_state(session.config).expect(
        [item for item in session.items if isinstance(item, JudgeItem)]
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    judge_state(item.config).comes_next(nextitem if isinstance(nextitem, JudgeItem) else None)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_report_teststatus(
    report: pytest.TestReport | pytest.CollectReport,
) -> Generator[None, Any, Any]:
    status = yield
    properties = dict(getattr(report, "user_properties", ()))
    if report.failed and report.when == "call" and ERROR_PROPERTY in properties:
        return "error", "E", "ERROR"
    return status


def pytest_unconfigure(config: pytest.Config) -> None:
    state = config.stash.get(STATE_KEY, None)
    if state is not None:
        state.close()
