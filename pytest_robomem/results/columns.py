"""Columns of the tables: those of the revision that a run is scored by come first, ours follow."""

OFFICIAL = "official"

# Ours, in every table; a name that a revision has already is not repeated.
_EPISODE = (
    *("task_id", "ep", "seed", "score_pct", "goal", "prompt", "video_dir"),
    *("tsr_success", "status", "rules", "success_asked", "goal_ever", "steps", "failure_reason"),
    *("unfair_start", "clipped_values", "initial_state_sha256", "family", "memory"),
    *("wall_seconds", "trajectory", "message", "node_id"),
)
_TASK = (
    *("task_id", "num_trials", "seed_start", "average_score_pct", "goal_success_rate_pct"),
    *("prompt", "video_dir", "tsr_success_rate_pct", "tsr_low_pct", "tsr_high_pct"),
    *("num_passed", "num_errors", "num_unfair", "fair_tsr_pct", "average_steps", "family"),
)
# Revision 2026-07-21.
POUR_DETAILS = (
    *("extra_pour_detected", "pour_1_step", "pour_2_step", "extra_monitor_end_step"),
    "failure_reason",
)
_OFFICIAL_EPISODE = (
    *("task_id", "ep", "seed", "TSR", "CSR", *POUR_DETAILS),
    *("prompt", "video_dir"),
)
_OFFICIAL_TASK = ("task_id", "num_trials", "seed_start", "TSR", "CSR", "prompt", "video_dir")
# How far a replay is from its recording.
REPLAY_COLUMNS = (
    *("task_id", "seed", "exact", "recorded_steps", "replayed_steps"),
    *("largest_joint_difference", "largest_at_step", "first_difference_at_step"),
    *("final_object_distance", "final_object", "differing_cards", "differing_versions", "note"),
)


def episode_columns(rules: str) -> tuple[str, ...]:
    """Columns of ``episodes.tsv`` for a rulebook's name or version."""
    return _with_ours(_OFFICIAL_EPISODE if _official(rules) else (), _EPISODE)


def task_columns(rules: str) -> tuple[str, ...]:
    """Columns of ``task_summary.tsv`` for a rulebook's name or version."""
    return _with_ours(_OFFICIAL_TASK if _official(rules) else (), _TASK)


def _official(rules: str) -> bool:
    return rules.partition("@")[0] == OFFICIAL


def _with_ours(first: tuple[str, ...], ours: tuple[str, ...]) -> tuple[str, ...]:
    return first + tuple(name for name in ours if name not in first)
