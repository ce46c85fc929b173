"""``robomem record``: demonstrations of the benchmark's tasks."""

import argparse
import json
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_robomem.options import OPTIONS

if TYPE_CHECKING:
    from pytest_robomem.demonstrations.recorder import Recorded
    from pytest_robomem.task import Task

# As for pytest, where the meaning is the same; the names follow the command's own style.
_SHARED = {
    "policy": "--policy",
    "policy_kwargs": "--policy-kwargs",
    "seeds": "--seeds",
    "rules": "--rules",
    "max_steps": "--max-steps",
    "replan_steps": "--replan-steps",
    "image_size": "--image-size",
    "render": "--render",
    "stepper": "--stepper",
    "prompts": "--prompts",
}
# The guide's rules end an episode with the last thing still in the hand; those who learn from a
# demonstration should see it put down.
_DEFAULTS = {"policy": "expert", "rules": "strict"}
_INTERRUPTED = 130


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder of the demonstrations"
    )
    parser.add_argument(
        "--tasks",
        metavar="SPEC",
        default="",
        help="numbers of tasks: 3, 1,3 or 1:4 (half open); with --family, those as well [all]",
    )
    parser.add_argument(
        "--family",
        action="append",
        metavar="NAME",
        default=[],
        help="a family of tasks, such as drawer; may be given several times",
    )
    for option in OPTIONS:
        if option.key not in _SHARED:
            continue
        default = _DEFAULTS.get(option.key, option.default)
        shown = f" [{default}]" if default not in (None, "{}") else ""
        parser.add_argument(
            _SHARED[option.key],
            dest=option.key,
            choices=option.choices or None,
            metavar=option.metavar,
            default=default,
            help=option.help.partition(". ")[0].replace("to evaluate", "that acts") + shown,
        )
    parser.add_argument(
        "--keep-failed",
        action="store_true",
        help="write failed episodes too, into folders of their own (failed_trajectory)",
    )
    parser.add_argument(
        "--lerobot",
        action="store_true",
        help="also make a LeRobot dataset of the demonstrations, in DIR/lerobot; needs the extra "
        "pytest-robomem[lerobot]",
    )
    parser.epilog = (
        "Both cameras are rendered at every step: a quarter to half a second a step without a "
        "GPU. Each episode is on disk before the next begins; the same command goes on where it "
        "was stopped, and several may record different tasks or seeds into one folder."
    )


def run(parsed: argparse.Namespace) -> int:
    """Record; gives the exit code: 0, 1 if an episode was an error, 2 if nothing can be done."""
    from pytest_robomem.demonstrations.lerobot import LeRobotError  # noqa: PLC0415 - heavy
    from pytest_robomem.demonstrations.recorder import RecordingError  # noqa: PLC0415
    from pytest_robomem.policy import PolicyLoadError  # noqa: PLC0415
    from pytest_robomem.results.stored import StoredRunError  # noqa: PLC0415
    from pytest_robomem.scene.gl import RenderError  # noqa: PLC0415
    from pytest_robomem.scene.simulator import SimulatorError  # noqa: PLC0415
    from pytest_robomem.settings import SettingsError  # noqa: PLC0415

    try:
        return _record(parsed)
    except SettingsError as error:
        for key, reason in error.problems:
            _complain(f"{_SHARED.get(key, key)}: {reason}")
    except (
        *(_UsageError, RecordingError, PolicyLoadError, StoredRunError, RenderError),
        *(SimulatorError, LeRobotError, OSError),
    ) as error:
        _complain(str(error))
    except KeyboardInterrupt:
        _complain("stopped; what was finished is kept, and the same command goes on from there")
        return _INTERRUPTED
    return 2


class _UsageError(ValueError):
    """An argument that makes no sense."""


