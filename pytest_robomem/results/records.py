"""What is known of one episode, in the form in which it travels and is stored."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, NonNegativeInt

from pytest_robomem.results.cards import ScoreCard

SCHEMA_VERSION = 1

Status = Literal["passed", "failed", "error"]
Success = Literal["stages", "goal", "both"]


class EpisodeFailedError(AssertionError):
    """An episode did not reach what was asked; the message says what is missing."""


class GoalResult(BaseModel):
    """Whether the scene's goal held at the end, and when it held first (policy step from 1)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    final: bool
    first_step: int | None = None

    @property
    def ever(self) -> bool:
        """Whether the goal held after any step."""
        return self.first_step is not None


class WallTimes(BaseModel):
    """Seconds spent on parts of an episode."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    build: float = 0.0
    reset: float = 0.0
    policy: float = 0.0
    physics: float = 0.0
    render: float = 0.0
    scoring: float = 0.0
    total: float = 0.0


class ReplayComparison(BaseModel):
    """How far a replayed episode is from the recorded one.

    Attributes:
        exact: same length, and every joint value of every step the same, bit for bit.
        recorded_steps: length of the recording.
        replayed_steps: steps that were replayed and compared.
        largest_joint_difference: over all joint values and compared steps, m, rad or, for
            orientations, quaternion components; ``None`` where states cannot be compared.
        largest_at_step: where it is (0 is the settled scene).
        first_difference_at_step: first step with a joint value that is off by more than 1e-9.
        final_object_distance: of the object that ends farthest from its recorded place, m.
        final_object: its name.
        differing_cards: rulebooks with the same rules whose score card is another one; ``None``
            where the recording has no cards.
        differing_versions: what differs among versions, stepper and rules: recorded, and now.
        note: why something could not be compared.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    exact: bool
    recorded_steps: int
    replayed_steps: int
    largest_joint_difference: float | None = None
    largest_at_step: int | None = None
    first_difference_at_step: int | None = None
    final_object_distance: float | None = None
    final_object: str = ""
    differing_cards: tuple[str, ...] | None = None
    differing_versions: dict[str, tuple[str, str]] = {}
    note: str = ""


class EpisodeResult(BaseModel):
    """Result of one episode.

    Attributes:
        schema_version: of this record.
        node_id: pytest's id of the item.
        task_id: 1 to 26, or the name of a task of the user's own.
        task_name: name of the test function, without ``test_``.
        status: outcome of the test; ``error`` means that the episode could not be evaluated.
        rules: version of the rulebook that decided.
        success: what had to be reached.
        cards: score cards by rulebook name; the first decided.
        rules_hashes: fingerprint of every rulebook's constants; different ones must not be mixed.
        rules_max_steps: steps after which each rulebook would have ended the episode.
        unfair_start: what was broken in the scene before the first action; the episode cannot be
            held against any policy.
        goal: the scene's goal; ``None`` if the episode was an error.
        steps: policy steps taken, the settling steps left out.
        failure_reason: in a word, machine-readable; empty for success.
        message: for people: what is missing and how far it was, or what went wrong.
        clipped_values: components of actions outside [-1, 1], which the controller clips.
        initial_state_sha256: of the joint state and the fixtures' poses right after the reset.
        policy: specification of the policy.
        settings: step limits that applied, sizes of the prepared images (``native_image_size``,
            height x width, if the policy had them rendered so), and the wording of the prompt.
        versions: of the packages that decide the states.
        replay: how far the episode is from the one that it replays, if it replays one.
        repeat: command that runs this one episode again.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: int = SCHEMA_VERSION
    node_id: str
    task_id: int | str
    task_name: str
    family: str = ""
    memory: tuple[str, ...] = ()
    seed: NonNegativeInt
    prompt: str
    status: Status
    rules: str
    success: Success
    cards: dict[str, ScoreCard] = {}
    rules_hashes: dict[str, str] = {}
    rules_max_steps: dict[str, int] = {}
    unfair_start: tuple[str, ...] = ()
    goal: GoalResult | None = None
    steps: int = 0
    failure_reason: str = ""
    message: str = ""
    clipped_values: int = 0
    initial_state_sha256: str = ""
    policy: str = ""
    settings: dict[str, int | str] = {}
    wall_times: WallTimes = WallTimes()
    stepper: str = ""
    gl_renderer: str = ""
    versions: dict[str, str] = {}
    videos: tuple[str, ...] = ()
    trajectory: str = ""
    replay: ReplayComparison | None = None
    repeat: str = ""

    @property
    def deciding_card(self) -> ScoreCard | None:
        """Card of the rulebook that decided; ``None`` for an episode that was an error."""
        return next(iter(self.cards.values()), None)

    @property
    def stage_score(self) -> float:
        """Completed stages in percent under the deciding rulebook."""
        return self.deciding_card.stage_score if self.deciding_card else 0.0

    @property
    def stage_success(self) -> bool:
        """Whether all stages were completed under the deciding rulebook."""
        return bool(self.deciding_card and self.deciding_card.stage_success)

    @property
    def goal_success(self) -> bool:
        """Whether the scene's goal held at the end."""
        return bool(self.goal and self.goal.final)

    @property
    def succeeded(self) -> bool:
        """Whether the episode reached what was asked."""
        return reached(self.success, stages=self.stage_success, goal=self.goal_success)

    def require_success(self) -> None:
        """Fail the test unless the episode reached what was asked.

        Raises:
            EpisodeFailedError: it did not; the message says what is missing and how far it was.
        """
        __tracebackhide__ = True
        if not self.succeeded:
            raise EpisodeFailedError(self.message)

    def to_builtins(self) -> dict[str, Any]:
        """Plain builtins, fit for JSON and for the channel between pytest's processes."""
        return self.model_dump(mode="json")


def reached(success: Success, *, stages: bool, goal: bool) -> bool:
    """Whether an episode with these results reached what ``success`` asks."""
    return {"stages": stages, "goal": goal, "both": stages and goal}[success]
