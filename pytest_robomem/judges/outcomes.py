"""How a judgement can end, and the exceptions that say so."""

from __future__ import annotations

from enum import StrEnum


class JudgeStatus(StrEnum):
    """Outcome of one judgement; only `OK` and `RULE` carry scores."""

    OK = "ok"
    PARSE_ERROR = "parse_error"
    SCHEMA_ERROR = "schema_error"
    EMPTY = "empty"
    TRUNCATED = "truncated"
    BLOCKED = "blocked"
    API_ERROR = "api_error"
    TIMEOUT = "timeout"
    FILE_FAILED = "file_failed"
    RULE = "rule"

    @property
    def scored(self) -> bool:
        """Whether a verdict with this status has a score."""
        return self in (JudgeStatus.OK, JudgeStatus.RULE)


class JudgeError(Exception):
    """Base of every exception that the judges raise on purpose."""


class JudgeInputError(JudgeError, ValueError):
    """A trace, manifest row, reply of a human rater or setting that cannot be used."""


class PromptError(JudgeError):
    """A prompt file is missing, incomplete, or differs from the prompt manifest."""


class ReplayMissError(JudgeError):
    """Replay mode was asked for a judgement that the cache does not hold."""


class BudgetSpentError(JudgeError):
    """The budget of this run is spent; nothing more may be asked."""


class MissingKeyError(JudgeError):
    """No API key is set for the judge's provider."""


class AttemptFailedError(JudgeError):
    """One attempt to get a usable reply failed.

    `retryable` says whether the same question may be asked again, `retry_after` is the server's
    own delay in seconds where it named one. The message never holds a key.
    """

    def __init__(
        self,
        status: JudgeStatus,
        message: str,
        *,
        retryable: bool = False,
        retry_after: float | None = None,
        rate_limited: bool = False,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retryable = retryable
        self.retry_after = retry_after
        self.rate_limited = rate_limited
