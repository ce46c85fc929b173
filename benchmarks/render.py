"""Images a second, alone and with several processes at once.

    python -m benchmarks render --render egl --processes 1,4,8
"""

import subprocess
import sys
import time

from benchmarks.measure import arguments, report, scene_files
from pytest_robomem.scene.cameras import CAMERAS
from pytest_robomem.scene.model import Scene

WATCHDOG = 240  # s; renderers that lock each other up must be shown, not waited for


def render(path: str, backend: str, frames: int) -> None:
    """One process: print what renders and its seconds for a pair of images."""
    scene = Scene(scene_files(path)[0], backend)
    scene.reset(100)
    for camera in CAMERAS.values():
        scene.render(camera)
    started = time.perf_counter()
    for _ in range(frames):
        for camera in CAMERAS.values():
            scene.render(camera)
    print(f"{(time.perf_counter() - started) / frames} {scene.gl_renderer}")
    scene.close()


def together(count: int, options: object) -> str:
    """As many processes at once; pairs of images a second of all of them."""
    command = [sys.executable, "-m", "benchmarks", "render", "--child", "1"]
    for name in ("tasks", "render", "frames"):
        command += [f"--{name}", str(getattr(options, name))]
    children = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)
    ]
    deadline = time.monotonic() + WATCHDOG
    pairs, renderer = 0.0, ""
    for child in children:
        try:
            output, _ = child.communicate(timeout=max(1.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            for other in children:
                other.kill()
            return f"{count} processes locked each other up, or took more than {WATCHDOG} s"
        spent, _, renderer = output.strip().rpartition("\n")[2].partition(" ")
        pairs += 1.0 / float(spent)
    return f"{pairs:.1f} pairs of 480x640 images a second on {renderer}"


def main() -> None:
    """Measure and report."""
    options = arguments(
        __doc__, tasks="1", render="auto", frames=20, processes="1,2", child=0
    )
    if options.child:
        render(options.tasks, options.render, options.frames)
        return
    figures = {
        f"{count}_processes": together(count, options)
        for count in map(int, options.processes.split(","))
    }
    report("render", [], options.json, **figures)
