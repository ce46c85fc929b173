"""Proves on all scenes that the exact stepper and the lean reset give stock's bits.

    python -m benchmarks equality --steps 500
"""

from benchmarks.measure import arguments, report, scene_files
from benchmarks.rollouts import first_difference, random_actions, rollout
from pytest_robomem.scene.model import Scene


def main() -> int:
    """Compare rollouts; the exit code says whether all are equal."""
    options = arguments(__doc__, tasks="", steps=500, seed=100)
    different, contacts = [], {}
    for path in scene_files(options.tasks):
        scene = Scene(path)
        actions = random_actions(options.steps, options.seed)
        ours = rollout(scene, "exact", options.seed, actions)
        difference = first_difference(rollout(scene, "stock", options.seed, actions), ours)
        scene.close()
        most = contacts[path.stem] = max(len(state["contacts"]) for state in ours)
        print(f"{path.stem:45} {difference or 'equal'}, up to {most} contacts", flush=True)
        if difference:
            different.append(path.stem)
    found = {"different": different, "steps": options.steps, "contacts": contacts}
    report("equality", [], options.json, **found)
    return int(bool(different))
