"""Policies that must not pass: negative controls of the rulebooks.

``hold``, ``random``, ``wiggle``, ``sweep`` and ``shake`` do nothing of what a task asks; ``skip``,
``swap`` and ``extra`` are the expert with one fault.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from pytest_robomem.policies.expert import programs
from pytest_robomem.policies.expert.grasp import facing_down
from pytest_robomem.policies.expert.handling import DroppedError, holding_on, pick, travel
from pytest_robomem.policies.expert.layout import UP
from pytest_robomem.policies.expert.motion import (
    CLOSED,
    OPEN,
    Arm,
    Motion,
    move,
    stay,
    turned,
)
from pytest_robomem.policies.expert.policy import STAND_STILL, Expert, ScriptedPolicy
from pytest_robomem.policies.expert.programs import PROGRAMS, Program, Step

Script = Callable[[Arm, int, int], Motion[None]]

WIGGLE_ANGLE = 1.0  # rad: more than three times what the public gripper pour asks for
WIGGLE_SPOT = np.array([0.0, 0.0, 0.68])  # m: free air over the table's middle
SWEEP_HEIGHT, SWEEP_HALF_WIDTH = 0.45, 0.40  # m: into the objects; across the arm's reach
SWEEP_LANES = (-0.10, 0.0, 0.10, 0.20)  # m, world x
SHAKE_HEIGHT = 0.68  # m of the grip site
SHAKE_ANGLE = 0.5  # rad: the public rules count from 0.15, a real pour starts at 0.79
SHAKE_WAY = 0.04  # m
SHAKE_STEPS = 10  # per swing

# Where a policy that does not look would put things that depend on what the drawers hold.
BLIND_GUESS = {"occupied": "top", "empty": "middle", "another": "middle"}


class UnknownControlError(LookupError):
    """There is no control of that name."""


def build_control(name: str) -> ScriptedPolicy:
    """A control by its name, as in ``--policy=control:NAME``.

    Raises:
        UnknownControlError: the name is not one of ``CONTROLS``.
    """
    if name in _SCRIPTS:
        return _Control(_SCRIPTS[name])
    if name in _FAULTS:
        return _FaultyExpert(_FAULTS[name])
    raise UnknownControlError(f"no control {name!r}; there are: {', '.join(CONTROLS)}")


class _Control(ScriptedPolicy):
    def __init__(self, script: Script) -> None:
        super().__init__()
        self._script = script

    def script(self, arm: Arm, task_id: int, seed: int) -> Motion[None]:
        return self._script(arm, task_id, seed)


class _FaultyExpert(Expert):
    def __init__(self, fault: Callable[[Program], Program]) -> None:
        super().__init__()
        self._fault = fault

    def program(self, task_id: int) -> Program:
        return self._fault(PROGRAMS[task_id])


def _hold(arm: Arm, task_id: int, seed: int) -> Motion[None]:  # noqa: ARG001 - a script's signature
    """Stand still."""
    while True:
        yield np.array(STAND_STILL)


def _random(arm: Arm, task_id: int, seed: int) -> Motion[None]:  # noqa: ARG001
    """Uniformly random actions; the same ones for the same task and seed."""
    generator = np.random.default_rng([task_id, seed])
    while True:
        yield generator.uniform(-1.0, 1.0, size=7)


def _wiggle(arm: Arm, task_id: int, seed: int) -> Motion[None]:  # noqa: ARG001
    """Tilt the empty hand to and fro, as in a pour."""
    arm.gripper = CLOSED
    axis = np.array([1.0, 0.0, 0.0])
    upright = facing_down(np.array([0.0, 1.0, 0.0]), WIGGLE_SPOT, reach=False)
    while True:
        yield from move(arm, WIGGLE_SPOT, turned(upright, axis, WIGGLE_ANGLE), limit=60)
        yield from stay(arm, SHAKE_STEPS)
        yield from move(arm, WIGGLE_SPOT, upright, limit=60)
        yield from stay(arm, SHAKE_STEPS)


def _sweep(arm: Arm, task_id: int, seed: int) -> Motion[None]:  # noqa: ARG001
    """Sweep the closed hand over the table, through whatever stands there."""
    arm.gripper = CLOSED
    side = -SWEEP_HALF_WIDTH
    while True:
        for lane in SWEEP_LANES:
            for end in (side, -side):
                spot = np.array([lane, end, SWEEP_HEIGHT])
                yield from move(arm, spot, facing_down(np.array([0.0, 1.0, 0.0]), spot))
            side = -side
        yield from stay(arm, 1)


def _shake(arm: Arm, task_id: int, seed: int) -> Motion[None]:  # noqa: ARG001
    """Hold the task's first object and shake it, over what should be poured on if there is any."""
    program = PROGRAMS[task_id]
    pour = next((step for step in program if isinstance(step, programs.Pour)), None)
    name = pour.name if pour else _objects(program)[0]
    while True:
        try:
            yield from pick(arm, name)
            spot = arm.position
            if pour:
                spot[:2] = arm.view.body_position(pour.over)[:2]
            spot[2] = SHAKE_HEIGHT
            upright = arm.rotation
            yield from holding_on(arm, travel(arm, spot, upright, tolerance=0.02))
            while True:
                for swing in (1.0, 0.0, -1.0, 0.0):
                    place = spot + UP * (SHAKE_WAY * swing)
                    turn = turned(upright, np.array([1.0, 0.0, 0.0]), SHAKE_ANGLE * swing)
                    yield from holding_on(arm, move(arm, place, turn, limit=SHAKE_STEPS))
                    yield from holding_on(arm, stay(arm, 1))
        except DroppedError:
            arm.gripper = OPEN
            yield from stay(arm, SHAKE_STEPS)


