"""Valid samples, small media and command lines for the judges' tests."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import imageio.v3 as iio
import numpy as np

# Other plugins take longer to load than a run of ours lasts, in every worker anew.
ENVIRONMENT = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
QUICK_START = ["-p", "no:cacheprovider", "-p", "xdist.plugin", "-p", "pytest_robomem.judges.plugin"]
KEY = "AIzaSyTESTKEYtestkeyTESTKEYtestkey12345"


def write_video(path: Path, shade: int = 0, frames: int = 6) -> Path:
    """A clip of 48 x 48 pixels whose square moves; `shade` tells clips apart."""
    images = np.full((frames, 48, 48, 3), shade, dtype=np.uint8)
    for index in range(frames):
        images[index, 8:16, 4 * index : 4 * index + 8] = (255, 0, 0)
    iio.imwrite(path, images, fps=4, codec="libx264", macro_block_size=16)
    return path


def write_image(path: Path, shade: int = 0) -> Path:
    """A picture of 48 x 48 pixels."""
    image = np.full((48, 48, 3), shade, dtype=np.uint8)
    image[20:28, 20:28] = (255, 0, 0)
    iio.imwrite(path, image)
    return path


def trace(**changes: Any) -> dict[str, Any]:
    """A valid plan trace, SUCCESS of two steps, with changes."""
    row: dict[str, Any] = {
        "id": "t1",
        "instruction": "Put the apple into the bowl.",
        "spatial_relationships": "The bowl is on the table.",
        "scene_graph": {"apple": {"on": "counter"}},
        "executed_actions": ["pick(apple)", "place_in(apple, bowl)"],
        "simulation_status": "SUCCESS",
        "steps_completed": 2,
        "total_steps": 2,
    }
    return row | changes


def failed_trace(done: int, total: int, **changes: Any) -> dict[str, Any]:
    """A trace that failed after `done` of `total` steps."""
    return trace(
        executed_actions=[f"pick(thing{number})" for number in range(done)],
        remaining_actions=[f"place(thing{number})" for number in range(done, total)],
        simulation_status="FAILED",
        error_reason="cannot reach",
        steps_completed=done,
        total_steps=total,
        **changes,
    )


def sample(**changes: Any) -> dict[str, Any]:
    """A valid navigation row, with changes."""
    row: dict[str, Any] = {
        "sample_id": "n1",
        "task": "panoramic_last_mile",
        "modality": "video",
        "scene_ref": "scene.png",
        "output_path": "walk.mp4",
        "model": "generator-a",
        "level": {
            "floors": "floor01",
            "fidelity": "quality03",
            "distance": "short",
            "destination": "color_mark",
        },
    }
    return row | changes


def command_line(*arguments: object) -> list[str]:
    """The command line of such a run."""
    return [sys.executable, "-m", "pytest", *QUICK_START, *map(str, arguments)]
