"""Recording demonstrations: one episode after the other, each on disk before the next begins."""

import json
import shlex
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_robomem import package_version
from pytest_robomem.demonstrations.reader import DemonstrationError, read_record
from pytest_robomem.demonstrations.writer import (
    DemonstrationWriteError,
    DemonstrationWriter,
    EpisodePaths,
)
from pytest_robomem.episode import EpisodeError, EpisodeRun
from pytest_robomem.policy import Policy
from pytest_robomem.request import episode_request
from pytest_robomem.results.files import write_text
from pytest_robomem.results.journal import Journal
from pytest_robomem.results.records import EpisodeResult
from pytest_robomem.results.stored import JOURNAL_NAME, stored_records
from pytest_robomem.scene.gl import RenderError
from pytest_robomem.scene.simulator import simulator_versions
from pytest_robomem.scene_cache import SceneCache
from pytest_robomem.settings import Settings
from pytest_robomem.task import Task

DESCRIPTION = "demonstrations.json"
# Demonstrations that differ in one of these must not share a folder.
_SAME = ("policy", "policy_kwargs", "rules", "max_steps", "replan_steps", "settle_steps")
_SAME_IMAGES = ("image_size", "prompts", "stepper")


class RecordingError(RuntimeError):
    """Demonstrations cannot be recorded into this folder; the message says why."""


@dataclass(frozen=True)
class Recorded:
    """What became of an episode.

    Attributes:
        result: its record.
        files: that it left; none if it failed or was an error.
        seconds: wall time, 0 if it was recorded before.
        before: whether an earlier run has recorded it.
    """

    result: EpisodeResult
    files: tuple[Path, ...] = ()
    seconds: float = 0.0
    before: bool = False


@dataclass
class Recorder:
    """Records demonstrations into a folder, and goes on where an earlier run ended.

    Args:
        root: the folder.
        settings: of the episodes.
        keep_failed: whether failed episodes leave a file too, apart from the demonstrations.
    """

    root: Path
    settings: Settings
    keep_failed: bool = False
    _known: dict[tuple[int | str, int], EpisodeResult] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._journal = Journal(self.root / JOURNAL_NAME)

    def take_up(self) -> None:
        """Look at what the folder holds already.

        Raises:
            RecordingError: demonstrations of other settings or versions.
            StoredRunError: the journal cannot be read.
            OSError: the folder cannot be used.
        """
        description = self.root / DESCRIPTION
        identity = self._identity()
        if description.exists():
            before = _read_description(description)
            keys = sorted({*identity, *before})
            if differing := [key for key in keys if before.get(key) != identity.get(key)]:
                raise RecordingError(
                    f"the demonstrations in {self.root} were made with another "
                    f"{', '.join(differing)}; choose another --out"
                )
        if self._journal.path.exists():
            self._known = {
                (record.task_id, record.seed): record for record in stored_records(self.root)
            }

    def record(
        self, tasks: Sequence[Task], policy: Policy, scenes: SceneCache
    ) -> Iterator[Recorded]:
        """Record each task with each seed.

        Raises:
            RecordingError: files cannot be written, or nothing can be rendered.
            OSError: the folder cannot be used.
        """
        text = json.dumps(self._identity(), indent=2, ensure_ascii=False) + "\n"
        write_text(self.root / DESCRIPTION, text)
        for task in tasks:
            for seed in self.settings.seeds:
                paths = EpisodePaths(self.root, task, seed)
                known = self._finished(paths)
                yield known or self._run(paths, policy, scenes)

    def records(self) -> list[EpisodeResult]:
        """Records of all episodes so far, ordered by task and seed."""
        return stored_records(self.root) if self._journal.path.exists() else []

    def _finished(self, paths: EpisodePaths) -> Recorded | None:
        """An episode that need not be run again."""
        known = self._known.get((paths.task.task_id, paths.seed))
        for path in (paths.full, paths.failed):
            if not path.is_file():
                continue
            if known is not None and known.status != "error":
                return Recorded(known, (path,), before=True)
            try:  # named, but not in the journal: killed in between
                result = read_record(path)
            except DemonstrationError:
                continue
            self._journal.append(result.to_builtins())
            return Recorded(result, (path,), before=True)
        if known is not None and known.status == "failed" and not self.keep_failed:
            return Recorded(known, before=True)
        return None

    def _run(self, paths: EpisodePaths, policy: Policy, scenes: SceneCache) -> Recorded:
        task, seed, started = paths.task, paths.seed, time.monotonic()
        scene = scenes.scene(task.scene)
        request = episode_request(
            task,
            seed,
            self.settings,
            node_id=f"record/{task.label}[seed{seed}]",
            repeat=self._repeat(task, seed),
            build_seconds=scenes.build_seconds(),
        )
        files: list[Path] = []
        try:
            with DemonstrationWriter(paths, self.settings.image_size) as writer:
                outcome = EpisodeRun(request, scene, policy, (writer,)).run()
                result = outcome.result
                if result.status == "passed" or self.keep_failed:
                    result = result.model_copy(update={"gl_renderer": scene.gl_renderer})
                    outcome.result = result
                    files = writer.keep(outcome)
        except EpisodeError as error:
            if isinstance(error.__cause__, DemonstrationWriteError | RenderError):
                raise RecordingError(str(error.__cause__)) from error
            result = error.result
        except (DemonstrationWriteError, OSError) as error:
            raise RecordingError(str(error)) from error
        self._journal.append(result.to_builtins())
        return Recorded(result, tuple(files), time.monotonic() - started)

    def _repeat(self, task: Task, seed: int) -> str:
        settings = self.settings
        words = ["robomem", "record", f"--policy={settings.policy}", f"--rules={settings.rules}"]
        words += [f"--tasks={task.number}", f"--seeds={seed}", f"--out={self.root}"]
        return shlex.join(words)

    def _identity(self) -> dict[str, Any]:
        settings = self.settings.public_dump()
        return {
            **{key: settings[key] for key in (*_SAME, *_SAME_IMAGES)},
            "versions": simulator_versions(),
            "robomem": package_version(),
        }


def _read_description(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RecordingError(f"{path} cannot be read ({error}); choose another --out") from error
    if not isinstance(content, dict):
        raise RecordingError(f"{path} does not describe demonstrations; choose another --out")
    return content
