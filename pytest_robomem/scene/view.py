"""Read-only access to the simulator's state, for scoring and for privileged policies."""

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_robomem.scene.geometry import collision_box
from pytest_robomem.scoring.state import Box, Contact, Pose, UnknownNameError

Array = NDArray[np.float64]

_CUBE = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
_MAIN = "_main"  # suffix of an object's root body
_FREE_JOINT = 0  # mujoco.mjtJoint.mjJNT_FREE
_END_EFFECTOR_BODY = "robot0_right_hand"
GRIPPER_JOINTS = ("gripper0_finger_joint1", "gripper0_finger_joint2")


class SimulatorView:
    """State of a MuJoCo model by name; satisfies ``pytest_robomem.scoring.state.StateView``.

    Bodies are found by the names of a scene file: ``butter_1`` means ``butter_1_main``. All values
    are copies in the world frame, m and rad; quaternions are (w, x, y, z).

    Args:
        model: ``mujoco.MjModel``.
        data: ``mujoco.MjData``.
    """

    def __init__(self, model: Any, data: Any) -> None:
        self._model = model
        self._data = data
        self._bodies = dict(_names(model.nbody, model.body))
        self._sites = dict(_names(model.nsite, model.site))
        self._joints = dict(_names(model.njnt, model.joint))
        self._local_corners: dict[int, Array] = {}  # of a body's own collision geoms, [n, 8, 3]
        self._plain_names = [name.removesuffix(_MAIN) for name in self._bodies]
        self._boxes: dict[int, Box] = {}
        self._found: dict[str, int] = {}  # bodies by the names they were asked for
        self._half_sizes: dict[str, Array] = {}  # of sites: constant

    def has_body(self, name: str) -> bool:
        """Whether the scene has that body."""
        return self._find_body(name) is not None

    def has_site(self, name: str) -> bool:
        """Whether the scene has that site."""
        return name in self._sites

    def has_joint(self, name: str) -> bool:
        """Whether the scene has that joint."""
        return name in self._joints

    def body_position(self, name: str) -> Array:
        """Position [3] of a body's origin."""
        position: Array = self._data.xpos[self._body(name)].copy()
        return position

    def body_rotation(self, name: str) -> Array:
        """Rotation matrix [3, 3] of a body."""
        rotation: Array = self._data.xmat[self._body(name)].reshape(3, 3).copy()
        return rotation

    def body_quaternion(self, name: str) -> Array:
        """Orientation [4] of a body."""
        quaternion: Array = self._data.xquat[self._body(name)].copy()
        return quaternion

    def site_pose(self, name: str) -> Pose:
        """Position, rotation matrix and half sizes of a site."""
        site = self._sites.get(name)
        if site is None:
            raise UnknownNameError("site", name, self._sites)
        half_size = self._half_sizes.get(name)
        if half_size is None:
            half_size = self._half_sizes[name] = self._model.site_size[site].copy()
            half_size.flags.writeable = False
        return Pose(
            self._data.site_xpos[site].copy(),
            self._data.site_xmat[site].reshape(3, 3).copy(),
            half_size,
        )

    def movable_objects(self) -> list[str]:
        """Scene-file names of the objects that move freely, in the order of the model."""
        return [name for name, moves in self._scene_objects() if moves]

    def fixtures(self) -> list[str]:
        """Scene-file names of the fixtures (cabinets, microwave, drainer), without the table."""
        return [name for name, moves in self._scene_objects() if not moves]

    def _scene_objects(self) -> Iterator[tuple[str, bool]]:
        model = self._model
        for name, body in self._bodies.items():
            if name.endswith("_main") and model.body_parentid[body] == 0:
                first = int(model.body_jntadr[body])
                yield name.removesuffix("_main"), first >= 0 and model.jnt_type[first] == 0

    def collision_corners(self, name: str) -> Array:
        """Corners [n, 8, 3] of the boxes around a body's collision geoms, its children's too."""
        root = self._body(name)
        family = {root}
        for body in range(root + 1, self._model.nbody):  # a child comes after its parent
            if int(self._model.body_parentid[body]) in family:
                family.add(body)
        placed = [
            self._own_corners(body) @ np.array(self._data.xmat[body]).reshape(3, 3).T
            + self._data.xpos[body]
            for body in sorted(family)
        ]
        return np.concatenate(placed)

    def _own_corners(self, body: int) -> Array:
        """The same of one body in its own frame: constant, so computed once."""
        if body not in self._local_corners:
            model = self._model
            boxes = []
            for geom in range(model.ngeom):
                collides = model.geom_contype[geom] or model.geom_conaffinity[geom]
                if model.geom_bodyid[geom] != body or not collides:
                    continue
                rotation = _rotation_matrix(model.geom_quat[geom])
                centre, half_size = model.geom_aabb[geom][:3], model.geom_aabb[geom][3:]
                boxes.append((centre + _CUBE * half_size) @ rotation.T + model.geom_pos[geom])
            self._local_corners[body] = np.array(boxes, dtype=np.float64).reshape(-1, 8, 3)
        return self._local_corners[body]

    def site_body(self, name: str) -> str:
        """The body that carries a site, by scene file names."""
        site = self._require(self._sites, "site", name)
        return str(self._plain_names[self._model.site_bodyid[site]])

    def joint_position(self, name: str) -> float:
        """Value of a slide (m) or hinge (rad) joint."""
        joint = self._require(self._joints, "joint", name)
        return float(self._data.qpos[self._model.jnt_qposadr[joint]])

    def joint_range(self, name: str) -> tuple[float, float]:
        """Limits of a slide (m) or hinge (rad) joint."""
        joint = self._require(self._joints, "joint", name)
        low, high = self._model.jnt_range[joint]
        return float(low), float(high)

    def end_effector_quaternion(self) -> Array:
        """Orientation [4] of the gripper frame; its z axis is the approach direction."""
        return np.array(self._data.xquat[self._body(_END_EFFECTOR_BODY)])

    def gripper_opening(self) -> float:
        """Distance between the finger pads, m (0 closed, 0.08 open)."""
        left, right = (self.joint_position(name) for name in GRIPPER_JOINTS)
        return left - right

    def contacts(self) -> Iterator[Contact]:
        """Touching pairs of geoms, as pairs of names of the bodies that carry them."""
        model, data = self._model, self._data
        names = {number: name for name, number in self._bodies.items()}
        for index in range(data.ncon):
            contact = data.contact[index]
            first, second = (model.geom_bodyid[geom] for geom in (contact.geom1, contact.geom2))
            yield Contact(
                names[int(first)], names[int(second)], float(contact.dist), np.array(contact.pos)
            )

    def touching(self) -> Mapping[str, frozenset[str]]:
        """For every body that touches something: the bodies it touches, by scene file names."""
        contact, bodies, names = self._data.contact, self._model.geom_bodyid, self._plain_names
        touching: dict[str, set[str]] = defaultdict(set)
        pairs = zip(bodies[contact.geom1].tolist(), bodies[contact.geom2].tolist(), strict=True)
        for first, second in set(pairs):
            touching[names[first]].add(names[second])
            touching[names[second]].add(names[first])
        return {name: frozenset(others) for name, others in touching.items()}

    def movable_bodies(self) -> frozenset[str]:
        """Bodies with a free joint, by scene file names."""
        owners = self._model.jnt_bodyid[self._model.jnt_type == _FREE_JOINT]
        return frozenset(self._plain_names[body] for body in owners)

    def body_box(self, name: str) -> Box:
        """Box around a body's collision geometry, in the body's frame."""
        body = self._body(name)
        if body not in self._boxes:
            self._boxes[body] = collision_box(self._model, body)
        return self._boxes[body]

    def object_positions(self, qpos: Array) -> dict[str, Array]:
        """Positions [3] (m, world frame) of the movable objects in a joint state [nq]."""
        model = self._model
        return {
            name: np.array(qpos[int(model.jnt_qposadr[model.body_jntadr[self._body(name)]]) :][:3])
            for name in self.movable_objects()
        }

    def _find_body(self, name: str) -> int | None:
        for candidate in (name, f"{name}{_MAIN}", name.removesuffix(_MAIN)):
            if candidate in self._bodies:
                return self._bodies[candidate]
        return None

    def _body(self, name: str) -> int:
        found = self._found.get(name)
        if found is None:
            found = self._find_body(name)
            if found is None:
                raise UnknownNameError("body", name, self._bodies)
            self._found[name] = found
        return found

    @staticmethod
    def _require(names: dict[str, int], kind: str, name: str) -> int:
        if name not in names:
            raise UnknownNameError(kind, name, names)
        return names[name]


def _names(count: int, accessor: Any) -> Iterator[tuple[str, int]]:
    for index in range(count):
        yield accessor(index).name, index


def _rotation_matrix(quaternion: Array) -> Array:
    """[3, 3] of a unit quaternion (w, x, y, z)."""
    w, x, y, z = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
