"""Reading the results of an earlier run."""

from pathlib import Path

from pydantic import ValidationError

from pytest_robomem.results.journal import JournalError, read_journal
from pytest_robomem.results.records import EpisodeResult
from pytest_robomem.results.summary import latest

JOURNAL_NAME = "episodes.jsonl"
RUN_NAME = "run.json"


class StoredRunError(ValueError):
    """A folder that holds no results that can be read."""


def stored_records(folder: Path) -> list[EpisodeResult]:
    """The last record of every episode of a run, ordered by task and seed.

    Raises:
        StoredRunError: there is no journal, or it was written by another version.
    """
    path = folder / JOURNAL_NAME
    if not path.is_file():
        raise StoredRunError(f"{folder} holds no results (no {JOURNAL_NAME})")
    try:
        return latest([EpisodeResult.model_validate(record) for record in read_journal(path)])
    except (ValidationError, JournalError) as error:
        raise StoredRunError(f"{path} cannot be read: {error}") from error
