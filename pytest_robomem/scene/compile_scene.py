"""Compiles a scene in a process of its own: ``python -m pytest_robomem.scene.compile_scene``.

Compiling takes about 1 GB, which MuJoCo's asset cache keeps as long as the process lives; a worker
that only loads the result never sees it. Imports little, since every scene starts it once.
"""

import sys
from pathlib import Path

import mujoco

from pytest_robomem.scene.bare_model import BareModelError, bare_model

DIFFERENT = 3  # exit code: more than images would be missing


def main(arguments: list[str]) -> int:
    """Compile.

    Args:
        arguments: the MJCF file, then ``physics`` or ``full``, then the MJB file to write.
    """
    source, kind, target = arguments
    xml = Path(source).read_text(encoding="utf-8")
    model = mujoco.MjModel.from_xml_string(xml)
    if kind == "physics":
        try:
            model = bare_model(xml, model)
        except BareModelError as error:
            sys.stderr.write(f"{error}\n")
            return DIFFERENT
    mujoco.mj_saveModel(model, target, None)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
