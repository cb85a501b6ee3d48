"""Silences: which alerts they hold, and when; also in hours that come again, by the clock on the wall there."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from loadwatch_backend.alerting.notify.file.intervals import DAY_MINUTES
from loadwatch_backend.alerting.notify.file.matchers import LabelMatcher, all_match
from loadwatch_backend.alerting.notify.schemas import SilenceReference, SilenceState
from loadwatch_backend.series.store.port import Labels

DAY_MS = 86_400_000
KEPT_MS = 30 * DAY_MS


@dataclass(frozen=True, slots=True, kw_only=True)
class Recurrence:
    """Hours of some weekdays (0 is Monday), in minutes of the day on the wall of a place.

    An end at or before the start lies on the next day, and the weekday is that of the start. When clocks are set
    forward, hours that do not exist hold nothing; when they are set back, hours that come twice hold twice.
    """

    weekdays: frozenset[int]
    from_minute: int
    to_minute: int
    zone: ZoneInfo

    def contains(self, at_ms: int) -> bool:
        local = _local(at_ms, self.zone)
        minute = local.hour * 60 + local.minute
        today, yesterday = local.weekday(), (local.weekday() - 1) % 7
        if self.from_minute < self.to_minute:
            return today in self.weekdays and self.from_minute <= minute < self.to_minute
        return (today in self.weekdays and minute >= self.from_minute) or (
            yesterday in self.weekdays and minute < self.to_minute
        )

    def next_start(self, after_ms: int) -> int:
        """The first instant at or after another that lies in it."""
        if self.contains(after_ms):
            return after_ms
        first = _local(after_ms, self.zone).date() - timedelta(days=1)
        starts = (
            instant
            for offset in range(10)
            for instant in self._starts(first + timedelta(days=offset))
            if instant > after_ms
        )
        return next(starts)

    def _starts(self, day: date) -> Iterator[int]:
        """Instants at which it begins on a day: none, one, or two when clocks are set back in between."""
        if day.weekday() not in self.weekdays:
            return
        found = {_first_held(self, day, fold) for fold in (0, 1)}
        yield from sorted(instant for instant in found if instant is not None)

    def end_of(self, at_ms: int) -> int:
        local = _local(at_ms, self.zone)
        day = local.date()
        if self.from_minute >= self.to_minute and local.hour * 60 + local.minute >= self.from_minute:
            day += timedelta(days=1)
        instants = [_instant(day, self.to_minute, self.zone, fold) for fold in (0, 1)]
        return next((instant for instant in sorted(instants) if instant > at_ms), at_ms)


def _local(at_ms: int, zone: ZoneInfo) -> datetime:
    return datetime.fromtimestamp(at_ms // 1000, zone)


def _instant(day: date, minute: int, zone: ZoneInfo, fold: int) -> int:
    """The instant of a wall-clock time; of one that clocks skip, fold 0 is after the gap, 1 before."""
    if minute == DAY_MINUTES:
        day, minute = day + timedelta(days=1), 0
    local = datetime.combine(day, time(minute // 60, minute % 60, fold=fold), zone)
    return int(local.astimezone(UTC).timestamp() * 1000)


def _first_held(recurrence: Recurrence, day: date, fold: int) -> int | None:
    instant = _instant(day, recurrence.from_minute, recurrence.zone, fold)
    local = _local(instant, recurrence.zone)
    if (local.hour * 60 + local.minute, local.date()) == (recurrence.from_minute, day):
        return instant
    # The start falls into a gap: it begins where the gap ends, if that is before its own end.
    before, after = sorted(_instant(day, recurrence.from_minute, recurrence.zone, one) for one in (0, 1))
    while after - before > 1_000:
        middle = (before + after) // 2_000 * 1_000
        is_behind = _local(middle, recurrence.zone).utcoffset() == _local(after, recurrence.zone).utcoffset()
        before, after = (before, middle) if is_behind else (middle, after)
    return after if recurrence.contains(after) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """Alerts that all matchers match are not sent from `starts_ms` to `ends_ms`, within the recurrence if any."""

    id: str
    matchers: Sequence[LabelMatcher]
    starts_ms: int
    ends_ms: int
    comment: str
    author: str
    recurrence: Recurrence | None
    created_ms: int
    updated_ms: int

    def state(self, now_ms: int) -> SilenceState:
        if now_ms >= self.ends_ms:
            return SilenceState.EXPIRED
        return SilenceState.ACTIVE if now_ms >= self.starts_ms else SilenceState.PENDING

    def holds(self, now_ms: int) -> bool:
        if self.state(now_ms) is not SilenceState.ACTIVE:
            return False
        return self.recurrence is None or self.recurrence.contains(now_ms)

    def matches(self, labels: Labels) -> bool:
        return all_match(self.matchers, labels)

    def next_ms(self, now_ms: int) -> int | None:
        """When it holds next; None when it holds now, or never again."""
        if self.holds(now_ms) or now_ms >= self.ends_ms:
            return None
        first = max(now_ms, self.starts_ms)
        start = first if self.recurrence is None else self.recurrence.next_start(first)
        return start if start < self.ends_ms else None

    def until_ms(self, now_ms: int) -> int:
        """When it ceases to hold, for one that holds now."""
        if self.recurrence is None:
            return self.ends_ms
        return min(self.ends_ms, self.recurrence.end_of(now_ms))

    def note(self, now_ms: int) -> SilenceReference:
        return SilenceReference(id=self.id, comment=self.comment, ends_ms=self.until_ms(now_ms))


def holding(silences: Sequence[Silence], now_ms: int) -> list[Silence]:
    return [silence for silence in silences if silence.holds(now_ms)]


def match_silences(silences: Sequence[Silence], labels: Labels) -> list[Silence]:
    return [silence for silence in silences if silence.matches(labels)]
