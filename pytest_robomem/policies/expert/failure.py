"""Why the expert gave up."""


class ExpertFailure(RuntimeError):  # noqa: N818 - the report's term: a failure of the expert
    """A skill did not reach its aim after all its tries.

    Attributes:
        skill: what was being done, as in the program, e.g. ``pick butter_1``.
        reason: what was seen, with figures.
        position: end-effector position [3] m at that moment, as a tuple.
    """

    def __init__(self, skill: str, reason: str, position: tuple[float, float, float]) -> None:
        x, y, z = position
        super().__init__(f"{skill}: {reason} (hand at {x:.3f}, {y:.3f}, {z:.3f})")
        self.skill = skill
        self.reason = reason
        self.position = position
