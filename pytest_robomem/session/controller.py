"""The controller: the one process that writes a run's results."""

import json
import shlex
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from pytest_robomem import package_version
from pytest_robomem.report.replay import replay_lines
from pytest_robomem.report.terminal import summary_lines
from pytest_robomem.results.files import write_text
from pytest_robomem.results.journal import Journal, read_journal
from pytest_robomem.results.mixing import MixedRulesError, rules_hashes
from pytest_robomem.results.records import EpisodeResult
from pytest_robomem.results.render_queue import UNFINISHED, RenderQueue, with_videos
from pytest_robomem.results.stored import JOURNAL_NAME, RUN_NAME
from pytest_robomem.results.summary import latest
from pytest_robomem.results.tables import write_tables
from pytest_robomem.scene.gl import gpu_renderer, library_missing, renders_failed
from pytest_robomem.scene.simulator import simulator_versions
from pytest_robomem.scoring.versions import RULE_VERSIONS
from pytest_robomem.session.crash import crash_record
from pytest_robomem.session.transfer import FIGURE_PREFIX, RECORD_PROPERTY, figures_of
from pytest_robomem.session.worker import DONE_KEY, deselect_done
from pytest_robomem.settings import Settings, public_arguments

# Runs that differ in one of these must not share a results folder.
_SAME_RUN = (
    *("policy", "policy_kwargs", "rules", "success", "max_steps", "replan_steps"),
    *("settle_steps", "image_size", "prompts", "stepper"),
)


