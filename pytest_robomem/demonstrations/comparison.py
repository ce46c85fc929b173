"""How far a replayed episode is from the recorded one."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from pytest_robomem.results.records import EpisodeResult, ReplayComparison
from pytest_robomem.scene.recording import Trajectory

Array = NDArray[np.float64]

NEGLIGIBLE = 1e-9  # a joint value that is off by more counts as different (m, rad)


def compare_episodes(
    recorded: Trajectory | None,
    recorded_steps: int,
    recorded_result: EpisodeResult | None,
    replayed: Trajectory,
    result: EpisodeResult,
    object_positions: Callable[[Array], Mapping[str, Array]],
) -> ReplayComparison:
    """Compare a replayed episode with its recording, as far as both go.

    Args:
        recorded: states of the recording, if it has any.
        recorded_steps: number of its actions.
        recorded_result: its record, if it has one.
        replayed: states of the replay.
        result: record of the replay.
        object_positions: positions [3] of the movable objects by name, for a joint state [nq].
    """
    common = {
        "recorded_steps": recorded_steps,
        "replayed_steps": min(len(replayed.actions), recorded_steps),
        "differing_cards": _differing_cards(recorded_result, result),
        "differing_versions": _differing_versions(recorded_result, result),
    }
    if recorded is None:
        return ReplayComparison(exact=False, note="the recording holds no states", **common)
    theirs, ours = recorded.qpos, replayed.qpos
    if theirs.shape[1] != ours.shape[1]:
        note = f"the recording has {theirs.shape[1]} joint values, the scene has {ours.shape[1]}"
        return ReplayComparison(exact=False, note=note, **common)
    shared = min(len(theirs), len(ours))
    theirs, ours = theirs[:shared], ours[:shared]
    by_step = np.abs(theirs - ours).max(axis=1)
    worst = int(np.argmax(by_step))
    differing = np.flatnonzero(~(by_step <= NEGLIGIBLE))  # a NaN in a damaged file differs too
    here, there = object_positions(ours[-1]), object_positions(theirs[-1])
    distances = {name: float(np.linalg.norm(here[name] - there[name])) for name in here}
    farthest = max(distances, key=lambda name: distances[name], default="")
    distance = distances.get(farthest)
    same_states = np.array_equal(theirs, ours) and np.array_equal(
        recorded.kinematics_qpos[:shared], replayed.kinematics_qpos[:shared]
    )
    return ReplayComparison(
        exact=same_states and len(recorded.qpos) == len(replayed.qpos),
        largest_joint_difference=_finite(float(by_step[worst])),
        largest_at_step=worst,
        first_difference_at_step=int(differing[0]) if len(differing) else None,
        final_object_distance=None if distance is None else _finite(distance),
        final_object=farthest if distance else "",
        **common,
    )


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _differing_cards(
    recorded: EpisodeResult | None, result: EpisodeResult
) -> tuple[str, ...] | None:
    if recorded is None or not recorded.cards:
        return None
    return tuple(
        name
        for name, card in result.cards.items()
        if name in recorded.cards
        and recorded.rules_hashes.get(name) == result.rules_hashes.get(name)
        and recorded.cards[name] != card
    )


def _differing_versions(
    recorded: EpisodeResult | None, result: EpisodeResult
) -> dict[str, tuple[str, str]]:
    if recorded is None:
        return {}
    before = {**recorded.versions, "stepper": recorded.stepper, "rules": recorded.rules}
    now = {**result.versions, "stepper": result.stepper, "rules": result.rules}
    return {
        name: (before.get(name, ""), now.get(name, ""))
        for name in sorted({*before, *now})
        if before.get(name, "") != now.get(name, "")
    }
