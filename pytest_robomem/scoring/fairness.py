"""Whether an episode can be won at all: scenes that are broken before the first action."""

import math
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from pytest_robomem.scene.bddl import SceneDescription
from pytest_robomem.scoring.state import Array, StateView
from pytest_robomem.scoring.strict.scene import TABLE, SceneState

MOVED = 0.10  # m aside of where it was put; overlapping items push each other 8 cm at most
TOPPLED = 0.8  # rad between put and settled; boxes that start on a plate's rim lean by 0.65
OVERLAP = 0.002  # m of two bodies inside each other; settled contacts overlap by 0.5 mm
FLYING = 0.02  # m above where it was put
BELOW_TABLE = 0.02  # m under the table's surface


class FlawKind(StrEnum):
    """What is wrong with an object at the start."""

    FELL = "fell"
    MOVED = "moved"
    TOPPLED = "toppled"
    OFF_SUPPORT = "off_support"
    OVERLAPS = "overlaps"


class Flaw(NamedTuple):
    """An object that did not start as the scene file says."""

    obj: str
    kind: FlawKind
    detail: str


class StartPose(NamedTuple):
    """Where a seed put an object: centre [3] m and rotation [3, 3]."""

    centre: Array
    rotation: Array


def start_poses(description: SceneDescription, reset: StateView) -> dict[str, StartPose]:
    """Poses of all placed movable objects right after the reset, for :func:`unfair_start`."""
    scene = SceneState(reset, reset.movable_bodies())
    return {
        obj: StartPose(scene.centre(obj), reset.body_rotation(obj))
        for obj in _placed(description, reset)
    }


def unfair_start(
    description: SceneDescription, reset: Mapping[str, StartPose], settled: StateView
) -> tuple[Flaw, ...]:
    """What is broken in a settled scene; empty when it can be played.

    Objects that the scene file declares but never places are ignored.

    Args:
        description: the scene file.
        reset: from :func:`start_poses`, before settling.
        settled: the state after the settling steps, with contacts of the same instant.
    """
    scene = SceneState(settled, settled.movable_bodies())
    placed = _placed(description, settled)
    flaws = [flaw for obj, support in placed.items() for flaw in _judge(obj, support, reset, scene)]
    return (*flaws, *_overlaps(placed, settled))


def _placed(description: SceneDescription, state: StateView) -> dict[str, str]:
    """Placed movable objects and the body that carries each."""
    movable = state.movable_bodies()
    targets = {region.full_name: region.target for region in description.regions}
    placed = {}
    for _relation, obj, place in description.placements:
        if obj in movable and place in targets:
            on_table = targets[place] == TABLE
            placed[obj] = TABLE if on_table else state.site_body(place)
    return placed


def _judge(
    obj: str, support: str, reset: Mapping[str, StartPose], scene: SceneState
) -> Iterator[Flaw]:
    lowest, table = scene.vertical_extent(obj)[0], scene.vertical_extent(TABLE)[1]
    if lowest < table - BELOW_TABLE:
        yield Flaw(obj, FlawKind.FELL, f"{table - lowest:.2f} m below the table's surface")
        return
    aside = scene.centre(obj) - reset[obj].centre
    moved = math.hypot(float(aside[0]), float(aside[1]))  # objects are put above what carries them
    if moved > MOVED:
        yield Flaw(obj, FlawKind.MOVED, f"{moved:.2f} m aside of where it was put")
    turned = float(scene.axis_tilt(obj, reset[obj].rotation[2]))
    if turned > TOPPLED:
        yield Flaw(obj, FlawKind.TOPPLED, f"{turned:.2f} rad from how it was put")
    # What touches nothing may be a hair above what carries it, still coming down.
    landed = bool(scene.touching(obj))
    if not scene.supported(obj, support) and (landed or float(aside[2]) > FLYING):
        yield Flaw(obj, FlawKind.OFF_SUPPORT, f"does not rest on {support}")


def _overlaps(placed: Mapping[str, str], settled: StateView) -> Iterator[Flaw]:
    deepest: dict[tuple[str, str], float] = {}
    for contact in settled.contacts():
        first, second = (name.removesuffix("_main") for name in (contact.first, contact.second))
        obj, other = (first, second) if first in placed else (second, first)
        if obj in placed:
            depth = max(-contact.distance, deepest.get((obj, other), 0.0))
            deepest[obj, other] = depth
    for (obj, other), depth in sorted(deepest.items()):
        if depth > OVERLAP:
            yield Flaw(obj, FlawKind.OVERLAPS, f"{1000 * depth:.1f} mm inside {other}")
