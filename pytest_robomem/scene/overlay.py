"""What the benchmark's scenes have and stock LIBERO lacks.

Everything is applied in memory, on subclasses and on parsed XML; the installed packages stay as
they are. Each difference and its source: ``docs/scenes.md``.
"""

import pdb
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import libero.libero.envs.bddl_utils as libero_bddl
from libero.libero.envs import TASK_MAPPING
from libero.libero.envs.objects import get_object_fn
from libero.libero.envs.objects.articulated_objects import WoodenCabinet
from libero.libero.envs.regions import InSiteRegionRandomSampler
from robosuite.utils.binding_utils import MjSim
from robosuite.utils.errors import RandomizationError

from pytest_robomem.scene.bddl import SceneDescription
from pytest_robomem.scene.compiled_scene import CompiledScene

PROBLEM_NAME = "libero_coffee_table_manipulation"
AGENTVIEW_POSITION = (1.2879197620252157, 0.0, 1.6155250360558634)  # m
AGENTVIEW_QUATERNION = (  # w x y z
    0.6380177736282349,
    0.3048497438430786,
    0.30484986305236816,
    0.6380177736282349,
)
TABLE_TEXTURE = ("Marble062_COL_4K.png", "martin_novak_wood_table.png")  # stock, benchmark
SPAWN_ON_ORIGIN = frozenset({"cookies", "popcorn", "plate", "white_bowl"})  # bottom_site z = 0
PLACED_MODEL_FIELDS = ("body_pos", "body_quat", "site_rgba")  # what placing writes to the model
CABINET_RAISE = 0.05  # m, height of the block under the tall cabinet
_PLINTH = {
    "type": "box",
    "pos": "0.004 0.016 0.025",
    "size": "0.12534 0.09438 0.025",
    "contype": "0",
    "conaffinity": "0",
    "group": "1",
    "material": "wooden_cabinet_base",
    "density": "100",
    "friction": "0.95 0.3 0.1",
    "solref": "0.001 1",
    "solimp": "0.998 0.998 0.001",
}
_LOWERED_WALLS = 5  # the first five collision boxes of the base reach down to the table


class WoodenCabinetTallBottom(WoodenCabinet):  # type: ignore[misc]
    """The wooden cabinet on a block: drawers 5 cm higher, walls lengthened down to the table."""

    def __init__(self, name: str, joints: Any = None) -> None:
        super().__init__(name=name, obj_name="wooden_cabinet", joints=joints)

    def _get_object_subtree(self) -> ET.Element:
        _raise_cabinet(self.root)
        return super()._get_object_subtree()  # type: ignore[no-any-return]


def _raise_cabinet(root: ET.Element) -> None:
    compiler = root.find("compiler")
    base = root.find(".//body[@name='base']")
    if compiler is None or base is None:
        raise ValueError("the installed wooden_cabinet.xml has another structure than expected")
    compiler.set("autolimits", "true")
    for drawer in ("cabinet_top", "cabinet_middle", "cabinet_bottom"):
        _shift(_only(base, f"body[@name='{drawer}']"), CABINET_RAISE)
    _shift(_only(base, "site[@name='top_side']"), CABINET_RAISE)
    visual = _only(base, "geom[@mesh='wooden_cabinet_base_vis']")
    _shift(visual, CABINET_RAISE)
    boxes = [geom for geom in base.findall("geom") if geom.get("type") == "box"]
    for number, box in enumerate(boxes):
        _shift(box, -CABINET_RAISE if number < _LOWERED_WALLS else CABINET_RAISE)
    base.insert(list(base).index(visual) + 1, ET.Element("geom", _PLINTH))


def _only(parent: ET.Element, path: str) -> ET.Element:
    found = parent.find(path)
    if found is None:
        raise ValueError(f"the installed wooden_cabinet.xml has no {path}")
    return found


def _shift(element: ET.Element, height: float) -> None:
    x, y, z = (float(value) for value in element.get("pos", "0 0 0").split())
    element.set("pos", f"{x!r} {y!r} {z + height!r}")


class _RegionSampler(InSiteRegionRandomSampler):  # type: ignore[misc]
    """Stock opens a debugger when an object finds no free place; here it is an error."""

    def sample(self, *args: Any, **kwargs: Any) -> Any:
        no_room = RandomizationError("no free place in the region")
        with patch.object(pdb, "set_trace", side_effect=no_room):
            return super().sample(*args, **kwargs)


