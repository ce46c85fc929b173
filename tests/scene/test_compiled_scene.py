"""Compiled scenes in the cache: small, equal, and made anew when anything is wrong with them."""

from collections.abc import Iterator
from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.spatial import ConvexHull

from pytest_robomem.cli import main
from pytest_robomem.scene import compiled_scene
from pytest_robomem.scene.bare_model import BareModelError, bare_model, bare_scene, differences
from pytest_robomem.scene.caching import cache_folder
from pytest_robomem.scene.compiled_scene import CompiledScene

TEXTURED = """
<mujoco>
  <asset>
    <texture name="wood" type="2d" builtin="checker" rgb1="1 0 0" rgb2="0 1 0"
             width="64" height="64"/>
    <texture name="sky" type="skybox" builtin="gradient" rgb1="0 0 1" width="32" height="32"/>
    <texture name="cube" type="cube" builtin="checker" rgb1="0 0 1" width="16" height="16"/>
    <material name="board" texture="wood" texrepeat="2 2" specular="0.3"/>
    <material name="box" texture="cube"/>
  </asset>
  <worldbody>
    <geom type="plane" size="1 1 1" material="board"/>
    <body pos="0 0 1"><freejoint/><geom size="0.1" material="box" mass="0.2"/></body>
  </worldbody>
</mujoco>
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache_folder.cache_clear()
    yield tmp_path
    cache_folder.cache_clear()


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Kinds of models that child processes were asked for."""
    kinds: list[str] = []
    original = compiled_scene._compile

    def counted(xml: str, kind: str, target: Path) -> None:
        kinds.append(kind)
        original(xml, kind, target)

    monkeypatch.setattr(compiled_scene, "_compile", counted)
    return kinds


def kept(cache: Path) -> list[Path]:
    """Model files in the cache."""
    return sorted(cache.rglob("*.mjb"))


def test_only_the_textures_are_missing(cache: Path) -> None:
    """The model that is loaded differs from the whole one in nothing else."""
    scene = CompiledScene(TEXTURED)
    whole = mujoco.MjModel.from_xml_string(TEXTURED)
    assert differences(whole, scene.model) == []
    assert scene.model.ntexdata < 100 < whole.ntexdata
    np.testing.assert_array_equal(scene.model.mat_texid, whole.mat_texid)
    assert scene.whole().ntexdata == whole.ntexdata


def test_the_second_time_nothing_is_compiled(cache: Path, compiled: list[str]) -> None:
    """That is what the cache is for."""
    CompiledScene(TEXTURED)
    CompiledScene(TEXTURED)
    assert compiled == ["physics"]
    assert len(kept(cache)) == 1


def test_another_scene_is_another_file(cache: Path, compiled: list[str]) -> None:
    """A scene is known by its content."""
    CompiledScene(TEXTURED)
    heavier = CompiledScene(TEXTURED.replace('mass="0.2"', 'mass="0.3"'))
    assert heavier.model.body_mass[1] == pytest.approx(0.3)
    assert len(kept(cache)) == 2


@pytest.mark.parametrize("damage", ["cut", "bit", "foreign"])
def test_a_damaged_file_is_made_anew(cache: Path, compiled: list[str], damage: str) -> None:
    """A wrong model must never be simulated."""
    CompiledScene(TEXTURED)
    (path,) = kept(cache)
    content = path.read_bytes()
    middle = len(content) // 2
    damaged = {
        "cut": content[:middle],
        "bit": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
        "foreign": b"something else",
    }
    path.write_bytes(damaged[damage])
    again = CompiledScene(TEXTURED)
    assert compiled == ["physics", "physics"]
    assert differences(mujoco.MjModel.from_xml_string(TEXTURED), again.model) == []
    assert kept(cache)[0].read_bytes() == content


def test_changed_assets_are_seen(cache: Path, compiled: list[str], tmp_path: Path) -> None:
    """A mesh that was replaced under the same name."""
    mesh = tmp_path / "shape.obj"
    vertices = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 {height}\n"
    faces = "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    xml = (
        f'<mujoco><asset><mesh name="m" file="{mesh}"/></asset><worldbody><body><freejoint/>'
        '<geom type="mesh" mesh="m"/></body></worldbody></mujoco>'
    )
    mesh.write_text(vertices.format(height=1) + faces, encoding="utf-8")
    low = CompiledScene(xml).model.body_mass[1]
    mesh.write_text(vertices.format(height=20) + faces, encoding="utf-8")
    assert CompiledScene(xml).model.body_mass[1] == pytest.approx(20 * low)


