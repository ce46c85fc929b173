"""The journal keeps what was finished, whatever happens."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_robomem.results.journal import Journal, JournalError, read_journal

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(records=st.lists(st.dictionaries(st.text(), JSON), max_size=5))
def test_what_is_appended_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]
) -> None:
    path = tmp_path_factory.mktemp("journal") / "deep" / "journal.jsonl"
    for record in records:
        Journal(path).append(record)
    assert list(read_journal(path)) == records


def test_a_torn_last_line_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    Journal(path).append({"n": 1})
    with path.open("ab") as file:
        file.write(b'{"n": 2, "text": "half')
    assert list(read_journal(path)) == [{"n": 1}]
    Journal(path).append({"n": 3})
    assert list(read_journal(path)) == [{"n": 1}, {"n": 3}]


def test_a_line_may_be_torn_anywhere(tmp_path: Path) -> None:
    """Even behind an inner brace, or inside a letter of two bytes."""
    line = '{"n": {"a": "ä"}, "m": [{"b": true}], "s": "\\u00e4"}'.encode()
    for length in range(1, len(line)):
        path = tmp_path / f"{length}.jsonl"
        path.write_bytes(b'{"n": 1}\n' + line[:length])
        Journal(path).append({"n": 3})
        assert list(read_journal(path)) == [{"n": 1}, {"n": 3}]


@pytest.mark.parametrize("line", ["[1, 2]", "nonsense", '{"a": 1} trailing}'])
def test_a_foreign_line_is_an_error_that_names_it(tmp_path: Path, line: str) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text(f'{{"n": 1}}\n{line}\n')
    with pytest.raises(JournalError, match="line 2"):
        list(read_journal(path))


def test_no_journal_has_no_records(tmp_path: Path) -> None:
    assert list(read_journal(tmp_path / "none.jsonl")) == []


def test_numbers_that_json_does_not_know_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        Journal(tmp_path / "journal.jsonl").append({"score": float("nan")})
