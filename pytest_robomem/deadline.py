"""A wall-clock limit for a block of code, even if it sleeps."""

import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from pytest_robomem.tracebacks import relevant


class DeadlineExceeded(BaseException):  # not an Exception: policies catch those
    """The limit has passed. ``where`` shows the stacks of all threads at that moment."""

    def __init__(self, seconds: float, where: str) -> None:
        super().__init__(f"not finished after {seconds:g} s")
        self.where = where


@contextmanager
def deadline(seconds: float | None) -> Iterator[None]:
    """Raise :class:`DeadlineExceeded` inside the block once the limit has passed.

    Works by an alarm signal, hence in the main thread of a POSIX system only; elsewhere the limit
    is checked at the end of the block. Code that never returns to Python cannot be stopped.
    """
    if seconds is None:
        yield
        return
    started = time.monotonic()
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        if time.monotonic() - started > seconds:
            raise DeadlineExceeded(seconds, "found at the end of the episode")
        return

    def stop(_signal: int, frame: FrameType | None) -> None:
        raise DeadlineExceeded(seconds, _stacks(frame))

    previous_handler = signal.signal(signal.SIGALRM, stop)
    previous_delay, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        # Another tool's alarm (a test timeout, say) goes on where it was.
        elapsed = time.monotonic() - started
        remaining = max(previous_delay - elapsed, 1e-3) if previous_delay else 0.0
        signal.setitimer(signal.ITIMER_REAL, remaining)
        signal.signal(signal.SIGALRM, previous_handler)


def _stacks(main_frame: FrameType | None) -> str:
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    own = threading.get_ident()
    parts = ["main thread:\n" + "".join(relevant(traceback.extract_stack(main_frame)).format())]
    for ident, frame in sys._current_frames().items():
        stack = traceback.extract_stack(frame)
        if ident != own and not any("execnet" in entry.filename for entry in stack):
            stack_text = "".join(stack.format())
            parts.append(f"thread {names.get(ident, ident)}:\n{stack_text}")
    return "\n".join(parts)
