"""All settings of the judges in one frozen model."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

# Requests above 20 MB are refused by the API; base64 adds a third, so 15 MB is what fits inline.
INLINE_LIMIT_BYTES = 15_000_000

Provider = Literal["gemini", "openai"]
Profile = Literal["semantic", "literal"]
ErrorPolicy = Literal["error", "fail", "skip", "zero"]
MediaResolution = Literal["low", "medium", "high"]
MediaOrder = Literal["prompt-first", "media-first"]
NavigationPass = Literal["success", "overall"]

# Samples in hand, in multiples of those that are asked about: one set waits for its replies, the
# next one is hashed and decoded meanwhile.
LOOKAHEAD = 2


class JudgeSettings(BaseModel):
    """What to ask, whom, how often, and what a reply may cost.

    Times are in seconds, `fps` in frames a second, sizes in bytes, money in USD.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())

    model: str = Field(min_length=1, pattern=r"^[^\s?#]+$")
    provider: Provider = "gemini"
    base_url: str | None = None
    # 3.x of the SDK moved its default to v1, which lacks fields used here, so it is always sent.
    api_version: str = Field(default="v1beta", pattern=r"^[A-Za-z0-9]+$")
    votes: int = Field(default=1, ge=1, le=99)
    profile: Profile = "semantic"
    errors: ErrorPolicy = "error"
    navigation_pass: NavigationPass = "success"
    temperature: float | None = Field(default=None, ge=0, le=2)
    seed: int | None = None
    thinking_budget: int | None = Field(default=None, ge=-1)
    max_output_tokens: int | None = Field(default=None, ge=1)
    # The API samples one frame a second by default, between which collisions and teleports vanish.
    fps: float = Field(default=4.0, gt=0, le=24)
    media_resolution: MediaResolution | None = None
    media_order: MediaOrder = "prompt-first"
    inline_limit: int = Field(default=INLINE_LIMIT_BYTES, ge=0, le=INLINE_LIMIT_BYTES)
    attempts: int = Field(default=5, ge=1)
    call_timeout: float = Field(default=180.0, gt=0)
    deadline: float = Field(default=900.0, gt=0)
    requests_per_minute: float | None = Field(default=None, gt=0)
    concurrency: int = Field(default=8, ge=1, le=256)
    budget_usd: float | None = Field(default=None, gt=0)
    cache: Path | None = None
    replay: bool = False
    pin_model: bool = False
    prices: Path | None = None
    prompts: Path | None = None

    @property
    def window(self) -> int:
        """How many samples may be in hand at a time, prepared or asked about."""
        return self.concurrency * LOOKAHEAD

    @model_validator(mode="after")
    def _settings_agree(self) -> Self:
        if self.votes % 2 == 0:
            raise ValueError(f"votes must be odd, so that a majority exists; got {self.votes}")
        if self.replay and self.cache is None:
            raise ValueError("replay reads the cache only, but the cache is off")
        if self.base_url is not None and not self.base_url.startswith(("http://", "https://")):
            raise ValueError("base_url must begin with http:// or https://")
        return self
