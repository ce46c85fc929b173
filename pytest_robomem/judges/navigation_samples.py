"""The input of the navigation judge: rows of a `*.nav.jsonl` manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from .client import IMAGE_TYPES, VIDEO_TYPES
from .navigation_metrics import Task
from .traces import SampleId
from .verdicts import Level

_TASK_ALIASES = {
    "task01": "panoramic_last_mile",
    "panoramic_view_last-mile_navigation": "panoramic_last_mile",
    "task02": "top_down",
    "top-down_view_real-world_navigation": "top_down",
    "task03": "real_world_3d",
    "3D_real-world_navigation": "real_world_3d",
    "task04": "slag",
    "simultaneous_localization_and_generation": "slag",
}
_DISTANCE_ALIASES = {"noturn": "short", "oneturn": "long"}


def _task_name(value: object) -> object:
    return _TASK_ALIASES.get(value, value) if isinstance(value, str) else value


def _level(value: object) -> object:
    if not isinstance(value, dict):
        return value
    level: dict[str, Any] = dict(value)
    distance = level.get("distance")
    if isinstance(distance, str):
        level["distance"] = _DISTANCE_ALIASES.get(distance, distance)
    return level


class NavigationSample(BaseModel):
    """One generated output; paths are relative to the manifest's folder.

    `output_path` is None where the generator gave nothing; such a row still counts in the
    success rate. `location_text` belongs to the levels whose destination is a location
    description, and to no others.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    sample_id: SampleId
    task: Annotated[Task, BeforeValidator(_task_name)]
    modality: Literal["video", "image"]
    level: Annotated[Level, BeforeValidator(_level)] = Level()
    scene_ref: str = Field(min_length=1)
    location_text: str | None = Field(default=None, min_length=1)
    output_path: str | None = Field(default=None, min_length=1)
    model: str = ""
    attempt: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _parts_agree(self) -> Self:
        destination = self.level.destination
        if destination == "location_description" and self.location_text is None:
            raise ValueError("a location_description level needs its location_text")
        if destination == "color_mark" and self.location_text is not None:
            raise ValueError("a color_mark level must not show the judge a location_text")
        for name in ("scene_ref", "output_path"):
            path = getattr(self, name)
            if path is not None and "\0" in path:
                raise ValueError(f"{name} holds a null character")
        known = VIDEO_TYPES if self.modality == "video" else IMAGE_TYPES
        if self.output_path and Path(self.output_path).suffix.lower() not in known:
            raise ValueError(
                f"output_path {self.output_path!r} is no {self.modality} "
                f"({' '.join(sorted(known))})"
            )
        return self
