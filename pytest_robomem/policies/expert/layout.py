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
        self._starts = {name: self.box(name) for name in view.movable_objects()}

    def start(self, name: str) -> Box:
        """A movable object's box when the episode began."""
        return self._starts[name]

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

    def up_direction(self, name: str) -> Array:
        """World direction [3] of the body axis that was nearest to up when the episode began."""
        start = self.start(name)
        axis = start.upright_axis()
        # The axis, not the exact direction: an object may start leaning on its neighbour.
        return np.asarray(self.view.body_rotation(name)[:, axis] * np.sign(start.axes[2, axis]))

    def lean(self, name: str) -> float:
        """Angle (rad) between an object's start-up direction and the vertical."""
        return float(np.arccos(np.clip(self.up_direction(name)[2], -1.0, 1.0)))

    def top_point(self, name: str) -> Array:
        """Middle [3] m of the face that was on top when the episode began (a bottle's mouth)."""
        box = self.box(name)
        height = box.half_size[self.start(name).upright_axis()]
        return np.asarray(box.centre + self.up_direction(name) * height)
