"""What ``robomem doctor`` looks at."""

from pytest_robomem import package_version
from pytest_robomem.resources import resource_dir
from pytest_robomem.scene.caching import cache_root, cache_size, clear_cache
from pytest_robomem.scene.gl import gpu_renderer, library_missing
from pytest_robomem.scene.simulator import SimulatorError, load_simulator, simulator_versions


def report_lines() -> tuple[bool, list[str]]:
    """Whether episodes can be run here, and what was found."""
    lines = [f"pytest-robomem {package_version()}"]
    lines += [f"{name} {version}" for name, version in simulator_versions().items()]
    healthy = True
    try:
        scenes = len(list(resource_dir("bddl").glob("*.bddl")))
        load_simulator()
        lines.append(f"simulator: ok, {scenes} scenes")
    except (SimulatorError, FileNotFoundError) as error:
        healthy = False
        lines.append(f"simulator: {error}")
    gpu = gpu_renderer()
    software = library_missing("osmesa")
    lines.append(f"images: {'EGL on ' + gpu if gpu else software or 'OSMesa (CPU)'}")
    lines.append(f"cache: {cache_size() / 1e6:.0f} MB in {cache_root()}")
    return healthy, lines


def cleared_cache_line() -> str:
    """Clear the cache, and say what that gave."""
    try:
        return f"cache: {clear_cache() / 1e6:.0f} MB removed from {cache_root()}"
    except OSError as error:
        return f"cache: cannot be removed ({error})"
