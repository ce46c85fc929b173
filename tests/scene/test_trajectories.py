"""Trajectories on disk: while an episode runs, after it was killed, and when it has ended."""

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_robomem.scene import block_file
from pytest_robomem.scene.block_file import BLOCK_STEPS, MAGIC, BlockWriter, RowLayout
from pytest_robomem.scene.recorder import TrajectoryRecorder
from pytest_robomem.scene.recording import (
    Trajectory,
    TrajectoryError,
    read_trajectory,
    write_trajectory,
)

NQ, NBODY = 4, 2
ARRAYS = tuple(name for name in vars(Trajectory)["__dataclass_fields__"] if name != "events")


def made(steps: int, seed: int = 0) -> Trajectory:
    """A trajectory of numbers that are all different, some of them peculiar."""
    draws = np.random.default_rng(seed)
    qpos = draws.normal(size=(steps + 1, NQ))
    qpos[0, :4] = [-0.0, np.inf, 5e-324, np.nan]
    return Trajectory(
        draws.normal(size=NQ),
        draws.normal(size=(NBODY, 3)),
        draws.normal(size=(NBODY, 4)),
        draws.normal(size=(steps, 7)),
        qpos,
        draws.normal(size=(steps + 1, NQ)),
        draws.normal(size=(steps + 1, 9)),
        {},
    )


def record(recorder: TrajectoryRecorder, episode: Trajectory) -> None:
    """Feed an episode as a run does: from arrays that change afterwards."""
    start = [episode.reset_qpos.copy(), episode.body_pos.copy(), episode.body_quat.copy()]
    recorder.begin(*start)
    for array in start:
        array[:] = 99.0
    state = [np.empty(NQ), np.empty(NQ), np.empty(9)]
    for step in range(len(episode.qpos)):
        if step:
            recorder.add_action(episode.actions[step - 1])
        for mine, source in zip(
            state, (episode.qpos, episode.kinematics_qpos, episode.end_effector), strict=True
        ):
            mine[:] = source[step]
        recorder.add_state(*state)


def require_equal(found: Trajectory, expected: Trajectory, steps: int | None = None) -> None:
    """Bit for bit, as far as ``steps``."""
    steps = len(expected.actions) if steps is None else steps
    for name in ARRAYS:
        wanted = getattr(expected, name)
        if name == "actions":
            wanted = wanted[:steps]
        elif len(wanted) == len(expected.qpos):
            wanted = wanted[: steps + 1]
        array = getattr(found, name)
        assert array.shape == wanted.shape, name
        assert array.tobytes() == wanted.tobytes(), name


@pytest.mark.parametrize("steps", [0, 1, BLOCK_STEPS - 1, BLOCK_STEPS, 3 * BLOCK_STEPS + 7])
def test_what_was_recorded_comes_back_bit_for_bit(tmp_path: Path, steps: int) -> None:
    episode, partial, final = made(steps), tmp_path / "a" / "e.partial", tmp_path / "b" / "e.npz"
    with TrajectoryRecorder(partial) as recorder:
        record(recorder, episode)
        trajectory = recorder.finish({"01_Open": 1})
        recorder.wait()
        write_trajectory(trajectory, final, {"seed": "7"})
        recorder.discard()
    require_equal(trajectory, episode)
    stored = read_trajectory(final)
    require_equal(stored, episode)
    assert stored.events == {"01_Open": 1}
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["e.npz"]
    with np.load(final) as archive:  # numpy alone is enough to read it
        assert archive["qpos"].tobytes() == episode.qpos.tobytes()
        assert str(archive["meta_seed"]) == "7"


def test_files_of_numpys_own_writer_are_read(tmp_path: Path) -> None:
    """Trajectories of earlier versions were written by ``numpy.savez_compressed``."""
    episode, path = made(3), tmp_path / "old.npz"
    arrays = {name: getattr(episode, name) for name in ARRAYS}
    np.savez_compressed(
        path,
        version=np.array(1),
        event_names=np.array(["01_Open"]),
        event_steps=np.array([2]),
        **arrays,
    )
    found = read_trajectory(path)
    require_equal(found, episode)
    assert found.events == {"01_Open": 2}


