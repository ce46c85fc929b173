"""From the steps of a program to motions."""

from collections.abc import Callable
from functools import partial
from typing import Any

from pytest_robomem.policies.expert import drawers, microwave, placing, programs
from pytest_robomem.policies.expert.motion import Arm, Motion
from pytest_robomem.policies.expert.pouring import pour_over

Skill = Callable[[Arm, Any], Motion[None]]


def perform(arm: Arm, step: programs.Step) -> Motion[None]:
    """The motion of one step of a program.

    Raises:
        ExpertFailure: the step's aim was not reached after all tries.
    """
    arm.skill = str(step)
    return _SKILLS[type(step)](arm, step)


def _into_basket(arm: Arm, step: programs.IntoBasket) -> Motion[None]:
    place = partial(placing.into_basket, basket=step.basket)
    return placing.fetch(arm, step.name, place, step.basket)


def _onto_plate(arm: Arm, step: programs.OntoPlate) -> Motion[None]:
    place = partial(placing.onto_plate, plate=step.plate, part=step.part, parts=step.parts)
    return placing.fetch(arm, step.name, place, step.plate)


def _onto_cabinet(arm: Arm, step: programs.OntoCabinet) -> Motion[None]:
    place = partial(placing.onto_cabinet, cabinet=step.cabinet, part=step.part, parts=step.parts)
    return placing.fetch(arm, step.name, place, step.cabinet)


def _row_onto_cabinet(arm: Arm, step: programs.RowOntoCabinet) -> Motion[None]:
    return placing.row_onto_cabinet(arm, step.names, step.cabinet)


def _into_pan(arm: Arm, step: programs.IntoPan) -> Motion[None]:
    return placing.fetch(arm, step.name, partial(placing.into_pan, pan=step.pan), step.pan)


def _into_drainer(arm: Arm, step: programs.IntoDrainer) -> Motion[None]:
    place = partial(placing.into_drainer, drainer=step.drainer)
    return placing.fetch(arm, step.name, place, step.drainer)


def _back_to_start(arm: Arm, step: programs.BackToStart) -> Motion[None]:
    return placing.fetch(arm, step.name, placing.back_to_start, "start")


def _pour(arm: Arm, step: programs.Pour) -> Motion[None]:
    return pour_over(arm, step.name, step.over, step.times)


def _check_drawers(arm: Arm, step: programs.CheckDrawers) -> Motion[None]:
    return drawers.check_drawers(arm, step.cabinet)


def _open_drawer(arm: Arm, step: programs.OpenDrawer) -> Motion[None]:
    return drawers.open_drawer(arm, step.cabinet, step.drawer)


def _into_drawer(arm: Arm, step: programs.IntoDrawer) -> Motion[None]:
    place = partial(drawers.into_drawer, cabinet=step.cabinet)
    where = f"{step.cabinet} {drawers.remembered_open(arm)}"
    return placing.fetch(arm, step.name, place, where)


def _close_drawer(arm: Arm, step: programs.CloseDrawer) -> Motion[None]:
    return drawers.close_drawer(arm, step.cabinet)


def _open_microwave(arm: Arm, step: programs.OpenMicrowave) -> Motion[None]:
    return microwave.open_microwave(arm, step.microwave)


def _into_microwave(arm: Arm, step: programs.IntoMicrowave) -> Motion[None]:
    place = partial(microwave.into_microwave, microwave=step.microwave)
    return placing.fetch(arm, step.name, place, step.microwave)


def _close_microwave(arm: Arm, step: programs.CloseMicrowave) -> Motion[None]:
    return microwave.close_microwave(arm, step.microwave)


_SKILLS: dict[type[programs.Step], Skill] = {
    programs.IntoBasket: _into_basket,
    programs.OntoPlate: _onto_plate,
    programs.OntoCabinet: _onto_cabinet,
    programs.RowOntoCabinet: _row_onto_cabinet,
    programs.IntoPan: _into_pan,
    programs.IntoDrainer: _into_drainer,
    programs.BackToStart: _back_to_start,
    programs.Pour: _pour,
    programs.CheckDrawers: _check_drawers,
    programs.OpenDrawer: _open_drawer,
    programs.IntoDrawer: _into_drawer,
    programs.CloseDrawer: _close_drawer,
    programs.OpenMicrowave: _open_microwave,
    programs.IntoMicrowave: _into_microwave,
    programs.CloseMicrowave: _close_microwave,
}
