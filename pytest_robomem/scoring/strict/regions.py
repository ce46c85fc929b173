"""Where an object has to be, and what has to carry it."""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pytest_robomem.scoring.checks import Names
from pytest_robomem.scoring.state import Array
from pytest_robomem.scoring.strict.limits import Limits
from pytest_robomem.scoring.strict.scene import TABLE, SceneState


class Region(Protocol):
    """A place for objects."""

    @property
    def support(self) -> str:
        """The body that has to carry what lies here."""
        ...

    @property
    def label(self) -> str:
        """The place's name, for people."""
        ...

    def names(self) -> Names:
        """Everything of the scene that the place is defined by."""
        ...

    def outside(self, obj: str, state: SceneState, start: Array, limits: Limits) -> float:
        """How far an object is outside, m; 0 or less inside.

        Args:
            obj: the object's body.
            state: the state to judge.
            start: centre [3] of the object's extent at the start of the episode.
            limits: thresholds.
        """
        ...


def _excess(local: Array, half_size: Array) -> float:
    pairs = zip(local.tolist(), half_size.tolist(), strict=True)
    return float(max(abs(value) - half for value, half in pairs))


@dataclass(frozen=True)
class SiteBox:
    """The inside of a site's box, along the site's own axes, moving with what carries the site."""

    site: str
    support: str

    @property
    def label(self) -> str:
        """See :class:`Region`."""
        return self.site

    def names(self) -> Names:
        """See :class:`Region`."""
        return Names(bodies=frozenset({self.support}), sites=frozenset({self.site}))

    def outside(self, obj: str, state: SceneState, start: Array, limits: Limits) -> float:
        """See :class:`Region`."""
        pose = state.view.site_pose(self.site)
        return _excess((state.centre(obj) - pose.position) @ pose.rotation, pose.half_size)


@dataclass(frozen=True)
class BodyBox:
    """A box along a body's own axes: ``centre`` and ``half_size``, m, in the body's frame."""

    support: str
    label: str
    centre: tuple[float, float, float]
    half_size: tuple[float, float, float]

    def names(self) -> Names:
        """See :class:`Region`."""
        return Names(bodies=frozenset({self.support}))

    def outside(self, obj: str, state: SceneState, start: Array, limits: Limits) -> float:
        """See :class:`Region`."""
        local = _in_frame(state, self.support, state.centre(obj))
        return _excess(local - np.array(self.centre), np.array(self.half_size))


@dataclass(frozen=True)
class Disc:
    """A round place on a body: ``centre`` (x, y), ``radius`` and ``height`` range in its frame."""

    support: str
    label: str
    centre: tuple[float, float]
    radius: float
    height: tuple[float, float]

    def names(self) -> Names:
        """See :class:`Region`."""
        return Names(bodies=frozenset({self.support}))

    def outside(self, obj: str, state: SceneState, start: Array, limits: Limits) -> float:
        """See :class:`Region`."""
        x, y, z = _in_frame(state, self.support, state.centre(obj))
        low, high = self.height
        away = math.hypot(x - self.centre[0], y - self.centre[1]) - self.radius
        return max(away, float(z) - high, low - float(z))


@dataclass(frozen=True)
class TopOf:
    """The surface of a site, and the room above it."""

    site: str
    support: str

    @property
    def label(self) -> str:
        """See :class:`Region`."""
        return self.site

    def names(self) -> Names:
        """See :class:`Region`."""
        return Names(bodies=frozenset({self.support}), sites=frozenset({self.site}))

    def outside(self, obj: str, state: SceneState, start: Array, limits: Limits) -> float:
        """See :class:`Region`."""
        pose = state.view.site_pose(self.site)
        local = (state.centre(obj) - pose.position) @ pose.rotation
        sideways = _excess(local[:2], pose.half_size[:2])
        above = float(state.centre(obj)[2] - pose.position[2])
        return max(sideways, above - limits.top_height, -above)


@dataclass(frozen=True)
class TableTop:
    """Anywhere on the table."""

    support: str = TABLE
    label: str = "the table"

    def names(self) -> Names:
        """See :class:`Region`."""
        return Names(bodies=frozenset({self.support}))

    def outside(self, obj: str, state: SceneState, start: Array, limits: Limits) -> float:
        """See :class:`Region`."""
        return _above_table(obj, state) - limits.lift


@dataclass(frozen=True)
class StartPlace:
    """Where the object stood on the table at the start of the episode."""

    support: str = TABLE
    label: str = "its place at the start"

    def names(self) -> Names:
        """See :class:`Region`."""
        return Names(bodies=frozenset({self.support}))

    def outside(self, obj: str, state: SceneState, start: Array, limits: Limits) -> float:
        """See :class:`Region`."""
        offset = state.centre(obj) - start
        away = math.hypot(float(offset[0]), float(offset[1])) - limits.returned
        return max(away, _above_table(obj, state) - limits.lift)


def _above_table(obj: str, state: SceneState) -> float:
    return state.vertical_extent(obj)[0] - state.vertical_extent(TABLE)[1]


def _in_frame(state: SceneState, body: str, point: Array) -> Array:
    return np.array((point - state.position(body)) @ state.rotation(body))
