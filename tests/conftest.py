"""What several folders of tests share."""

import os
import signal
from pathlib import Path

import pytest

from pytest_robomem.scene.gl import gpu_renderer, library_missing

try:
    from hypothesis import settings
except ModuleNotFoundError:  # the benchmark's own tasks run in this folder without the extra, too
    pass
else:
    # How long an example takes says nothing about right or wrong.
    settings.register_profile("robomem", deadline=None)
    settings.load_profile("robomem")

# pytester gives every test a home of its own; what was compiled need not be compiled there again.
os.environ.setdefault("XDG_CACHE_HOME", str(Path.home() / ".cache"))

# A shell starts background jobs with SIGINT ignored, and what these tests start would inherit it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def needs_images() -> None:
    """Skip where no camera image can be rendered; in CI that is a failure."""
    missing = "" if gpu_renderer() else library_missing("osmesa")
    if missing and os.environ.get("CI") == "true":
        pytest.fail(missing)
    if missing:
        pytest.skip(missing)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of one scene together, in order and on one worker: each is built once."""

    def task_of(item: pytest.Item) -> int:
        callspec = getattr(item, "callspec", None)
        task_id = callspec.params.get("task_id", 0) if callspec else 0
        return task_id if isinstance(task_id, int) else 0

    items.sort(key=task_of)
    for item in items:
        if task_id := task_of(item):
            item.add_marker(pytest.mark.xdist_group(f"task{task_id:02d}"))
