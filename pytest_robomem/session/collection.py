"""Collecting tasks: where they are, what their items are called, and one item for each seed."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from pytest_robomem.resources import resource_dir
from pytest_robomem.session.run import SETTINGS

TASKS_FOLDER = "tasks"
SEED_FIXTURE = "robomem_seed"


class TaskModule(pytest.Module):
    """A module of packaged tasks; its id does not tell where the package is installed."""

    def _getobj(self) -> ModuleType:
        return load_packaged(self.path)


def load_packaged(path: Path) -> ModuleType:
    """Import a module of packaged tasks under a name of its own.

    pytest's own import would put the folder of all installed packages into the search path a second
    time, with which LIBERO does not find its assets; and a user may have a module of that name.
    """
    name = f"_robomem_{path.stem}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def packaged_module(module_path: Path, parent: pytest.Collector) -> TaskModule | None:
    """A collector for one of the packaged task modules; ``None`` for any other module."""
    if module_path.parent != resource_dir(TASKS_FOLDER):
        return None
    module: TaskModule = TaskModule.from_parent(
        parent, path=module_path, nodeid=f"{TASKS_FOLDER}/{module_path.name}"
    )
    return module


def redirect_arguments(config: pytest.Config) -> None:
    """Point the command line to the packaged tasks.

    Without paths all of them are collected. Paths such as ``tasks/test_drawer.py::...``, which are
    how items are called, mean the packaged files unless the current folder has such a file.
    """
    tasks = resource_dir(TASKS_FOLDER)
    if config.args_source != pytest.Config.ArgsSource.ARGS:
        config.args = [str(tasks)]
        return
    config.args = [_redirected(argument, config, tasks) for argument in config.args]


def _redirected(argument: str, config: pytest.Config, tasks: Path) -> str:
    path, separator, names = argument.partition("::")
    parts = Path(path).parts
    if not parts or parts[0] != TASKS_FOLDER or (config.invocation_params.dir / path).exists():
        return argument
    packaged = tasks.joinpath(*parts[1:])
    return f"{packaged}{separator}{names}" if packaged.exists() else argument


def parametrize_seeds(metafunc: pytest.Metafunc) -> None:
    """Make an item for each seed; without a policy, one that says why it is skipped."""
    if SEED_FIXTURE not in metafunc.fixturenames:
        return
    settings = metafunc.config.stash.get(SETTINGS, None)
    if settings is None:
        no_policy = pytest.mark.skip(reason="no --policy given")
        metafunc.parametrize(
            SEED_FIXTURE, [pytest.param(None, marks=no_policy, id="no-policy")], indirect=True
        )
        return
    metafunc.parametrize(
        SEED_FIXTURE, settings.seeds, ids=[f"seed{seed}" for seed in settings.seeds], indirect=True
    )
