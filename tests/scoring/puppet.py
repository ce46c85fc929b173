"""Constructed states in the real scenes: objects, joints and hand are put where a test wants them.

Nothing is simulated. Contacts come from MuJoCo's collision pass on the constructed state.
"""

import math

import mujoco
import numpy as np
from numpy.typing import NDArray

from pytest_robomem.scoring.state import StateView
from pytest_robomem.scoring.strict.regions import Region, SiteBox, StartPlace, TableTop
from pytest_robomem.scoring.strict.scene import TABLE, SceneState
from tests.golden import Stage

Array = NDArray[np.float64]

GRIP_SITE = "gripper0_grip_site"
OPEN_FINGER = 0.04  # m, each
FREE_SPOT = (-0.18, -0.42)  # on the table, where no scene has anything
PARKED = (-0.6, 1.2)  # beside the table, for objects that are to be out of the way
COARSE_DROP, FINE_DROP = 0.004, 0.0005  # m; the thinnest object is 17 mm thick
SINK = 0.0002  # m, how deep a resting object overlaps what carries it


class Puppet:
    """A scene whose joint state a test writes; feeds a scorer step by step."""

    def __init__(self, stage: Stage, settled: Array, scorer: object | None = None) -> None:
        self.stage = stage
        self.model = stage.scene.model
        self.qpos = settled.copy()
        self.settled = settled
        self.scorer = scorer
        self.step = 0
        self._arm = [
            int(self.model.joint(f"robot0_joint{number}").qposadr[0]) for number in range(1, 8)
        ]

    # what is shown to the scorer

    def view(self) -> StateView:
        """The state as it stands."""
        return self.stage.lay(self.qpos)

    def state(self) -> SceneState:
        """The state as the strict rules see it."""
        view = self.view()
        return SceneState(view, view.movable_bodies())

    def begin(self) -> None:
        """Start the scorer's episode from the state as it stands."""
        self.scorer.begin(self.view())
        self.step = 0

    def show(self, steps: int = 1) -> None:
        """Let the scorer see the state for some steps."""
        for _ in range(steps):
            self.step += 1
            self.scorer.update(self.view(), self.step)

    # objects

    def _free(self, obj: str) -> int:
        return int(self.model.joint(f"{obj}_joint0").qposadr[0])

    def pose(self, obj: str) -> tuple[Array, Array]:
        """Position [3] and quaternion [4] (w, x, y, z) of an object."""
        at = self._free(obj)
        return self.qpos[at : at + 3].copy(), self.qpos[at + 3 : at + 7].copy()

    def put(self, obj: str, position: Array, quaternion: Array | None = None) -> None:
        """Put an object's origin somewhere, as it stood at the start unless turned."""
        at = self._free(obj)
        self.qpos[at : at + 3] = position
        if quaternion is None:
            quaternion = self.settled[at + 3 : at + 7]
        self.qpos[at + 3 : at + 7] = quaternion

    def shift(self, obj: str, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> None:
        """Move an object."""
        at = self._free(obj)
        self.qpos[at : at + 3] += (x, y, z)

    def park(self, obj: str) -> None:
        """Put an object out of the way, in the air."""
        self.put(obj, np.array([*PARKED, 0.8]))

    def centre_over(self, obj: str, point: Array, quaternion: Array | None = None) -> None:
        """Put the centre of an object's extent at a point."""
        self.put(obj, np.zeros(3), quaternion)
        centre = self.state().centre(obj)
        self.put(obj, np.asarray(point) - centre, quaternion)

    def drop(
        self, obj: str, point: Array, quaternion: Array | None = None, depth: float = 0.3
    ) -> None:
        """Lower an object from a point until it touches something, and a little further."""
        self.centre_over(obj, point, quaternion)
        self._lower(obj, COARSE_DROP, depth)
        self.shift(obj, z=COARSE_DROP)
        self._lower(obj, FINE_DROP, 2 * COARSE_DROP)
        self.shift(obj, z=-SINK)

    def _lower(self, obj: str, step: float, depth: float) -> None:
        for _ in range(int(depth / step)):
            if self.state().touching(obj):
                return
            self.shift(obj, z=-step)
        raise AssertionError(f"{obj} fell through")

    # drawers and doors

    def move_joint(self, joint: str, value: float) -> None:
        """Set a slide (m) or hinge (rad), with what lies in a drawer."""
        address = self.model.joint(joint).qposadr[0]
        body = self.model.joint(joint).bodyid[0]
        state = self.state()
        drawer = self.model.body(body).name
        carried = [obj for obj in state.view.movable_bodies() if state.supported(obj, drawer)]
        before = np.array(self.stage.replica._data.xpos[body])
        self.qpos[address] = value
        self.view()
        for obj in carried:
            self.shift(obj, *(self.stage.replica._data.xpos[body] - before))

    # the hand

    def reach(self, point: Array) -> None:
        """Turn the arm so that the point between the finger tips is at a point.

        Raises:
            AssertionError: the arm does not reach there.
        """
        data = self.stage.replica._data
        site = self.model.site(GRIP_SITE).id
        addresses = self._arm
        columns = [int(self.model.joint(f"robot0_joint{i}").dofadr[0]) for i in range(1, 8)]
        self.view()
        wanted = np.array(data.site_xmat[site]).reshape(3, 3)
        linear, angular = (np.zeros((3, self.model.nv)) for _ in range(2))
        for _ in range(200):
            self.view()
            rotation = np.array(data.site_xmat[site]).reshape(3, 3)
            turn = 0.5 * sum(np.cross(rotation[:, i], wanted[:, i]) for i in range(3))
            error = np.concatenate([np.asarray(point) - data.site_xpos[site], 0.05 * turn])
            if np.linalg.norm(error[:3]) < 1e-4:
                return
            mujoco.mj_comPos(self.model, data)  # Jacobians read it; a laid-out state does without
            mujoco.mj_jacSite(self.model, data, linear, angular, site)
            jacobian = np.concatenate([linear[:, columns], 0.05 * angular[:, columns]])
            damped = jacobian @ jacobian.T + 1e-4 * np.eye(6)
            self.qpos[addresses] += np.clip(jacobian.T @ np.linalg.solve(damped, error), -0.1, 0.1)
        assert np.linalg.norm(error[:3]) < 3e-3, "the arm does not reach that far"

    def grip(self) -> Array:
        """Point [3] between the finger tips."""
        self.view()
        return np.array(self.stage.replica._data.site_xpos[self.model.site(GRIP_SITE).id])

    def fingers(self, left: float, right: float) -> None:
        """Set how far each finger is from the middle, m."""
        self.qpos[self.model.joint("gripper0_finger_joint1").qposadr[0]] = left
        self.qpos[self.model.joint("gripper0_finger_joint2").qposadr[0]] = -right

    def open_hand(self) -> None:
        """Open both fingers."""
        self.fingers(OPEN_FINGER, OPEN_FINGER)

    def grasp(self, obj: str, *, sides: str = "both") -> None:
        """Close the fingers on an object that is between them, until they touch it."""
        for opening in np.arange(OPEN_FINGER, -0.001, -0.0005):
            left = opening if sides != "right" else OPEN_FINGER
            right = opening if sides != "left" else OPEN_FINGER
            self.fingers(left, right)
            state = self.state()
            if state.held(obj) or (sides != "both" and not state.released(obj)):
                return
        raise AssertionError(f"the fingers do not touch {obj}")

    def in_hand(self, obj: str, tilt: float = 0.0) -> None:
        """Hold an upright object by its middle, tilted about the axis of the fingers.

        The arm stays where it is, so the same grasp is found only once.
        """
        self.open_hand()
        key = (obj, tilt, self.qpos[self._arm].tobytes())
        if key in self.stage.grasps:
            position, quaternion, opening = self.stage.grasps[key]
            self.put(obj, position, quaternion)
            self.fingers(opening, opening)
            return
        data = self.stage.replica._data
        site = self.model.site(GRIP_SITE).id
        self.view()
        grip = np.array(data.site_xpos[site])
        finger_axis = np.array(data.site_xmat[site]).reshape(3, 3)[:, 0]
        self.centre_over(obj, grip, self.turned(obj, finger_axis, tilt))
        self.grasp(obj)
        opening = float(self.qpos[self.model.joint("gripper0_finger_joint1").qposadr[0]])
        self.stage.grasps[key] = (*self.pose(obj), opening)

    def turned(self, obj: str, axis: Array, angle: float) -> Array:
        """Quaternion of an object turned about a world axis from how it stood at the start."""
        start = self.settled[self._free(obj) + 3 : self._free(obj) + 7]
        turn, turned = np.zeros(4), np.zeros(4)
        mujoco.mju_axisAngle2Quat(turn, np.asarray(axis, dtype=float), angle)
        mujoco.mju_mulQuat(turned, turn, start)
        return turned


def drop_point(puppet: Puppet, region: Region, offset: tuple[float, float] = (0.0, 0.0)) -> Array:
    """A point inside a region, near its upper end, moved by an offset along the world's x and y."""
    view = puppet.view()
    if isinstance(region, TableTop):
        point = np.array([*FREE_SPOT, 0.55])
    elif isinstance(region, StartPlace):
        raise AssertionError("the start place depends on the object")
    elif isinstance(region, SiteBox):
        pose = view.site_pose(region.site)
        height = float(np.abs(pose.rotation[2]) @ pose.half_size)
        room = 0.006 if "drawer" in region.support or "cabinet" in region.support else height
        point = pose.position + np.array([0.0, 0.0, room])
    elif hasattr(region, "site"):  # the top of a site
        point = view.site_pose(region.site).position + np.array([0.0, 0.0, 0.15])
    else:
        position, rotation = view.body_position(region.support), view.body_rotation(region.support)
        if hasattr(region, "half_size"):
            local = np.array(region.centre)
        else:
            local = np.array([*region.centre, 0.12])
        point = position + rotation @ local
    return point + np.array([*offset, 0.0])


def table_height(puppet: Puppet) -> float:
    """Height of the table's surface, m."""
    return puppet.state().vertical_extent(TABLE)[1]


def radians(degrees: float) -> float:
    """Degrees to radians."""
    return math.radians(degrees)
