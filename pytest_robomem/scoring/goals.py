"""Whether a state satisfies the goal of a scene file."""

from pytest_robomem.scene.bddl import GoalTerm
from pytest_robomem.scoring.checks import Check, History, NearBody, NearSite, holds
from pytest_robomem.scoring.state import StateView, UnknownNameError

# Tolerances of revision 2026-06-29 (m), the first whose goals can be reached: inside or on a
# container by its body, inside or on a region by its site.
_BODY_TOLERANCES = {"in": (0.12, (-0.15, 0.20)), "on": (0.10, (-0.05, 0.15))}  # xy, dz
_SITE_TOLERANCES = {"in": (0.20, (-0.20, 0.20)), "on": (0.10, (-0.05, 0.15))}  # dx and dy, dz
_CONTAINER_SUFFIX = "_contain_region"


class Goal:
    """The goal of a scene, bound to the names that the scene has.

    Args:
        term: the goal as a tree of and, or, in, on.
        state: any state of the scene, to look up names.

    Raises:
        UnknownNameError: the goal names an object, container or region that does not exist.
    """

    def __init__(self, term: GoalTerm, state: StateView) -> None:
        self._term = term
        self._checks = {relation: _check(relation, state) for relation in term.relations()}

    def reached(self, state: StateView) -> bool:
        """Whether the state satisfies the goal."""
        return self._evaluate(self._term, state)

    def _evaluate(self, term: GoalTerm, state: StateView) -> bool:
        if term.operator == "and":
            return all(self._evaluate(part, state) for part in term.terms)
        if term.operator == "or":
            return any(self._evaluate(part, state) for part in term.terms)
        return holds(self._checks[term], state, _NO_HISTORY)

    def shortfall(self, state: StateView) -> str:
        """The relations that do not hold."""
        missing = [
            f"{relation.operator.capitalize()}({', '.join(relation.arguments)})"
            for relation, check in self._checks.items()
            if not holds(check, state, _NO_HISTORY)
        ]
        return ", ".join(missing)


_NO_HISTORY = History()


def _check(relation: GoalTerm, state: StateView) -> Check:
    obj, place = relation.arguments
    if not state.has_body(obj):
        raise UnknownNameError("object", obj, ())
    container = place.removesuffix(_CONTAINER_SUFFIX)
    if state.has_body(container):
        xy, dz = _BODY_TOLERANCES[relation.operator]
        return NearBody(obj, container, xy, dz, inclusive=True)
    if state.has_site(place):
        reach, dz = _SITE_TOLERANCES[relation.operator]
        window = (-reach, reach)
        return NearSite(obj, place, window, window, dz, inclusive=True)
    raise UnknownNameError("container or region", place, ())
