"""Where the packaged tasks, scenes and prompts lie on disk."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def resource_dir(name: str) -> Path:
    """Folder of packaged data: ``tasks``, ``bddl`` or ``prompts``.

    In a wheel the folders lie inside the package; in a source tree they lie beside it.

    Raises:
        FileNotFoundError: neither place has the folder (a broken installation).
    """
    for candidate in (_PACKAGE / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(
        f"pytest-robomem is installed without its '{name}' folder: reinstall the package"
    )
