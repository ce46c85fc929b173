"""Compiled scenes in the cache: small, equal, and made anew when anything is wrong with them."""

from collections.abc import Iterator
from pathlib import Path

import mujoco
import numpy as np
import pytest

from pytest_robomem.cli import main
from pytest_robomem.scene import compiled_scene
from pytest_robomem.scene.caching import cache_folder
from pytest_robomem.scene.compile_scene import differences, without_textures
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
    assert scene.textured().ntexdata == whole.ntexdata


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
    assert scene.textured() is scene.model
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
        other = mujoco.MjModel.from_xml_string(without_textures(TEXTURED.replace(*change)))
        assert differences(whole, other) != []


def test_doctor_clears_the_cache(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The files are gone, of every version."""
    CompiledScene(TEXTURED)
    assert kept(cache)
    main(["doctor", "--clear-cache"])
    assert kept(cache) == []
    assert "removed" in capsys.readouterr().out
