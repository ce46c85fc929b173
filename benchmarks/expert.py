"""How often and how fast the expert solves each task, on the scenes themselves.

python benchmarks/expert.py --tasks 1,2,3 --seeds 100:105
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pytest_robomem.policies.controls import build_control
from pytest_robomem.policies.expert import build_adapter
from pytest_robomem.policies.expert.policy import ScriptedPolicy
from pytest_robomem.resources import resource_dir
from pytest_robomem.scene.model import DUMMY_ACTION, Scene
from pytest_robomem.scene.view import SimulatorView

SETTLE_STEPS = 10
MAX_STEPS = 2500
HAND_OVERLAP = -0.002  # m: deeper, an object was placed where the hand starts
AFTER_STEPS = 10  # at rest before the final state is judged
REVISIONS = ("2026-06-02", "2026-07-21")


def parse_numbers(text: str) -> list[int]:
    """``1,2,5:8`` (half open)."""
    numbers: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition(":")
        numbers.extend(range(int(first), int(last)) if last else [int(first)])
    return numbers


@dataclass
class Stages:
    """One revision's ordered stages of a task, one completed a step at most."""

    stages: list[dict[str, Any]]
    done: list[int] = field(default_factory=list)
    start: dict = field(default_factory=dict)
    since: int = 0
    tilts: list[float] = field(default_factory=list)
    records: list[tuple[float, float]] = field(default_factory=list)

    def update(self, view: SimulatorView, step: int) -> None:
        rotation = view.end_effector_rotation()
        self.tilts.append(float(np.arccos(np.clip(rotation[2, 2], -1, 1))))
        if len(self.done) == len(self.stages):
            return
        if self._holds(self.stages[len(self.done)], view):
            self.done.append(step)
            self.since = len(self.tilts)
            self.records = []

    def _holds(self, stage: dict, view: SimulatorView) -> bool:  # noqa: PLR0911, PLR0912
        kind = stage["kind"]
        if kind in ("drawer_open_abs_dy_gt", "drawer_closed_abs_dy_lt"):
            site = stage["site"]
            moved = abs(view.site_pose(site).position[1] - self.start[site])
            return moved > stage["threshold"] if "open" in kind else moved < stage["threshold"]
        if kind == "object_near_body":
            d = view.body_position(stage["object"]) - view.body_position(stage["body"])
            limit = stage.get("xy_lt", stage.get("xy_le"))
            low, high = (
                stage.get("dz_gt", stage.get("dz_ge")),
                stage.get("dz_lt", stage.get("dz_le")),
            )
            return float(np.hypot(d[0], d[1])) < limit and low < d[2] < high
        if kind == "object_near_site_radius":
            d = view.body_position(stage["object"]) - view.site_pose(stage["site"]).position
            return float(np.hypot(d[0], d[1])) < stage["xy_lt"] and abs(d[2]) < stage["abs_dz_lt"]
        if kind == "object_near_site_box":
            d = view.body_position(stage["object"]) - view.site_pose(stage["site"]).position
            return bool(
                abs(d[0]) < stage["abs_dx_lt"]
                and abs(d[1]) < stage["abs_dy_lt"]
                and stage["dz_gt"] < d[2] < stage["dz_lt"]
            )
        if kind == "object_near_site_y_window":
            d = view.body_position(stage["object"]) - view.site_pose(stage["site"]).position
            return bool(
                abs(d[0]) < stage["abs_dx_lt"]
                and stage["dy_gt"] < d[1] < stage["dy_lt"]
                and abs(d[2]) < stage["abs_dz_lt"]
            )
        if kind == "object_lifted_rel":
            return bool(
                view.body_position(stage["object"])[2] - self.start[stage["object"]][2]
                > stage["dz_gt"]
            )
        if kind == "object_returned":
            p = view.body_position(stage["object"])
            return bool(
                np.linalg.norm(p - self.start[stage["object"]]) < stage["dist3d_from_start_lt"]
                and 0 < p[2] < 0.8
            )
        if kind == "object_near_fixed_point":
            d = view.body_position(stage["object"]) - np.array(stage["point"])
            return bool(np.hypot(d[0], d[1]) < stage["xy_lt"] and abs(d[2]) < stage["abs_dz_lt"])
        if kind == "eef_tilt_range":
            window = self.tilts[self.since :]
            ok = (
                len(window) >= stage["min_samples"]
                and max(window) - min(window) > stage["tilt_range_gt"]
            )
            if "hold_angle" in stage:
                ok = ok and sum(t > stage["hold_angle"] for t in window) > stage["hold_frames"]
            return ok
        if kind == "microwave_open_abs_angle_gt":
            return abs(view.joint_position("microwave_1_microjoint")) > stage["angle_rad"]
        if kind == "microwave_closed":
            return abs(view.joint_position("microwave_1_microjoint")) < 0.15
        if kind == "object_tilt_and_return":
            target = stage["target"]
            there = (
                view.body_position(target["name"])
                if target["kind"] == "body"
                else view.site_pose(target["name"]).position
            )
            rotation, here = (
                view.body_rotation(stage["object"]),
                view.body_position(stage["object"]),
            )
            tilt = float(np.arccos(np.clip(rotation[2, 2], -1, 1)))
            self.records.append((tilt, float(np.hypot(*(here - there)[:2]))))
            if len(self.records) < stage["min_samples"]:
                return False
            base = float(np.median([t for t, _ in self.records[: stage["warmup"]]]))
            first = next(
                (i for i, (t, _) in enumerate(self.records) if abs(t - base) >= stage["move_ge"]),
                None,
            )
            if first is None:
                return False
            for j in range(first + 1, len(self.records)):
                if abs(self.records[j][0] - base) <= stage["return_le"]:
                    return any(r <= target["xy_radius_le"] for _, r in self.records[first : j + 1])
            return False
        raise ValueError(kind)


