"""Choosing how to take an object from above: finger axis, height, free room for the fingers."""

import itertools
from dataclasses import dataclass, replace

import numpy as np

from pytest_robomem.policies.expert.layout import Box, Layout
from pytest_robomem.policies.expert.motion import Array, turned

WIDEST_GRASP = 0.072  # m; the fingers open to 0.0788, the rest is room for the steady error
FINGER_REACH = 0.065  # m from the grip site to the outer face of an open finger
FINGER_HALF_WIDTH = 0.0105  # m across the finger axis
FINGER_LENGTH = 0.0095  # m that the fingers extend beyond the grip site
HAND_HALF_SIZE = (0.105, 0.033)  # m along and across the finger axis
HAND_ABOVE_GRIP = 0.03  # m from the grip site to the underside of the hand

FLAT_HEIGHT = 0.03  # m; lower things are taken about their middle, others below their top
DEPTH_BELOW_TOP = 0.035  # m; deeper, the hand would meet the object
FLAT_CLEARANCE, TALL_CLEARANCE = 0.009, 0.008  # m of the grip site above what the object lies on
BELOW_CENTRE = 0.002  # m; flat things slip less when taken below their middle

REACH_NEAR = 0.66  # m from the base axis: farther out, a hand straight down straightens the elbow
REACH_TILT_SLOPE, REACH_TILT_LARGEST = 5.0, 0.6  # rad/m and rad of outward tilt

JOINT7_START = 0.785  # rad when the fingers open along world y and the arm points along x
BASE_X = -0.51  # m, world x of the robot's vertical axis

ROOM_ENOUGH = 0.015  # m between a finger and its neighbour: more brings nothing
# With little room the fingers come half open, and beside the middle of the object.
NARROW_OPENING_LOSS = 0.005  # m by which each finger opens less when closed for one step first
WIDEST_NARROW = 0.058  # m; wider objects need the fingers fully open
SHIFTS_ALONG = (0.0, -0.004, 0.004)  # m along the finger axis
SHIFTS_ACROSS = (0.0, -0.010, 0.010)  # m across it; the pads still lie on the object's side


@dataclass(frozen=True)
class Grasp:
    """A grasp from above.

    Attributes:
        position: grip site [3] m.
        rotation: grip site [3, 3].
        width: of the object between the fingers, m.
        room: to the nearest neighbour of the open fingers or the hand, m; negative when they meet.
        narrow: whether the fingers have to come half open.
    """

    position: Array
    rotation: Array
    width: float
    room: float
    narrow: bool = False


def facing_down(finger_axis: Array, position: Array, *, reach: bool = True) -> Array:
    """Hand pointing down with the fingers opening along a horizontal axis of either sign.

    The sign is the one that turns the last joint least. Far from the base the hand is tilted
    outward about the finger axis, so that the elbow stays bent (``reach``).
    """
    azimuth = float(np.arctan2(position[1], position[0] - BASE_X))
    axis = np.array([finger_axis[0], finger_axis[1], 0.0])
    axis /= np.linalg.norm(axis)
    yaw = float(np.arctan2(-axis[0], axis[1]))  # 0 when the fingers open along world y
    joint7 = JOINT7_START + azimuth - yaw
    if abs(joint7 + np.pi) < abs(joint7) or abs(joint7 - np.pi) < abs(joint7):
        axis = -axis
    down = np.array([0.0, 0.0, -1.0])
    rotation = np.column_stack([axis, np.cross(down, axis), down])
    return tilted_outward(rotation, position) if reach else rotation


def tilted_outward(rotation: Array, position: Array) -> Array:
    """Tilt a hand about its finger axis as the distance from the base asks for."""
    radial = np.array([position[0] - BASE_X, position[1], 0.0])
    distance = float(np.linalg.norm(radial))
    angle = float(np.clip(REACH_TILT_SLOPE * (distance - REACH_NEAR), 0.0, REACH_TILT_LARGEST))
    axis = rotation[:, 0]
    outward = float(np.cross(axis, rotation[:, 2]) @ radial) / distance
    if abs(outward) < 0.2:  # the finger axis is radial: a tilt about it gains no reach
        return rotation
    return turned(rotation, axis, np.sign(outward) * angle)


def grasps(layout: Layout, name: str, avoid: list[str]) -> list[Grasp]:
    """Possible grasps of an object, best first: enough room, then the narrower side.

    Args:
        layout: boxes of the scene.
        name: object to take.
        avoid: objects that the open hand should not touch.
    """
    box = layout.box(name)
    neighbours = [layout.box(other) for other in avoid if other != name]
    found = []
    for index in range(3):
        if index == box.upright_axis():
            continue
        width = 2 * float(box.half_size[index])
        if width > WIDEST_GRASP:
            continue
        position = np.array([box.centre[0], box.centre[1], grip_height(box)])
        rotation = facing_down(box.axes[:, index], position)
        room = _room(position, rotation, neighbours, FINGER_REACH)
        best = Grasp(position, rotation, width, room)
        if room < ROOM_ENOUGH:
            best = max([best, *_squeezed(best, neighbours)], key=lambda grasp: grasp.room)
        found.append(best)
    return sorted(found, key=lambda grasp: (-grasp.room, grasp.width))


def _squeezed(grasp: Grasp, neighbours: list[Box]) -> list[Grasp]:
    """The same grasp with the hand a little aside and, where it fits, the fingers half open."""
    narrow = grasp.width < WIDEST_NARROW
    reach = FINGER_REACH - NARROW_OPENING_LOSS * narrow
    found = []
    for along, across in itertools.product(SHIFTS_ALONG, SHIFTS_ACROSS):
        position = grasp.position + grasp.rotation @ np.array([along, across, 0.0])
        room = _room(position, grasp.rotation, neighbours, reach)
        found.append(replace(grasp, position=position, room=room, narrow=narrow))
    return found


def grip_height(box: Box) -> float:
    """Height of the grip site for a grasp from above, m."""
    if box.top - box.bottom > FLAT_HEIGHT:
        return max(box.top - DEPTH_BELOW_TOP, box.bottom + TALL_CLEARANCE)
    return max(float(box.centre[2]) - BELOW_CENTRE, box.bottom + FLAT_CLEARANCE)


def _room(position: Array, rotation: Array, neighbours: list[Box], reach: float) -> float:
    """Smallest horizontal gap between the open hand and the neighbours that reach its height."""
    along, across = rotation[:2, 0], rotation[:2, 1]
    along, across = along / np.linalg.norm(along), across / np.linalg.norm(across)
    room = ROOM_ENOUGH
    for box in neighbours:
        outline = _outline(box) - position[:2]
        forward, sideways = np.abs(outline @ along), np.abs(outline @ across)
        parts = []
        if box.top > position[2] - FINGER_LENGTH:
            parts.append((reach, FINGER_HALF_WIDTH))
        if box.top > position[2] + HAND_ABOVE_GRIP:
            parts.append(HAND_HALF_SIZE)
        for half_length, half_width in parts:
            gaps = np.maximum(forward - half_length, sideways - half_width)
            room = min(room, float(gaps.min()))
    return room


def _outline(box: Box) -> Array:
    """Points [n, 2] of a box seen from above: a grid over it, 1 cm or closer."""
    steps = np.linspace(-1.0, 1.0, 13)
    upright = box.upright_axis()
    first, second = (index for index in range(3) if index != upright)
    grid = np.array(np.meshgrid(steps, steps)).reshape(2, -1).T
    offsets = grid * box.half_size[[first, second]]
    return np.asarray(box.centre[:2] + offsets @ box.axes[:2, [first, second]].T)
