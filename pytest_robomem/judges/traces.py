"""The input of the plan judge: what a plan tried, and how far it came."""

from __future__ import annotations

import json
import re
from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    model_validator,
)

from .textsafe import encodable

# Verbs that only walk; a plan that has nothing else did no work.
NAVIGATION_VERBS = frozenset({"navigate", "navigate_to", "go_to", "goto", "walk_to"})
# The length apart from the pattern: counted inside it, the pattern takes 0.1 s to compile.
SampleId = Annotated[str, Field(pattern=r"^\w[\w.+=@/\-]*$", max_length=200)]

_ACTION = re.compile(r"(?P<verb>[A-Za-z][A-Za-z0-9_]*)\((?P<args>[^()]*)\)")
_FAILURE_MARKS = ("❌", "✗", "✘", "FAILED", "-->", "->")
_STATUSES = {"SUCCESS": "SUCCESS", "SUCCEEDED": "SUCCESS", "FAILED": "FAILED", "FAILURE": "FAILED"}


def split_action(text: str) -> tuple[str, tuple[str, ...]]:
    """Split `verb(a, b)` into its verb and its 0 to 3 arguments.

    Raises `ValueError` where it has another form.
    """
    found = _ACTION.fullmatch(text)
    if found is None:
        raise ValueError(f"an action is written verb(arguments), got {text!r}")
    inner = found["args"].strip()
    arguments = tuple(part.strip() for part in inner.split(",")) if inner else ()
    if len(arguments) > 3 or not all(arguments):
        raise ValueError(f"an action has 0 to 3 non-empty arguments, got {text!r}")
    return found["verb"].lower(), arguments


def _checked_action(text: str) -> str:
    text = text.strip()
    if any(mark in text for mark in _FAILURE_MARKS):
        raise ValueError(
            f"{text!r} is marked as failed: the failing action is the first of "
            "remaining_actions, never one of executed_actions"
        )
    split_action(text)
    if not text.isprintable():
        raise ValueError(f"an action holds control characters: {text!r}")
    return text


def _checked_status(value: object) -> object:
    if isinstance(value, str):
        word = re.sub(r"[^A-Z]", "", value.upper())
        if word in _STATUSES:
            return _STATUSES[word]
    raise ValueError(f"simulation_status is SUCCESS or FAILED, got {value!r}")


Action = Annotated[str, AfterValidator(_checked_action)]


class PlanTrace(BaseModel):
    """One executed plan.

    `executed_actions` are those that succeeded; `remaining_actions` those that did not, the
    failing one first. `goal_met` is the simulator's verdict on the explicit goal before the
    failing action (None: it has no goal predicate). `implied_steps` are actions that the
    instruction implies and that must be among the executed ones (`verb` or `verb(arguments)`).
    `navigation_goal` says that walking alone can fulfil the instruction.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: SampleId
    instruction: str = Field(min_length=1)
    spatial_relationships: str = ""
    scene_graph: JsonValue = None
    executed_actions: tuple[Action, ...]
    simulation_status: Annotated[str, BeforeValidator(_checked_status)]
    error_reason: str | None = None
    steps_completed: int = Field(ge=0)
    total_steps: int = Field(ge=0)
    remaining_actions: tuple[Action, ...] = ()
    goal_met: bool | None = None
    implied_steps: tuple[str, ...] = ()
    navigation_goal: bool = False
    group: str | None = None

    @model_validator(mode="after")
    def _counts_agree(self) -> Self:
        executed, remaining = len(self.executed_actions), len(self.remaining_actions)
        if executed != self.steps_completed:
            raise ValueError(
                f"steps_completed is {self.steps_completed}, but {executed} actions are listed as "
                "executed; the failing action belongs to remaining_actions"
            )
        if executed + remaining != self.total_steps:
            raise ValueError(
                f"total_steps is {self.total_steps}, but {executed} executed and {remaining} "
                "remaining actions are listed; no action may stand in both"
            )
        if not self.failed and remaining:
            raise ValueError("simulation_status is SUCCESS, but remaining_actions is not empty")
        if self.failed and self.total_steps and not remaining:
            raise ValueError("simulation_status is FAILED, but no action remains that could fail")
        for step in self.implied_steps:
            split_action(step if "(" in step else f"{step}()")
        return self

    @property
    def failed(self) -> bool:
        """Whether the simulation stopped at an action it could not do."""
        return self.simulation_status == "FAILED"

    @property
    def progress_ratio(self) -> float:
        """Share of the plan's steps that were executed; 0 for an empty plan."""
        return self.steps_completed / self.total_steps if self.total_steps else 0.0

    @property
    def interacts(self) -> bool:
        """Whether any executed action is more than walking."""
        return any(split_action(text)[0] not in NAVIGATION_VERBS for text in self.executed_actions)

    @property
    def missing_implied_steps(self) -> tuple[str, ...]:
        """Those of `implied_steps` that no executed action fulfils."""
        done = [split_action(text) for text in self.executed_actions]

        def fulfilled(step: str) -> bool:
            verb, arguments = split_action(step if "(" in step else f"{step}()")
            return any(
                verb == each and (not arguments or arguments == those) for each, those in done
            )

        return tuple(step for step in self.implied_steps if not fulfilled(step))


def prompt_values(trace: PlanTrace) -> dict[str, str]:
    """The ten fields of the user prompt as text."""
    values = {
        "instruction": trace.instruction,
        "spatial_relationships": trace.spatial_relationships or "(none given)",
        "scene_graph_json": json.dumps(trace.scene_graph, ensure_ascii=False, sort_keys=True),
        "executed_actions": _numbered(trace.executed_actions, 1),
        "simulation_status": "❌ FAILED" if trace.failed else "✅ SUCCESS",
        "error_reason": f"Reason: {trace.error_reason}" if trace.error_reason else "",
        "steps_completed": str(trace.steps_completed),
        "total_steps": str(trace.total_steps),
        "progress_ratio": f"{trace.progress_ratio:.1%}",
        "remaining_actions": _numbered(trace.remaining_actions, trace.steps_completed + 1),
    }
    return {name: encodable(text) for name, text in values.items()}


def _numbered(actions: tuple[str, ...], first: int) -> str:
    rows = [f"{number}. {text}" for number, text in enumerate(actions, start=first)]
    return "\n".join(rows) if rows else "(none)"
