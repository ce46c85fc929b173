"""Checks of media files before anything is paid for."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from .client import IMAGE_TYPES, VIDEO_TYPES, Media
from .outcomes import AttemptFailedError, JudgeStatus
from .textsafe import one_line

# The Files API takes 2 GB a file.
LARGEST_FILE_BYTES = 2_000_000_000
_CHUNK = 1 << 20


def _failed(path: Path, reason: str) -> AttemptFailedError:
    return AttemptFailedError(JudgeStatus.FILE_FAILED, one_line(f"{path.name}: {reason}"))


def fingerprint(path: Path, kind: Literal["image", "video"]) -> Media:
    """Check type, existence and size of a file, and hash its content in chunks.

    Raises `AttemptFailedError` with FILE_FAILED.
    """
    known = VIDEO_TYPES if kind == "video" else IMAGE_TYPES
    mime_type = known.get(path.suffix.lower())
    if mime_type is None:
        raise _failed(path, f"no {kind} of a usable type ({' '.join(sorted(known))})")
    try:
        if not path.is_file():
            raise _failed(path, "no such file" if not path.exists() else "no regular file")
        size = 0
        sha256 = hashlib.sha256()
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                size += len(chunk)
                sha256.update(chunk)
    except (OSError, ValueError) as error:
        raise _failed(path, f"cannot be read: {error}") from None
    if size == 0:
        raise _failed(path, "is empty")
    if size > LARGEST_FILE_BYTES:
        raise _failed(path, f"{size} bytes are more than the {LARGEST_FILE_BYTES} of the API")
    return Media(path=path.absolute(), mime_type=mime_type, size=size, sha256=sha256.hexdigest())


def fingerprint_all(files: Iterable[tuple[Path, Literal["image", "video"]]]) -> tuple[Media, ...]:
    """Fingerprint each file, in order. Raises `AttemptFailedError` with FILE_FAILED."""
    return tuple(fingerprint(path, kind) for path, kind in files)


def check_all_decodable(files: Iterable[Media]) -> None:
    """Check each file with `check_decodable`. Raises `AttemptFailedError` with FILE_FAILED."""
    for media in files:
        check_decodable(media)


def check_decodable(media: Media) -> None:
    """Decode the image, or the first frame of the video.

    Raises `AttemptFailedError` with FILE_FAILED.
    """
    if media.is_video:
        _check_first_frame(media.path)
    else:
        _check_image(media.path)


def _check_image(path: Path) -> None:
    from PIL import Image, UnidentifiedImageError  # noqa: PLC0415

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path) as image:
                image.load()
    except (
        UnidentifiedImageError,
        Image.DecompressionBombError,
        Image.DecompressionBombWarning,
        OSError,
        ValueError,
        SyntaxError,  # what Pillow raises for broken PNG chunks
    ) as error:
        raise _failed(path, f"cannot be decoded: {error}") from None


def _check_first_frame(path: Path) -> None:
    from cv2 import CAP_FFMPEG, CAP_PROP_N_THREADS, VideoCapture  # noqa: PLC0415

    # In this process: starting a decoder program for each clip would cost more than the call.
    # One frame needs one thread; the default starts one a core for each clip.
    capture = VideoCapture(str(path), CAP_FFMPEG, [CAP_PROP_N_THREADS, 1])
    try:
        decoded, frame = capture.read() if capture.isOpened() else (False, None)
    finally:
        capture.release()
    if not decoded or frame is None or frame.size == 0:
        raise _failed(path, "no frame of it can be decoded")
