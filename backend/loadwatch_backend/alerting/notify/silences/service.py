"""Silences for the endpoints."""

import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from loadwatch_backend.alerting.notify.file.intervals import IntervalError, parse_location, parse_time
from loadwatch_backend.alerting.notify.file.matchers import LabelMatcher, MatcherError, all_match
from loadwatch_backend.alerting.notify.groups.repository import pass_gate, read_gate
from loadwatch_backend.alerting.notify.routing.holding import Holders
from loadwatch_backend.alerting.notify.schemas import (
    MatcherDocument,
    SilenceIn,
    SilenceList,
    SilenceOut,
    SilencePreview,
    SilenceState,
)
from loadwatch_backend.alerting.notify.schemas import Recurrence as RecurrenceDocument
from loadwatch_backend.alerting.notify.silences.repository import SilenceBook, find_silence, write_silence
from loadwatch_backend.alerting.notify.silences.silences import KEPT_MS, Recurrence, Silence
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.relational import Relational, Session
from loadwatch_backend.core.errors import InvalidError, NotFoundError
from loadwatch_backend.series.store.port import Labels

NAMES_SHOWN = 20
AlertsOfNow = Callable[[], Iterable[Labels]]


class SilenceNotFoundError(NotFoundError, code="silence-not-found"):
    """There is no silence with this id."""


class SilenceSpanError(InvalidError, code="silence-span"):
    """The times of a silence do not go together."""


class SilenceMatcherError(InvalidError, code="silence-matcher"):
    """A matcher is wrong, or all of them match anything."""


class SilenceOverError(InvalidError, code="silence-over"):
    """The silence is over and cannot be changed."""


class SilenceRecurrenceError(InvalidError, code="silence-recurrence"):
    """The hours of a silence are wrong."""


class SilenceService:
    def __init__(
        self,
        relational: Relational,
        book: SilenceBook,
        holders: Holders,
        clock: Clock,
        alerts_of_now: AlertsOfNow | None = None,
    ) -> None:
        self._relational = relational
        self._book = book
        self._holders = holders
        self._clock = clock
        self._alerts_of_now = alerts_of_now

    def list(self, states: Sequence[SilenceState] | None) -> SilenceList:
        """Silences that hold first, then other active, then pending, then expired ones, the latest first."""
        now_ms = self._clock()
        with self._relational.transaction() as session:
            silences = self._book.read(session, read_gate(session).silences, lock=False)
        alerts = self._alerts()
        kept = [one for one in silences if one.ends_ms >= now_ms - KEPT_MS]
        chosen = [one for one in kept if states is None or one.state(now_ms) in states]
        return SilenceList(
            silences=[_out(one, now_ms, alerts) for one in sorted(chosen, key=lambda one: _place(one, now_ms))]
        )

    def create(self, given: SilenceIn, author: str) -> SilenceOut:
        """Add one.

        Raises:
            SilenceSpanError: it ends before it starts, or is over already.
            SilenceMatcherError: a regular expression is wrong, or everything would match.
            SilenceRecurrenceError: the hours or their time zone are wrong.
        """
        now_ms = self._clock()
        made = _silence(secrets.token_hex(10), given, author, now_ms, now_ms)
        with self._relational.transaction() as session:
            write_silence(session, made)
        return _out(made, now_ms, self._alerts())

    def read(self, silence_id: str) -> SilenceOut:
        """One silence.

        Raises:
            SilenceNotFoundError: there is none.
        """
        with self._relational.transaction() as session:
            found = _found(session, silence_id)
        return _out(found, self._clock(), self._alerts())

    def replace(self, silence_id: str, given: SilenceIn, author: str) -> SilenceOut:
        """Change one that is not over; the author is who changed it last.

        Raises:
            SilenceNotFoundError: there is none.
            SilenceOverError: it is over.
            ProblemError: as `create`.
        """
        now_ms = self._clock()
        with self._relational.transaction() as session:
            pass_gate(session)
            before = _unfinished(session, silence_id, now_ms)
            after = _silence(silence_id, given, author, before.created_ms, now_ms)
            write_silence(session, after)
        return _out(after, now_ms, self._alerts())

    def expire(self, silence_id: str) -> SilenceOut:
        """End one now.

        Raises:
            SilenceNotFoundError: there is none.
            SilenceOverError: it is over.
        """
        now_ms = self._clock()
        with self._relational.transaction() as session:
            pass_gate(session)
            before = _unfinished(session, silence_id, now_ms)
            after = replace(before, starts_ms=min(before.starts_ms, now_ms), ends_ms=now_ms, updated_ms=now_ms)
            write_silence(session, after)
        return _out(after, now_ms, self._alerts())

    def preview(self, matchers: Sequence[MatcherDocument]) -> SilencePreview:
        parsed = _matchers(matchers)
        names = [labels.get("alertname", "") for labels in self._alerts() if all_match(parsed, labels)]
        return SilencePreview(
            alerts=len(names), names=sorted(set(names))[:NAMES_SHOWN], everything=all_match(parsed, {})
        )

    def _alerts(self) -> Sequence[Labels]:
        if self._alerts_of_now is not None:
            return tuple(self._alerts_of_now())
        with self._relational.transaction() as session:
            return tuple(self._holders.firing_now(session).values())


