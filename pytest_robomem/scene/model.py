"""One compiled scene: built once, placed anew for every seed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_robomem.scene.bddl import SceneDescription, read_scene
from pytest_robomem.scene.cameras import IMAGE_HEIGHT, IMAGE_WIDTH, CameraRenderer, Image
from pytest_robomem.scene.gl import choose_backend
from pytest_robomem.scene.replica import Replica
from pytest_robomem.scene.simulator import load_simulator
from pytest_robomem.scene.stepper import make_stepper
from pytest_robomem.scene.view import GRIPPER_JOINTS, SimulatorView

CONTROL_FREQUENCY = 20  # Hz
DUMMY_ACTION = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0)  # stand still, gripper open
PLACEMENT_ATTEMPTS = 1000  # stock tries for ever; a scene that never fits must end with an error


class PlacementError(RuntimeError):
    """No free placement was found for a scene's objects."""


class Scene:
    """A benchmark scene in the simulator.

    Args:
        path: BDDL scene file.
        render: GL back end (``auto``, ``egl``, ``osmesa``), used once an image is asked for.
        stepper: how it advances, see :func:`pytest_robomem.scene.stepper.make_stepper`.

    Attributes:
        description: what the scene file says.
        view: read-only access to the current state.
        model, data: MuJoCo's model and state.

    Raises:
        SimulatorError: the simulator stack is missing or does not fit.
        BddlError: the scene file cannot be read.
        PlacementError: the objects never fit.
    """

    def __init__(self, path: Path, render: str = "auto", stepper: str = "exact") -> None:
        load_simulator()
        self._render_with = render
        self._renderer: CameraRenderer | None = None
        self.description: SceneDescription = read_scene(path)
        self._environment = _build(self.description)
        self.model: Any = self._environment.sim.model._model
        self.data: Any = self._environment.sim.data._data
        self._stepper = make_stepper(stepper, self._environment)
        self.view = SimulatorView(self.model, self.data)
        self._replica = Replica(self.model)

    @property
    def stepper_name(self) -> str:
        """Name of the way of stepping; results of different ones must not be mixed."""
        return self._stepper.name

    @property
    def kinematics_qpos(self) -> NDArray[np.float64]:
        """Joint state [nq] at the instant that positions, observations and images show."""
        return self._stepper.kinematics_qpos

    @property
    def body_placements(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Where the seed put the fixtures: ``body_pos`` [nbody, 3] and ``body_quat`` [nbody, 4]."""
        return self.model.body_pos.copy(), self.model.body_quat.copy()

    def reset(self, seed: int) -> None:
        """Place the scene for a seed, with the draws and the result of a stock hard reset.

        The global numpy generator, from which the placement is drawn, is put back afterwards, so
        neither the caller's randomness nor what ran before has any influence.
        """
        from robosuite.utils.errors import RandomizationError  # noqa: PLC0415 - heavy, optional

        caller_state = np.random.get_state()
        np.random.seed(seed)
        try:
            for _ in range(PLACEMENT_ATTEMPTS):
                try:
                    self._place()
                    break
                except RandomizationError:
                    continue  # the next attempt draws on, as stock does: the seed keeps its state
            else:
                raise PlacementError(
                    f"{self.description.source.name}, seed {seed}: the objects do not fit into "
                    f"their regions ({PLACEMENT_ATTEMPTS} attempts)"
                )
        finally:
            np.random.set_state(caller_state)
        self._stepper.reset()

    def _place(self) -> None:
        import mujoco  # noqa: PLC0415 - imported by load_simulator

        environment = self._environment
        for name, unplaced in environment.unplaced_model.items():
            getattr(self.model, name)[:] = unplaced
        mujoco.mj_resetData(self.model, self.data)
        gripper = environment.robots[0].gripper
        gripper.current_action = np.zeros(gripper.dof)  # robosuite forgets it on a soft reset
        environment.sim.forward()
        environment._reset_internal()
        environment.sim.forward()
        environment.visualize(vis_settings=dict.fromkeys(environment._visualizations, False))
        # robosuite reads every sensor here, which the first step's bits depend on in no version
        # seen, but costs nothing and keeps the order of events.
        environment._get_observations(force_update=True)

    def step(self, action: NDArray[np.float64]) -> None:
        """Advance by one control step of 50 ms. ``action``: [7]."""
        self._stepper.step(action)

    def observations(self) -> Mapping[str, NDArray[np.float64]]:
        """robosuite's observations of robot and objects at this step (no images)."""
        observed: Mapping[str, NDArray[np.float64]] = self._environment._get_observations(
            force_update=True
        )
        return observed

    def scored_view(self) -> SimulatorView:
        """The state that is scored: everything of the instant that ``kinematics_qpos`` describes.

        Scoring it again from a recorded trajectory therefore gives the same bits.
        """
        return self._replica.lay(self.kinematics_qpos)

    def end_effector(self) -> NDArray[np.float64]:
        """[9]: gripper position 3 (m), quaternion 4 (w, x, y, z), finger joints 2 (m)."""
        grip = self.model.site("gripper0_grip_site").id
        fingers = (self.view.joint_position(name) for name in GRIPPER_JOINTS)
        return np.array(
            [*self.data.site_xpos[grip], *self.view.end_effector_quaternion(), *fingers]
        )

    def renderer(self) -> CameraRenderer:
        """The scene's renderer, made when it is needed first.

        Raises:
            RenderError: no image can be rendered here; the message names the fix.
        """
        if self._renderer is None:
            backend = choose_backend(self._render_with)
            whole = self._environment.compiled.whole()
            self._renderer = CameraRenderer(self.model, self.data, backend, whole)
        return self._renderer

    def render(self, camera: str, height: int = IMAGE_HEIGHT, width: int = IMAGE_WIDTH) -> Image:
        """Image [height, width, 3] of a camera at this step, bottom row first."""
        return self.renderer().render(camera, height, width)

    @property
    def gl_renderer(self) -> str:
        """What renders this scene; empty as long as no image was asked for."""
        return self._renderer.renderer_name if self._renderer is not None else ""

    def show(self, kinematics_qpos: NDArray[np.float64]) -> None:
        """Lay a recorded state [nq] into the scene, for images and for scoring it again."""
        import mujoco  # noqa: PLC0415 - imported by load_simulator

        self.data.qpos[:] = kinematics_qpos
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        mujoco.mj_camlight(self.model, self.data)

    def faults(self) -> list[str]:
        """Numerical breakdowns that MuJoCo has met since the reset, by name."""
        import mujoco  # noqa: PLC0415 - imported by load_simulator

        kinds = {
            "position": mujoco.mjtWarning.mjWARN_BADQPOS,
            "velocity": mujoco.mjtWarning.mjWARN_BADQVEL,
            "acceleration": mujoco.mjtWarning.mjWARN_BADQACC,
        }
        return [name for name, kind in kinds.items() if self.data.warning[kind].number]

    def close(self) -> None:
        """Release the renderer and the environment."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None
        self._environment.close()


def _build(description: SceneDescription) -> Any:
    import robosuite  # noqa: PLC0415 - heavy
    from robosuite.utils.errors import RandomizationError  # noqa: PLC0415

    from pytest_robomem.scene.overlay import CoffeeTableScene  # noqa: PLC0415 - imports LIBERO

    caller_state = np.random.get_state()
    try:
        for _ in range(PLACEMENT_ATTEMPTS):
            try:
                return CoffeeTableScene(
                    description,
                    robots=["Panda"],
                    controller_configs=robosuite.load_controller_config(
                        default_controller="OSC_POSE"
                    ),
                    initialization_noise=None,
                    use_camera_obs=False,
                    has_offscreen_renderer=False,
                    control_freq=CONTROL_FREQUENCY,
                    ignore_done=True,
                    reward_shaping=True,
                    hard_reset=False,
                )
            except RandomizationError:
                continue
    finally:
        np.random.set_state(caller_state)
    raise PlacementError(f"{description.source}: the objects do not fit into their regions")
