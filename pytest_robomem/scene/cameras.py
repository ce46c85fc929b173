"""Rendering camera images, no earlier than somebody asks for one."""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_robomem.scene.gl import LIBRARIES, PACKAGES, Backend, RenderError

Image = NDArray[np.uint8]

IMAGE_HEIGHT, IMAGE_WIDTH = 480, 640  # pixels; the public evaluator renders at this size
CAMERAS = {"agentview_image": "agentview", "robot0_eye_in_hand_image": "robot0_eye_in_hand"}
_MAX_GEOMS = 1000  # robosuite 1.4.0


def _gl_context(backend: Backend) -> Any:
    """A current GL context of the back end.

    Raises:
        RenderError: it cannot be made.
    """
    platform = os.environ.setdefault("PYOPENGL_PLATFORM", backend)
    if platform != backend:
        raise RenderError(
            f"this process already uses {platform} for OpenGL, so it cannot render with {backend}: "
            "choose the same with --robomem-render"
        )
    try:
        if backend == "egl":
            from mujoco.egl import GLContext  # noqa: PLC0415 - binds the process to EGL
        else:
            from mujoco.osmesa import GLContext  # noqa: PLC0415 - binds the process to OSMesa
        context = GLContext(IMAGE_WIDTH, IMAGE_HEIGHT)
        context.make_current()
    except (ImportError, AttributeError, RuntimeError, OSError) as error:
        raise RenderError(
            f"cannot make an {LIBRARIES[backend]} context ({type(error).__name__}: {error}); "
            f"apt-get install {PACKAGES[backend]}"
        ) from error
    return context


class CameraRenderer:
    """Renders a scene's cameras as robosuite does, with one context for the scene's whole life.

    Args:
        model: ``mujoco.MjModel``.
        data: ``mujoco.MjData``; images show its current body positions.
        backend: GL back end.
        whole: the same model with textures and visual meshes, if ``model`` lacks them; not kept.
    """

    def __init__(self, model: Any, data: Any, backend: Backend, whole: Any = None) -> None:
        import mujoco  # noqa: PLC0415 - imported by load_simulator

        self._mujoco = mujoco
        self._model, self._data = model, data
        self._gl_context = _gl_context(backend)
        self._scene = mujoco.MjvScene(model, maxgeom=_MAX_GEOMS)
        self._options = mujoco.MjvOption()
        self._options.geomgroup[0] = 0  # collision shapes stay invisible
        self._context = mujoco.MjrContext(
            model if whole is None else whole, mujoco.mjtFontScale.mjFONTSCALE_150
        )
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)

    @property
    def renderer_name(self) -> str:
        """What OpenGL says that it renders with."""
        from OpenGL.GL import GL_RENDERER, glGetString  # noqa: PLC0415 - binds the platform

        self._gl_context.make_current()
        return str(glGetString(GL_RENDERER).decode(errors="replace"))

    def render(self, camera: str, height: int = IMAGE_HEIGHT, width: int = IMAGE_WIDTH) -> Image:
        """One image [height, width, 3] in RGB, bottom row first, as the simulator gives it.

        Raises:
            RenderError: OpenGL has no room for an image of that size.
        """
        mujoco = self._mujoco
        self._gl_context.make_current()
        self._make_room(height, width)
        view = mujoco.MjvCamera()
        view.type = mujoco.mjtCamera.mjCAMERA_FIXED
        view.fixedcamid = self._model.camera(camera).id
        mujoco.mjv_updateScene(
            self._model,
            self._data,
            self._options,
            mujoco.MjvPerturb(),
            view,
            mujoco.mjtCatBit.mjCAT_ALL,
            self._scene,
        )
        viewport = mujoco.MjrRect(0, 0, width, height)
        mujoco.mjr_render(viewport, self._scene, self._context)
        image = np.empty((height, width, 3), dtype=np.uint8)
        mujoco.mjr_readPixels(rgb=image, depth=None, viewport=viewport, con=self._context)
        return image

    def _make_room(self, height: int, width: int) -> None:
        """Enlarge the framebuffer for the first image that it is too small for; it never shrinks.

        What is rendered into a part of it has the same pixels as in one of its own size.
        """
        context = self._context
        if width <= context.offWidth and height <= context.offHeight:
            return
        width, height = max(width, context.offWidth), max(height, context.offHeight)
        try:
            self._mujoco.mjr_resizeOffscreen(width, height, context)
        except self._mujoco.FatalError as error:
            raise RenderError(f"OpenGL cannot render {height} x {width} pixels: {error}") from error

    def close(self) -> None:
        """Free the textures, then the context they live in."""
        self._gl_context.make_current()
        self._context.free()
        self._gl_context.free()
