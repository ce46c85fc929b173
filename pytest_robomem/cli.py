"""The ``robomem`` command."""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pytest_robomem import package_version
from pytest_robomem.scoring.versions import RULE_VERSIONS


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of the ``robomem`` command; gives the exit code."""
    parser = argparse.ArgumentParser(
        prog="robomem", description="Tools beside pytest for robot-memory benchmarks."
    )
    version = f"pytest-robomem {package_version()}"
    parser.add_argument("--version", action="version", version=version)
    commands = parser.add_subparsers(dest="command", required=True)
    doctor = _add(
        commands, "doctor", "check the installation: simulator, assets, rendering", _doctor
    )
    doctor.add_argument(
        "--clear-cache",
        action="store_true",
        help="first remove the compiled scenes and the compiled code that are kept for later runs",
    )
    rescore = _add(
        commands,
        "rescore",
        "score the recorded episodes of a run again, from trajectories",
        _rescore,
    )
    rescore.add_argument("folder", type=Path, help="results folder")
    rescore.add_argument("--rules", choices=sorted(RULE_VERSIONS), required=True)
    rescore.add_argument("--out", type=Path, help="folder of the new tables (FOLDER/RULES)")
    render = _add(
        commands, "render", "make the videos of recorded episodes that have none", _render
    )
    from pytest_robomem import render_command  # noqa: PLC0415 - light

    render_command.add_arguments(render)
    merge = _add(commands, "merge", "put runs of the same policy into one folder", _merge)
    merge.add_argument("folders", type=Path, nargs="+", help="results folders")
    merge.add_argument("--out", type=Path, required=True, help="the new results folder")
    audit = _add(commands, "audit", "show where the rulebooks disagree", _audit)
    audit.add_argument("folder", type=Path, help="results folder")
    agreement = _add(
        commands, "agreement", "compare judges' verdicts with people's labels", _agreement
    )
    from pytest_robomem.judges import agreement_cli  # noqa: PLC0415 - light, but not for doctor

    agreement_cli.add_arguments(agreement)
    record = _add(
        commands, "record", "record demonstrations as HDF5, and as a LeRobot dataset", _record
    )
    from pytest_robomem.demonstrations import command  # noqa: PLC0415 - light

    command.add_arguments(record)
    parsed = parser.parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = parsed.run
    return run(parsed)


def _add(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    purpose: str,
    run: Callable[[argparse.Namespace], int],
) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=purpose, description=purpose)
    command.set_defaults(run=run)
    return command


def _say(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")


def _doctor(parsed: argparse.Namespace) -> int:
    from pytest_robomem.doctor import cleared_cache_line, report_lines  # noqa: PLC0415

    if parsed.clear_cache:
        _say(cleared_cache_line())
    healthy, lines = report_lines()
    _say(*lines)
    return 0 if healthy else 1


def _agreement(parsed: argparse.Namespace) -> int:
    from pytest_robomem.judges import agreement_cli  # noqa: PLC0415

    return agreement_cli.run(parsed)


def _merge(parsed: argparse.Namespace) -> int:
    from pytest_robomem.report.terminal import summary_lines  # noqa: PLC0415
    from pytest_robomem.results.merge import MergeError, merge  # noqa: PLC0415
    from pytest_robomem.results.stored import StoredRunError  # noqa: PLC0415

    try:
        records = merge(parsed.folders, parsed.out)
    except (MergeError, StoredRunError) as error:
        sys.stderr.write(f"robomem merge: {error}\n")
        return 2
    _say(*summary_lines(records, 0.0), f"results: {parsed.out}")
    return 0


def _record(parsed: argparse.Namespace) -> int:
    from pytest_robomem.demonstrations import command  # noqa: PLC0415

    return command.run(parsed)


def _render(parsed: argparse.Namespace) -> int:
    from pytest_robomem import render_command  # noqa: PLC0415

    return render_command.run(parsed)


def _audit(parsed: argparse.Namespace) -> int:
    from pytest_robomem.report.audit import audit_lines  # noqa: PLC0415
    from pytest_robomem.results.stored import StoredRunError, stored_records  # noqa: PLC0415

    try:
        _say(*audit_lines(stored_records(parsed.folder)))
    except StoredRunError as error:
        sys.stderr.write(f"robomem audit: {error}\n")
        return 2
    return 0


def _rescore(parsed: argparse.Namespace) -> int:
    from pytest_robomem.report.terminal import summary_lines  # noqa: PLC0415
    from pytest_robomem.rescoring import RescoringError, rescore  # noqa: PLC0415
    from pytest_robomem.results.journal import Journal  # noqa: PLC0415
    from pytest_robomem.results.stored import (  # noqa: PLC0415
        JOURNAL_NAME,
        StoredRunError,
        stored_records,
    )
    from pytest_robomem.results.tables import write_tables  # noqa: PLC0415
    from pytest_robomem.scene_cache import SceneCache  # noqa: PLC0415

    out: Path = parsed.out or parsed.folder / parsed.rules
    try:
        records = stored_records(parsed.folder)
    except StoredRunError as error:
        sys.stderr.write(f"robomem rescore: {error}\n")
        return 2
    if (out / JOURNAL_NAME).exists():
        sys.stderr.write(f"robomem rescore: {out} holds results already; choose another --out\n")
        return 2
    journal, after, differing = Journal(out / JOURNAL_NAME), [], []
    scenes, started = SceneCache("auto", "stock"), time.monotonic()
    for result in rescore(parsed.folder, records, parsed.rules, scenes):
        if isinstance(result, RescoringError):
            _say(f"not scored again: {result}")
            continue
        journal.append(result.after.to_builtins())
        after.append(result.after)
        differing += [(result.after, name) for name in result.differing]
    seeds = sorted({record.seed for record in after})
    if after:
        write_tables(out, after, seeds)
    _say(*summary_lines(after, time.monotonic() - started), f"results: {out}")
    for record, name in differing:
        _say(
            f"task {record.task_id}, seed {record.seed}: the {name} card differs from the live one"
        )
    return 1 if differing or not after else 0
