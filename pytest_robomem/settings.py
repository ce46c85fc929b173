"""All settings of a run, validated once."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    model_validator,
)

from pytest_robomem.options import OPTIONS
from pytest_robomem.scoring.versions import PROMPTS, SWEEPS

LARGEST_SEED = 2**32 - 1  # numpy.random.seed takes no larger one
SWEEP = "sweep"  # the word for the seeds that the rulebook's publication runs
_TRUE_WORDS = {"true", "1", "yes", "on"}


_SECRET_WORDS = ("key", "token", "secret", "password", "credential")
_HIDDEN = "***"
_KWARGS_FLAG = "--policy-kwargs"


class SettingsError(ValueError):
    """Settings that make no sense; the message has a line for each.

    Args:
        problems: key of each such setting, and what is wrong with it.
    """

    def __init__(self, problems: Sequence[tuple[str, str]]) -> None:
        options = {option.key: option for option in OPTIONS}
        super().__init__(
            "\n".join(
                f"{options[key].flag} (or ini {options[key].ini}): {reason}"
                for key, reason in problems
            )
        )
        self.problems = tuple(problems)


def parse_seeds(spec: str) -> tuple[int, ...]:
    """Seeds of a specification such as ``100``, ``100:150`` or ``100,105,110:113``.

    Ranges are half open. The order is kept.

    Raises:
        ValueError: not such a specification, an empty range, or a seed given twice.
    """
    return parse_numbers(spec, "seed", "100:150", LARGEST_SEED)


def parse_numbers(spec: str, noun: str, example: str, largest: int) -> tuple[int, ...]:
    """Numbers of a specification of single ones and half-open ranges, separated by commas.

    Args:
        spec: the specification.
        noun: what the numbers are, for messages.
        example: a range, for messages.
        largest: the largest number allowed.

    Raises:
        ValueError: not such a specification, an empty range, or a number given twice.
    """
    first = example.partition(":")[0]
    numbers: list[int] = []
    for part in spec.split(","):
        bounds = [bound.strip() for bound in part.split(":")]
        if len(bounds) > 2 or not all(bound.isascii() and bound.isdigit() for bound in bounds):
            raise ValueError(
                f"{part.strip()!r} is neither a {noun} ({first}) nor a range ({example})"
            )
        ends = [int(bound) for bound in bounds]
        chosen = range(*ends) if len(ends) == 2 else range(ends[0], ends[0] + 1)
        if not chosen:
            raise ValueError(f"the range {part.strip()} is empty (its end is not included)")
        if chosen[-1] > largest:
            raise ValueError(f"{chosen[-1]} is too large for a {noun} (at most {largest})")
        numbers.extend(chosen)
    if len(set(numbers)) != len(numbers):
        raise ValueError(f"a {noun} is given twice")
    return tuple(numbers)


def _parse_kwargs(text: Any) -> Any:
    try:
        parsed = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"is not valid JSON: {error}") from error
    if not isinstance(parsed, dict):
        raise ValueError(f'must be a JSON object such as \'{{"host": "127.0.0.1"}}\', not {text}')
    return PolicyArguments(parsed)


class PolicyArguments(dict[str, Any]):
    """Arguments of a policy's factory; what looks like a secret is hidden when printed."""

    def __repr__(self) -> str:
        return repr(_hide_secrets(dict(self)))


def _check_policy(spec: str) -> str:
    name, _, factory = spec.rpartition(":") if ":" in spec else (spec, "", "")
    if not name.strip() or (":" in spec and not factory.strip()):
        raise ValueError(f"{spec!r} is not name, module:factory or path.py:factory")
    if name.endswith(".py") and not Path(name).is_file():
        raise ValueError(f"there is no file {name}")
    return spec


PositiveInt = Annotated[int, Field(gt=0)]


class Settings(BaseModel):
    """Settings of a run; the options' help describes each."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    policy: Annotated[str, AfterValidator(_check_policy)]
    policy_kwargs: Annotated[PolicyArguments, PlainValidator(_parse_kwargs)]
    seeds: Annotated[tuple[int, ...], BeforeValidator(parse_seeds)]
    rules: Literal["guide", "official", "strict"]
    success: Literal["stages", "goal", "both"]
    max_steps: PositiveInt | None
    replan_steps: PositiveInt | None
    settle_steps: Annotated[int, Field(ge=0)]
    image_size: Annotated[int, Field(gt=0, le=4096)]
    results: Path
    resume: Annotated[bool, BeforeValidator(lambda word: str(word).lower() in _TRUE_WORDS)]
    video: Literal["off", "on", "failed", "auto"]
    trajectory: Literal["off", "on", "failed"]
    render: Literal["auto", "egl", "osmesa"]
    stepper: Literal["exact", "portable", "stock"]
    prompts: Literal["ours", "published", "stem"]
    junit_properties: Literal["on", "off"]
    timeout: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None

    @model_validator(mode="before")
    @classmethod
    def _defaults_of_the_rulebook(cls, values: Any) -> Any:
        """Fill in what depends on the rulebook: the seeds of its sweep, its wording."""
        if not isinstance(values, dict) or values.get("rules") not in SWEEPS:
            return values
        filled, rules = dict(values), values["rules"]
        if filled.get("seeds") == SWEEP:
            sweep = SWEEPS[rules]
            filled["seeds"] = f"{sweep.start}:{sweep.stop}"
        if filled.get("prompts") is None:
            filled["prompts"] = PROMPTS[rules]
        return filled

    def public_dump(self) -> dict[str, Any]:
        """All settings as JSON values; what looks like a secret is hidden."""
        return {
            **self.model_dump(mode="json"),
            "policy_kwargs": _hide_secrets(dict(self.policy_kwargs)),
        }


def make_settings(values: dict[str, str | None], base: Path) -> Settings:
    """Validate the raw values of all options.

    Args:
        values: by key, as :func:`pytest_robomem.options.raw_values` gives them.
        base: folder that a relative results folder refers to.

    Raises:
        SettingsError: with one line for each option that makes no sense.
    """
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        raise SettingsError(
            [
                (str(problem["loc"][0]), problem["msg"].removeprefix("Value error, "))
                for problem in error.errors()
            ]
        ) from None
    return settings.model_copy(update={"results": (base / settings.results).resolve()})


def public_arguments(arguments: Iterable[object]) -> list[str]:
    """Command-line arguments fit for files and messages: secrets among the kwargs are hidden."""
    shown: list[str] = []
    for argument in map(str, arguments):
        flag, separator, value = argument.partition("=")
        if flag == _KWARGS_FLAG and separator:
            shown.append(f"{flag}={_public_json(value)}")
        else:
            follows = bool(shown) and shown[-1] == _KWARGS_FLAG
            shown.append(_public_json(argument) if follows else argument)
    return shown


def _public_json(text: str) -> str:
    try:
        return json.dumps(_hide_secrets(json.loads(text)))
    except ValueError:
        return _HIDDEN


def _hide_secrets(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _HIDDEN
            if any(word in str(key).lower() for word in _SECRET_WORDS)
            else _hide_secrets(inner)
            for key, inner in value.items()
        }
    return [_hide_secrets(inner) for inner in value] if isinstance(value, list) else value
