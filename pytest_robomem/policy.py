"""Policies: what is asked of them, how they are loaded, and checks of what they return."""

import functools
import importlib
import importlib.util
import operator
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

DEFAULT_FACTORY = "build_adapter"
LARGEST_IMAGE = 4096  # pixels a side, as for --robomem-image-size
ACTION_SIZE = 7  # translation 3, rotation vector 3, gripper 1 (OSC_POSE)
CONTROL = "control"  # control:NAME are policies that must not pass
BUILT_IN = {
    "hold": "pytest_robomem.policies.hold",
    "random": "pytest_robomem.policies.random",
    "replay": "pytest_robomem.policies.replay",
    "expert": "pytest_robomem.policies.expert",
}


class PolicyLoadError(RuntimeError):
    """A policy that cannot be built; the message says what is wrong with it."""


class ImageSizeError(ValueError):
    """A policy asks for images of a size that makes no sense."""


class PolicyOutputError(ValueError):
    """A policy returned something that is no action chunk."""


class Policy(Protocol):
    """What a policy must have. No base class is needed.

    Optional methods, called where they exist:

    - ``observe(obs, prompt, resize_size)``: at every step, before actions are asked for;
    - ``episode_start(task_id, seed)`` and ``episode_end(result)``;
    - ``attach_simulator(view)``: for privileged policies, at the start of every episode; the view
      (``pytest_robomem.scene.view.SimulatorView``) is the true state, read-only;
    - ``compare_with_recording(result, trajectory)``: after an episode that is a replay;
      gives a ``ReplayComparison`` for the record, or ``None``, and decides nothing;
    - ``close()``: at the end of the run.

    An optional attribute ``native_image_size = (height, width)``, pixels: the prepared images are
    then rendered at that size instead of being squashed from 480 x 640; a vertical flip as ever.
    """

    def reset(self) -> None:
        """Forget the last episode."""
        ...

    def infer_actions(self, obs: Mapping[str, Any], prompt: str, resize_size: int) -> ArrayLike:
        """Plan the next actions.

        Args:
            obs: observations of this step; a camera is rendered when its key is read.
            prompt: the instruction.
            resize_size: side of the prepared images, pixels.

        Returns:
            [horizon, 7]: end-effector translation and rotation vector (world frame, [-1, 1] for
            5 cm and 0.5 rad) and gripper (-1 open, +1 closed), one row for each step at 20 Hz.
        """
        ...


class PolicyAdapter:
    """A base class for those who like one; overriding ``infer_actions`` is enough."""

    def reset(self) -> None:
        """Forget the last episode."""

    def infer_actions(self, obs: Mapping[str, Any], prompt: str, resize_size: int) -> ArrayLike:
        """See :class:`Policy`."""
        raise NotImplementedError

    def close(self) -> None:
        """Release what the policy holds."""


def load_policy(spec: str, kwargs: Mapping[str, Any]) -> Policy:
    """Build the policy that a specification names.

    Args:
        spec: built-in name, ``control:NAME``, ``module:factory`` or ``path.py:factory``.
        kwargs: arguments of the factory.

    Raises:
        PolicyLoadError: the module, the factory or what it returns is not usable.
    """
    factory = _find_factory(spec)
    try:
        policy = factory(**kwargs)
    except Exception as error:  # whatever a user's factory raises becomes one clear error
        raise PolicyLoadError(
            f"--policy={spec}: the factory raised {type(error).__name__}: {error}"
        ) from error
    for method in ("reset", "infer_actions"):
        if not callable(getattr(policy, method, None)):
            raise PolicyLoadError(
                f"--policy={spec}: the factory returned {type(policy).__name__}, which has no "
                f"method {method}(); a policy needs reset() and infer_actions()"
            )
    try:
        native_image_size(policy)
    except ImageSizeError as error:
        raise PolicyLoadError(f"--policy={spec}: {error}") from error
    built: Policy = policy
    return built