def _fixture_factory(category: str) -> Callable[..., Any]:
    if category == "wooden_cabinet_tall_bottom":
        return WoodenCabinetTallBottom
    factory: Callable[..., Any] = get_object_fn(category)
    return factory


def _movable_object(category: str, name: str) -> Any:
    built = get_object_fn(category)(name=name)
    if category in SPAWN_ON_ORIGIN:
        site = built.worldbody.find(f"./body/site[@name='{built.naming_prefix}bottom_site']")
        x, y, _ = site.get("pos").split()
        site.set("pos", f"{x} {y} 0.0")
    return built


class CoffeeTableScene(TASK_MAPPING[PROBLEM_NAME]):  # type: ignore[misc]
    """LIBERO's coffee-table environment with the benchmark's differences.

    Args:
        description: the parsed scene file.
        environment: arguments of robosuite's environment.

    Attributes:
        compiled: the model that the simulation runs on.
        unplaced_model: model fields as compiled, before the first placement overwrote them.
    """

    def __init__(self, description: SceneDescription, **environment: Any) -> None:
        with patch.object(
            libero_bddl, "robosuite_parse_problem", lambda _path: description.libero_problem()
        ):
            super().__init__(str(description.source), **environment)

    def _assert_problem_name(self) -> None:
        if self.parsed_problem["problem_name"] != PROBLEM_NAME:
            raise ValueError(
                f"{self.bddl_file_name}: problem {self.parsed_problem['problem_name']!r} is not "
                f"supported; scenes must be {PROBLEM_NAME}"
            )

    def _load_fixtures_in_arena(self, mujoco_arena: Any) -> None:
        for category, names in self.parsed_problem["fixtures"].items():
            if category == "coffee_table":
                continue
            for name in names:
                self.fixtures_dict[name] = _fixture_factory(category)(name=name, joints=None)

    def _load_objects_in_arena(self, mujoco_arena: Any) -> None:
        for category, names in self.parsed_problem["objects"].items():
            for name in names:
                self.objects_dict[name] = _movable_object(category, name)

    def _setup_camera(self, mujoco_arena: Any) -> None:
        super()._setup_camera(mujoco_arena)
        mujoco_arena.set_camera(
            camera_name="agentview", pos=AGENTVIEW_POSITION, quat=AGENTVIEW_QUATERNION
        )
        stock, ours = TABLE_TEXTURE
        for texture in mujoco_arena.asset.findall("texture"):
            file_name = texture.get("file") or ""
            if file_name.endswith(stock):
                folder = file_name.removesuffix(f"short_coffee_table/{stock}")
                texture.set("file", f"{folder}../textures/{ours}")

    def _add_placement_initializer(self) -> None:
        super()._add_placement_initializer()
        for sampler, arguments in zip(
            self.conditional_placement_initializer.samplers.values(),
            self.conditional_placement_initializer.sample_args.values(),
            strict=True,
        ):
            if isinstance(sampler, InSiteRegionRandomSampler):
                half_size = self.object_sites_dict[arguments["site_name"]].size
                sampler.__class__ = _RegionSampler
                sampler.x_ranges = [[-half_size[0] / 2, half_size[0] / 2]]
                sampler.y_ranges = [[-half_size[1] / 2, half_size[1] / 2]]

    def _initialize_sim(self, xml_string: str | None = None) -> None:
        def load(xml: str) -> Any:
            self.compiled = CompiledScene(xml)
            return MjSim(self.compiled.model)

        with patch.object(MjSim, "from_xml_string", load):
            super()._initialize_sim(xml_string)
        self.unplaced_model = {
            name: getattr(self.sim.model._model, name).copy() for name in PLACED_MODEL_FIELDS
        }

    def _destroy_sim(self) -> None:
        """Stock sweeps the whole process for garbage here, for longer than a scene takes to load.

        What is heavy does not wait for that: the model goes with its last reference.
        """
        self.sim: Any = None

    def reward(self, action: Any = None) -> float:
        """Always 0: scoring is done outside the environment."""
        return 0.0

    def _check_success(self) -> bool:
        return False
