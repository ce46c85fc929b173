"""Command-line options and ini settings of the judges; imports nothing heavy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from .settings import JudgeSettings

DEFAULT_RESULTS = "robomem-results"
CACHE_OFF = "off"


class _Option(NamedTuple):
    name: str
    field: str
    metavar: str
    help: str


_OPTIONS = (
    _Option("--judge-model", "model", "NAME", "model that judges; there is no default"),
    _Option("--judge-provider", "provider", "NAME", "gemini or openai (gemini)"),
    _Option("--judge-base-url", "base_url", "URL", "endpoint of the provider"),
    _Option("--judge-api-version", "api_version", "NAME", "version of the Gemini API (v1beta)"),
    _Option("--judge-votes", "votes", "N", "votes for each sample, an odd number (1)"),
    _Option("--judge-profile", "profile", "NAME", "plan rules: semantic or literal (semantic)"),
    _Option(
        "--judge-errors", "errors", "WHAT", "unscored samples: error, fail, skip or zero (error)"
    ),
    _Option(
        "--judge-navigation-pass",
        "navigation_pass",
        "WHAT",
        "what passes a navigation sample: success or overall (success)",
    ),
    _Option("--judge-cache", "cache", "DIR", "cache of replies, or off (the user's cache folder)"),
    _Option("--judge-budget", "budget_usd", "USD", "stop asking once this much is spent"),
    _Option("--judge-rpm", "requests_per_minute", "N", "requests a minute, of all workers"),
    _Option("--judge-concurrency", "concurrency", "N", "judgements at a time in a process (8)"),
    _Option("--judge-attempts", "attempts", "N", "tries for one vote (5)"),
    _Option("--judge-call-timeout", "call_timeout", "S", "seconds for one request (180)"),
    _Option("--judge-deadline", "deadline", "S", "seconds for one sample, retries included (900)"),
    _Option("--judge-temperature", "temperature", "X", "sampling temperature (the model's own)"),
    _Option("--judge-seed", "seed", "N", "sampling seed; vote i uses seed + i (none)"),
    _Option("--judge-thinking-budget", "thinking_budget", "N", "thinking tokens (the model's own)"),
    _Option("--judge-max-output-tokens", "max_output_tokens", "N", "output tokens, with thinking"),
    _Option("--judge-fps", "fps", "X", "frames a second sampled from videos (4)"),
    _Option("--judge-media-resolution", "media_resolution", "NAME", "low, medium or high"),
    _Option(
        "--judge-media-order", "media_order", "NAME", "prompt-first or media-first (prompt-first)"
    ),
    _Option("--judge-inline-limit", "inline_limit", "BYTES", "larger media are uploaded (15 MB)"),
    _Option("--judge-prices", "prices", "FILE", "dated price file (the packaged one)"),
    _Option("--judge-prompts", "prompts", "DIR", "prompts with a manifest (the packaged ones)"),
)
_FLAGS = (
    _Option("--judge-replay", "replay", "", "use cached replies only; a miss is an error"),
    _Option("--judge-pin-model", "pin_model", "", "refuse replies of any other model version"),
)
ROLLOUTS = _Option(
    "--judge-rollouts", "rollouts", "", "let the judge watch the episodes' videos too"
)
_PATHS = ("cache", "prices", "prompts")


def _dest(name: str) -> str:
    return name.removeprefix("--").replace("-", "_")


def add_options(parser: pytest.Parser) -> None:
    """Register every option of the judges and its ini twin (`judge_model` and so on)."""
    group = parser.getgroup("robomem-judges", "judges of plans, navigation outputs and rollouts")
    for option in _OPTIONS:
        group.addoption(
            option.name, dest=_dest(option.name), metavar=option.metavar, help=option.help
        )
        parser.addini(_dest(option.name), option.help, default=None)
    for option in (*_FLAGS, ROLLOUTS):
        group.addoption(
            option.name,
            dest=_dest(option.name),
            action="store_true",
            default=None,
            help=option.help,
        )
        parser.addini(_dest(option.name), option.help, type="bool", default=None)


def _value(config: pytest.Config, option: _Option) -> Any:
    dest = _dest(option.name)
    value = config.getoption(dest, default=None)
    folder = Path(config.invocation_params.dir)
    if value is None:
        value = config.getini(dest)
        folder = config.rootpath
    if value is None or value == "":
        return None
    if option.field in _PATHS and value != CACHE_OFF:
        return folder / Path(str(value)).expanduser()
    return value


def judge_model(config: pytest.Config) -> str | None:
    """The chosen model, or None."""
    value = _value(config, _OPTIONS[0])
    return None if value is None else str(value)


def rollouts_wanted(config: pytest.Config) -> bool:
    """Whether the videos of episodes are to be judged too."""
    return bool(_value(config, ROLLOUTS))


def settings_of(config: pytest.Config) -> JudgeSettings | None:
    """Build the settings, or None where no model is chosen.

    Raises `pytest.UsageError` where an option makes no sense.
    """
    values = {option.field: _value(config, option) for option in (*_OPTIONS, *_FLAGS)}
    values = {name: value for name, value in values.items() if value is not None}
    if not values.get("model"):
        if rollouts_wanted(config):
            raise pytest.UsageError("--judge-rollouts needs --judge-model")
        return None
    from pydantic import ValidationError  # noqa: PLC0415

    from .outcomes import JudgeInputError  # noqa: PLC0415
    from .prices import check_budget_can_be_kept  # noqa: PLC0415
    from .rows import describe  # noqa: PLC0415
    from .settings import JudgeSettings  # noqa: PLC0415

    if values.get("cache") == CACHE_OFF:
        values["cache"] = None
    elif "cache" not in values:
        from platformdirs import user_cache_path  # noqa: PLC0415

        values["cache"] = user_cache_path("pytest-robomem") / "judges"
    try:
        settings = JudgeSettings(**values)
        check_budget_can_be_kept(settings)
    except ValidationError as error:
        raise pytest.UsageError(f"judge options: {describe(error)}") from None
    except JudgeInputError as error:
        raise pytest.UsageError(f"judge options: {error}") from None
    return settings


def results_folder(config: pytest.Config) -> Path:
    """The folder of results, by the option that the simulator's results use too."""
    value = config.getoption("robomem_results", default=None)
    if value is None:
        try:
            value = config.getini("robomem_results") or None
        except (KeyError, ValueError):
            value = None
        if value is not None:
            return config.rootpath / str(value)
    return Path(config.invocation_params.dir) / str(value or DEFAULT_RESULTS)
