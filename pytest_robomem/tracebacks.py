"""Tracebacks without the frames of pytest and of the evaluator, which help nobody."""

import traceback

_OUTER = ("/pluggy/", "/_pytest/", "/xdist/", "/execnet/", "/pytest_robomem/")


def relevant(stack: traceback.StackSummary) -> traceback.StackSummary:
    """The frames below the last one of pytest or the evaluator, or the last two frames."""
    start = 0
    for index, frame in enumerate(stack):
        if any(part in frame.filename.replace("\\", "/") for part in _OUTER):
            start = index + 1
    return traceback.StackSummary.from_list(list(stack[start:] or stack[-2:]))


def traceback_text(error: BaseException) -> str:
    """Traceback of an error, or of what caused it, like Python's own but shorter."""
    root = error.__cause__ or error
    frames = "".join(relevant(traceback.extract_tb(root.__traceback__)).format())
    return frames + "".join(traceback.format_exception_only(root))
