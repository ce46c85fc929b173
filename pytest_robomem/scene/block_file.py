"""The block file: an episode's trajectory while it is under way, readable whatever stops it.

Little-endian throughout. The magic, ``nq`` and ``nbody`` (uint32 each), then frames: raw size,
stored size and CRC-32 of what is stored (uint32 each), and the stored bytes, which are zlib's. The
first frame holds ``reset_qpos``, ``body_pos`` and ``body_quat``; each further one some rows of
action, ``qpos``, ``kinematics_qpos`` and end effector. All values are float64, and the bytes of the
same significance stand side by side, which deflates faster and to four fifths of the size.

It is not the file that stays: that one is an npz, which numpy opens by itself, but of which nothing
can be read before its end is written.
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

MAGIC = b"robomem-blocks-1\n"
BLOCK_STEPS = 128
ACTION_SIZE, END_EFFECTOR_SIZE = 7, 9
LARGEST = 1 << 30  # bytes that a trajectory may fill in memory; 3,000 steps need 2 MB
_LEVEL = 1  # higher ones take up to twice the time for 2 percent less
_SIZES = struct.Struct("<II")
_FRAME = struct.Struct("<III")
_LARGEST_MODEL = 1 << 16  # joint values or bodies

Array = NDArray[np.float64]


class BlockFileError(ValueError):
    """A block file of which nothing, or not everything that is whole, can be trusted."""


@dataclass(frozen=True)
class RowLayout:
    """Where the parts of a row are.

    Attributes:
        nq: joint values of the model.
    """

    nq: int

    @property
    def width(self) -> int:
        """Values of a row."""
        return ACTION_SIZE + 2 * self.nq + END_EFFECTOR_SIZE

    @property
    def parts(self) -> tuple[slice, slice, slice, slice]:
        """Columns of action, qpos, kinematics_qpos and end effector."""
        bounds = np.cumsum([0, ACTION_SIZE, self.nq, self.nq, END_EFFECTOR_SIZE]).tolist()
        action, qpos, kinematics, effector = map(slice, bounds, bounds[1:])
        return action, qpos, kinematics, effector


class BlockWriter:
    """Writes a block file; whatever was appended survives the death of the process.

    The file appears with its first block, so that there is never one of which nothing can be read.

    Args:
        path: of the file; replaced if there is one.
        reset_qpos, body_pos, body_quat: see :class:`pytest_robomem.scene.recording.Trajectory`.
    """

    def __init__(self, path: Path, reset_qpos: Array, body_pos: Array, body_quat: Array) -> None:
        self._path = path
        self._file: BinaryIO | None = None
        start = np.concatenate([reset_qpos, body_pos.ravel(), body_quat.ravel()])
        sizes = _SIZES.pack(len(reset_qpos), len(body_pos))
        self._start = MAGIC + sizes + _packed(start[None])

    def append(self, rows: Array) -> None:
        """Append a block of rows [n, width].

        Raises:
            OSError: it cannot be written.
        """
        content = _packed(rows)
        if self._file is None:
            content = self._start + content
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # Unbuffered: what could not be written must not be tried again on closing.
            self._file = self._path.open("wb", buffering=0)
        rest = memoryview(content)
        while rest:
            rest = rest[self._file.write(rest) :]

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


@dataclass(frozen=True)
class Blocks:
    """Content of a block file, up to the last whole block.

    Attributes:
        reset_qpos, body_pos, body_quat: see :class:`pytest_robomem.scene.recording.Trajectory`.
        rows: [n, width].
    """

    reset_qpos: Array
    body_pos: Array
    body_quat: Array
    rows: Array


def is_block_file(path: Path) -> bool:
    """Whether a file begins like one.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def read_blocks(path: Path) -> Blocks:
    """Read a block file; a block that was not written to its end is left out.

    Raises:
        BlockFileError: no block is whole, or one that is whole was damaged.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(len(MAGIC) + _SIZES.size)
        if not head.startswith(MAGIC):
            raise BlockFileError("not a block file")
        if len(head) < len(MAGIC) + _SIZES.size:
            raise BlockFileError("it breaks off before its first block")
        nq, nbody = _SIZES.unpack_from(head, len(MAGIC))
        if not (0 < nq <= _LARGEST_MODEL and 0 < nbody <= _LARGEST_MODEL):
            raise BlockFileError(f"{nq} joint values and {nbody} bodies make no sense")
        starts = next(_frames(file, nq + 7 * nbody, 1), None)
        blocks = list(_frames(file, RowLayout(nq).width, BLOCK_STEPS))
    if starts is None or not blocks:
        raise BlockFileError("it breaks off before its first block")
    positions, quaternions = np.split(starts[0][nq:], [3 * nbody])
    return Blocks(
        starts[0][:nq],
        positions.reshape(nbody, 3),
        quaternions.reshape(nbody, 4),
        np.concatenate(blocks),
    )


def _packed(rows: Array) -> bytes:
    """The frame of a block."""
    octets = np.ascontiguousarray(rows, dtype="<f8").view(np.uint8).reshape(*rows.shape, 8)
    stored = zlib.compress(octets.transpose(2, 1, 0).tobytes(), _LEVEL)
    return _FRAME.pack(rows.nbytes, len(stored), zlib.crc32(stored)) + stored


def _frames(file: BinaryIO, width: int, most_rows: int) -> Iterator[Array]:
    """Blocks [n, width] up to the end of the file, or to where it breaks off."""
    total = 0
    while len(head := file.read(_FRAME.size)) == _FRAME.size:
        raw, size, checksum = _FRAME.unpack(head)
        rows, rest = divmod(raw, 8 * width)
        total += raw
        if rest or not 0 < rows <= most_rows or size > 2 * raw + 64:
            raise BlockFileError("the sizes of a block make no sense")
        if total > LARGEST:
            raise BlockFileError(f"it is larger than {LARGEST} bytes")
        stored = file.read(size)
        if len(stored) < size:
            return
        if zlib.crc32(stored) != checksum:
            raise BlockFileError("a block was damaged")
        yield (
            _unpacked(stored, raw)
            .reshape(8, width, rows)
            .transpose(2, 1, 0)
            .copy()
            .view("<f8")
            .reshape(rows, width)
            .astype(np.float64)
        )
        if most_rows == 1:
            return


def _unpacked(stored: bytes, raw: int) -> NDArray[np.uint8]:
    inflating = zlib.decompressobj()
    try:
        content = inflating.decompress(stored, raw + 1)  # no more, whatever the block says
    except zlib.error as error:
        raise BlockFileError(f"a block was damaged ({error})") from error
    if len(content) != raw:
        raise BlockFileError("the sizes of a block make no sense")
    return np.frombuffer(content, dtype=np.uint8)