def _found(session: Session, silence_id: str) -> Silence:
    found = find_silence(session, silence_id)
    if found is None:
        raise SilenceNotFoundError(
            f"There is no silence {silence_id}; those that are over are forgotten after 30 days."
        )
    return found


def _unfinished(session: Session, silence_id: str, now_ms: int) -> Silence:
    found = _found(session, silence_id)
    if found.state(now_ms) is SilenceState.EXPIRED:
        raise SilenceOverError(f"The silence {silence_id} is over; add a new one with the same matchers instead.")
    return found


def _silence(id: str, given: SilenceIn, author: str, created_ms: int, now_ms: int) -> Silence:
    if given.ends_ms <= given.starts_ms:
        raise SilenceSpanError(
            f"ends_ms {given.ends_ms} is not after starts_ms {given.starts_ms}; a silence needs an end after its start."
        )
    if given.ends_ms <= now_ms:
        raise SilenceSpanError(f"ends_ms {given.ends_ms} lies in the past; give an end after {now_ms}, which is now.")
    matchers = _matchers(given.matchers)
    if all_match(matchers, {}):
        raise SilenceMatcherError(
            "These matchers match alerts without any of the labels, so they would hold everything. Name a value that "
            'must be there; to hold everything on purpose, use alertname=~".+".'
        )
    silence = Silence(
        id=id,
        matchers=matchers,
        starts_ms=given.starts_ms,
        ends_ms=given.ends_ms,
        comment=given.comment,
        author=author,
        recurrence=None if given.recurrence is None else _recurrence(given.recurrence),
        created_ms=created_ms,
        updated_ms=now_ms,
    )
    if not silence.holds(now_ms) and silence.next_ms(now_ms) is None:
        raise SilenceRecurrenceError(
            "No hour of the recurrence lies between the start and the end; change the hours, or give a later end."
        )
    return silence


def _matchers(given: Sequence[MatcherDocument]) -> tuple[LabelMatcher, ...]:
    try:
        return tuple(LabelMatcher(one.name, one.operator, one.value) for one in given)
    except MatcherError as error:
        raise SilenceMatcherError(f"{error}.") from error


def _recurrence(given: RecurrenceDocument) -> Recurrence:
    try:
        zone = parse_location(given.time_zone)
        from_minute, to_minute = parse_time(given.from_time), parse_time(given.to_time)
    except IntervalError as error:
        raise SilenceRecurrenceError(f"{error}.") from error
    return Recurrence(weekdays=frozenset(given.weekdays), from_minute=from_minute, to_minute=to_minute, zone=zone)


def _place(silence: Silence, now_ms: int) -> tuple[int, int]:
    match silence.state(now_ms):
        case SilenceState.ACTIVE:
            return (0 if silence.holds(now_ms) else 1), silence.ends_ms
        case SilenceState.PENDING:
            return 2, silence.starts_ms
        case SilenceState.EXPIRED:
            return 3, -silence.ends_ms


def _out(silence: Silence, now_ms: int, alerts: Iterable[Labels]) -> SilenceOut:
    return SilenceOut.from_object(
        silence,
        matchers=[MatcherDocument.from_object(one) for one in silence.matchers],
        recurrence=None if silence.recurrence is None else _recurrence_out(silence.recurrence),
        state=silence.state(now_ms),
        holds_now=silence.holds(now_ms),
        next_ms=silence.next_ms(now_ms),
        alerts=sum(1 for labels in alerts if silence.matches(labels)),
    )


def _recurrence_out(recurrence: Recurrence) -> RecurrenceDocument:
    return RecurrenceDocument(
        weekdays=sorted(recurrence.weekdays),
        from_time=_clock_text(recurrence.from_minute),
        to_time=_clock_text(recurrence.to_minute),
        time_zone=recurrence.zone.key,
    )


def _clock_text(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"
