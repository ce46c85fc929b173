"""Showing a judge the videos of episodes (``--judge-rollouts``)."""

import re
from pathlib import Path

import pytest

from pytest_robomem.results.records import EpisodeResult
from pytest_robomem.settings import Settings

_JUDGES = "robomem_judges"  # name of their plugin
_NUMBER = re.compile(r"^\d+_")
_KINDS = ("pour", "lift", "open", "close", "place", "put")


def rollouts_wanted(config: pytest.Config) -> bool:
    """Whether a judge is to watch the episodes."""
    if not config.pluginmanager.hasplugin(_JUDGES):
        return False
    from pytest_robomem.judges.options import rollouts_wanted as wanted  # noqa: PLC0415

    return wanted(config)


def check_videos(config: pytest.Config, settings: Settings) -> None:
    """A judge needs the videos of all episodes: those of failed ones alone would mislead.

    Raises:
        pytest.UsageError: a judge is to watch episodes that leave no video.
    """
    if rollouts_wanted(config) and settings.video != "on":
        raise pytest.UsageError("--judge-rollouts needs --robomem-video=on, to watch every episode")


def judge_episode(item: pytest.Item, record: EpisodeResult, folder: Path) -> None:
    """Ask the judge which stages the video shows, and hand its verdict to the controller.

    The verdict stands beside the simulator's and decides nothing; a judge that cannot be asked is
    a warning, no error of the episode.
    """
    from pytest_robomem.judges.judging import record_unjudged, record_verdict  # noqa: PLC0415
    from pytest_robomem.judges.outcomes import JudgeError  # noqa: PLC0415
    from pytest_robomem.judges.rollout import RolloutSample, RolloutStage  # noqa: PLC0415
    from pytest_robomem.judges.state import judge_state  # noqa: PLC0415

    card = record.deciding_card
    if card is None or not record.videos:
        return
    sample = RolloutSample(
        sample_id=f"{record.task_name}-seed{record.seed}",
        video_path=folder / record.videos[0],
        prompt=record.prompt,
        stages=tuple(
            RolloutStage(
                name=stage.name,
                kind=stage_kind(stage.name),
                simulator=stage.completed_at is not None,
                description=_NUMBER.sub("", stage.name).replace("_", " "),
            )
            for stage in card.stages
        ),
        group=record.family or None,
    )
    try:
        pending = judge_state(item.config).runtime.rollout(sample, source=item.nodeid)
        record_verdict(item, pending.result())
    except JudgeError as error:
        record_unjudged(item, sample.sample_id, str(error))
        item.warn(pytest.PytestWarning(f"{sample.sample_id} was not judged: {error}"))


def stage_kind(name: str) -> str:
    """What kind of thing a stage asks for, by its name."""
    words = re.split(r"[_\W]+", name.lower())
    kind = next((kind for kind in _KINDS if kind in words), "other")
    return "place" if kind == "put" else kind
