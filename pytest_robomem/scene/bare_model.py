"""A scene's model without what only images need: textures, and meshes that touch nothing.

Nine tenths of a compiled scene are these. The bare model is compiled from the same scene with
one-pixel textures and a small tetrahedron for every mesh that cannot collide; whatever MuJoCo
derives from a mesh's shape (masses, extents, the geoms' own frames) is then taken over from the
whole model, so that nothing but textures and the meshes' own points is missing.
"""

import xml.etree.ElementTree as ET
from collections.abc import Collection
from typing import Any

import mujoco
import numpy as np

# The signature is of the specification that a model was compiled from; a loaded one has none.
_TEXTURE_FIELDS = ("tex_", "ntex", "npaths", "paths", "nbuffer", "signature")
_MESH_SIZES = ("nmesh", "nbvh", "noct")  # numbers of points, faces and boxes
_MESH_POINTS = ("mesh_", "bvh_", "oct_")
_KEPT_OF_MESHES = frozenset({"nmesh", "mesh_pos", "mesh_quat", "mesh_scale"})
_BODY_BOXES = ("bvh_aabb", "bvh_child", "bvh_depth", "bvh_nodeid")  # of bodies first, then meshes
_ONE_PIXEL = {"builtin": "flat", "rgb1": "0 0 0", "width": "1"}
_TETRAHEDRON = {
    "vertex": "0 0 0 0.1 0 0 0 0.1 0 0 0 0.1",
    "face": "0 2 1 0 1 3 0 3 2 1 2 3",
    "scale": "1 1 1",
}
_TETRAHEDRON_TEXTURE = {"texcoord": "0 0 1 0 0 1 1 1"}


class BareModelError(RuntimeError):
    """More than textures and points of meshes would be missing."""


def bare_model(xml: str, whole: Any) -> Any:
    """Compile a scene without what only images need.

    Args:
        xml: MJCF of the scene.
        whole: ``mujoco.MjModel`` compiled from it.

    Raises:
        BareModelError: the result would not simulate like the whole model.
    """
    bare = mujoco.MjModel.from_xml_string(bare_scene(xml, whole))
    _take_over(bare, whole)
    if missing := differences(whole, bare):
        raise BareModelError(f"other than in the whole model: {', '.join(missing)}")
    return bare


def bare_scene(xml: str, whole: Any) -> str:
    """The scene with one-pixel textures and tetrahedra: same names, same order, same materials."""
    root = ET.fromstring(xml)
    for texture in root.iter("texture"):
        flat = texture.get("type", "cube") == "2d"
        _keep_only(texture, {"name", "type"})
        texture.attrib.update(_ONE_PIXEL, height="1" if flat else "6")  # a cube has six sides
    colliding = {whole.mesh(number).name for number in colliding_meshes(whole)}
    for mesh in root.iter("mesh"):
        name = mesh.get("name")
        if name is None or name in colliding or _only_default(whole, name):
            continue
        textured = whole.mesh_texcoordadr[whole.mesh(name).id] >= 0
        _keep_only(mesh, {"name", "class"})
        mesh.attrib.update(_TETRAHEDRON, **(_TETRAHEDRON_TEXTURE if textured else {}))
    return ET.tostring(root, encoding="unicode")


def _keep_only(element: ET.Element, kept: Collection[str]) -> None:
    for attribute in set(element.attrib) - set(kept):
        del element.attrib[attribute]


def _only_default(whole: Any, name: str) -> bool:
    """Whether an element of that name sets defaults and is no mesh of the model."""
    return bool(mujoco.mj_name2id(whole, mujoco.mjtObj.mjOBJ_MESH, name) < 0)


def colliding_meshes(model: Any) -> list[int]:
    """Numbers of the meshes whose points matter to the physics."""
    touches = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    for geoms in (model.pair_geom1, model.pair_geom2):
        touches[geoms] = True
    return sorted({int(mesh) for mesh in model.geom_dataid[touches] if mesh >= 0})


def _take_over(bare: Any, whole: Any) -> None:
    """Copy whatever the shapes of the missing meshes have changed."""
    for name in dir(whole):
        ours, theirs = getattr(bare, name), getattr(whole, name)
        if name.startswith(("_", *_TEXTURE_FIELDS)) or _of_meshes(name):
            continue
        if isinstance(theirs, np.ndarray) and ours.shape == theirs.shape:
            ours[...] = theirs
    for name in (name for name in dir(whole.stat) if not name.startswith("_")):
        value = getattr(whole.stat, name)
        if isinstance(value, float | int | np.ndarray):
            setattr(bare.stat, name, value)
    boxes = _boxes_of_bodies(whole)
    if boxes == _boxes_of_bodies(bare):
        for name in _BODY_BOXES:
            if hasattr(whole, name):
                getattr(bare, name)[:boxes] = getattr(whole, name)[:boxes]


def _boxes_of_bodies(model: Any) -> int:
    return int(model.body_bvhnum.sum())


def _of_meshes(name: str) -> bool:
    return name.startswith((*_MESH_SIZES, *_MESH_POINTS)) and name not in _KEPT_OF_MESHES


def differences(whole: Any, bare: Any) -> list[str]:
    """Names of what differs between two models and is neither a texture nor a mere surface."""
    fields = [
        name
        for name in dir(whole)
        if not name.startswith(("_", *_TEXTURE_FIELDS))
        and not _of_meshes(name)
        and _content(getattr(whole, name)) != _content(getattr(bare, name))
    ]
    boxes = _boxes_of_bodies(whole)
    fields += [
        name
        for name in _BODY_BOXES
        if hasattr(whole, name)
        and _content(getattr(whole, name)[:boxes]) != _content(getattr(bare, name)[:boxes])
    ]
    for mesh in colliding_meshes(whole):
        if _points(whole, mesh) != _points(bare, mesh):
            fields.append(f"mesh {whole.mesh(mesh).name}")
    return fields


def _points(model: Any, mesh: int) -> list[Any]:
    """Everything that collisions read of a mesh."""
    parts = {
        "vert": ("mesh_vert", "mesh_polymapnum"),
        "face": ("mesh_face", "mesh_facenormal"),
        "normal": ("mesh_normal",),
        "poly": ("mesh_polynormal", "mesh_polyvertnum"),
    }
    found: list[Any] = [bool(model.mesh_texcoordadr[mesh] >= 0), _hull(model, mesh)]
    for part, arrays in parts.items():
        if not hasattr(model, f"mesh_{part}adr"):
            continue  # of later versions of MuJoCo
        first = int(getattr(model, f"mesh_{part}adr")[mesh])
        count = int(getattr(model, f"mesh_{part}num")[mesh])
        found += [
            _content(getattr(model, name)[first : first + count])
            for name in arrays
            if hasattr(model, name)
        ]
    return found


def _hull(model: Any, mesh: int) -> bytes:
    """The mesh's convex hull as MuJoCo's collisions walk it (mjmodel.h, ``mesh_graph``)."""
    first = int(model.mesh_graphadr[mesh])
    if first < 0:
        return b""
    vertices, faces = model.mesh_graph[first : first + 2].tolist()
    length = 2 + 3 * vertices + 6 * faces
    hull: bytes = model.mesh_graph[first : first + length].tobytes()
    return hull


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
