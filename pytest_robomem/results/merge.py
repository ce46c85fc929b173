"""Putting runs of the same policy together: other seeds, other tasks, other machines."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_robomem.results.files import write_text
from pytest_robomem.results.journal import Journal
from pytest_robomem.results.mixing import MixedRulesError, require_same_rules
from pytest_robomem.results.records import EpisodeResult
from pytest_robomem.results.stored import JOURNAL_NAME, RUN_NAME, stored_records
from pytest_robomem.results.summary import latest
from pytest_robomem.results.tables import write_tables

# What an episode of the same id has to agree in when two runs hold it.
_SAME_EPISODE = ("status", "steps", "initial_state_sha256", "cards", "goal")


class MergeError(ValueError):
    """Runs that do not belong together; the message says why."""


def merge(folders: Sequence[Path], out: Path) -> list[EpisodeResult]:
    """Merge results folders into a new one, with journal, tables, trajectories and videos.

    Args:
        folders: the runs, untouched.
        out: the new folder.

    Returns:
        The records, ordered by task and seed.

    Raises:
        MergeError: the runs differ in policy, settings, versions or rules, an episode is in two of
            them with different results, or ``out`` holds results already.
        StoredRunError: a folder holds no results.
    """
    if (out / JOURNAL_NAME).exists():
        raise MergeError(f"{out} holds results already; choose another --out")
    runs = [_run(folder) for folder in folders]
    _require_same_run(folders, runs)
    chosen = _chosen(folders)
    records = latest(record for _, record in chosen.values())
    try:
        require_same_rules(records)
    except MixedRulesError as error:
        raise MergeError(str(error)) from error
    journal = Journal(out / JOURNAL_NAME)
    for record in records:
        _copy_files(chosen[record.node_id][0], out, record)
        journal.append(record.to_builtins())
    seeds = sorted({record.seed for record in records})
    write_tables(out, records, seeds)
    run = dict(runs[0])
    run["settings"] = {**run["settings"], "seeds": seeds, "results": str(out)}
    run["merged_from"] = [folder.name for folder in folders]
    write_text(out / RUN_NAME, json.dumps(run, indent=2, ensure_ascii=False) + "\n")
    return records


def _run(folder: Path) -> dict[str, Any]:
    try:
        run = json.loads((folder / RUN_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise MergeError(f"{folder} holds no run ({RUN_NAME}: {error})") from error
    if not isinstance(run, dict) or not {"identity", "settings"} <= run.keys():
        raise MergeError(f"{folder}/{RUN_NAME} was written by another program or version")
    return run


def _require_same_run(folders: Sequence[Path], runs: Sequence[dict[str, Any]]) -> None:
    first = runs[0]["identity"]
    for folder, run in zip(folders[1:], runs[1:], strict=True):
        other = run["identity"]
        differing = sorted(
            key for key in first.keys() | other.keys() if first.get(key) != other.get(key)
        )
        if differing:
            raise MergeError(f"{folders[0]} and {folder} differ in {', '.join(differing)}")


def _chosen(folders: Sequence[Path]) -> dict[str, tuple[Path, EpisodeResult]]:
    """Each episode once, with its folder; a result is preferred to an error."""
    chosen: dict[str, tuple[Path, EpisodeResult]] = {}
    for folder in folders:
        for record in stored_records(folder):
            known = chosen.get(record.node_id)
            if known is None or known[1].status == "error":
                chosen[record.node_id] = folder, record
            elif record.status != "error":
                _require_same_result(known, (folder, record))
    return chosen


def _require_same_result(
    one: tuple[Path, EpisodeResult], other: tuple[Path, EpisodeResult]
) -> None:
    differing = [name for name in _SAME_EPISODE if getattr(one[1], name) != getattr(other[1], name)]
    if differing:
        raise MergeError(
            f"{one[1].node_id} is in {one[0]} and in {other[0]} with different results "
            f"({', '.join(differing)})"
        )


def _copy_files(source: Path, out: Path, record: EpisodeResult) -> None:
    for name in filter(None, (record.trajectory, *record.videos)):
        path = (source / name).resolve()
        if not path.is_relative_to(source.resolve()) or not path.is_file():
            continue  # removed since, or a record that points elsewhere
        target = out / path.relative_to(source.resolve())
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