def test_without_a_cache_the_whole_scene_is_used(
    cache: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A home folder that cannot be written costs memory and time, nothing else."""
    monkeypatch.setattr(compiled_scene, "cache_folder", lambda _kind: None)
    scene = CompiledScene(TEXTURED)
    assert compiled == []
    assert scene.whole() is scene.model
    assert scene.model.ntexdata > 100


def test_a_child_that_fails_is_replaced_by_this_process(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For example where processes cannot be started."""
    monkeypatch.setattr(compiled_scene.sys, "executable", "/bin/false")
    scene = CompiledScene(TEXTURED)
    assert scene.model.ntexdata > 100
    assert kept(cache) == []


def test_a_difference_beyond_textures_is_found() -> None:
    """What the check that guards the cache is worth."""
    whole = mujoco.MjModel.from_xml_string(TEXTURED)
    for change in (('mass="0.2"', 'mass="0.3"'), ('specular="0.3"', 'specular="0.4"')):
        other = mujoco.MjModel.from_xml_string(bare_scene(TEXTURED.replace(*change), whole))
        assert differences(whole, other) != []


def _meshes(folder: Path) -> str:
    """A table to look at, a mesh that hits it, and a body that weighs what its picture weighs."""
    generator = np.random.default_rng(0)
    for name, count in (("table", 400), ("stone", 40), ("doll", 60)):
        points = generator.normal(size=(count, 3)) * 0.1
        points = points[ConvexHull(points).vertices]
        lines = [f"v {x} {y} {z}" for x, y, z in points]
        for face in ConvexHull(points).simplices:
            first, second, third = points[face]
            outward = np.cross(second - first, third - first) @ (first - points.mean(axis=0)) > 0
            lines.append("f {} {} {}".format(*(face if outward else face[::-1]) + 1))
        (folder / f"{name}.obj").write_text("\n".join(lines), encoding="utf-8")
    return f"""
<mujoco>
  <asset>
    <mesh name="table" file="{folder}/table.obj"/>
    <mesh name="stone" file="{folder}/stone.obj" scale="0.5 0.5 0.5"/>
    <mesh name="doll" file="{folder}/doll.obj"/>
  </asset>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <geom type="mesh" mesh="table" contype="0" conaffinity="0"/>
    <body pos="0 0 0.5"><freejoint/><geom type="mesh" mesh="stone"/></body>
    <body pos="0.4 0 0.5"><freejoint/>
      <geom type="mesh" mesh="doll" contype="0" conaffinity="0"/><geom size="0.05" mass="0.1"/>
    </body>
  </worldbody>
</mujoco>
"""


def test_meshes_that_touch_nothing_are_left_out(cache: Path, tmp_path: Path) -> None:
    """And the motion stays the same to the last bit, masses from pictures included."""
    xml = _meshes(tmp_path)
    whole, bare = mujoco.MjModel.from_xml_string(xml), CompiledScene(xml).model
    assert differences(whole, bare) == []
    assert (bare.mesh("table").vertnum, bare.mesh("doll").vertnum) == (4, 4)
    assert bare.mesh("stone").vertnum == whole.mesh("stone").vertnum
    states = []
    for model in (whole, bare):
        data = mujoco.MjData(model)
        for _ in range(500):
            mujoco.mj_step(model, data)
        assert data.ncon > 1
        states.append(data.qpos.tobytes() + data.qvel.tobytes())
    assert states[0] == states[1]


def test_a_mesh_of_a_contact_pair_is_kept(tmp_path: Path) -> None:
    """It collides, although its contact bits say that it does not."""
    pair = '<contact><pair geom1="floor" geom2="picture"/></contact></mujoco>'
    xml = _meshes(tmp_path).replace("</mujoco>", pair)
    xml = xml.replace('type="plane"', 'type="plane" name="floor"')
    xml = xml.replace('mesh="doll" contype', 'mesh="doll" name="picture" contype')
    whole = mujoco.MjModel.from_xml_string(xml)
    bare = bare_model(xml, whole)
    assert bare.mesh("doll").vertnum == whole.mesh("doll").vertnum
    assert bare.mesh("table").vertnum == 4


def test_a_changed_colliding_mesh_is_found(tmp_path: Path) -> None:
    """The check that guards the cache looks at the points, too."""
    xml = _meshes(tmp_path)
    whole = mujoco.MjModel.from_xml_string(xml)
    other = mujoco.MjModel.from_xml_string(bare_scene(xml, whole))
    assert "body_mass" in differences(whole, other)  # nothing was taken over yet
    stretched = xml.replace('scale="0.5 0.5 0.5"', 'scale="0.5 0.5 0.6"')
    with pytest.raises(BareModelError, match="stone"):
        bare_model(stretched, whole)


def test_doctor_clears_the_cache(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The files are gone, of every version."""
    CompiledScene(TEXTURED)
    assert kept(cache)
    main(["doctor", "--clear-cache"])
    assert kept(cache) == []
    assert "removed" in capsys.readouterr().out
