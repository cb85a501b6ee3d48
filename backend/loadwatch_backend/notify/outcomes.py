"""What an attempt makes of a delivery, and its record."""

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from loadwatch_backend.notify.outbox import IntegrationKey, hasten_integration, overtake
from loadwatch_backend.notify.outbox_tables import (
    ADDRESS_LENGTH,
    REASON_LENGTH,
    AttemptRow,
    DeliveryRow,
    IntegrationRow,
)
from loadwatch_backend.notify.schedule import SECOND_MS, Random, delay_ms
from loadwatch_backend.notify.schemas import DeliveryState
from loadwatch_backend.notify.senders.model import RESPONSE_LENGTH, Outcome, Result, cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a delivery stands in its schedule: `next_ms` and `delay_ms` as in `schedule.is_due`."""

    step: int
    next_ms: int
    delay_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What follows from an attempt."""

    state: DeliveryState
    reason: str
    place: Place


def decide(result: Result, place: Place, *, early: bool, now_ms: int, random: Random) -> Decision:
    """What follows from a result at `now_ms`. One try before its time that failed leaves the schedule as it was."""
    if result.outcome is Outcome.DELIVERED:
        return Decision(state=DeliveryState.DELIVERED, reason="", place=place)
    if result.outcome in (Outcome.PERMANENT, Outcome.GONE):
        return Decision(state=DeliveryState.DEAD, reason=result.error, place=place)
    asked_ms = 0 if result.retry_after_seconds is None else round(result.retry_after_seconds * SECOND_MS)
    if early:
        left_ms = max(place.next_ms - now_ms, asked_ms)
        waiting = Place(step=place.step, next_ms=now_ms + left_ms, delay_ms=max(place.delay_ms, left_ms))
        return Decision(state=DeliveryState.WAITING, reason=result.error, place=waiting)
    pause_ms = delay_ms(place.step, random)
    if pause_ms is None:
        reason = f"given up after {place.step + 1} attempts over three days; the last: {result.error}"
        return Decision(state=DeliveryState.DEAD, reason=reason, place=place)
    if result.retry_after_seconds is not None:
        # The receiver knows best: sooner than the schedule where it says so, and later.
        pause_ms = max(asked_ms, SECOND_MS)
    waiting = Place(step=place.step + 1, next_ms=now_ms + pause_ms, delay_ms=pause_ms)
    return Decision(state=DeliveryState.WAITING, reason=result.error, place=waiting)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt that is over; `target` is a digest of where it went."""

    key: IntegrationKey
    at_ms: int
    ended_ms: int
    seconds: float
    result: Result
    target: str


def record(session: Session, seq: int, claim: str, attempt: Attempt, decision: Decision) -> bool:
    """Write an attempt and what follows from it; False when the delivery was taken away meanwhile.

    The attempt is noted in either case: the message was sent.
    """
    row = session.scalars(select(DeliveryRow).where(DeliveryRow.seq == seq).with_for_update()).one_or_none()
    if row is None:
        return False
    mine = row.state == DeliveryState.SENDING and row.claim == claim
    row.attempts += 1
    session.add(attempt_row(seq, row.attempts, attempt))
    row.last_status = attempt.result.status_code
    row.last_seconds = attempt.seconds
    was_failing = note_integration(session, attempt)
    if was_failing and attempt.result.outcome is Outcome.DELIVERED:
        hasten_integration(session, attempt.key)
    delivered = decision.state is DeliveryState.DELIVERED and row.state != DeliveryState.DELIVERED
    if mine or delivered:
        row.state = decision.state.value
        row.reason = cut(decision.reason, REASON_LENGTH)
        row.claim = ""
        row.early = False
        row.step = decision.place.step
        row.next_ms = decision.place.next_ms
        row.delay_ms = decision.place.delay_ms
        if decision.state is DeliveryState.DELIVERED:
            row.delivered_ms = attempt.ended_ms
            overtake(session, row)
    return mine


def attempt_row(seq: int, number: int, attempt: Attempt) -> AttemptRow:
    """The record of an attempt."""
    result = attempt.result
    return AttemptRow(
        delivery_seq=seq,
        number=number,
        at_ms=attempt.at_ms,
        seconds=attempt.seconds,
        status_code=result.status_code,
        outcome=("permanent" if result.outcome is Outcome.GONE else result.outcome.value),
        error=cut(result.error, REASON_LENGTH),
        response=cut(result.response.replace("\0", "�"), RESPONSE_LENGTH),
        address=cut(result.address, ADDRESS_LENGTH),
    )


def note_integration(session: Session, attempt: Attempt) -> bool:
    """Note how an integration does; 410 Gone disables it. Whether the attempt before failed."""
    row = session.get(IntegrationRow, attempt.key)
    if row is None:
        row = IntegrationRow(
            receiver=attempt.key[0], integration=attempt.key[1], disabled_target="", failing=False, reason=""
        )
        session.add(row)
    was_failing = row.failing
    if attempt.result.outcome is Outcome.DELIVERED:
        row.last_success_ms = attempt.ended_ms
        row.failing = False
        row.reason = ""
        return was_failing
    row.last_failure_ms = attempt.ended_ms
    row.failing = True
    row.reason = cut(attempt.result.error, REASON_LENGTH)
    if attempt.result.outcome is Outcome.GONE:
        row.disabled_ms = attempt.ended_ms
        row.disabled_target = attempt.target
    return was_failing


def postpone(session: Session, seq: int, claim: str, reason: str, place: Place) -> None:
    """Give a delivery back untried, to look at it again later."""
    row = session.scalars(select(DeliveryRow).where(DeliveryRow.seq == seq).with_for_update()).one_or_none()
    if row is not None and row.state == DeliveryState.SENDING and row.claim == claim:
        row.state = DeliveryState.WAITING.value
        row.claim = ""
        row.early = False
        row.reason = cut(reason, REASON_LENGTH)
        row.next_ms = place.next_ms
        row.delay_ms = place.delay_ms
