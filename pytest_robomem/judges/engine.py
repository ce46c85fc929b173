"""Asks a question: cache, request slots, attempts, deadline, money. The only retry loop."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import tenacity

from .cache import CacheEntry, ReplyCache, digest
from .client import JudgeClient, Question, Reply, host, make_client
from .ledger import Ledger
from .media import check_all_decodable
from .outcomes import AttemptFailedError, BudgetSpentError, JudgeStatus, ReplayMissError
from .prices import PriceList
from .settings import JudgeSettings
from .textsafe import encodable, one_line
from .verdicts import Usage, Vote

log = logging.getLogger(__name__)

Value = TypeVar("Value")

FIRST_DELAY_S = 1.0
LONGEST_DELAY_S = 60.0
# A second try often helps where the model's reply was unusable; more of them only cost money.
REPEATED_QUESTIONS = 2
_UNUSABLE_REPLY = frozenset(
    {JudgeStatus.EMPTY, JudgeStatus.PARSE_ERROR, JudgeStatus.SCHEMA_ERROR, JudgeStatus.TRUNCATED}
)
# Room for thinking and the reply, where a set limit was too small for both.
LARGER_OUTPUT_TOKENS = 8192
LONGEST_FAULTY_TEXT = 4_000


@dataclass(frozen=True, slots=True)
class Answer(Generic[Value]):
    """A vote, and the parsed value where its status is ok."""

    vote: Vote
    value: Value | None


@dataclass(slots=True)
class _Attempts:
    """What adds up over the attempts of one vote."""

    deadline: float
    max_output_tokens: int | None
    count: int = 0
    unusable: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float | None = 0.0
    model_version: str | None = None
    text: str = ""
    enlarged: bool = False


def same_model(requested: str, returned: str) -> bool:
    """Whether the returned version is the requested model; "-001" names a stable version of it."""
    wanted = requested.removeprefix("models/")
    got = returned.removeprefix("models/")
    suffix = got.removeprefix(wanted + "-")
    return got == wanted or (suffix != got and len(suffix) == 3 and suffix.isdecimal())


class JudgeEngine:
    """Asks questions for all judges of a process; lives in one event loop."""

    def __init__(
        self,
        settings: JudgeSettings,
        ledger: Ledger,
        prices: PriceList,
        client_factory: Callable[[JudgeSettings], JudgeClient] = make_client,
    ) -> None:
        self.settings = settings
        self.ledger = ledger
        self.prices = prices
        self.cache = ReplyCache(settings.cache) if settings.cache is not None else None
        self._client_factory = client_factory
        self._client: JudgeClient | None = None
        self._decodable: set[str] = set()
        self._slots = asyncio.Semaphore(settings.concurrency)

    @property
    def client(self) -> JudgeClient:
        """The client, created on the first call, so that cached runs need no key."""
        if self._client is None:
            self._client = self._client_factory(self.settings)
        return self._client

    async def close(self) -> None:
        """Close the client's connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    def key_fields(self, question: Question, vote: int) -> dict[str, Any]:
        """Exactly what can change a reply, and nothing else."""
        settings = self.settings
        has_video = any(media.is_video for media in question.media)
        return {
            "provider": settings.provider,
            "host": host(settings),
            "api_version": settings.api_version,
            "model": settings.model,
            "system": question.system,
            "parts": [
                part if isinstance(part, str) else {"sha256": part.sha256, "type": part.mime_type}
                for part in question.parts
            ],
            "schema": question.schema,
            "temperature": settings.temperature,
            "seed": settings.seed,
            "thinking_budget": settings.thinking_budget,
            "max_output_tokens": settings.max_output_tokens,
            "fps": settings.fps if has_video else None,
            "media_resolution": settings.media_resolution if question.media else None,
            "vote": vote,
        }

    async def ask(self, question: Question, parse: Callable[[str], Value]) -> list[Answer[Value]]:
        """Return one answer for each vote, from the cache where it has them.

        `parse` turns the text of a reply into a value, or raises `AttemptFailedError`. Raises
        `ReplayMissError`, `BudgetSpentError` or `MissingKeyError`; every other fault is the
        status of an answer.
        """
        votes = range(self.settings.votes)
        answers = [self._cached(question, vote, parse) for vote in votes]
        missing = [vote for vote, answer in enumerate(answers) if answer is None]
        if missing and self.settings.replay:
            raise ReplayMissError(f"replay: no cached reply for vote {missing[0]}")
        if missing:
            asked = await self._ask_votes(question, missing, parse)
            for vote, answer in zip(missing, asked, strict=True):
                answers[vote] = answer
        return [answer for answer in answers if answer is not None]

    def _cached(
        self, question: Question, vote: int, parse: Callable[[str], Value]
    ) -> Answer[Value] | None:
        if self.cache is None:
            return None
        entry = self.cache.get(digest(self.key_fields(question, vote)))
        if entry is None or self._wrong_model(entry.model_version):
            return None
        try:
            value = parse(entry.text)
        except AttemptFailedError:
            return None
        return Answer(_vote_from_cache(entry, vote), value)

    def _wrong_model(self, returned: str | None) -> bool:
        settings = self.settings
        return settings.pin_model and not (returned and same_model(settings.model, returned))

    def _store(self, question: Question, vote: Vote) -> None:
        if self.cache is None:
            return
        fields = self.key_fields(question, vote.index)
        entry = {
            "text": vote.text,
            "model_version": vote.model_version,
            "usage": vote.usage,
            "cost_usd": vote.cost_usd,
        }
        try:
            self.cache.put(digest(fields), fields, entry)
        except OSError as error:
            log.warning("a judge's reply was not cached: %s", error)

    async def _ask_votes(
        self, question: Question, votes: Sequence[int], parse: Callable[[str], Value]
    ) -> list[Answer[Value]]:
        stored: list[asyncio.Future[None]] = []
        try:
            await self._check_media(question)
            # Only what occupies the server holds a slot, and only then does the time run.
            async with self._slots:
                deadline = time.monotonic() + self.settings.deadline
                return await self._with_media(question, votes, parse, deadline, stored)
        except AttemptFailedError as failure:
            return [
                Answer(Vote(index=vote, status=failure.status, reason=str(failure)), None)
                for vote in votes
            ]
        finally:
            await _settled(stored)

    async def _check_media(self, question: Question) -> None:
        unchecked = [media for media in question.media if media.sha256 not in self._decodable]
        if unchecked:
            await asyncio.to_thread(check_all_decodable, unchecked)
            self._decodable.update(media.sha256 for media in unchecked)

    async def _with_media(
        self,
        question: Question,
        votes: Sequence[int],
        parse: Callable[[str], Value],
        deadline: float,
        stored: list[asyncio.Future[None]],
    ) -> list[Answer[Value]]:
        state = _Attempts(deadline, None)
        results: list[Answer[Value] | BudgetSpentError] = []
        async for attempt in self._attempts(state):
            with attempt:
                self.ledger.check_budget()
                left = max(0.001, deadline - time.monotonic())
                async with self.client.prepared(question, timeout=left) as parts:
                    results = await asyncio.gather(
                        *(
                            self._vote(question, parts, vote, parse, deadline, stored)
                            for vote in votes
                        )
                    )
        answers = [result for result in results if isinstance(result, Answer)]
        for result in results:
            if isinstance(result, BudgetSpentError):
                raise result
        return answers

    async def _vote(
        self,
        question: Question,
        parts: Sequence[Any],
        vote: int,
        parse: Callable[[str], Value],
        deadline: float,
        stored: list[asyncio.Future[None]],
    ) -> Answer[Value] | BudgetSpentError:
        started = time.monotonic()
        state = _Attempts(deadline, self.settings.max_output_tokens)
        status, reason, value = JudgeStatus.OK, "", None
        try:
            async for attempt in self._attempts(state):
                with attempt:
                    await self._take_slot(state)
                    value = await self._attempt(question, parts, vote, parse, state)
        except AttemptFailedError as failure:
            status, reason = failure.status, str(failure)
        except BudgetSpentError as error:
            return error
        record = Vote(
            index=vote,
            status=status,
            reason=reason,
            text=state.text if value is not None else state.text[:LONGEST_FAULTY_TEXT],
            model_version=state.model_version,
            usage=state.usage,
            cost_usd=state.cost,
            attempts=state.count,
            latency_s=round(time.monotonic() - started, 3),
        )
        if status is JudgeStatus.OK:
            # At once, so that whatever ends the run, this reply is not paid for again; but the
            # next call need not wait for the disk.
            loop = asyncio.get_running_loop()
            stored.append(loop.run_in_executor(None, self._store, question, record))
        return Answer(record, value)

    async def _take_slot(self, state: _Attempts) -> None:
        # Waiting for one's turn is no fault of the sample, so it does not use up its time.
        state.deadline += await self.ledger.wait_for_slot()

    def _attempts(self, state: _Attempts) -> tenacity.AsyncRetrying:
        backoff = tenacity.wait_exponential_jitter(
            initial=FIRST_DELAY_S, max=LONGEST_DELAY_S, jitter=FIRST_DELAY_S
        )

        def wait(call: tenacity.RetryCallState) -> float:
            failure = call.outcome.exception() if call.outcome else None
            if isinstance(failure, AttemptFailedError):
                if failure.retry_after is not None:
                    return failure.retry_after
                if failure.status in _UNUSABLE_REPLY:
                    return 0.0
            return backoff(call)

        def stop(call: tenacity.RetryCallState) -> bool:
            return (
                call.attempt_number >= self.settings.attempts
                or state.unusable > REPEATED_QUESTIONS
                or time.monotonic() + call.upcoming_sleep >= state.deadline
            )

        def before_sleep(call: tenacity.RetryCallState) -> None:
            failure = call.outcome.exception() if call.outcome else None
            if isinstance(failure, AttemptFailedError) and failure.rate_limited:
                self.ledger.pause(call.upcoming_sleep)

        return tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(
                lambda error: isinstance(error, AttemptFailedError) and error.retryable
            ),
            wait=wait,
            stop=stop,
            before_sleep=before_sleep,
            reraise=True,
        )

    async def _attempt(
        self,
        question: Question,
        parts: Sequence[Any],
        vote: int,
        parse: Callable[[str], Value],
        state: _Attempts,
    ) -> Value:
        state.count += 1
        try:
            reply = await self._generate(question, parts, vote, state)
            if self._wrong_model(reply.model_version):
                raise AttemptFailedError(
                    JudgeStatus.API_ERROR,
                    one_line(
                        f"{self.settings.model} is pinned, but "
                        f"{reply.model_version or 'an unnamed model'} answered"
                    ),
                )
            state.text = encodable(reply.text)
            return parse(reply.text)
        except AttemptFailedError as failure:
            if failure.status in _UNUSABLE_REPLY:
                state.unusable += 1
            if failure.status is JudgeStatus.TRUNCATED:
                self._allow_longer_reply(failure, state)
            raise

    @staticmethod
    def _allow_longer_reply(failure: AttemptFailedError, state: _Attempts) -> None:
        """Retry a cut-off reply once and larger; where no limit was set, nothing can be raised."""
        if state.max_output_tokens is None or state.enlarged:
            failure.retryable = False
            return
        state.enlarged = True
        state.max_output_tokens = max(2 * state.max_output_tokens, LARGER_OUTPUT_TOKENS)

    async def _generate(
        self, question: Question, parts: Sequence[Any], vote: int, state: _Attempts
    ) -> Reply:
        def spent(usage: Usage, model_version: str | None) -> None:
            state.usage += usage
            state.model_version = model_version
            cost = self.prices.cost(model_version or self.settings.model, usage)
            if cost is None:
                cost = self.prices.cost(self.settings.model, usage)
            if self.settings.budget_usd is not None:
                self.ledger.add_cost(cost or 0.0)
            state.cost = None if cost is None or state.cost is None else state.cost + cost

        left = max(0.001, min(self.settings.call_timeout, state.deadline - time.monotonic()))
        seed = None if self.settings.seed is None else self.settings.seed + vote
        try:
            # The client's own timeout starts anew with every byte; this one does not.
            async with asyncio.timeout(left):
                return await self.client.generate(
                    question,
                    parts,
                    timeout=left,
                    max_output_tokens=state.max_output_tokens,
                    seed=seed,
                    spent=spent,
                )
        except TimeoutError:
            raise AttemptFailedError(
                JudgeStatus.TIMEOUT, f"no reply within {left:.0f} s", retryable=True
            ) from None


async def _settled(stored: Sequence[asyncio.Future[None]]) -> None:
    """Wait for what is being stored. A run that is stopped stores it all the same: it is paid."""
    if stored:
        await asyncio.wait(stored)
    for each in stored:
        each.result()


def _vote_from_cache(entry: CacheEntry, vote: int) -> Vote:
    return Vote(
        index=vote,
        status=JudgeStatus.OK,
        text=entry.text,
        model_version=entry.model_version,
        usage=Usage(),
        cost_usd=0.0,
        cached=True,
    )