def _objects(program: Sequence[Step]) -> list[str]:
    """Objects that a program handles, in order."""
    found: list[str] = []
    for step in program:
        if isinstance(step, programs.RowOntoCabinet):
            found.extend(step.names)
        elif not isinstance(step, _FIXTURE_STEPS):
            found.append(step.name)
    return found


_FIXTURE_STEPS = (
    programs.CheckDrawers,
    programs.OpenDrawer,
    programs.CloseDrawer,
    programs.OpenMicrowave,
    programs.CloseMicrowave,
)


def without_last(program: Program) -> Program:
    """Leave out the last thing that the prompt asks for.

    Putting a bottle back is not asked for, so there the last pour is left out.
    """
    steps = list(program)
    last = max(
        index for index, step in enumerate(steps) if not isinstance(step, programs.BackToStart)
    )
    step = steps[last]
    if isinstance(step, programs.Pour):
        steps[last] = replace(step, times=step.times - 1)
    elif isinstance(step, programs.RowOntoCabinet):
        steps[last] = replace(step, names=step.names[:-1])
    else:
        del steps[last]
    return tuple(steps)


def in_wrong_order(program: Program) -> Program:  # noqa: PLR0911 - one per kind of program
    """Do the things that the prompt asks for in another order.

    Where it states none, nothing is wrong with another order; there the places are exchanged: the
    drawers, or the first cabinet or plate for the second.
    """
    first = program[0]
    if isinstance(first, programs.CheckDrawers):
        return (*_without_looking(program[1:]), first)  # look after, not before
    if isinstance(first, _CARRIED_OVER):
        return tuple(_back_where_it_came_from(step) for step in program)
    if isinstance(first, programs.OpenDrawer) and len(program) == 6:
        return _with_exchanged_objects(program)
    if isinstance(first, programs.OpenDrawer | programs.OpenMicrowave):
        return (first, program[2], program[1], program[3])
    if isinstance(first, programs.IntoPan):
        return (*program[1:], first)  # pour before there is anything in the pan
    if isinstance(first, programs.Pour):
        if len(program) > 2:
            return (*program[2:], *program[:2])  # the microwave first
        if isinstance(program[1], programs.IntoDrainer):
            return (program[1], first)
        return (replace(first, over=first.name), program[1])  # pour where the bottle stands
    return (program[1], program[0])


_CARRIED_OVER = (programs.OntoPlate, programs.OntoCabinet, programs.RowOntoCabinet)


def _back_where_it_came_from(step: Step) -> Step:
    """Onto the first cabinet or plate instead of the second."""
    if isinstance(step, programs.OntoPlate):
        return replace(step, plate=step.plate.replace("_2", "_1"))
    if isinstance(step, programs.OntoCabinet | programs.RowOntoCabinet):
        return replace(step, cabinet=step.cabinet.replace("_2", "_1"))
    return step


def _with_exchanged_objects(program: Program) -> Program:
    names = [step.name for step in program if isinstance(step, programs.IntoDrawer)]
    return tuple(
        replace(step, name=names.pop()) if isinstance(step, programs.IntoDrawer) else step
        for step in program
    )


def with_one_pour_more(program: Program) -> Program:
    """Pour once too often; where nothing is poured, do nothing at all."""
    if not any(isinstance(step, programs.Pour) for step in program):
        return ()
    return tuple(
        replace(step, times=step.times + 1) if isinstance(step, programs.Pour) else step
        for step in program
    )


def _without_looking(steps: Program) -> Program:
    return tuple(
        replace(step, drawer=BLIND_GUESS.get(step.drawer, step.drawer))
        if isinstance(step, programs.OpenDrawer)
        else step
        for step in steps
    )


_SCRIPTS: dict[str, Script] = {
    "hold": _hold,
    "random": _random,
    "wiggle": _wiggle,
    "sweep": _sweep,
    "shake": _shake,
}
_FAULTS: dict[str, Callable[[Program], Program]] = {
    "skip": without_last,
    "swap": in_wrong_order,
    "extra": with_one_pour_more,
}
CONTROLS = (*_SCRIPTS, *_FAULTS)
