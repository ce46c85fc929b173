"""Verdict records: frozen, versioned, plain JSON inside."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from .outcomes import JudgeStatus

SCHEMA_VERSION = 1
PROPERTY = "robomem_judge"


class Record(BaseModel):
    """A frozen record that refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


class Usage(Record):
    """Tokens as the server counted them; `prompt` includes `cached`."""

    prompt: int = 0
    output: int = 0
    thinking: int = 0
    cached: int = 0
    media: int = 0

    def __add__(self, other: Usage) -> Usage:
        mine, theirs = self.model_dump(), other.model_dump()
        return Usage(**{name: mine[name] + theirs[name] for name in mine})


class Provenance(Record):
    """What a verdict rests on; enough to repeat it, and no key in it.

    `config_sha256` covers the settings that change a verdict, so that results made with other
    settings are never averaged together.
    """

    provider: str
    host: str
    api_version: str
    sdk: str
    model_requested: str
    prompts: dict[str, int]
    prompt_sha256: tuple[str, ...]
    schema_sha256: str
    media_sha256: tuple[str, ...]
    fps: float | None
    media_resolution: str | None
    media_order: str
    temperature: float | None
    seed: int | None
    thinking_budget: int | None
    max_output_tokens: int | None
    config_sha256: str
    prices_as_of: str | None


class Vote(Record):
    """One answer of the judge; `values` holds its scores by name where the status is ok."""

    index: int
    status: JudgeStatus
    reason: str = ""
    values: dict[str, int] | None = None
    text: str = ""
    model_version: str | None = None
    usage: Usage = Usage()
    cost_usd: float | None = 0.0
    attempts: int = 0
    cached: bool = False
    latency_s: float = 0.0


class Verdict(Record):
    """What all kinds of verdicts share.

    `agreement` is the share of ok votes that equal the final value (the least one over the keys),
    `flipped` says that at least one ok vote differs; both need two ok votes.
    """

    schema_version: Literal[1] = 1
    sample_id: str
    source: str
    source_path: str | None = None
    status: JudgeStatus
    reason: str = ""
    model_version: str | None = None
    votes: tuple[Vote, ...] = ()
    agreement: float | None = None
    flipped: bool | None = None
    provenance: Provenance
    warnings: tuple[str, ...] = ()

    @property
    def scored(self) -> bool:
        """Whether this verdict carries scores."""
        return self.status.scored

    @property
    def judge_label(self) -> str:
        """The model that answered (the requested one where none did) and its configuration."""
        model = self.model_version or self.provenance.model_requested
        return f"{model}@{self.provenance.config_sha256[:8]}"


class RuleApplied(Record):
    """A rule of the deterministic layer that changed a score."""

    rule: str
    before: int
    after: int


class PlanVerdict(Verdict):
    """Verdict on a plan; scores are integers 0 to 4, `success` is `score >= 3`."""

    kind: Literal["plan"] = "plan"
    group: str | None = None
    profile: str
    score_raw: int | None = None
    score: int | None = None
    success: bool | None = None
    strict_success: bool | None = None
    rules: tuple[RuleApplied, ...] = ()
    progress_conflict: bool = False
    judge_success: bool | None = None
    judge_success_differs: bool = False
    sim_success: bool
    steps_completed: int
    total_steps: int
    progress_ratio: float
    summary: str = ""
    execution_analysis: str = ""
    evaluate: str = ""


class Level(Record):
    """The taxonomy of a navigation sample; unknown parts are None."""

    floors: Literal["floor01", "floor02plus"] | None = None
    fidelity: Literal["quality03", "quality04", "quality05"] | None = None
    distance: Literal["short", "long"] | None = None
    destination: Literal["color_mark", "location_description"] | None = None


class NavigationVerdict(Verdict):
    """Verdict on a generated navigation video or image; every metric is 0 or 1.

    `metrics_raw` is what the votes said; in `metrics` a success without its oracle success is
    taken back to 0 and `inconsistent` names it. `gates` are the conjunctions.
    """

    kind: Literal["navigation"] = "navigation"
    task: str
    modality: Literal["video", "image"]
    level: Level = Level()
    model: str = ""
    attempt: int = 0
    metrics_raw: dict[str, int] | None = None
    metrics: dict[str, int] | None = None
    gates: dict[str, int] | None = None
    inconsistent: tuple[str, ...] = ()
    success: bool | None = None
    reasoning: str = ""


class StageJudgement(Record):
    """One stage of a rollout as the simulator and the judge saw it."""

    name: str
    stage_kind: str
    simulator: bool
    judge: bool | None = None


class RolloutVerdict(Verdict):
    """Verdict on the video of an episode: which stages happened."""

    kind: Literal["rollout"] = "rollout"
    group: str | None = None
    stages: tuple[StageJudgement, ...]
    reasoning: str = ""


AnyVerdict = Annotated[
    PlanVerdict | NavigationVerdict | RolloutVerdict, Field(discriminator="kind")
]
VERDICT_ADAPTER: TypeAdapter[AnyVerdict] = TypeAdapter(AnyVerdict)
