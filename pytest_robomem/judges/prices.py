"""What a reply costs, by a dated price file."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import Field, ValidationError

from .outcomes import JudgeInputError
from .settings import JudgeSettings
from .verdicts import Record, Usage

DEFAULT_PRICES = Path(__file__).with_name("prices.json")
_MILLION = 1_000_000


class Tier(Record):
    """USD a million tokens for prompts up to a length; without a discount cached input is input."""

    up_to_prompt_tokens: int | None
    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached_input: float | None = Field(default=None, ge=0)


class PriceList(Record):
    """Prices by model id, true on the day `as_of`."""

    as_of: str
    currency: str
    source: str
    models: dict[str, tuple[Tier, ...]]

    def cost(self, model: str, usage: Usage) -> float | None:
        """USD for `usage` of `model`, or None where the list does not know the model.

        Output is billed with thinking; `usage.prompt` includes the cached tokens.
        """
        tiers = self.models.get(model.removeprefix("models/"))
        if not tiers:
            return None
        for tier in tiers:
            if tier.up_to_prompt_tokens is None or usage.prompt <= tier.up_to_prompt_tokens:
                break
        cached_price = tier.input if tier.cached_input is None else tier.cached_input
        cached = min(usage.cached, usage.prompt)
        return (
            (usage.prompt - cached) * tier.input
            + cached * cached_price
            + (usage.output + usage.thinking) * tier.output
        ) / _MILLION


def load_prices(path: Path | None = None) -> PriceList:
    """Read a price file (the packaged one by default).

    Raises `JudgeInputError` where it cannot be read or has another form.
    """
    chosen = path or DEFAULT_PRICES
    try:
        return PriceList.model_validate(json.loads(chosen.read_text("utf-8")))
    except (OSError, ValueError, ValidationError) as error:
        raise JudgeInputError(f"price file {chosen}: {error}") from None


def check_budget_can_be_kept(settings: JudgeSettings) -> None:
    """Raise `JudgeInputError` where a budget is set but the model has no known price."""
    if settings.budget_usd is None:
        return
    prices = load_prices(settings.prices)
    if settings.model.removeprefix("models/") not in prices.models:
        raise JudgeInputError(
            f"a budget needs prices, but the price file of {prices.as_of} does not list "
            f"{settings.model}; pass one with --judge-prices"
        )
