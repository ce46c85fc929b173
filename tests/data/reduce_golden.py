"""Write the reduced copy of the recorded outcomes that the repository carries.

    python tests/data/reduce_golden.py FULL_FOLDER

Everything stays in double precision: samples that lie on a threshold are the point of the records.
Kept are every third configuration and, of the timelines, one of each kind of outcome first and
then the earliest ones.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

OUTPUT = Path(__file__).resolve().parent / "golden"
EVERY_CONFIGURATION = 3
TIMELINES = 7
ROLLOUT_STEPS = 60
DROPPED = {"init_qvel", "body_mass", "site_names"}


def main(source: Path) -> None:
    """Reduce all files of a folder."""
    OUTPUT.mkdir(exist_ok=True)
    for path in sorted(source.glob("task*.npz")):
        with np.load(path, allow_pickle=False) as archive:
            np.savez_compressed(OUTPUT / path.name, **_reduced(archive))


def _reduced(archive: Any) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name in archive.files:
        value = archive[name]
        if name in DROPPED or name.startswith("timeline"):
            continue
        if name.startswith("config_"):
            value = value[::EVERY_CONFIGURATION]
        elif name in ("rollout_qpos", "rollout_eef"):
            value = value[: ROLLOUT_STEPS + 1]
        elif name == "rollout_actions":
            value = value[:ROLLOUT_STEPS]
        kept[name] = value
    timelines = json.loads(str(archive["timelines"]))
    chosen = _chosen(timelines)
    for number, old in enumerate(chosen):
        for name in ("timeline_qpos", "timeline_eef_quat"):
            kept[f"{name}/{number}"] = archive[f"{name}/{old}"]
    kept["timelines"] = np.array(json.dumps([timelines[old] for old in chosen]))
    return kept


def _chosen(timelines: list[dict[str, Any]]) -> list[int]:
    seen: set[str] = set()
    first_of_kind = []
    for number, outcomes in enumerate(timelines):
        kind = json.dumps(
            {
                revision: [
                    outcome["score"],
                    (outcome["diagnostics"] or {}).get("failure_reason"),
                    (outcome["diagnostics"] or {}).get("extra_monitor_end_step") is None,
                ]
                for revision, outcome in outcomes.items()
            },
            sort_keys=True,
        )
        if kind not in seen:
            seen.add(kind)
            first_of_kind.append(number)
    others = [number for number in range(len(timelines)) if number not in first_of_kind]
    return sorted((first_of_kind + others)[:TIMELINES])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
