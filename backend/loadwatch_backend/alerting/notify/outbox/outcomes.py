"""What an attempt makes of a delivery, and its record."""

import hashlib
import time
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, urlsplit

import structlog

from loadwatch_backend.alerting.notify.outbox.messages import IntegrationKey
from loadwatch_backend.alerting.notify.outbox.repository import (
    add_row,
    find_integration,
    hasten_integration,
    lock_delivery,
    overtake,
    settle_integration,
)
from loadwatch_backend.alerting.notify.outbox.schedule import LEAST_PAUSE_MS, SECOND_MS, Random, delay_ms
from loadwatch_backend.alerting.notify.outbox.tables import (
    ADDRESS_LENGTH,
    REASON_LENGTH,
    AttemptRow,
    DeliveryRow,
    IntegrationRow,
)
from loadwatch_backend.alerting.notify.schemas import DeliveryState
from loadwatch_backend.alerting.notify.senders.model import (
    RESPONSE_LENGTH,
    AttemptOutcome,
    Integration,
    Message,
    Result,
    SendContext,
    UnusableError,
    cut,
)
from loadwatch_backend.alerting.notify.senders.registry import sender_of
from loadwatch_backend.core.database.relational import Session
from loadwatch_backend.core.secret import SecretError, secrets_in

logger = structlog.get_logger(__name__)

LEAST_SECRET = 4
"""Shorter texts occur by chance: hiding them would only garble answers."""
LEAST_PATH_SECRET = 12
"""The same for parts of a path, most of which are words."""


def attempt(integration: Integration, message: Message, context: SendContext) -> Result:
    """Send once; whatever happens is a result, without the integration's secrets in its texts."""
    sender = sender_of(integration)
    seconds = integration.timeout_ms / 1_000 or sender.rules.timeout_seconds
    try:
        result = sender.send(integration, message, context, seconds)
    except SecretError as error:
        # The file may be mounted again in a minute.
        result = Result(outcome=AttemptOutcome.PASSING, error=str(error))
    except UnusableError as error:
        result = Result(outcome=AttemptOutcome.PERMANENT, error=str(error))
    except Exception:
        logger.exception("a sender made a mistake", kind=integration.kind, delivery=message.id)
        result = Result(outcome=AttemptOutcome.PASSING, error="a mistake of Loadwatch's; the server's log has the rest")
    return without_secrets(result, integration)


def without_secrets(result: Result, integration: Integration) -> Result:
    """The result with secrets of the integration hidden: receivers like to repeat what they were sent."""
    error, response = result.error, result.response
    for text in sorted(_revealed(integration), key=len, reverse=True):
        error, response = error.replace(text, "***"), response.replace(text, "***")
    return replace(result, error=error, response=response)


def target_of(integration: Integration) -> str:
    try:
        return sender_of(integration).target(integration)
    except SecretError as error:
        return f"({error})"


def digest_of(integration: Integration) -> str:
    """Changes when the integration leads elsewhere; does not reveal where."""
    known = "\0".join([integration.kind, target_of(integration), *_revealed(integration)])
    return hashlib.sha256(known.encode()).hexdigest()


def _revealed(value: object) -> list[str]:
    found: list[str] = []
    for secret in secrets_in(value):
        try:
            found += [part for text in secret.reveal().split() for part in _parts(text)]
        except SecretError:
            continue
    return found


def _parts(text: str) -> list[str]:
    found = [text]
    if "://" in text:
        try:
            url = urlsplit(text)
        except ValueError:
            return found
        found += [value for _, value in parse_qsl(url.query)]
        found += [part for part in (url.username, url.password, url.path.rstrip("/"), url.query) if part]
        found += [part for part in url.path.split("/") if len(part) >= LEAST_PATH_SECRET]
    return [part for part in found if len(part) >= LEAST_SECRET]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryState:
    """Where a delivery, or an integration that fails, stands in the schedule of attempts.

    `next_ms` and `delay_ms` as in `schedule.is_due`; `step` counts attempts that failed alike, `refused` is how.
    """

    step: int
    next_ms: int
    delay_ms: int
    refused: bool


