"""Go's time.Time and time.Duration, as far as templates meet them."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cached_property

from loadwatch_backend.alerting.rules.gotemplate.errors import TemplateError
from loadwatch_backend.alerting.rules.gotemplate.values import Structure, Value

_LAYOUT = re.compile(
    r"January|Jan|Monday|Mon|MST|2006|Z07:00:00|Z07:00|Z0700|Z07|-07:00:00|-07:00|-0700|-07|[.,]0+(?![0-9])"
    r"|[.,]9+(?![0-9])|002|01|02|03|04|05|06|15|PM|pm|__2|_2|1|2|3|4|5"
)
_MONTHS = "January February March April May June July August September October November December".split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECOND_NS = 1_000_000_000


class GoTime(Structure):
    """A moment, in UTC."""

    go_type = "*time.Time"

    def __init__(self, nanoseconds: int) -> None:
        self._ns = nanoseconds
        try:
            self._moment = _EPOCH + timedelta(seconds=nanoseconds // SECOND_NS)
        except OverflowError as error:
            raise TemplateError("the time is out of range") from error

    @cached_property
    def _methods(self) -> dict[str, Callable[..., Value]]:
        moment = self._moment
        return {
            "Format": self.format,
            "String": self.go_text,
            "Unix": lambda: self._ns // SECOND_NS,
            "UnixMilli": lambda: self._ns // 1_000_000,
            "UnixMicro": lambda: self._ns // 1_000,
            "UnixNano": lambda: self._ns,
            "Year": lambda: moment.year,
            "Month": lambda: Named(moment.month, _MONTHS[moment.month - 1], "time.Month"),
            "Day": lambda: moment.day,
            "YearDay": lambda: moment.timetuple().tm_yday,
            "Weekday": lambda: Named((moment.weekday() + 1) % 7, _DAYS[moment.weekday()], "time.Weekday"),
            "Hour": lambda: moment.hour,
            "Minute": lambda: moment.minute,
            "Second": lambda: moment.second,
            "Nanosecond": lambda: self._ns % SECOND_NS,
            "UTC": lambda: self,
            "Add": self._add,
            "Before": self._before,
            "After": self._after,
            "Equal": self._equal,
            "Sub": self._since,
        }

    def _add(self, duration: Value) -> "GoTime":
        return GoTime(self._ns + _nanoseconds(duration))

    def _before(self, other: Value) -> bool:
        return self._ns < _moment_ns(other)

    def _after(self, other: Value) -> bool:
        return self._ns > _moment_ns(other)

    def _equal(self, other: Value) -> bool:
        return self._ns == _moment_ns(other)

    def _since(self, other: Value) -> "GoDuration":
        return GoDuration(self._ns - _moment_ns(other))

    @property
    def nanoseconds(self) -> int:
        """Since the epoch."""
        return self._ns

    def go_field(self, name: str) -> Value:
        """See `Structure`."""
        return self._methods[name] if name in self._methods else super().go_field(name)

    def go_text(self) -> str:
        """As time.Time's String: 2006-01-02 15:04:05.999999999 -0700 MST."""
        return self.format("2006-01-02 15:04:05.999999999 -0700 MST")

    def format(self, layout: str) -> str:
        """time.Time's Format."""
        if not isinstance(layout, str):  # pyright: ignore[reportUnnecessaryIsInstance] - templates pass anything
            raise TemplateError("Format takes a layout such as 2006-01-02 15:04:05")
        return _LAYOUT.sub(lambda found: self._part(found.group()), layout)

    def _part(self, word: str) -> str:
        moment = self._moment
        hour = moment.hour % 12 or 12
        if word[0] in ".,":
            digits = f"{self._ns % SECOND_NS:09d}"
            if word[1] == "0":
                return word[0] + digits[: len(word) - 1]
            kept = digits[: len(word) - 1].rstrip("0")
            return word[0] + kept if kept else ""
        parts: dict[str, str] = {
            "January": _MONTHS[moment.month - 1],
            "Jan": _MONTHS[moment.month - 1][:3],
            "Monday": _DAYS[moment.weekday()],
            "Mon": _DAYS[moment.weekday()][:3],
            "MST": "UTC",
            "2006": f"{moment.year:04d}",
            "06": f"{moment.year % 100:02d}",
            "01": f"{moment.month:02d}",
            "1": str(moment.month),
            "02": f"{moment.day:02d}",
            "_2": f"{moment.day:2d}",
            "2": str(moment.day),
            "002": f"{moment.timetuple().tm_yday:03d}",
            "__2": f"{moment.timetuple().tm_yday:3d}",
            "15": f"{moment.hour:02d}",
            "03": f"{hour:02d}",
            "3": str(hour),
            "04": f"{moment.minute:02d}",
            "4": str(moment.minute),
            "05": f"{moment.second:02d}",
            "5": str(moment.second),
            "PM": "PM" if moment.hour >= 12 else "AM",
            "pm": "pm" if moment.hour >= 12 else "am",
            "-07": "+00",
            "-0700": "+0000",
            "-07:00": "+00:00",
            "-07:00:00": "+00:00:00",
        }
        return "Z" if word[0] == "Z" else parts[word]


