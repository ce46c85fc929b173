"""Compiles a scene in a process of its own: ``python -m pytest_robomem.scene.compile_scene``.

Compiling takes about 1 GB, which MuJoCo's asset cache keeps as long as the process lives; a worker
that only loads the result never sees it. Imports little, since every scene starts it once.
"""

import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

DIFFERENT = 3  # exit code: without textures, more than the textures changes
# The signature is of the specification that a model was compiled from; a loaded one has none.
_TEXTURE_FIELDS = ("tex_", "ntex", "npaths", "paths", "nbuffer", "signature")
_ONE_PIXEL = {"builtin": "flat", "rgb1": "0 0 0", "width": "1"}


def without_textures(xml: str) -> str:
    """The scene with one-pixel textures: same names, same order, same materials."""
    root = ET.fromstring(xml)
    for texture in root.iter("texture"):
        flat = texture.get("type", "cube") == "2d"
        for attribute in set(texture.attrib) - {"name", "type"}:
            del texture.attrib[attribute]
        for attribute, value in _ONE_PIXEL.items():
            texture.set(attribute, value)
        texture.set("height", "1" if flat else "6")  # a cube has six sides
    return ET.tostring(root, encoding="unicode")


def differences(model: Any, other: Any) -> list[str]:
    """Names of the fields, textures aside, in which two models differ."""
    return [
        name
        for name in dir(model)
        if not name.startswith(("_", *_TEXTURE_FIELDS))
        and _content(getattr(model, name)) != _content(getattr(other, name))
    ]


def _content(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    if isinstance(value, int | float | str | bytes):
        return value
    if isinstance(value, mujoco.MjOption | mujoco.MjStatistic):
        return _content_of_fields(value)
    return None  # methods, and visual settings, which are made of further structures


def _content_of_fields(structure: Any) -> list[Any]:
    return [_content(getattr(structure, name)) for name in dir(structure) if name[0] != "_"]


def main(arguments: list[str]) -> int:
    """Compile.

    Args:
        arguments: the MJCF file, then ``physics`` or ``full``, then the MJB file to write.
    """
    source, kind, target = arguments
    xml = Path(source).read_text(encoding="utf-8")
    model = mujoco.MjModel.from_xml_string(xml)
    if kind == "physics":
        physics = mujoco.MjModel.from_xml_string(without_textures(xml))
        if differences(model, physics):
            return DIFFERENT
        model = physics
    mujoco.mj_saveModel(model, target, None)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
