"""From a task, a seed and the settings of a run to the episode that is to be run."""

from pytest_robomem.episode import EpisodeRequest
from pytest_robomem.scoring.hashes import rules_hash
from pytest_robomem.scoring.rulebook import Rulebook, StageScorer
from pytest_robomem.scoring.rulebooks import RULEBOOKS
from pytest_robomem.settings import Settings
from pytest_robomem.task import Task

OWN_RULES = "own"  # of tasks that bring their stages along


def episode_request(
    task: Task, seed: int, settings: Settings, *, node_id: str, repeat: str, build_seconds: float
) -> EpisodeRequest:
    """The episode of a task and a seed, with fresh scorers.

    Args:
        task: what is to be done.
        seed: of the scene.
        settings: of the run.
        node_id: what the episode is called in its record.
        repeat: the command that runs this one episode again.
        build_seconds: time that building the scene took for this episode.
    """
    books = _rulebooks(task, settings.rules)
    deciding, number = books[0], task.number or 0
    max_steps = settings.max_steps or task.max_steps
    return EpisodeRequest(
        task=task,
        seed=seed,
        node_id=node_id,
        settings=settings,
        rules=deciding.version,
        scorers={book.name: book.scorer_for(number) for book in books},
        rules_hashes={book.name: rules_hash(book) for book in books},
        rules_max_steps={book.name: max_steps or book.max_steps for book in books},
        max_steps=max_steps or deciding.max_steps,
        replan_steps=settings.replan_steps or deciding.replan_steps,
        repeat=repeat,
        build_seconds=build_seconds,
    )


def _rulebooks(task: Task, rules: str) -> list[Rulebook]:
    """The rulebooks that score a task, the deciding one first."""
    if task.number is None:
        own = {"stages": task.stages}
        book = RULEBOOKS[rules]
        return [
            Rulebook(
                *(OWN_RULES, OWN_RULES, book.max_steps, book.replan_steps),
                scorer_for=lambda _: StageScorer(OWN_RULES, task.stages),
                rules=own,
            )
        ]
    return sorted(RULEBOOKS.values(), key=lambda book: book.name != rules)