class GoDuration(Structure):
    """A span of time."""

    go_type = "*time.Duration"

    def __init__(self, nanoseconds: int) -> None:
        self.nanoseconds = nanoseconds

    def go_field(self, name: str) -> Value:
        """See `Structure`."""
        methods: dict[str, Callable[..., Value]] = {
            "Seconds": lambda: self.nanoseconds / SECOND_NS,
            "Minutes": lambda: self.nanoseconds / SECOND_NS / 60,
            "Hours": lambda: self.nanoseconds / SECOND_NS / 3600,
            "Milliseconds": lambda: int(self.nanoseconds / 1_000_000),
            "Nanoseconds": lambda: self.nanoseconds,
            "String": self.go_text,
        }
        return methods[name] if name in methods else super().go_field(name)

    def go_text(self) -> str:
        """As time.Duration's String: 1h2m3.5s, 1.5ms, 0s."""
        if not self.nanoseconds:
            return "0s"
        sign, rest = ("-" if self.nanoseconds < 0 else ""), abs(self.nanoseconds)
        for unit, size in (("ns", 1), ("µs", 1_000), ("ms", 1_000_000)):
            if rest < size * 1000 and rest < SECOND_NS:
                return f"{sign}{_decimal(rest, size)}{unit}"
        minutes, seconds = divmod(rest, 60 * SECOND_NS)
        hours, minutes = divmod(minutes, 60)
        text = f"{_decimal(seconds, SECOND_NS)}s"
        if hours or minutes:
            text = f"{minutes}m{text}"
        return sign + (f"{hours}h{text}" if hours else text)


class Named(Structure):
    """A number with a name, as time.Month."""

    def __init__(self, number: int, name: str, go_type: str) -> None:
        self.number = number
        self._name = name
        self.go_type = go_type

    def go_text(self) -> str:
        """Its name."""
        return self._name

    def go_field(self, name: str) -> Value:
        """See `Structure`."""
        return self.go_text if name == "String" else super().go_field(name)


def _decimal(value: int, size: int) -> str:
    whole, rest = divmod(value, size)
    fraction = str(rest).rjust(len(str(size)) - 1, "0").rstrip("0") if rest else ""
    return f"{whole}.{fraction}" if fraction else str(whole)


def _nanoseconds(value: Value) -> int:
    if isinstance(value, GoDuration):
        return value.nanoseconds
    raise TemplateError("a duration is needed: `toDuration` makes one")


def _moment_ns(value: Value) -> int:
    if isinstance(value, GoTime):
        return value.nanoseconds
    raise TemplateError("a time is needed: `toTime` makes one")
