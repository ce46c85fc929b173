"""What a replay reports, for a terminal: whether it was exact, or how far it was off."""

from collections.abc import Iterator, Sequence

from pytest_robomem.results.records import EpisodeResult, ReplayComparison


def replay_lines(records: Sequence[EpisodeResult]) -> list[str]:
    """A line for all replayed episodes, and one for each that was not as recorded."""
    replayed = [(record, record.replay) for record in records if record.replay is not None]
    if not replayed:
        return []
    exact = sum(replay.exact and not replay.differing_cards for _, replay in replayed)
    return [
        f"replay: {exact} of {len(replayed)} episodes exactly as recorded",
        *(
            f"task {record.task_id}, seed {record.seed}: {'; '.join(_differences(replay))}"
            for record, replay in replayed
            if not replay.exact or replay.differing_cards
        ),
    ]


def _differences(replay: ReplayComparison) -> Iterator[str]:
    if replay.note:
        yield replay.note
    elif replay.first_difference_at_step is not None:
        yield f"differs from step {replay.first_difference_at_step} on"
        if replay.largest_joint_difference is not None:
            yield (
                f"largest joint difference {replay.largest_joint_difference:.2g} (step "
                f"{replay.largest_at_step})"
            )
        if replay.final_object and replay.final_object_distance is not None:
            yield f"{replay.final_object} ends {1000 * replay.final_object_distance:.2g} mm away"
    elif not replay.exact:
        yield "the same within 1e-9 as far as it goes"
    if replay.replayed_steps != replay.recorded_steps:
        yield f"{replay.replayed_steps} of {replay.recorded_steps} steps replayed"
    if replay.differing_cards:
        yield f"other score cards: {', '.join(replay.differing_cards)}"
    for name, (recorded, now) in replay.differing_versions.items():
        yield f"{name} {recorded or 'none'} then, {now or 'none'} now"
