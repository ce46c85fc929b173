"""A privileged policy that solves every task by scripted, closed-loop skills."""

from pytest_robomem.policies.expert.failure import ExpertFailure
from pytest_robomem.policies.expert.memory import Memory
from pytest_robomem.policies.expert.policy import Expert

__all__ = ["Expert", "ExpertFailure", "Memory", "build_adapter"]


def build_adapter() -> Expert:
    """The expert, for ``--policy=expert``."""
    return Expert()
