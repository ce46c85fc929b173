"""The package as users get it."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from pytest_robomem.resources import resource_dir
from tests.golden import ROOT

HEAVY = ("h5py", "numpy", "mujoco", "robosuite", "libero", "pydantic", "cv2", "scipy", "torch")


def test_loading_the_plugin_imports_nothing_heavy() -> None:
    code = f"import sys, pytest, pytest_robomem.plugin; print({HEAVY!r} & sys.modules.keys())"
    code = code.replace(repr(HEAVY), repr(set(HEAVY)))
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert printed.stdout.strip() == "set()"


def test_the_readmes_first_command_needs_no_extra() -> None:
    """It runs in this folder, whose tests need more than the package does."""
    code = """
import sys
import pytest

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("hypothesis", "krippendorff", "openai", "pexpect", "sklearn"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
wanted = ["--policy=expert", "-m", "basket", "--collect-only", "-q"]
sys.exit(pytest.main([*wanted, "-p", "no:hypothesispytest", "-p", "no:cacheprovider"]))
"""
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "3/26 tests collected" in ran.stdout


def test_collecting_imports_no_simulator(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        "import sys\n"
        "def pytest_collection_finish(session):\n"
        "    heavy = {'mujoco', 'robosuite', 'libero', 'cv2'} & sys.modules.keys()\n"
        "    print('items', len(session.items), 'heavy', sorted(heavy))\n"
    )
    result = pytester.runpytest_subprocess("--policy=hold", "--seeds=0:50", "--co", "-q", "-s")
    result.stdout.fnmatch_lines(["items 1300 heavy []"])


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this source tree."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT],
        check=True,
        capture_output=True,
    )
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_tasks_scenes_and_prompts(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for folder in ("tasks", "bddl", "prompts"):
        sources = {
            path.relative_to(resource_dir(folder)).as_posix()
            for path in resource_dir(folder).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        prefix = f"pytest_robomem/{folder}/"
        packed = {name.removeprefix(prefix) for name in names if name.startswith(prefix)}
        assert sources == packed
    assert "pytest_robomem/py.typed" in names
    assert not [name for name in names if "__pycache__" in name]


def _link_dependencies(site_packages: Path) -> None:
    """Put this environment's dependencies into a new one, beside the wheel, as pip would.

    This package itself is left out, so that the wheel's own files are what is tested.
    """
    for folder in {sysconfig.get_path("purelib"), *sys.path}:
        if not folder.endswith("site-packages"):
            continue
        for entry in Path(folder).iterdir():
            target = site_packages / entry.name
            if "robomem" in entry.name or entry.suffix == ".pth" or target.exists():
                continue
            if entry.is_dir():
                shutil.copytree(entry, target, copy_function=_link)
            else:
                _link(str(entry), str(target))


def _link(source: str, target: str) -> None:
    """Link a file, or copy it where the folders are on different disks."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def test_the_wheel_runs_a_task_from_an_empty_folder(wheel: Path, tmp_path: Path) -> None:
    environment, empty = tmp_path / "environment", tmp_path / "empty"
    empty.mkdir()
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", wheel], check=True)
    site_packages = next((environment / "lib").glob("python*/site-packages"))
    _link_dependencies(site_packages)
    finished = subprocess.run(
        [
            *(python, "-m", "pytest", "--policy=hold", "--robomem-max-steps=5"),
            "tasks/test_plate.py::test_butter_then_cream_cheese_to_second_plate",
        ],
        cwd=empty,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 failed" in finished.stdout, finished.stdout + finished.stderr
    assert "stage 01_Place_Butter_Plate2 is missing" in finished.stdout
    where = subprocess.run(
        [python, "-c", "import pytest_robomem; print(pytest_robomem.__file__)"],
        cwd=empty,
        capture_output=True,
        text=True,
        check=True,
    )
    assert where.stdout.startswith(str(site_packages))
    assert (empty / "robomem-results" / "episodes.tsv").is_file()
