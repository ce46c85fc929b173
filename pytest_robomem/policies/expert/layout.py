"""What lies where: boxes around objects, from the true state."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_robomem.scene.view import SimulatorView

Array = NDArray[np.float64]

UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Box:
    """An oriented box in the world: centre [3] m, axes as columns [3, 3], half sizes [3] m."""

    centre: Array
    axes: Array
    half_size: Array

    @property
    def corners(self) -> Array:
        """[8, 3] m."""
        signs = np.array(np.meshgrid(*[(-1.0, 1.0)] * 3)).reshape(3, -1).T
        return np.asarray(self.centre + (signs * self.half_size) @ self.axes.T)

    @property
    def top(self) -> float:
        """Height of the highest corner, m."""
        return float(self.centre[2] + np.abs(self.axes[2]) @ self.half_size)

    @property
    def bottom(self) -> float:
        """Height of the lowest corner, m."""
        return float(self.centre[2] - np.abs(self.axes[2]) @ self.half_size)

    def upright_axis(self) -> int:
        """Index of the axis that is nearest to the vertical."""
        return int(np.argmax(np.abs(self.axes[2])))


class Layout:
    """Boxes of named bodies; shapes are measured once, poses are read anew each time."""

    def __init__(self, view: SimulatorView) -> None:
        self.view = view
        self._shapes: dict[str, tuple[Array, Array]] = {}  # centre, half size in the body's frame
        self._starts: dict[str, tuple[Array, Array]] = {
            name: (view.body_position(name), view.body_rotation(name))
            for name in view.movable_objects()
        }

    def start_position(self, name: str) -> Array:
        """Where an object's origin was when the episode began, [3] m."""
        return self._starts[name][0]

    def start_rotation(self, name: str) -> Array:
        """How an object was turned when the episode began, [3, 3]."""
        return self._starts[name][1]

    def box(self, name: str) -> Box:
        """Box along a body's own axes around all that collides."""
        position, rotation = self.view.body_position(name), self.view.body_rotation(name)
        if name not in self._shapes:
            corners = self.view.collision_corners(name).reshape(-1, 3)
            local = (corners - position) @ rotation
            low, high = local.min(axis=0), local.max(axis=0)
            self._shapes[name] = ((low + high) / 2, (high - low) / 2)
        centre, half_size = self._shapes[name]
        return Box(position + rotation @ centre, rotation, half_size)

    def bounds(self, name: str) -> tuple[Array, Array]:
        """Lowest and highest world coordinates [3] of a body with its children (doors, drawers)."""
        corners = self.view.collision_corners(name).reshape(-1, 3)
        return corners.min(axis=0), corners.max(axis=0)

    def lean(self, name: str) -> float:
        """Angle (rad) between an object's up direction now and at the start."""
        body_up = self.start_rotation(name).T @ UP
        now = self.view.body_rotation(name) @ body_up
        return float(np.arccos(np.clip(now[2], -1.0, 1.0)))

    def up_direction(self, name: str) -> Array:
        """World direction [3] that was up for the object when the episode began."""
        return np.asarray(self.view.body_rotation(name) @ (self.start_rotation(name).T @ UP))