def _find_factory(spec: str) -> Callable[..., Any]:
    name, _, factory_name = spec.rpartition(":") if ":" in spec else (spec, "", "")
    if name == CONTROL:
        return _control_factory(factory_name)
    factory_name = factory_name or DEFAULT_FACTORY
    if ":" not in spec and spec in BUILT_IN:
        name = BUILT_IN[spec]
    module = _import_file(spec, Path(name)) if name.endswith(".py") else _import(spec, name)
    factory = getattr(module, factory_name, None)
    if not callable(factory):
        known = ", ".join(sorted(key for key in vars(module) if key.startswith("build"))) or "none"
        raise PolicyLoadError(
            f"--policy={spec}: {name} has no factory {factory_name}() (names that start with "
            f"'build': {known})"
        )
    found: Callable[..., Any] = factory
    return found


def _control_factory(name: str) -> Callable[..., Any]:
    module = importlib.import_module("pytest_robomem.policies.controls")
    return functools.partial(module.build_control, name)


def _import(spec: str, name: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:  # as `python -m pytest` has it
        sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    except Exception as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == name.partition(".")[0]
        hint = (
            f"; built-in policies are {', '.join(BUILT_IN)}, others are module:factory or "
            "path.py:factory"
            if missing
            else ""
        )
        raise PolicyLoadError(
            f"--policy={spec}: cannot import {name}: {type(error).__name__}: {error}{hint}"
        ) from error


def _import_file(spec: str, path: Path) -> ModuleType:
    path = path.resolve()
    name = f"robomem_policy_{path.stem}"
    module_spec = importlib.util.spec_from_file_location(name, path)
    if module_spec is None or module_spec.loader is None or not path.is_file():
        raise PolicyLoadError(f"--policy={spec}: there is no Python file {path}")
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[name] = module  # dataclasses and pickles of the policy look themselves up there
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    try:
        module_spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise PolicyLoadError(
            f"--policy={spec}: cannot import {path}: {type(error).__name__}: {error}"
        ) from error
    return module


def native_image_size(policy: object) -> tuple[int, int] | None:
    """Height and width at which a policy wants its prepared images rendered, if it says so.

    Raises:
        ImageSizeError: it says something else.
    """
    wanted = getattr(policy, "native_image_size", None)
    if wanted is None:
        return None
    try:
        height, width = (operator.index(side) for side in wanted)
    except (TypeError, ValueError):
        height = width = 0
    if not all(1 <= side <= LARGEST_IMAGE for side in (height, width)):
        raise ImageSizeError(
            f"native_image_size must be (height, width), whole numbers of pixels from 1 to "
            f"{LARGEST_IMAGE}, not {wanted!r}"
        )
    return height, width


def check_chunk(returned: Any) -> NDArray[np.float64]:
    """An action chunk as [horizon, 7] float64, horizon at least 1.

    Arrays of other libraries that convert to numpy are accepted. Values outside [-1, 1] are
    allowed: the controller clips them.

    Raises:
        PolicyOutputError: another shape, not numeric, or not finite; the message shows what came.
    """
    wanted = f"infer_actions must return numbers of shape [horizon, {ACTION_SIZE}], horizon >= 1"
    try:
        chunk = np.asarray(returned)
    except (TypeError, ValueError, RuntimeError) as error:
        raise PolicyOutputError(
            f"{wanted}; a {type(returned).__name__} does not convert to an array: {error}"
        ) from error
    received = f"received {type(returned).__name__} of shape {chunk.shape}, dtype {chunk.dtype}"
    if chunk.dtype.kind not in "fiu":
        raise PolicyOutputError(f"{wanted}; {received}")
    if chunk.ndim != 2 or chunk.shape[0] < 1 or chunk.shape[1] != ACTION_SIZE:
        raise PolicyOutputError(f"{wanted}; {received}")
    actions = chunk.astype(np.float64)
    if not np.isfinite(actions).all():
        row, column = np.argwhere(~np.isfinite(actions))[0]
        raise PolicyOutputError(
            f"{wanted}, all finite; {received}, value {actions[row, column]} at row {row}, "
            f"column {column}"
        )
    return actions
