"""Time intervals as Alertmanager has them (timeinterval/timeinterval.go): which instants they contain."""

import calendar
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, ClassVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, InstanceOf

from loadwatch_backend.alerting.notify.record import Record, parsed

DAY_MINUTES = 24 * 60
WEEKDAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_TIME = re.compile(r"(?:([01][0-9]|2[0-3]):([0-5][0-9]))|24:00")
_NUMBER = re.compile(r"[+-]?[0-9]{1,9}")


class IntervalError(ValueError):
    """A part of a time interval is wrong; says what it may be."""


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from the first to the last, both included."""

    first: int
    last: int

    def __contains__(self, number: int) -> bool:
        return self.first <= number <= self.last


# Reading --------------------------------------------------------------------------------------------------------------


def parse_time(text: str) -> int:
    """Minutes of the day of HH:MM; 24:00 is its end.

    Raises:
        IntervalError: it is none.
    """
    found = _TIME.fullmatch(text)
    if found is None:
        raise IntervalError(f"{text!r} is no time of day; write it as 08:30, the end of the day as 24:00")
    return DAY_MINUTES if found[1] is None else int(found[1]) * 60 + int(found[2])


def parse_weekdays(text: str) -> Range:
    """`monday` or `monday:friday`.

    Raises:
        IntervalError: it is none.
    """
    return _range(
        text, lambda part: _named(part, WEEKDAYS, "weekday", 0), "; weeks begin on Sunday, so give two ranges"
    )


def parse_months(text: str) -> Range:
    """`january`, `1`, or `january:march`.

    Raises:
        IntervalError: it is none.
    """

    def month(part: str) -> int:
        return _number(part, "month") if _NUMBER.fullmatch(part) else _named(part, MONTHS, "month", 1)

    return _range(text, month, "; give two ranges")


def parse_years(text: str) -> Range:
    """`2026` or `2026:2028`.

    Raises:
        IntervalError: it is none.
    """
    return _range(text, lambda part: _number(part, "year"))


def parse_days_of_month(text: str) -> Range:
    """`1:5`, or `-3:-1` for the last three days.

    Raises:
        IntervalError: it is none, or can never hold.
    """
    first, last = (_number(part, "day of the month") for part in _ends(text))
    for day in (first, last):
        if day == 0 or not -31 <= day <= 31:
            raise IntervalError(f"{day} is no day of a month: 1 to 31, or -31 to -1 from its end")
    if first < 0 < last:
        raise IntervalError(f"{text!r}: the end must be negative when the start is")
    # The shortest month has 28 days: what cannot hold there is not meant.
    if (28 + first if first < 0 else first) > (28 + last if last < 0 else last):
        raise IntervalError(f"{text!r} ends before it starts")
    return Range(first, last)


def parse_location(text: str) -> ZoneInfo:
    """A time zone by its IANA name; `Local` is the server's, as in Go.

    Raises:
        IntervalError: there is none of this name.
    """
    try:
        if text == "Local" and not (text := os.environ.get("TZ", "").removeprefix(":")):
            with open("/etc/localtime", "rb") as file:
                return ZoneInfo.from_file(file, "Local")
        return ZoneInfo(text or "UTC")
    except FileNotFoundError:
        return ZoneInfo("UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise IntervalError(f"{text!r} is no time zone; write its IANA name, such as Asia/Tokyo") from error


def _range(text: str, read: Callable[[str], int], advice: str = "") -> Range:
    first, last = map(read, _ends(text))
    if first > last:
        raise IntervalError(f"{text!r} ends before it starts{advice}")
    return Range(first, last)


def _ends(text: str) -> tuple[str, str]:
    parts = text.lower().split(":")
    if len(parts) > 2:
        raise IntervalError(f"{text!r} is no range; write it as first:last")
    return parts[0], parts[-1]


def _number(text: str, what: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise IntervalError(f"{text!r} is no {what}")
    return int(text)


def _named(text: str, names: Sequence[str], what: str, base: int) -> int:
    for place, name in enumerate(names):
        if name == text:
            return place + base
    raise IntervalError(f"{text!r} is no {what}: {', '.join(names)}")


# Records --------------------------------------------------------------------------------------------------------------

_BOTH = "times need both start_time and end_time"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeRange(Record):
    """Minutes of the day; the end is not included."""

    missing: ClassVar[Mapping[str, str]] = {"start_time": _BOTH, "end_time": _BOTH}
    start_minute: Annotated[int, parsed(parse_time), Field(alias="start_time")]
    end_minute: Annotated[int, parsed(parse_time), Field(alias="end_time")]

    def __post_init__(self) -> None:
        if self.start_minute >= self.end_minute:
            start, end = (f"{at // 60:02}:{at % 60:02}" for at in (self.start_minute, self.end_minute))
            raise IntervalError(
                f"end_time {end} must be after start_time {start}; for a span over midnight give two: "
                f"{start} to 24:00, and 00:00 to {end}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeInterval(Record):
    """All parts that are given (not None) must hold. Weekdays count from Sunday, 0. `location` None is UTC."""

    times: tuple[TimeRange, ...] | None = None
    weekdays: tuple[Annotated[Range, parsed(parse_weekdays)], ...] | None = None
    days_of_month: tuple[Annotated[Range, parsed(parse_days_of_month)], ...] | None = None
    months: tuple[Annotated[Range, parsed(parse_months)], ...] | None = None
    years: tuple[Annotated[Range, parsed(parse_years)], ...] | None = None
    location: Annotated[InstanceOf[ZoneInfo], parsed(parse_location)] | None = None

    def contains(self, at_ms: int) -> bool:
        local = datetime.fromtimestamp(at_ms / 1000, self.location or UTC)
        minute = local.hour * 60 + local.minute
        if self.times is not None and not any(one.start_minute <= minute < one.end_minute for one in self.times):
            return False
        if self.days_of_month is not None and not any(_has_day(one, local) for one in self.days_of_month):
            return False
        return (
            _in(self.months, local.month) and _in(self.weekdays, local.isoweekday() % 7) and _in(self.years, local.year)
        )


def _in(ranges: Sequence[Range] | None, number: int) -> bool:
    return ranges is None or any(number in one for one in ranges)


def _has_day(days: Range, local: datetime) -> bool:
    length = calendar.monthrange(local.year, local.month)[1]
    first = length + days.first + 1 if days.first < 0 else days.first
    last = length + days.last + 1 if days.last < 0 else days.last
    if first > length:
        return False
    return max(first, -length) <= local.day <= min(last, length)
