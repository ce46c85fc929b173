"""How often policies that do nothing of use pass, under each rulebook.

    python -m benchmarks.false_positives [--controls hold,random,...] [--seeds 100:110] [--steps N]

Each control runs all 26 tasks under the strict rulebook, so that an episode ends only when strict
is satisfied or the steps are used up; the other rulebooks score the same rollouts. Prints a
Markdown table and writes JSON beside the results.
"""

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pytest_robomem.results.records import EpisodeResult
from pytest_robomem.results.stored import stored_records
from pytest_robomem.results.summary import wilson

CONTROLS = ("hold", "random", "wiggle", "sweep", "shake", "skip", "swap", "extra")
BOOKS = ("guide", "official", "strict")


def run_control(name: str, arguments: argparse.Namespace) -> list[EpisodeResult]:
    """Run one control, or take what an earlier call has left."""
    folder: Path = arguments.out / name
    command = [
        *(sys.executable, "-m", "pytest", f"--policy=control:{name}", "--robomem-rules=strict"),
        *(f"--seeds={arguments.seeds}", f"--robomem-max-steps={arguments.steps}"),
        *(f"--robomem-results={folder.resolve()}", "--robomem-resume", "-n", arguments.workers),
        *("--robomem-trajectory=off", "-q", "-p", "no:cacheprovider", "--tb=no", "--no-summary"),
    ]
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, cwd=arguments.out)
    return stored_records(folder)


def row(name: str, records: Sequence[EpisodeResult]) -> dict[str, object]:
    """Passed episodes and mean stage score of a control under each rulebook."""
    scored = [record for record in records if record.status != "error"]
    figures: dict[str, object] = {
        "control": name,
        "episodes": len(scored),
        "errors": len(records) - len(scored),
    }
    figures["reasons"] = dict(
        Counter(record.cards["strict"].failure_reason or "success" for record in scored)
    )
    for book in BOOKS:
        cards = [record.cards[book] for record in scored]
        passed = sum(card.stage_success for card in cards)
        figures[book] = {
            "passed": passed,
            "interval": wilson(passed, len(cards)),
            "stage_score": sum(card.stage_score for card in cards) / max(1, len(cards)),
            "tasks": sorted(
                {
                    int(record.task_id)
                    for record, card in zip(scored, cards, strict=True)
                    if card.stage_success
                }
            ),
        }
    return figures


def markdown(rows: Sequence[dict[str, object]]) -> list[str]:
    """The table for the docs."""
    lines = [
        "| control | episodes | errors | guide | official | strict | why not, by strict |",
        "|---|---|---|---|---|---|---|",
    ]
    for figures in rows:
        cells = [str(figures[key]) for key in ("control", "episodes", "errors")]
        for book in BOOKS:
            entry = figures[book]
            assert isinstance(entry, dict)
            tasks = f" (tasks {', '.join(map(str, entry['tasks']))})" if entry["tasks"] else ""
            cells.append(f"{entry['passed']} passed{tasks}; stages {entry['stage_score']:.1f} %")
        reasons = figures["reasons"]
        assert isinstance(reasons, dict)
        cells.append(", ".join(f"{name} {reasons[name]}" for name in sorted(reasons)))
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--controls", default=",".join(CONTROLS))
    parser.add_argument("--seeds", default="100:110")
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--workers", default="2")
    parser.add_argument("--out", type=Path, default=Path("false-positives"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in arguments.controls.split(","):
        rows.append(row(name, run_control(name, arguments)))
        print("\n".join(markdown(rows)), flush=True)
    (arguments.out / "table.json").write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
