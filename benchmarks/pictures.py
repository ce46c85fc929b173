"""Pictures of one run of each family for the docs, rendered from recorded trajectories.

    python -m benchmarks.pictures RESULTS --out docs/pictures

Each picture shows four moments of the main camera, side by side.
"""

import argparse
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

from pytest_robomem.resources import resource_dir
from pytest_robomem.results.records import EpisodeResult
from pytest_robomem.results.stored import stored_records
from pytest_robomem.scene.model import Scene
from pytest_robomem.scene.recording import read_trajectory

MOMENTS = (0.1, 0.4, 0.7, 1.0)  # shares of the episode
WIDTH, HEIGHT = 256, 192  # of a moment, pixels
QUALITY = 88


def strip(folder: Path, record: EpisodeResult) -> np.ndarray:
    """[HEIGHT, 4 * WIDTH, 3] of one recorded episode."""
    (path,) = resource_dir("bddl").glob(f"{record.task_id}_*.bddl")
    trajectory = read_trajectory(folder / record.trajectory)
    scene = Scene(path)
    scene.reset(record.seed)  # hides the markers that robosuite draws until then
    scene.model.body_pos[:] = trajectory.body_pos
    scene.model.body_quat[:] = trajectory.body_quat
    frames = []
    for share in MOMENTS:
        scene.show(trajectory.kinematics_qpos[round(share * record.steps)])
        upright = scene.render("agentview")[::-1]
        frames.append(cv2.resize(upright, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA))
    scene.close()
    return np.concatenate(frames, axis=1)


def main() -> None:
    """Render one episode of each family that passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("--out", type=Path, default=Path("docs/pictures"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    chosen: dict[str, EpisodeResult] = {}
    for record in stored_records(arguments.results):
        if record.status == "passed" and record.trajectory:
            chosen.setdefault(record.family, record)
    for family, record in chosen.items():
        target = arguments.out / f"{family}.jpg"
        Image.fromarray(strip(arguments.results, record)).save(target, quality=QUALITY)
        print(f"{target}: task {record.task_id}, seed {record.seed}, {record.steps} steps")


if __name__ == "__main__":
    main()