class Controller:
    """Hooks of the process that the user started.

    Args:
        config: pytest's.
        settings: of the run.
    """

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self._config = config
        self._settings = settings
        self._journal = Journal(settings.results / JOURNAL_NAME)
        self._records: list[EpisodeResult] = []
        self._done: list[str] = []
        self._started = time.monotonic()
        self._new_records = 0
        self._writing = not config.option.collectonly
        self._notes: list[str] = []
        self._queue = RenderQueue(settings.results)
        self._started_at = time.time()
        if settings.video in ("on", "failed") and settings.render != "auto":
            _require_library(settings.render)
        elif settings.video in ("on", "failed"):
            _require_library("egl" if gpu_renderer() else "osmesa")

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Take up the results folder: go on with what is there, or put it aside."""
        if not self._writing:
            return
        folder = self._settings.results
        if self._settings.resume:
            self._resume()
        elif (folder / JOURNAL_NAME).exists():
            aside = _free_name(folder)
            folder.rename(aside)
            self._notes.append(f"the results of the run before are now in {aside.name}/")
        self._write_run()

    def pytest_report_header(self) -> list[str]:
        """What is evaluated, by which rules, on what."""
        settings = self._settings
        versions = simulator_versions()
        seeds = settings.seeds
        shown = f"seed {seeds[0]}" if len(seeds) == 1 else f"{len(seeds)} seeds from {seeds[0]}"
        gpu = gpu_renderer()
        images = f"EGL on {gpu}" if gpu and settings.render != "osmesa" else "OSMesa"
        lines = [
            f"robomem {package_version()}: policy {settings.policy}, rules "
            f"{RULE_VERSIONS[settings.rules]} ({settings.success}), {shown}",
            "robomem: "
            + ", ".join(f"{name} {versions[name]}" for name in versions)
            + f"; images: {images}, when asked for",
        ]
        return lines + [f"robomem: {note}" for note in self._notes]

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker which episodes are done."""
        node.workerinput[DONE_KEY] = list(self._done)

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Leave out what is done (without workers)."""
        deselect_done(config, items, frozenset(self._done))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the record out of a report, before JUnit sees it, and append it to the journal."""
        hidden = self._settings.junit_properties == "off"
        kept, record = [], None
        for name, value in report.user_properties:
            if name == RECORD_PROPERTY:
                record = value
            elif not (hidden and name.startswith(FIGURE_PREFIX)):
                kept.append((name, value))
        report.user_properties = kept
        if record is not None:
            self._take(EpisodeResult.model_validate(record))

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport) -> None:
        """A worker died: that is an error of this episode, not a failure of the policy."""
        record = crash_record(
            crashitem, self._settings, self._config, str(report.longrepr), self._started_at
        )
        if record is not None:
            report.when = "setup"
            report.location = (crashitem.partition("::")[0], None, crashitem.rpartition("::")[2])
            report.longrepr = record.message
            report.user_properties.extend(figures_of(record))
            self._take(record)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Write the tables, whatever ended the session."""
        if not self._writing or not self._records:
            return
        try:
            if exitstatus != pytest.ExitCode.INTERRUPTED and renders_failed(self._settings.video):
                self._make_videos()
            self._collect_videos()
        finally:
            write_tables(self._settings.results, latest(self._records), self._settings.seeds)
            self._write_run()

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the summary table."""
        if not self._records or terminalreporter.config.option.verbose < -1:
            return
        terminalreporter.section(f"robot-memory results ({self._settings.policy})")
        seconds = time.monotonic() - self._started if self._new_records else 0.0
        records = latest(self._records)
        for line in (*summary_lines(records, seconds), *replay_lines(records)):
            terminalreporter.write_line(line)
        for line in self._missing_videos():
            terminalreporter.write_line(line, yellow=True)
        terminalreporter.write_line(f"results: {self._settings.results}")

    def _make_videos(self) -> None:
        """Without workers, make the videos of failed episodes here."""
        waiting = len(list(self._queue.jobs("pending")))
        if not waiting or self._config.pluginmanager.hasplugin("dsession"):
            return
        from pytest_robomem.rendering import render_pending  # noqa: PLC0415 - heavy

        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if terminal is not None:
            terminal.ensure_newline()
            terminal.write_line(f"robomem: making videos of {waiting} failed episodes")
        # The results are still to be written; they tell which episodes were left without.
        with suppress(KeyboardInterrupt, OSError):
            render_pending(self._settings.results, self._settings.render)

    def _collect_videos(self) -> None:
        """Name the videos that were made in the records of their episodes."""
        for record, job in with_videos(self._records, self._queue):
            self._records.append(record)
            self._journal.append(record.to_builtins())
            self._queue.forget(job)

    def _missing_videos(self) -> list[str]:
        lines = [
            f"no video of {job.episode}: {job.problem or UNFINISHED}"
            for job in self._queue.jobs("claimed", "failed")
        ]
        if waiting := len(list(self._queue.jobs("pending"))):
            lines.append(f"no videos yet of {waiting} failed episodes")
        if lines:
            lines.append(f"make them with: robomem render {shlex.quote(str(self._queue.results))}")
        return lines

    def _take(self, record: EpisodeResult) -> None:
        self._records.append(record)
        self._new_records += 1
        self._journal.append(record.to_builtins())

    def _resume(self) -> None:
        folder = self._settings.results
        run_file = folder / RUN_NAME
        if run_file.exists():
            before = json.loads(run_file.read_text(encoding="utf-8"))
            differing = [
                key for key, value in self._identity().items() if before["identity"][key] != value
            ]
            if differing:
                raise pytest.UsageError(
                    f"--robomem-resume: the run in {folder} differs in {', '.join(differing)}; "
                    "choose another --robomem-results, or leave --robomem-resume out to start anew"
                )
        self._records = [
            EpisodeResult.model_validate(record) for record in read_journal(self._journal.path)
        ]
        _require_present_rules(folder, self._records)
        if renders_failed(self._settings.video):
            self._queue.restore()
        self._collect_videos()
        # What was an error is run again.
        self._done = [r.node_id for r in latest(self._records) if r.status != "error"]
        self._notes.append(f"resuming: {len(self._done)} episodes are done")

    def _identity(self) -> dict[str, Any]:
        settings = self._settings.public_dump()
        return {
            **{key: settings[key] for key in _SAME_RUN},
            "versions": simulator_versions(),
            "robomem": package_version(),
        }

    def _write_run(self) -> None:
        renderers = sorted({r.gl_renderer for r in self._records if r.gl_renderer})
        content = {
            "identity": self._identity(),
            "settings": self._settings.public_dump(),
            "rules": RULE_VERSIONS[self._settings.rules],
            "python": sys.version.split()[0],
            "pytest": pytest.__version__,
            "gl_renderers": renderers,
            "git_commit": _git_commit(self._config.invocation_params.dir),
            "command": ["pytest", *public_arguments(self._config.invocation_params.args)],
        }
        text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        write_text(self._settings.results / RUN_NAME, text)


def _require_present_rules(folder: Path, records: list[EpisodeResult]) -> None:
    """Episodes that other rules have scored are not gone on with."""
    from pytest_robomem.scoring.hashes import rules_hash  # noqa: PLC0415 - only to resume
    from pytest_robomem.scoring.rulebooks import RULEBOOKS  # noqa: PLC0415

    present = {name: rules_hash(book) for name, book in RULEBOOKS.items()}
    try:
        before = rules_hashes(records)
    except MixedRulesError as error:
        raise pytest.UsageError(f"--robomem-resume: {error}") from error
    changed = sorted(name for name in before if before[name] != present.get(name))
    if changed:
        raise pytest.UsageError(
            f"--robomem-resume: the run in {folder} was scored by other rules than these "
            f"({', '.join(changed)}); choose another --robomem-results, or score it again first "
            "(robomem rescore)"
        )


def _require_library(backend: str) -> None:
    if missing := library_missing(backend):
        raise pytest.UsageError(f"--robomem-video: {missing}")


def _free_name(folder: Path) -> Path:
    number = 1
    while (candidate := folder.with_name(f"{folder.name}.{number}")).exists():
        number += 1
    return candidate


def _git_commit(folder: Path) -> str:
    try:
        found = subprocess.run(
            ["git", "-C", str(folder), "rev-parse", "HEAD"],
            capture_output=True,
            text=True,
            check=False,
            timeout=10,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return found.stdout.strip() if found.returncode == 0 else ""
