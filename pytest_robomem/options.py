"""The command-line options and their ini twins, as one table. Imports nothing heavy."""

from dataclasses import dataclass
from typing import Any

INI_PREFIX = "robomem_"


@dataclass(frozen=True)
class Option:
    """One option.

    Attributes:
        flag: as typed on the command line.
        key: name in the settings; the ini twin is ``robomem_`` and this name.
        default: used when neither the command line nor the ini file says anything.
        choices: allowed words, if it is a choice.
        switch: whether it takes no value.
    """

    flag: str
    key: str
    help: str
    default: str | None = None
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    switch: bool = False

    @property
    def ini(self) -> str:
        """Name of the ini twin."""
        return INI_PREFIX + self.key


OPTIONS: tuple[Option, ...] = (
    Option(
        "--policy",
        "policy",
        "policy to evaluate: a built-in name (hold, random, replay, expert, control:NAME), "
        "module:factory, or path.py:factory; the factory defaults to build_adapter. Without paths "
        "on the command line, the benchmark's own tasks are collected.",
        metavar="SPEC",
    ),
    Option(
        "--policy-kwargs",
        "policy_kwargs",
        "arguments of the factory, as a JSON object",
        "{}",
        metavar="JSON",
    ),
    Option(
        "--seeds",
        "seeds",
        "episodes of each task: 100, 100:150 (half open), 100,105,110:113, or sweep for the "
        "rulebook's published ones (official 50:101, the others 100:150)",
        "100",
        metavar="SPEC",
    ),
    Option(
        "--robomem-rules",
        "rules",
        "rulebook that decides success and the end of an episode",
        "guide",
        choices=("guide", "official", "strict"),
    ),
    Option(
        "--robomem-success",
        "success",
        "what an episode must reach to pass: all stages, the scene's goal at the end, or both",
        "stages",
        choices=("stages", "goal", "both"),
    ),
    Option(
        "--robomem-max-steps",
        "max_steps",
        "policy steps of an episode (default: the rulebook's)",
        metavar="N",
    ),
    Option(
        "--robomem-replan-steps",
        "replan_steps",
        "rows of an action chunk that are executed before the policy is asked again (default: the "
        "rulebook's)",
        metavar="N",
    ),
    Option(
        "--robomem-settle-steps",
        "settle_steps",
        "steps of standing still before the policy is asked first",
        "10",
        metavar="N",
    ),
    Option(
        "--robomem-image-size",
        "image_size",
        "side of the prepared square images, pixels",
        "256",
        metavar="N",
    ),
    Option(
        "--robomem-results", "results", "folder of the results", "robomem-results", metavar="DIR"
    ),
    Option(
        "--robomem-resume",
        "resume",
        "keep what the results folder holds and run only what is missing or was an error",
        switch=True,
    ),
    Option(
        "--robomem-video",
        "video",
        "which episodes leave videos: off, on (rendered while they run), failed (rendered at the "
        "end of the run), or auto (failed where a GPU renders)",
        "auto",
        choices=("off", "on", "failed", "auto"),
    ),
    Option(
        "--robomem-trajectory",
        "trajectory",
        "which episodes leave trajectories",
        "on",
        choices=("off", "on", "failed"),
    ),
    Option(
        "--robomem-render",
        "render",
        "GL back end: auto takes EGL where a GPU answers, else OSMesa",
        "auto",
        choices=("auto", "egl", "osmesa"),
    ),
    Option(
        "--robomem-stepper",
        "stepper",
        "how the simulator advances: exact (lean, equal to stock robosuite bit for bit), portable "
        "(the same bits on every x86-64 processor, not stock's), or stock (robosuite's own loop)",
        "exact",
        choices=("exact", "portable", "stock"),
    ),
    Option(
        "--robomem-prompts",
        "prompts",
        "wording of the instructions: ours, published (2026-07-21), or stem (words of the scene "
        "file's name, as the guide does); default: the rulebook's (published for official, else "
        "ours)",
        choices=("ours", "published", "stem"),
    ),
    Option(
        "--robomem-junit-properties",
        "junit_properties",
        "whether JUnit cases carry the figures of their episode as properties",
        "on",
        choices=("on", "off"),
    ),
    Option(
        "--robomem-timeout",
        "timeout",
        "wall-clock limit of one episode in seconds; past it the test is an error (default: none)",
        metavar="S",
    ),
)


def add_options(parser: Any) -> None:
    """Register every option and its ini twin with pytest's parser."""
    group = parser.getgroup("robomem", "robot-memory benchmarks")
    for option in OPTIONS:
        arguments: dict[str, Any] = {"dest": INI_PREFIX + option.key, "default": None}
        if option.switch:
            arguments["action"] = "store_true"
        else:
            arguments["metavar"] = option.metavar or "|".join(option.choices)
        default = f" [{option.default}]" if option.default not in (None, "{}") else ""
        group.addoption(option.flag, help=option.help + default, **arguments)
        parser.addini(option.ini, f"{option.help} (as {option.flag})", default=None)


def raw_values(config: Any) -> dict[str, str | None]:
    """What the user asked for, by key: command line first, then ini, then the default."""
    values: dict[str, str | None] = {}
    for option in OPTIONS:
        given = config.getoption(INI_PREFIX + option.key)
        if given is None or given is False:
            given = config.getini(option.ini) or option.default
        values[option.key] = None if given is None else str(given)
    return values
