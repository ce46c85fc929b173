"""Make the example's media: a room seen from above, walks through it, and end states.

    python make_media.py

needs imageio, imageio-ffmpeg and numpy. The files are part of the repository, so that the example
runs without this.
"""

from __future__ import annotations

from pathlib import Path

import imageio.v3 as iio
import numpy as np
import numpy.typing as npt

MEDIA = Path(__file__).with_name("media")
SIZE = 64
GOAL = slice(48, 56)
START = 8


def room() -> npt.NDArray[np.uint8]:
    """A floor with a red goal and a blue start, as RGB."""
    image = np.full((SIZE, SIZE, 3), 235, dtype=np.uint8)
    image[GOAL, GOAL] = (255, 0, 0)
    image[START - 2 : START + 2, START - 2 : START + 2] = (0, 0, 255)
    return image


def walk(share: float, *, jump: bool = False) -> npt.NDArray[np.uint8]:
    """Eight frames of a walk along the diagonal over `share` of the way, RGB."""
    frames = []
    trail = room()
    for step in range(8):
        if jump and step in (3, 4):
            continue
        place = round(START + (52 - START) * share * step / 7)
        trail[place - 1 : place + 1, place - 1 : place + 1] = (0, 255, 0)
        frame = trail.copy()
        frame[place - 3 : place + 3, place - 3 : place + 3] = (40, 40, 40)
        frames.append(frame)
    return np.stack(frames)


def main() -> None:
    """Write the files."""
    MEDIA.mkdir(exist_ok=True)
    iio.imwrite(MEDIA / "room.png", room())
    clips = {"arrives": walk(1.0), "stops_short": walk(0.6), "jumps": walk(1.0, jump=True)}
    for name, frames in clips.items():
        iio.imwrite(MEDIA / f"{name}.mp4", frames, fps=4, codec="libx264", macro_block_size=16)
    iio.imwrite(MEDIA / "end_inside.png", walk(1.0)[-1])
    iio.imwrite(MEDIA / "end_outside.png", walk(0.6)[-1])


if __name__ == "__main__":
    main()
