"""Metrics of the navigation judge: names, aliases, polarity, conjunctions.

Counts and conjunctions are those of the MMGR paper (arXiv 2512.14691v2), names those of its
evaluation protocol. `scene_consistency` is the protocol's SCENE_CHANGE_SCORE: 1 means that the
scene did NOT change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .replies import binary, parse_object, schema_error, text_field

Task = Literal["panoramic_last_mile", "top_down", "real_world_3d", "slag"]
TASKS: tuple[Task, ...] = ("panoramic_last_mile", "top_down", "real_world_3d", "slag")

_SHARED = (
    "object_semantic",
    "agent_consistency",
    "spatial_alignment",
    "destination_integrity",
    "scene_consistency",
)
METRICS: dict[Task, tuple[str, ...]] = {
    "panoramic_last_mile": ("success_3d", "oracle_success_3d", *_SHARED),
    "top_down": ("success_2d", "oracle_success_2d", *_SHARED),
    "real_world_3d": ("success_3d", "oracle_success_3d", *_SHARED),
    "slag": (
        "success_3d",
        "oracle_success_3d",
        "success_2d",
        "oracle_success_2d",
        "trajectory_alignment",
        *_SHARED,
    ),
}
ALL_METRICS = METRICS["slag"]

_KEYS = {
    "success_3d": ("SUCCESS_SCORE_3D",),
    "oracle_success_3d": ("ORACLE_SUCCESS_SCORE_3D",),
    "success_2d": ("SUCCESS_SCORE_2D", "SUCCESS_SCORE"),
    "oracle_success_2d": ("ORACLE_SUCCESS_SCORE_2D", "ORACLE_SUCCESS_SCORE"),
    "trajectory_alignment": ("TRAJECTORY_ALIGNMENT_SCORE",),
    "object_semantic": ("OBJECT_SEMANTIC_SCORE",),
    "agent_consistency": ("AGENT_CONSISTENCY_SCORE",),
    "spatial_alignment": ("SPATIAL_ALIGNMENT_SCORE",),
    "destination_integrity": ("DESTINATION_INTEGRITY_SCORE",),
    "scene_consistency": ("SCENE_CHANGE_SCORE", "SCENE_CONSISTENCY_SCORE"),
}
# The suffix is optional in the protocol where a task has one kind of success only.
_UNSUFFIXED_3D = {
    "success_3d": ("SUCCESS_SCORE_3D", "SUCCESS_SCORE"),
    "oracle_success_3d": ("ORACLE_SUCCESS_SCORE_3D", "ORACLE_SUCCESS_SCORE"),
}
_REASONING_KEYS = ("reasoning", "reason", "explanation")


def keys_of(task: Task, metric: str) -> tuple[str, ...]:
    """The accepted spellings of a metric in a reply for `task`; the prompt's own one first."""
    if task in ("panoramic_last_mile", "real_world_3d"):
        return _UNSUFFIXED_3D.get(metric, _KEYS[metric])
    if task == "top_down" and metric in ("success_2d", "oracle_success_2d"):
        suffixed, plain = _KEYS[metric]
        return plain, suffixed
    return _KEYS[metric]


def primary_metric(task: Task) -> str:
    """The success that a task is ranked by: the 2D one where there is no other."""
    return "success_2d" if task == "top_down" else "success_3d"


def oracle_metric(task: Task) -> str:
    """The oracle success that belongs to the primary metric."""
    return f"oracle_{primary_metric(task)}"


def gate_parts(task: Task) -> dict[str, tuple[str, ...]]:
    """The conjunctions, each with the metrics that it is made of."""
    return {
        "success_original_destination": (
            primary_metric(task),
            "destination_integrity",
            "scene_consistency",
        ),
        "physics_validness": ("object_semantic", "agent_consistency", "spatial_alignment"),
        "overall": METRICS[task],
    }


GATES = ("success_original_destination", "physics_validness", "overall")


def gates(task: Task, metrics: Mapping[str, int]) -> dict[str, int]:
    """Compute the conjunctions of 0/1 metrics."""
    return {
        name: int(all(metrics[part] for part in parts)) for name, parts in gate_parts(task).items()
    }


def without_contradictions(
    task: Task, metrics: Mapping[str, int]
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Take back a success without its oracle success, and name what was taken back.

    Whoever stopped in the goal has entered it, so such a reply contradicts itself, and what is
    ambiguous counts 0.
    """
    corrected = dict(metrics)
    contradictions = []
    for success in ("success_3d", "success_2d"):
        if success in METRICS[task] and metrics[success] and not metrics[f"oracle_{success}"]:
            corrected[success] = 0
            contradictions.append(success)
    return corrected, tuple(contradictions)


def reply_schema(task: Task) -> dict[str, Any]:
    """JSON schema of a reply: flat string enums, SCORES before the reasoning."""
    names = [keys_of(task, metric)[0] for metric in METRICS[task]]
    mark = {"type": "string", "enum": ["0", "1"]}
    return {
        "type": "object",
        "properties": {
            "SCORES": {
                "type": "object",
                "properties": dict.fromkeys(names, mark),
                "required": names,
                "propertyOrdering": names,
            },
            "reasoning": {"type": "string"},
        },
        "required": ["SCORES", "reasoning"],
        "propertyOrdering": ["SCORES", "reasoning"],
    }


@dataclass(frozen=True, slots=True)
class NavigationReply:
    """A validated reply: 0/1 by canonical metric name."""

    metrics: dict[str, int]
    reasoning: str


def parse_navigation_reply(text: str, task: Task) -> NavigationReply:
    """Read a reply of the navigation judge. Raises `AttemptFailedError`.

    A missing, unknown or doubled key is a schema error, never a 0.
    """
    reply = parse_object(text)
    scores = reply.pop("SCORES", None)
    if not isinstance(scores, dict):
        raise schema_error("SCORES must be an object")
    reasoning = [name for name in reply if name.lower() in _REASONING_KEYS]
    if len(reasoning) != 1 or len(reply) != 1:
        raise schema_error(f"beside SCORES one reasoning is expected, got {sorted(reply)}")
    left = dict(scores)
    metrics = {}
    for metric in METRICS[task]:
        names = keys_of(task, metric)
        given = [name for name in names if name in left]
        if len(given) != 1:
            raise schema_error(
                f"{names[0]} is missing" if not given else f"{' and '.join(given)} are one metric"
            )
        metrics[metric] = int(binary(left.pop(given[0]), given[0]))
    if left:
        raise schema_error(f"unknown metrics: {', '.join(sorted(left))}")
    return NavigationReply(metrics, text_field(reply[reasoning[0]], reasoning[0]))
