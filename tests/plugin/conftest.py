"""An empty folder with a policy module, where scenes cost nothing."""

import importlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import CONFTEST, POLICIES
from tests.golden import ROOT

# pytester forgets what a run inside this process imported, and numpy's extension modules cannot be
# imported twice: import them before the first run.
for _module in ("scipy.stats", "cv2", "imageio.v2", "imageio_ffmpeg", "numpy.fft"):
    importlib.import_module(_module)
for _module in ("controller", "reporting", "worker"):
    importlib.import_module(f"pytest_robomem.session.{_module}")


class Bench:
    """Runs pytest in a folder of its own and reads what it leaves.

    Args:
        pytester: pytest's own.
    """

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.folder = pytester.path
        self.results = pytester.path / "robomem-results"

    def run(self, *arguments: str, policy: str | None = "mine", **kwargs: Any) -> Any:
        """Run pytest in this process, with workers of its own. ``kwargs`` go to the policy."""
        words = [f"--policy={policy}"] if policy else []
        if kwargs:
            words.append(f"--policy-kwargs={json.dumps(kwargs)}")
        return self.pytester.runpytest_inprocess("-p", "no:cacheprovider", *words, *arguments)

    def records(self) -> list[dict[str, Any]]:
        """Lines of the journal."""
        text = (self.results / "episodes.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    def table(self, name: str) -> list[dict[str, str]]:
        """Rows of a TSV file."""
        head, *rows = [line.split("\t") for line in (self.results / name).read_text().splitlines()]
        return [dict(zip(head, row, strict=True)) for row in rows]

    def json(self, name: str) -> Any:
        """Content of a JSON file."""
        return json.loads((self.results / name).read_text())


@pytest.fixture
def bench(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A folder with the policies of ``tests.fakes`` in ``mine.py``."""
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{pytester.path}")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    pytester.makeconftest(CONFTEST)
    Path(pytester.path, "mine.py").write_text(POLICIES)
    return Bench(pytester)
