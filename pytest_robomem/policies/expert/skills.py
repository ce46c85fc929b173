"""From the steps of a program to motions."""

from functools import partial

from pytest_robomem.policies.expert import drawers, microwave, placing, programs
from pytest_robomem.policies.expert.motion import Arm, Motion
from pytest_robomem.policies.expert.pouring import pour_over


def perform(arm: Arm, step: programs.Step) -> Motion[None]:
    """The motion of one step of a program.

    Raises:
        ExpertFailure: the step's aim was not reached after all tries.
    """
    arm.skill = str(step)
    match step:
        case programs.IntoBasket(name, basket):
            place: placing.Place = partial(placing.into_basket, basket=basket)
            return placing.fetch(arm, name, place, basket)
        case programs.OntoPlate(name, plate, part, parts):
            place = partial(placing.onto_plate, plate=plate, part=part, parts=parts)
            return placing.fetch(arm, name, place, plate)
        case programs.OntoCabinet(name, cabinet, part, parts):
            place = partial(placing.onto_cabinet, cabinet=cabinet, part=part, parts=parts)
            return placing.fetch(arm, name, place, cabinet)
        case programs.RowOntoCabinet(names, cabinet):
            return placing.row_onto_cabinet(arm, names, cabinet)
        case programs.IntoPan(name, pan):
            return placing.fetch(arm, name, partial(placing.into_pan, pan=pan), pan)
        case programs.IntoDrainer(name, drainer):
            place = partial(placing.into_drainer, drainer=drainer)
            return placing.fetch(arm, name, place, drainer)
        case programs.BackToStart(name):
            return placing.fetch(arm, name, placing.back_to_start, "start")
        case programs.Pour(name, over, times):
            return pour_over(arm, name, over, times)
        case programs.CheckDrawers(cabinet):
            return drawers.check_drawers(arm, cabinet)
        case programs.OpenDrawer(cabinet, drawer):
            return drawers.open_drawer(arm, cabinet, drawer)
        case programs.IntoDrawer(name, cabinet):
            place = partial(drawers.into_drawer, cabinet=cabinet)
            return placing.fetch(arm, name, place, f"{cabinet}'s {arm.memory.open_drawer} drawer")
        case programs.CloseDrawer(cabinet):
            return drawers.close_drawer(arm, cabinet)
        case programs.OpenMicrowave(oven):
            return microwave.open_microwave(arm, oven)
        case programs.IntoMicrowave(name, oven):
            place = partial(microwave.into_microwave, microwave=oven)
            return placing.fetch(arm, name, place, oven)
        case programs.CloseMicrowave(oven):
            return microwave.close_microwave(arm, oven)
