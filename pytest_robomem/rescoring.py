"""Scoring recorded episodes again, from their trajectories alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_robomem.resources import resource_dir
from pytest_robomem.results.cards import ScoreCard
from pytest_robomem.results.records import EpisodeResult, GoalResult, reached
from pytest_robomem.scene.recording import Trajectory, TrajectoryError, read_trajectory
from pytest_robomem.scene.replica import Replica
from pytest_robomem.scene_cache import SceneCache
from pytest_robomem.scoring.goals import Goal
from pytest_robomem.scoring.hashes import rules_hash
from pytest_robomem.scoring.rulebook import Rulebook, final_cards
from pytest_robomem.scoring.rulebooks import RULEBOOKS


@dataclass(frozen=True)
class Rescored:
    """An episode scored again.

    Attributes:
        before: the record as the run left it.
        after: the record under the rulebook asked for.
        differing: rulebooks whose card changed although their rules are the same.
    """

    before: EpisodeResult
    after: EpisodeResult
    differing: tuple[str, ...]


class RescoringError(RuntimeError):
    """An episode that cannot be scored again; the message says why."""


def rescore(
    folder: Path, records: Sequence[EpisodeResult], rules: str, scenes: SceneCache
) -> Iterator[Rescored | RescoringError]:
    """Score recorded episodes again.

    Args:
        folder: the results folder.
        records: ordered by task, so that each scene is built once.
        rules: rulebook that decides.
        scenes: builds the scenes.

    Yields:
        One result for each record that was scored, or the reason why it cannot be.
    """
    books = sorted(RULEBOOKS.values(), key=lambda book: book.name != rules)
    hashes = {book.name: rules_hash(book) for book in books}
    for record in records:
        try:
            yield _rescored(folder, record, books, hashes, scenes)
        except (RescoringError, TrajectoryError) as error:
            yield RescoringError(f"task {record.task_id}, seed {record.seed}: {error}")


def _rescored(
    folder: Path,
    record: EpisodeResult,
    books: Sequence[Rulebook],
    hashes: dict[str, str],
    scenes: SceneCache,
) -> Rescored:
    if record.status == "error":
        partial = f"; {record.trajectory} is no whole episode" if record.trajectory else ""
        raise RescoringError(f"was an error and stays one{partial}")
    if not isinstance(record.task_id, int):
        raise RescoringError("its stages are in a test of your own, not in a rulebook")
    if not record.trajectory:
        raise RescoringError("left no trajectory")
    trajectory = read_trajectory(folder / record.trajectory)
    cards, goal = score_trajectory(record, trajectory, books, scenes)
    deciding = books[0]
    card = cards[deciding.name]
    succeeded = reached(record.success, stages=card.stage_success, goal=goal.final)
    after = record.model_copy(
        update={
            "status": "passed" if succeeded else "failed",
            "rules": deciding.version,
            "cards": cards,
            "rules_hashes": hashes,
            "goal": goal,
            "failure_reason": "" if succeeded else card.failure_reason or "goal_not_reached",
            "message": "" if succeeded else "scored again; see its stages",
        }
    )
    same_rules = [
        name
        for name, fingerprint in after.rules_hashes.items()
        if record.rules_hashes.get(name) == fingerprint
    ]
    differing = tuple(name for name in same_rules if record.cards.get(name) != cards[name])
    return Rescored(record, after, differing)


def score_trajectory(
    record: EpisodeResult, trajectory: Trajectory, books: Sequence[Rulebook], scenes: SceneCache
) -> tuple[dict[str, ScoreCard], GoalResult]:
    """Cards and goal of a recorded episode of a benchmark task."""
    number = int(record.task_id)
    (path,) = resource_dir("bddl").glob(f"{number}_*.bddl")
    scene = scenes.scene(path)
    if trajectory.kinematics_qpos.shape[1] != scene.model.nq:
        raise RescoringError("its trajectory belongs to another scene")
    scene.model.body_pos[:] = trajectory.body_pos
    scene.model.body_quat[:] = trajectory.body_quat
    replica = Replica(scene.model)
    states = trajectory.kinematics_qpos
    view = replica.lay(states[0])
    goal = Goal(scene.description.goal, view)
    scorers = {book.name: book.scorer_for(number) for book in books}
    for scorer in scorers.values():
        scorer.begin(view)
    first_step = None
    for step, state in enumerate(states[1:], start=1):
        view = replica.lay(state)
        for scorer in scorers.values():
            scorer.update(view, step)
        if first_step is None and goal.reached(view):
            first_step = step
    max_steps = {book.name: record.rules_max_steps.get(book.name, book.max_steps) for book in books}
    cards = final_cards(scorers, max_steps, len(states) - 1)
    return cards, GoalResult(final=goal.reached(view), first_step=first_step)
