"""Scores that were made by different rules are never put into one table."""

from collections.abc import Iterable

from pytest_robomem.results.records import EpisodeResult


class MixedRulesError(ValueError):
    """Records that were scored by different rules."""


def rules_hashes(records: Iterable[EpisodeResult]) -> dict[str, str]:
    """Fingerprint of every rulebook by which the benchmark's tasks were scored.

    Raises:
        MixedRulesError: two records were scored by different rules of the same name.
    """
    found: dict[str, tuple[str, EpisodeResult]] = {}
    for record in _of_the_benchmark(records):
        for name, fingerprint in record.rules_hashes.items():
            known, first = found.setdefault(name, (fingerprint, record))
            if known != fingerprint:
                raise MixedRulesError(
                    f"{first.node_id} and {record.node_id} were scored by different versions of "
                    f"the rules {name} ({known}, {fingerprint}); score the older ones again "
                    "(robomem rescore) before putting them together"
                )
    return {name: fingerprint for name, (fingerprint, _) in found.items()}


def require_same_rules(records: Iterable[EpisodeResult]) -> None:
    """Make sure that records may stand in one table.

    Raises:
        MixedRulesError: other rules decided about some of them, or the same of another version.
    """
    known = list(records)
    deciding = {record.rules: record.node_id for record in _of_the_benchmark(known)}
    if len(deciding) > 1:
        (first, one), (second, other), *_ = deciding.items()
        raise MixedRulesError(f"{one} was decided by {first}, {other} by {second}")
    rules_hashes(known)


def _of_the_benchmark(records: Iterable[EpisodeResult]) -> Iterable[EpisodeResult]:
    """Tasks of the user's own carry their rules with them, each its own."""
    return (record for record in records if isinstance(record.task_id, int))