class PourWatch:
    """Counts real pours: past 45 degrees for 5 steps with the top over the target, then back."""

    def __init__(self, view: SimulatorView, pours: list[tuple[str, str]]) -> None:
        self.pours = pours
        self.up = {b: view.body_rotation(b).T @ np.array([0, 0, 1.0]) for b, _ in pours}
        self.count = {b: 0 for b, _ in pours}
        self.held = {b: 0 for b, _ in pours}
        self.tilted = {b: False for b, _ in pours}
        self.tips = {}
        self.radius = {}
        for bottle, target in pours:
            corners = view.collision_corners(bottle).reshape(-1, 3)
            local = (corners - view.body_position(bottle)) @ view.body_rotation(bottle)
            self.tips[bottle] = float((local @ self.up[bottle]).max())
            self.radius[target] = target_radius(view, target)
        self.log: list[str] = []
        self.worst = 0.0

    def update(self, view: SimulatorView) -> None:
        for bottle, target in self.pours:
            up = view.body_rotation(bottle) @ self.up[bottle]
            angle = float(np.arccos(np.clip(up[2], -1, 1)))
            top = view.body_position(bottle) + up * self.tips[bottle]
            off = float(np.hypot(*(top - view.body_position(target))[:2])) - self.radius[target]
            rim = view.collision_corners(target)[..., 2].max()
            if angle > np.pi / 4:
                good = off < 0.05 and top[2] > rim
                self.held[bottle] += good
                if self.held[bottle] >= 5:
                    self.tilted[bottle] = True
                self.worst = max(self.worst, angle)
                if angle > 1.2:
                    self.log.append(f"{off:.3f}")
            if angle < np.radians(15):
                self.held[bottle] = 0
                if self.tilted[bottle]:
                    self.count[bottle] += 1
                    self.tilted[bottle] = False


def target_radius(view: SimulatorView, target: str) -> float:
    """Half the smaller horizontal extent of the target (pan: its bowl)."""
    if "frypan" in target:
        return 0.10
    corners = view.collision_corners(target).reshape(-1, 3)
    return float((corners.max(axis=0) - corners.min(axis=0))[:2].min() / 2)


POURS = {
    6: ("tomato_sauce_1", "cookies_1"),
    7: ("tomato_sauce_1", "frypan_1"),
    8: ("tomato_sauce_1", "chocolate_pudding_1"),
    9: ("tomato_sauce_1", "butter_1"),
    10: ("wine_bottle_1", "white_yellow_mug_1"),
    15: ("milk_1", "butter_1"),
    16: ("milk_1", "red_coffee_mug_1"),
    22: ("tomato_sauce_1", "cookies_1"),
}


def in_site(view: SimulatorView, name: str, site: str, slack: float = 0.0) -> str:
    pose = view.site_pose(site)
    local = pose.rotation.T @ (view.body_position(name) - pose.position)
    if np.all(np.abs(local) <= pose.half_size + slack):
        return ""
    return f"{name} not in {site}: {np.round(local, 3)} of {np.round(pose.half_size, 3)}"


def on_plate(view: SimulatorView, name: str, plate: str) -> str:
    d = view.body_position(name) - view.body_position(plate)
    return (
        ""
        if np.hypot(d[0], d[1]) < 0.06 and 0.0 < d[2] < 0.06
        else f"{name} off {plate}: {d.round(3)}"
    )


