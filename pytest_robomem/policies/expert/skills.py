"""From the steps of a program to motions."""

from pytest_robomem.policies.expert import placing, programs
from pytest_robomem.policies.expert.motion import Arm, Motion


def perform(arm: Arm, step: programs.Step) -> Motion[None]:
    """The motion of one step of a program.

    Raises:
        ExpertFailure: the step's aim was not reached after all tries.
    """
    arm.skill = str(step)
    match step:
        case programs.IntoBasket(name, basket):
            return placing.fetch(
                arm, name, lambda arm, name: placing.into_basket(arm, name, basket), basket
            )
