"""What a rulebook says about one episode."""

from pydantic import BaseModel, ConfigDict


class StageResult(BaseModel):
    """A stage and the policy step (from 1) at which it was completed, if it was."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    completed_at: int | None = None
    required: bool = True


class ScoreCard(BaseModel):
    """Scores of one episode under one rulebook.

    Attributes:
        rules: name and version of the rulebook, e.g. ``guide@1``.
        stages: in order.
        stage_score: completed required stages in percent.
        stage_success: whether all required stages are completed and nothing spoilt them.
        failure_reason: why not, in a word; empty when it succeeded.
        cut_short: whether the episode ended before this rulebook would have stopped watching.
        details: figures that only this rulebook has (plain numbers, booleans and words).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    rules: str
    stages: tuple[StageResult, ...]
    stage_score: float
    stage_success: bool
    failure_reason: str = ""
    cut_short: bool = False
    details: dict[str, int | float | bool | str | None] = {}
