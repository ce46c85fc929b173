"""Recording an episode's trajectory while it runs."""

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from pytest_robomem.scene.block_file import BLOCK_STEPS, BlockWriter, RowLayout
from pytest_robomem.scene.recording import Trajectory, TrajectoryError, trajectory_of_rows

Array = NDArray[np.float64]


class TrajectoryRecorder:
    """Collects an episode, and writes it to disk block by block, in a thread of its own.

    As a context manager it ends the thread. What was not discarded until then stays, up to the last
    step: an interrupted episode leaves what it recorded.

    Args:
        path: of the block file; without one nothing is written.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._writer: BlockWriter | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._writing: Future[None] | None = None
        self._torn = False
        self._full: list[Array] = []
        self._block: Array = np.zeros((0, 0))
        self._count = 0

    def begin(self, reset_qpos: Array, body_pos: Array, body_quat: Array) -> None:
        """Begin an episode.

        Args:
            reset_qpos: [nq] right after the reset.
            body_pos, body_quat: [nbody, 3] and [nbody, 4], where the seed put the fixtures.

        Raises:
            TrajectoryError: what an earlier attempt at this episode left cannot be removed.
        """
        self._start = reset_qpos.copy(), body_pos.copy(), body_quat.copy()
        self._layout = RowLayout(len(reset_qpos))
        self._columns = self._layout.parts
        self._full, self._block, self._count = [], self._new_block(), 0
        self._remove()

    def add_action(self, action: Array) -> None:
        """Add the action [7] of a step; it counts once the step's state is added."""
        self._block[self._count, self._columns[0]] = action

    def add_state(self, qpos: Array, kinematics_qpos: Array, end_effector: Array) -> None:
        """Add the state after settling, or after a step. The arrays are copied.

        Raises:
            TrajectoryError: an earlier block could not be written.
        """
        row = self._block[self._count]
        _, joints, kinematics, effector = self._columns
        row[joints] = qpos
        row[kinematics] = kinematics_qpos
        row[effector] = end_effector
        self._count += 1
        if self._count == BLOCK_STEPS:
            block, self._block, self._count = self._block, self._new_block(), 0
            self._full.append(block)
            self._hand_over(block)

    def finish(self, events: dict[str, int]) -> Trajectory:
        """The trajectory so far."""
        rows = np.concatenate([*self._full, self._block[: self._count]])
        return trajectory_of_rows(*self._start, rows, events)

    def wait(self) -> None:
        """Wait until all blocks handed over are on disk.

        Raises:
            TrajectoryError: one could not be written.
        """
        if self._writing is None:
            return
        writing, self._writing = self._writing, None
        try:
            writing.result()
        except OSError as error:
            self._torn = True  # what came before it stays readable if nothing follows
            raise TrajectoryError(f"the trajectory cannot be written: {error}") from error

    def discard(self) -> None:
        """Remove the block file: the episode is kept in another form, or not wanted.

        Raises:
            TrajectoryError: it cannot be removed.
        """
        self._end_thread()
        if self._full or self._torn:  # else there is none
            self._remove()
        self._path = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.wait()
            if self._count:
                self._hand_over(self._block[: self._count])
                self.wait()
        except TrajectoryError as unwritten:
            if error is None:
                raise
            error.add_note(str(unwritten))
        finally:
            self._end_thread()

    def _remove(self) -> None:
        if self._path is None:
            return
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            raise TrajectoryError(f"the trajectory cannot be written: {error}") from error

    def _new_block(self) -> Array:
        return np.zeros((BLOCK_STEPS, self._layout.width))

    def _hand_over(self, block: Array) -> None:
        """Let the thread write a block, one at a time: an episode's memory has a bound."""
        self.wait()
        if self._path is None or self._torn:
            return
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "trajectory")
        self._writing = self._thread.submit(self._write, self._path, block)

    def _write(self, path: Path, block: Array) -> None:
        if self._writer is None:
            self._writer = BlockWriter(path, *self._start)
        self._writer.append(block)

    def _end_thread(self) -> None:
        if self._thread is not None:
            self._thread.shutdown()
            self._thread = None
        if self._writer is not None:
            self._writer.close()
            self._writer = None