def on_cabinet(view: SimulatorView, name: str, cabinet: str) -> str:
    pose = view.site_pose(f"{cabinet}_top_side")
    d = pose.rotation.T @ (view.body_position(name) - pose.position)
    ok = abs(d[0]) < pose.half_size[0] and abs(d[1]) < pose.half_size[1] and 0 < d[2] < 0.12
    return "" if ok else f"{name} not on {cabinet}: {d.round(3)}"


def near_body(view: SimulatorView, name: str, body: str, radius: float) -> str:
    d = view.body_position(name) - view.body_position(body)
    return (
        ""
        if np.hypot(d[0], d[1]) < radius and -0.02 < d[2] < 0.1
        else f"{name} not in {body}: {d.round(3)}"
    )


def at_start(view: SimulatorView, name: str, start: dict, radius: float) -> str:
    d = view.body_position(name) - start[name]
    return "" if np.linalg.norm(d) < radius else f"{name} not back: {d.round(3)}"


def final_problems(task: int, view: SimulatorView, start: dict) -> list[str]:  # noqa: PLR0912
    """What a careful look at the final state finds wrong."""
    found: list[str] = []
    basket = {
        1: ("cookies_1", "tomato_sauce_1"),
        2: ("butter_1", "popcorn_1"),
        3: ("cream_cheese_1", "chocolate_pudding_1"),
    }
    for name in basket.get(task, ()):
        pose = view.site_pose("basket_1_contain_region")
        d = view.body_position(name) - pose.position
        if np.abs(d[:2]).max() > 0.061 or not -0.08 < d[2] < 0.08:
            found.append(f"{name} not in basket: {d.round(3)}")
    plates = {25: ("butter_1", "cream_cheese_1"), 26: ("chocolate_pudding_1", "cream_cheese_1")}
    found += [on_plate(view, name, "plate_2") for name in plates.get(task, ())]
    tops = {
        18: ("chocolate_pudding_1", "butter_1"),
        19: ("tomato_sauce_1", "milk_1", "orange_juice_1"),
    }
    found += [on_cabinet(view, name, "wooden_cabinet_2") for name in tops.get(task, ())]
    drawers = {
        4: {"butter_1": "top"},
        5: {"butter_1": "middle"},
        11: {"cookies_1": "top", "butter_1": "middle"},
        12: {"cookies_1": "middle", "chocolate_pudding_1": "middle"},
        13: {"butter_1": "middle", "cookies_1": "middle"},
        14: {"cookies_1": "top", "chocolate_pudding_1": "middle"},
        17: {"butter_1": "middle", "chocolate_pudding_1": "middle"},
    }
    for name, drawer in drawers.get(task, {}).items():
        found.append(in_site(view, name, f"wooden_cabinet_1_{drawer}_region"))
    if task in drawers:
        for drawer in ("top", "middle", "bottom"):
            q = view.joint_position(f"wooden_cabinet_1_{drawer}_level")
            if abs(q) > 0.01:
                found.append(f"{drawer} drawer at {q:.3f}")
    oven = {
        20: ("cookies_1", "chocolate_pudding_1"),
        21: ("butter_1", "chocolate_pudding_1"),
        22: ("cookies_1",),
        23: ("cream_cheese_1", "popcorn_1"),
        24: ("cookies_1", "popcorn_1"),
    }
    for name in oven.get(task, ()):
        found.append(in_site(view, name, "microwave_1_heating_region"))
    if task in oven and abs(view.joint_position("microwave_1_microjoint")) > 0.05:
        found.append(f"door at {view.joint_position('microwave_1_microjoint'):.3f}")
    if task in (6, 7, 8, 9, 16):
        bottle = POURS[task][0]
        problems = [
            in_site(view, bottle, f"bowl_drainer_1_{side}_region") for side in ("left", "right")
        ]
        if all(problems):
            found.append(problems[0])
    pans = {8: "chocolate_pudding_1", 9: "butter_1", 15: "butter_1"}
    if task in pans:
        found.append(near_body(view, pans[task], "frypan_1", 0.08))
    if task in (10, 15, 22):
        found.append(at_start(view, POURS[task][0], start, 0.04))
    moved = [
        *basket.get(task, ()),
        *plates.get(task, ()),
        *tops.get(task, ()),
        *drawers.get(task, {}),
        *oven.get(task, ()),
    ]
    for contact in view.contacts():
        pair = {contact.first, contact.second}
        for name in moved:
            if any(p.startswith(name) for p in pair) and any(
                p.startswith("gripper0") for p in pair
            ):
                found.append(f"{name} touches the hand")
    return [problem for problem in found if problem]