def test_blocks_are_on_disk_while_the_episode_runs(tmp_path: Path) -> None:
    episode, path = made(2 * BLOCK_STEPS + 20), tmp_path / "e.partial"
    with TrajectoryRecorder(path) as recorder:
        record(recorder, episode)
        recorder.wait()
        require_equal(read_trajectory(path), episode, 2 * BLOCK_STEPS - 1)
    require_equal(read_trajectory(path), episode)  # interrupted: the last steps are there too


def test_an_episode_that_recorded_nothing_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "e.partial").write_text("of an earlier attempt")
    with TrajectoryRecorder(tmp_path / "e.partial") as recorder:
        episode = made(0)
        recorder.begin(episode.reset_qpos, episode.body_pos, episode.body_quat)
    with TrajectoryRecorder(tmp_path / "f.partial"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_without_a_path_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with TrajectoryRecorder() as recorder:
        record(recorder, made(2 * BLOCK_STEPS))
        require_equal(recorder.finish({}), made(2 * BLOCK_STEPS))
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def torn(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[int]]:
    """A small block file, and where its blocks end."""
    path = tmp_path_factory.mktemp("blocks") / "e.partial"
    episode = made(5)
    rows = np.hstack(
        [
            np.vstack([np.zeros((1, 7)), episode.actions]),
            *(episode.qpos, episode.kinematics_qpos, episode.end_effector),
        ]
    )
    writer = BlockWriter(path, episode.reset_qpos, episode.body_pos, episode.body_quat)
    ends: list[int] = []
    for start in range(0, 6, 2):
        writer.append(rows[start : start + 2])
        ends.append(path.stat().st_size)
    writer.close()
    return path, ends


def test_a_torn_tail_is_left_out_wherever_it_was_torn(
    torn: tuple[Path, list[int]], tmp_path: Path
) -> None:
    path, ends = torn
    content, episode, target = path.read_bytes(), made(5), tmp_path / "torn.partial"
    assert len(content) == ends[-1]
    for size in range(len(content) + 1):
        target.write_bytes(content[:size])
        whole = sum(end <= size for end in ends)
        if whole:
            require_equal(read_trajectory(target), episode, 2 * whole - 1)
        else:
            with pytest.raises(TrajectoryError):
                read_trajectory(target)


def test_damage_before_the_tail_is_an_error_or_unseen_by_chance(
    torn: tuple[Path, list[int]], tmp_path: Path
) -> None:
    """No changed byte gives other numbers."""
    path, _ = torn
    content, episode, target = path.read_bytes(), made(5), tmp_path / "damaged.partial"
    for position in range(len(content)):
        damaged = bytearray(content)
        damaged[position] ^= 0x41
        target.write_bytes(damaged)
        try:
            found = read_trajectory(target)
        except TrajectoryError:
            continue
        require_equal(found, episode, len(found.actions))  # a size that now reaches past the end


def frame(raw: int, stored: bytes) -> bytes:
    return struct.pack("<III", raw, len(stored), zlib.crc32(stored)) + stored


def hostile() -> Iterator[tuple[str, bytes]]:
    """Files that nobody wrote by accident."""
    width = 8 * RowLayout(2).width
    start = MAGIC + struct.pack("<II", 2, 1)
    placed = start + frame(8 * 9, zlib.compress(bytes(8 * 9)))
    yield "huge model", MAGIC + struct.pack("<II", 2**32 - 1, 2**32 - 1) + placed
    yield "no bodies", MAGIC + struct.pack("<II", 2, 0) + frame(16, zlib.compress(bytes(16)))
    yield "bomb", placed + frame(width, zlib.compress(bytes(50_000_000)))
    yield "less than it says", placed + frame(4 * width, zlib.compress(bytes(width)))
    yield "torn inside", placed + frame(width, zlib.compress(bytes(width))[:-9])
    yield "huge block", placed + struct.pack("<III", 2**32 - 8, 2**32 - 1, 0)
    yield "half a row", placed + frame(width - 8, zlib.compress(bytes(width - 8)))
    yield "empty block", placed + frame(0, zlib.compress(b""))
    yield "no zlib", placed + frame(width, b"x" * 40)
    yield "nothing", b""
    yield "text", b"not a trajectory"
    yield "a pickle", b"\x80\x04\x95."
    plain = io.BytesIO()
    np.save(plain, np.zeros(3))
    yield "one array", plain.getvalue()
    objects = io.BytesIO()
    np.savez(objects, version=np.array(1), reset_qpos=np.array([object], dtype=object))
    yield "objects", objects.getvalue()
    for name, member in (
        (
            "computed shape",
            b"\x93NUMPY\x01\x00v\x00{'descr':'<f8','fortran_order':False,'shape':(9**9,)}",
        ),
        ("huger shape", _header("(99999999999999,)")),
        ("negative shape", _header("(-4,)")),
        ("broken header", _header("(1")),
    ):
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("version.npy", member)
        yield name, archive.getvalue()


def _header(shape: str) -> bytes:
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


@pytest.mark.parametrize(("name", "content"), list(hostile()))
def test_hostile_files_are_refused(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / "e.npz"
    path.write_bytes(content)
    with pytest.raises(TrajectoryError, match=r"e\.npz"):
        read_trajectory(path)


def test_sizes_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    final, partial = tmp_path / "e.npz", tmp_path / "e.partial"
    write_trajectory(made(40), final, {})
    with TrajectoryRecorder(partial) as recorder:
        record(recorder, made(3 * BLOCK_STEPS))
    monkeypatch.setattr(block_file, "LARGEST", 2000)
    monkeypatch.setattr("pytest_robomem.scene.recording.LARGEST", 2000)
    for path in (final, partial):
        with pytest.raises(TrajectoryError, match="larger than 2000 bytes"):
            read_trajectory(path)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(position=st.integers(0, 5000), mask=st.integers(1, 255), cut=st.integers(0, 5000))
def test_damaged_archives_raise_nothing_else(
    tmp_path: Path, position: int, mask: int, cut: int
) -> None:
    path = tmp_path / "e.npz"
    write_trajectory(made(2), path, {})
    content = bytearray(path.read_bytes())
    content[position % len(content)] ^= mask
    path.write_bytes(content if cut % 2 else content[: cut % len(content)])
    with suppress(TrajectoryError):
        read_trajectory(path)


def test_arrays_that_do_not_fit_each_other_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "e.npz"
    for name, array in (
        ("qpos", np.zeros((4, NQ + 1))),
        ("kinematics_qpos", np.zeros((9, NQ))),
        ("body_quat", np.zeros((NBODY, 3))),
        ("actions", np.zeros((9, 7))),
        ("end_effector", np.zeros((4, 9), dtype=np.float32)),
    ):
        episode = made(3)
        setattr(episode, name, array)
        write_trajectory(episode, path, {})
        with pytest.raises(TrajectoryError):
            read_trajectory(path)


def test_a_full_disk_is_an_error_of_the_episode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread's error comes out where the episode is, once, and what was whole stays."""
    path, episode, real = tmp_path / "e.partial", made(4 * BLOCK_STEPS), BlockWriter.append
    written: list[int] = []

    def full(self: BlockWriter, rows: np.ndarray) -> None:
        if len(written) == 2:
            assert self._file is not None
            self._file.write(block_file._packed(rows)[:50])
            raise OSError(28, "No space left on device")
        written.append(len(rows))
        real(self, rows)

    monkeypatch.setattr(BlockWriter, "append", full)
    refused = pytest.raises(TrajectoryError, match=r"cannot be written: .*No space left")
    with TrajectoryRecorder(path) as recorder, refused:
        record(recorder, episode)
    require_equal(read_trajectory(path), episode, 2 * BLOCK_STEPS - 1)


def test_a_full_disk_found_at_the_end_does_not_hide_what_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: BlockWriter, rows: np.ndarray) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(BlockWriter, "append", full)

    def run(interruption: BaseException | None) -> None:
        with TrajectoryRecorder(tmp_path / "e.partial") as recorder:
            record(recorder, made(5))
            if interruption is not None:
                raise interruption

    with pytest.raises(KeyboardInterrupt) as raised:
        run(KeyboardInterrupt())
    assert "No space left" in raised.value.__notes__[0]
    with pytest.raises(TrajectoryError, match="No space left"):
        run(None)


def test_a_final_file_that_cannot_be_written_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", full)
    with pytest.raises(TrajectoryError, match="No space left"):
        write_trajectory(made(2), tmp_path / "e.npz", {})
    assert list(tmp_path.iterdir()) == []