def _record(parsed: argparse.Namespace) -> int:
    from pytest_robomem.demonstrations.recorder import Recorder  # noqa: PLC0415 - heavy
    from pytest_robomem.policy import load_policy  # noqa: PLC0415
    from pytest_robomem.report.terminal import summary_lines  # noqa: PLC0415
    from pytest_robomem.results.tables import write_tables  # noqa: PLC0415
    from pytest_robomem.scene.gl import choose_backend  # noqa: PLC0415
    from pytest_robomem.scene_cache import SceneCache  # noqa: PLC0415
    from pytest_robomem.settings import make_settings  # noqa: PLC0415

    tasks = _tasks(parsed)
    values = {option.key: option.default for option in OPTIONS}
    values |= {key: getattr(parsed, key) for key in _SHARED}
    settings = make_settings(values, Path.cwd())
    if parsed.lerobot:
        from pytest_robomem.demonstrations.lerobot import require_lerobot  # noqa: PLC0415

        require_lerobot()
    choose_backend(settings.render)
    recorder = Recorder(parsed.out, settings, keep_failed=parsed.keep_failed)
    recorder.take_up()
    policy = load_policy(settings.policy, settings.policy_kwargs)
    scenes, started = SceneCache(settings.render, settings.stepper), time.monotonic()
    errors, count, total = 0, 0, len(tasks) * len(settings.seeds)
    try:
        for recorded in recorder.record(tasks, policy, scenes):
            count += 1
            errors += recorded.result.status == "error"
            _say(f"[{count}/{total}] {_described(recorded)}")
    finally:
        scenes.close()
        if callable(close := getattr(policy, "close", None)):
            close()
        if records := recorder.records():
            write_tables(parsed.out, records, sorted({record.seed for record in records}))
    _say(*summary_lines(records, time.monotonic() - started))
    if parsed.lerobot:
        _make_lerobot(parsed.out)
    _say(f"demonstrations: {parsed.out}", f"replay them: {_replay_command(parsed, tasks)}")
    return 1 if errors else 0


def _tasks(parsed: argparse.Namespace) -> "list[Task]":
    from pytest_robomem.demonstrations.selection import chosen_tasks  # noqa: PLC0415
    from pytest_robomem.settings import parse_numbers  # noqa: PLC0415
    from pytest_robomem.task import BENCHMARK_TASKS, FAMILIES  # noqa: PLC0415 - imports pytest

    for family in parsed.family:
        if family not in FAMILIES:
            raise _UsageError(f"--family: {family!r} is none of {', '.join(FAMILIES)}")
    numbers: tuple[int, ...] = ()
    if parsed.tasks:
        try:
            numbers = parse_numbers(parsed.tasks, "task number", "1:4", BENCHMARK_TASKS[-1])
        except ValueError as error:
            raise _UsageError(f"--tasks: {error}") from None
        if 0 in numbers:
            raise _UsageError("--tasks: tasks are numbered from 1")
    return chosen_tasks(numbers, parsed.family)


def _described(recorded: "Recorded") -> str:
    result = recorded.result
    episode = f"task {result.task_id}, seed {result.seed}: {result.status}"
    if recorded.before:
        return f"{episode}, recorded before"
    if result.status == "error":
        return f"{episode}: {result.message.splitlines()[0]}"
    facts = f"{episode}, {result.steps} steps, {recorded.seconds:.0f} s"
    if not recorded.files:
        return f"{facts}; left out ({result.failure_reason})"
    megabytes = sum(path.stat().st_size for path in recorded.files) / 1e6
    return f"{facts}, {len(recorded.files)} files, {megabytes:.0f} MB"


def _make_lerobot(root: Path) -> None:
    from pytest_robomem.demonstrations.lerobot import make_dataset  # noqa: PLC0415

    _say(make_dataset(root))


def _replay_command(parsed: argparse.Namespace, tasks: "Sequence[Task]") -> str:
    """The pytest command that replays what was recorded, under the same settings."""
    words = ["pytest", "--policy=replay"]
    words.append(f"--policy-kwargs={json.dumps({'dir': str(parsed.out)})}")
    words.append(f"--seeds={parsed.seeds}")
    for option in OPTIONS:
        if option.key in ("rules", "max_steps", "stepper"):
            value = getattr(parsed, option.key)
            if value not in (None, option.default):
                words.append(f"{option.flag}={value}")
    if parsed.tasks or parsed.family:
        words += ["-m", " or ".join(task.label for task in tasks)]
    return shlex.join(words)


def _say(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


def _complain(line: str) -> None:
    sys.stderr.write(f"robomem record: {line}\n")
