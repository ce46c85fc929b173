"""What scoring may know of a state. Nothing here needs a simulator."""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class UnknownNameError(LookupError):
    """A rule names a body, site or joint that the scene does not have."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        close = difflib.get_close_matches(name, [entry for entry in known if entry], n=3)
        hint = f"; did you mean {', '.join(close)}?" if close else ""
        super().__init__(f"the scene has no {kind} named {name!r}{hint}")


class Pose(NamedTuple):
    """A site in the world frame: position [3] m, rotation [3, 3], half sizes [3] m."""

    position: Array
    rotation: Array
    half_size: Array


class Box(NamedTuple):
    """Extent of a body, in its own frame: centre [3] and half sizes [3], m."""

    centre: Array
    half_size: Array


class Contact(NamedTuple):
    """Two touching bodies, the signed distance (m, negative inside) and the contact point [3]."""

    first: str
    second: str
    distance: float
    position: Array


class StateView(Protocol):
    """One state of a scene, by the names of its scene file. World frame, m and rad."""

    def has_body(self, name: str) -> bool:
        """Whether the scene has that body."""
        ...

    def has_site(self, name: str) -> bool:
        """Whether the scene has that site."""
        ...

    def has_joint(self, name: str) -> bool:
        """Whether the scene has that joint."""
        ...

    def body_position(self, name: str) -> Array:
        """Position [3] of a body's origin."""
        ...

    def body_rotation(self, name: str) -> Array:
        """Rotation matrix [3, 3] of a body."""
        ...

    def body_quaternion(self, name: str) -> Array:
        """Orientation [4] (w, x, y, z) of a body."""
        ...

    def site_pose(self, name: str) -> Pose:
        """Pose and half sizes of a site."""
        ...

    def site_body(self, name: str) -> str:
        """The body that carries a site, by the names of the scene file."""
        ...

    def joint_position(self, name: str) -> float:
        """Value of a slide (m) or hinge (rad) joint."""
        ...

    def joint_range(self, name: str) -> tuple[float, float]:
        """Limits of a slide (m) or hinge (rad) joint."""
        ...

    def end_effector_quaternion(self) -> Array:
        """Orientation [4] (w, x, y, z) of the gripper frame; its z axis is the approach."""
        ...

    def gripper_opening(self) -> float:
        """Distance between the fingers, m."""
        ...

    def contacts(self) -> Iterator[Contact]:
        """Touching pairs of bodies."""
        ...

    def touching(self) -> Mapping[str, frozenset[str]]:
        """For every body that touches something: the bodies it touches."""
        ...

    def movable_bodies(self) -> frozenset[str]:
        """Bodies that nothing holds in place, by the names of the scene file."""
        ...

    def body_box(self, name: str) -> Box:
        """Extent of a body's collision geometry.

        Raises:
            UnknownNameError: the scene has no such body.
        """
        ...
