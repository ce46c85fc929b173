"""The controller's side: verdicts from reports into a journal, tables at the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_robomem.results.journal import Journal

from .judging import PROPERTY, UNJUDGED_PROPERTY

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

JOURNAL_NAME = "judge_verdicts.jsonl"


def on_controller(config: pytest.Config) -> bool:
    """Whether this process is the one that writes results."""
    return not hasattr(config, "workerinput")


def _readable(verdict: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is left of a verdict in the report, for JUnit and the like."""
    yield "judge_status", str(verdict.get("status"))
    for name in ("score", "success"):
        if verdict.get(name) is not None:
            yield f"judge_{name}", str(verdict[name])


class JudgeResults:
    """Takes verdicts out of reports as they come, and writes everything else at the end."""

    def __init__(self, folder: Path, *, zero_unscored: bool = False) -> None:
        self.folder = folder
        self.zero_unscored = zero_unscored
        self.journal = Journal(folder / JOURNAL_NAME)
        self.taken = 0
        self.unjudged: list[dict[str, Any]] = []
        self.report: dict[str, Any] | None = None
        self.fault: str | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the verdicts, before reporters would print them whole as properties."""
        properties: list[tuple[str, Any]] = []
        reported: list[tuple[str, Any]] = report.user_properties
        for name, value in reported:
            if name == PROPERTY:
                # Only the teardown's report has all of them, and it is the last.
                if report.when == "teardown":
                    self.take(value)
                properties.extend(_readable(value))
            elif name == UNJUDGED_PROPERTY:
                if report.when == "teardown":
                    self.unjudged.append(value)
            else:
                properties.append((name, value))
        report.user_properties = properties

    def take(self, verdict: Mapping[str, Any]) -> None:
        """Write one verdict to the journal. Raises `OSError` where that fails."""
        self.journal.append(verdict)
        self.taken += 1

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the tables; a run that the budget stopped does not end as if it were whole."""
        if self.taken:
            from .outcomes import JudgeError  # noqa: PLC0415
            from .report import write_results  # noqa: PLC0415

            try:
                self.report = write_results(
                    self.folder, self.journal.path, zero_unscored=self.zero_unscored
                )
            except (JudgeError, OSError) as error:
                self.fault = str(error)
        if self.unjudged and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.INTERRUPTED

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        """Show what the judges found."""
        if not (self.report or self.unjudged or self.fault):
            return
        terminalreporter.section("judges")
        if self.report is not None:
            from .summary import summary_lines  # noqa: PLC0415

            for line in summary_lines(self.report):
                terminalreporter.write_line(line)
            terminalreporter.write_line(f"verdicts and tables: {self.folder}")
        if self.unjudged:
            terminalreporter.write_line(
                f"{len(self.unjudged)} samples were not judged: {self.unjudged[0]['reason']}",
                red=True,
            )
        if self.fault is not None:
            terminalreporter.write_line(f"tables were not written: {self.fault}", red=True)
