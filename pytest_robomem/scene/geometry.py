"""Extents of bodies, from the compiled model."""

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_robomem.scoring.state import Box

_CORNERS = np.array(list(product((-1.0, 1.0), repeat=3)))


def collision_box(model: Any, body: int) -> Box:
    """Box, in a body's frame, around the geoms of that body that can touch others.

    Exact for boxes and meshes along the body's axes; the bounding boxes of turned geoms may make
    it a little larger.

    Args:
        model: ``mujoco.MjModel``.
        body: number of the body.

    Returns:
        A box without extent at the body's origin when the body has no such geoms.
    """
    corners = [
        model.geom_pos[geom]
        + (model.geom_aabb[geom, :3] + _CORNERS * model.geom_aabb[geom, 3:])
        @ _rotation(model.geom_quat[geom]).T
        for geom in np.flatnonzero(model.geom_bodyid == body)
        if model.geom_contype[geom] or model.geom_conaffinity[geom]
    ]
    if not corners:
        return Box(np.zeros(3), np.zeros(3))
    points = np.concatenate(corners)
    low, high = points.min(axis=0), points.max(axis=0)
    return Box((low + high) / 2, (high - low) / 2)


def _rotation(quaternion: NDArray[np.float64]) -> NDArray[np.float64]:
    w, x, y, z = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