def next_retry(
    result: Result, state: RetryState, *, early: bool, seconds: float, now_ms: int, random: Random
) -> RetryState:
    """The state after an attempt of so many seconds that failed at `now_ms`.

    One `early`, before its time, leaves the schedule as it was, unless it failed in another way than those before.
    """
    refused = result.outcome is AttemptOutcome.PERMANENT
    asked_ms = 0 if result.retry_after_seconds is None else round(result.retry_after_seconds * SECOND_MS)
    if early and refused == state.refused:
        left_ms = max(state.next_ms - now_ms, asked_ms)
        return replace(state, next_ms=now_ms + left_ms, delay_ms=max(state.delay_ms, left_ms))
    step = state.step if refused == state.refused else 0
    if result.retry_after_seconds is None:
        # From attempt to attempt: the time that one took to fail is part of the pause.
        pause_ms = delay_ms(step, random, refused=refused) - round(seconds * SECOND_MS)
    else:
        # The receiver knows best: sooner than the schedule where it says so, and later.
        pause_ms = asked_ms
    pause_ms = max(pause_ms, LEAST_PAUSE_MS)
    return RetryState(step=step + 1, next_ms=now_ms + pause_ms, delay_ms=pause_ms, refused=refused)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt that is over; `target` is a digest of where it went.

    `fresh`: nothing but this attempt made the message known to be undeliverable, so that it says nothing about when the
    integration is to be tried again.
    """

    key: IntegrationKey
    at_ms: int
    ended_ms: int
    seconds: float
    result: Result
    target: str
    early: bool
    fresh: bool


def timed_attempt(
    key: IntegrationKey, integration: Integration, message: Message, context: SendContext, *, early: bool, fresh: bool
) -> Attempt:
    at_ms, began = context.clock(), time.monotonic()
    result = attempt(integration, message, context)
    return Attempt(
        key=key,
        at_ms=at_ms,
        ended_ms=context.clock(),
        seconds=time.monotonic() - began,
        result=result,
        target=digest_of(integration),
        early=early,
        fresh=fresh,
    )


def record(session: Session, seq: int, claim: str, attempt: Attempt, random: Random) -> bool:
    """Write an attempt and what follows from it; False when the delivery was taken away meanwhile.

    The attempt is noted in either case: the message was sent.
    """
    row = lock_delivery(session, seq)
    if row is None:
        return False
    mine = row.state == DeliveryState.SENDING and row.claim == claim
    row.attempts += 1
    add_row(session, attempt_row(seq, row.attempts, attempt))
    row.last_status = attempt.result.status_code
    row.last_seconds = attempt.seconds
    note_integration(session, attempt, random)
    if attempt.result.outcome is AttemptOutcome.DELIVERED and row.state != DeliveryState.DELIVERED:
        _settle(row, DeliveryState.DELIVERED, "")
        row.delivered_ms = attempt.ended_ms
        overtake(session, row)
    elif mine:
        _settle(row, DeliveryState.WAITING, attempt.result.error)
        _reschedule(row, attempt, random, early=attempt.early)
    return mine


def _reschedule(row: DeliveryRow | IntegrationRow, attempt: Attempt, random: Random, *, early: bool) -> None:
    state = RetryState(step=row.step, next_ms=row.next_ms, delay_ms=row.delay_ms, refused=row.refused)
    seconds, ended_ms = attempt.seconds, attempt.ended_ms
    state = next_retry(attempt.result, state, early=early, seconds=seconds, now_ms=ended_ms, random=random)
    row.step, row.next_ms, row.delay_ms, row.refused = state.step, state.next_ms, state.delay_ms, state.refused


def _settle(row: DeliveryRow, state: DeliveryState, reason: str) -> None:
    row.state = state.value
    row.reason = cut(reason, REASON_LENGTH)
    row.claim = ""
    row.early = False


def attempt_row(seq: int, number: int, attempt: Attempt) -> AttemptRow:
    result = attempt.result
    return AttemptRow(
        delivery_seq=seq,
        number=number,
        at_ms=attempt.at_ms,
        seconds=attempt.seconds,
        status_code=result.status_code,
        outcome=result.outcome.value,
        error=cut(result.error, REASON_LENGTH),
        response=cut(result.response.replace("\0", "�"), RESPONSE_LENGTH),
        address=cut(result.address, ADDRESS_LENGTH),
    )


def note_integration(session: Session, attempt: Attempt, random: Random) -> None:
    """Note how an integration does: the first success after failures has all that waits for it sent at once."""
    row = find_integration(session, attempt.key)
    if attempt.result.outcome is AttemptOutcome.DELIVERED:
        row.last_success_ms = attempt.ended_ms
        if row.failing:
            settle_integration(row)
            hasten_integration(session, attempt.key, attempt.ended_ms)
        return
    _reschedule(row, attempt, random, early=row.failing and (attempt.early or attempt.fresh))
    if not row.failing:
        row.since_ms = attempt.ended_ms
    row.failing = True
    row.last_failure_ms = attempt.ended_ms
    row.target = attempt.target
    row.reason = cut(attempt.result.error, REASON_LENGTH)


def postpone(session: Session, seq: int, claim: str, reason: str, now_ms: int, pause_ms: int) -> None:
    row = lock_delivery(session, seq)
    if row is not None and row.state == DeliveryState.SENDING and row.claim == claim:
        _settle(row, DeliveryState.WAITING, reason)
        row.next_ms, row.delay_ms = now_ms + pause_ms, pause_ms