def unfair(view: SimulatorView) -> str:
    """Objects off the table or cabinet before the first action."""
    low = [
        name
        for name in view.movable_objects()
        if view.body_position(name)[2] < 0.40 and name != "cookies_1"
    ]
    if low:
        return f"{low} below the table"
    for contact in view.contacts():
        pair = (contact.first, contact.second)
        if contact.distance < HAND_OVERLAP and any(name.startswith("gripper0_") for name in pair):
            return f"{pair} inside each other by {-contact.distance:.3f} m"
    return ""


def unfair_cabinet(view: SimulatorView, task: int) -> str:
    if task not in (18, 19):
        return ""
    names = {
        18: ("chocolate_pudding_1", "butter_1"),
        19: ("tomato_sauce_1", "milk_1", "orange_juice_1"),
    }[task]
    return "; ".join(filter(None, (on_cabinet(view, name, "wooden_cabinet_1") for name in names)))


def build_policy(name: str) -> ScriptedPolicy:
    if name == "expert":
        return build_adapter()
    return build_control(name.removeprefix("control:"))


def run_episode(
    scene: Scene,
    task: int,
    seed: int,
    stages: dict,
    *,
    trace: Callable | None = None,
    policy: str = "expert",
    max_steps: int = MAX_STEPS,
) -> dict:
    scene.reset(seed)
    for _ in range(SETTLE_STEPS):
        scene.step(np.array(DUMMY_ACTION))
    view = scene.view
    reason = unfair(view) or unfair_cabinet(view, task)
    if reason:
        return {"unfair": reason}
    expert = build_policy(policy)
    expert.attach_simulator(view)
    expert.reset()
    expert.episode_start(task, seed)
    start = {name: view.body_position(name) for name in view.movable_objects()}
    for name in ("top", "middle", "bottom"):
        if view.has_site(f"wooden_cabinet_1_{name}_region"):
            site = f"wooden_cabinet_1_{name}_region"
            start[site] = view.site_pose(site).position[1]
    machines = {revision: Stages(stages[revision], start=start) for revision in REVISIONS}
    pours = PourWatch(view, [POURS[task]] if task in POURS else [])
    steps = after = 0
    while steps < max_steps and after < AFTER_STEPS:
        action = expert.infer_actions({}, "", 256)[0]
        scene.step(action)
        steps += 1
        for machine in machines.values():
            machine.update(view, steps)
        pours.update(view)
        if trace:
            trace(steps, expert, action)
        after += expert.finished
    problems = final_problems(task, view, start)
    for revision, machine in machines.items():
        if len(machine.done) < len(machine.stages):
            problems.append(f"{revision}: stuck at {machine.stages[len(machine.done)]['name']}")
    problems += [f"{n} pours of {b}" for b, n in pours.count.items() if n != 2]
    if expert.failure:
        problems.append(str(expert.failure))
    return {
        "steps": steps - after,
        "problems": problems,
        "ends": expert.step_ends,
        "tip": (min(pours.log, key=float), max(pours.log, key=float)) if pours.log else "",
        "tilt": round(pours.worst, 2),
        "final": steps,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", default="1:27")
    parser.add_argument("--seeds", default="100:105")
    parser.add_argument("--stages", type=Path, required=True, help="stages.json")
    parser.add_argument("--policy", default="expert", help="expert or control:NAME")
    parser.add_argument("--max-steps", type=int, default=MAX_STEPS)
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    table = json.loads(arguments.stages.read_text())["tasks"]
    for task in parse_numbers(arguments.tasks):
        path = next(resource_dir("bddl").glob(f"{task}_*.bddl"))
        scene = Scene(path)
        good, steps, fair = 0, [], 0
        began = time.time()
        for seed in parse_numbers(arguments.seeds):
            result = run_episode(
                scene,
                task,
                seed,
                table[str(task)],
                policy=arguments.policy,
                max_steps=arguments.max_steps,
            )
            if "unfair" in result:
                print(f"  task {task} seed {seed}: unfair start: {result['unfair']}", flush=True)
                continue
            fair += 1
            good += not result["problems"]
            if not result["problems"]:
                steps.append(result["steps"])
            if result["problems"] or arguments.verbose:
                print(f"  task {task} seed {seed}: {result}", flush=True)
        mean = f"{np.mean(steps):.0f}" if steps else "-"
        print(
            f"task {task}: {good}/{fair}, mean steps {mean} "
            f"({min(steps, default=0)}-{max(steps, default=0)}), {time.time() - began:.0f} s",
            flush=True,
        )
        scene.close()


if __name__ == "__main__":
    main()
