"""Prometheus' functions for templates (template/template.go; common/helpers/templates)."""

import ipaddress
import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial
from operator import attrgetter
from urllib.parse import quote_plus, urlsplit

from loadwatch_formats.durations import parse_duration

from loadwatch_backend.alerting.rules.gotemplate.builtins import Function
from loadwatch_backend.alerting.rules.gotemplate.formatting import (
    MAX_TEXT,
    Record,
    StringMap,
    Structure,
    TemplateError,
    Value,
    type_name,
)
from loadwatch_backend.series.promql.functions.label_functions import expand_groups
from loadwatch_backend.series.store.errors import PatternError
from loadwatch_backend.series.store.patterns import Found, Pattern, compile_pattern
from loadwatch_backend.series.store.port import Labels

_LAYOUT = re.compile(
    r"January|Jan|Monday|Mon|MST|2006|Z07:00:00|Z07:00|Z0700|Z07|-07:00:00|-07:00|-0700|-07|[.,]0+(?![0-9])"
    r"|[.,]9+(?![0-9])|002|01|02|03|04|05|06|15|PM|pm|__2|_2|1|2|3|4|5"
)
_MONTHS = "January February March April May June July August September October November December".split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECOND_NS = 1_000_000_000


class GoTime(Structure):
    """A moment, in UTC; `nanoseconds` since the epoch."""

    go_type = "*time.Time"

    def __init__(self, nanoseconds: int) -> None:
        self.nanoseconds = nanoseconds
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
            "Unix": lambda: self.nanoseconds // SECOND_NS,
            "UnixMilli": lambda: self.nanoseconds // 1_000_000,
            "UnixMicro": lambda: self.nanoseconds // 1_000,
            "UnixNano": lambda: self.nanoseconds,
            "Year": lambda: moment.year,
            "Month": lambda: Named(moment.month, _MONTHS[moment.month - 1], "time.Month"),
            "Day": lambda: moment.day,
            "YearDay": lambda: moment.timetuple().tm_yday,
            "Weekday": lambda: Named((moment.weekday() + 1) % 7, _DAYS[moment.weekday()], "time.Weekday"),
            "Hour": lambda: moment.hour,
            "Minute": lambda: moment.minute,
            "Second": lambda: moment.second,
            "Nanosecond": lambda: self.nanoseconds % SECOND_NS,
            "UTC": lambda: self,
            "Add": self._add,
            "Before": self._before,
            "After": self._after,
            "Equal": self._equal,
            "Sub": self._since,
        }

    def _add(self, duration: Value) -> "GoTime":
        return GoTime(self.nanoseconds + _nanoseconds(duration))

    def _before(self, other: Value) -> bool:
        return self.nanoseconds < _moment_ns(other)

    def _after(self, other: Value) -> bool:
        return self.nanoseconds > _moment_ns(other)

    def _equal(self, other: Value) -> bool:
        return self.nanoseconds == _moment_ns(other)

    def _since(self, other: Value) -> "GoDuration":
        return GoDuration(self.nanoseconds - _moment_ns(other))

    def go_field(self, name: str) -> Value:
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
            digits = f"{self.nanoseconds % SECOND_NS:09d}"
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
    go_type = "*time.Duration"

    def __init__(self, nanoseconds: int) -> None:
        self.nanoseconds = nanoseconds

    def go_field(self, name: str) -> Value:
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
        return self._name

    def go_field(self, name: str) -> Value:
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


_LARGE = ("k", "M", "G", "T", "P", "E", "Z", "Y")
_SMALL = ("m", "u", "n", "p", "f", "a", "z", "y")
_BINARY = ("ki", "Mi", "Gi", "Ti", "Pi", "Ei", "Zi", "Yi")
_GO_FLOAT = re.compile(
    r"[+-]?(?:(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf(?:inity)?|nan)", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_](?:[\w]|['’.:·](?=[^\W_]))*|_+\w*")
_LONGEST_NS = 2**63 - 1


class Sample(Record):
    """One element of a query's result, with `.Labels` and `.Value`."""

    def __init__(self, labels: Labels, value: float) -> None:
        self.labels = StringMap(labels)
        self.value = value
        super().__init__("*template.sample", {"Labels": self.labels, "Value": value})


def to_float(value: Value) -> float:
    """ConvertToFloat: numbers, and texts that hold one."""
    match value:
        case bool():
            pass
        case float() | int():
            return float(value)
        case str():
            # A hexadecimal float is the only form of Go's that is not read here.
            if _GO_FLOAT.fullmatch(value):
                return float(value.replace("_", ""))
            raise TemplateError(f'strconv.ParseFloat: parsing "{value}": invalid syntax')
        case _:
            pass
    raise TemplateError(f"can't convert {type_name(value)} to float")


def general(value: float) -> str:
    """Go's `%.4g`."""
    if math.isnan(value):
        return "NaN"
    return f"{value:+.0f}".replace("inf", "Inf") if math.isinf(value) else f"{value:.4g}"


def _scaled(value: float, step: float, prefixes: Sequence[str]) -> str:
    prefix = ""
    for one in prefixes:
        if abs(value) < step:
            break
        prefix = one
        value /= step
    return general(value) + prefix


def humanize(given: Value) -> str:
    """With SI prefixes: 1.234k, 2.5m."""
    value = to_float(given)
    if value == 0 or not math.isfinite(value):
        return general(value)
    return _scaled(value, 1000, _LARGE) if abs(value) >= 1 else _humanize_small(value)


def _humanize_small(value: float) -> str:
    prefix = ""
    for one in _SMALL:
        if abs(value) >= 1:
            break
        prefix = one
        value *= 1000
    return general(value) + prefix


def humanize_1024(given: Value) -> str:
    """With binary prefixes: 1.5Mi."""
    value = to_float(given)
    return general(value) if abs(value) <= 1 or not math.isfinite(value) else _scaled(value, 1024, _BINARY)


def humanize_duration(given: Value) -> str:
    """Seconds as 1d 2h 3m 4s, or 2.5ms."""
    value = to_float(given)
    if not math.isfinite(value):
        return general(value)
    if value == 0:
        return f"{general(value)}s"
    if abs(value) < 1:
        return f"{_humanize_small(value)}s"
    sign, value = ("-", -value) if value < 0 else ("", value)
    whole = _int64(value)
    minutes, seconds = _split(whole, 60)
    hours, minutes = _split(minutes, 60)
    days, hours = _split(hours, 24)
    if days:
        return f"{sign}{days}d {hours}h {minutes}m {seconds}s"
    if hours:
        return f"{sign}{hours}h {minutes}m {seconds}s"
    return f"{sign}{minutes}m {seconds}s" if minutes else f"{sign}{general(value)}s"


def _int64(value: float) -> int:
    """Go's conversion on amd64: what does not fit is the least number."""
    return int(value) if math.isfinite(value) and -(2.0**63) <= value < 2.0**63 else -(2**63)


def _split(number: int, size: int) -> tuple[int, int]:
    """Quotient and rest as in Go, where both of a negative number are negative."""
    quotient, rest = divmod(abs(number), size)
    return (quotient, rest) if number >= 0 else (-quotient, -rest)


def humanize_percentage(given: Value) -> str:
    """A ratio as 12.34%."""
    return f"{general(to_float(given) * 100)}%"


def humanize_timestamp(given: Value) -> str:
    """Seconds since the epoch as a date."""
    value = to_float(given)
    return to_time(value).go_text() if math.isfinite(value) else general(value)


def to_time(given: Value) -> GoTime:
    """Seconds since the epoch to a time, to the millisecond as in Prometheus."""
    value = to_float(given)
    if not math.isfinite(value):
        raise TemplateError("value is NaN or Inf")
    nanoseconds = value * 1e9
    if abs(nanoseconds) > _LONGEST_NS:
        raise TemplateError(f"{value:g} cannot be represented as a nanoseconds timestamp since it overflows int64")
    return GoTime(math.trunc(int(nanoseconds) / 1_000_000) * 1_000_000)


def to_duration(given: Value) -> GoDuration:
    return GoDuration(_int64(to_float(given) * SECOND_NS))


def first(samples: list[Sample]) -> Sample:
    if not samples:
        raise TemplateError("first() called on vector with no elements")
    return samples[0]


def replace_all(pattern: str, replacement: str, text: str) -> str:
    """Regexp.ReplaceAllString, with $1 and ${name}."""
    left = MAX_TEXT

    def expanded(found: Found) -> str:
        nonlocal left
        value = expand_groups(replacement, found.group, left)
        if value is None:
            raise TemplateError(f"a text is longer than {MAX_TEXT} characters")
        left -= len(value)
        return value

    return _compiled(pattern).sub(expanded, text)


def _references(*given: str) -> int:
    """The work of `replace_all`: each reference to a group, at each place where the pattern may match."""
    return given[1].count("$") * (len(given[2]) + 1) if len(given) == 3 else 0


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern is found anywhere in the text."""
    return _compiled(pattern).search(text) is not None


def _compiled(pattern: str) -> Pattern:
    try:
        return compile_pattern(pattern, dot_matches_newline=False)
    except PatternError as error:
        raise TemplateError(f"error parsing regexp: {error.detail}") from error


def title(text: str) -> str:
    """The first letter of each word in upper case; the rest stays."""

    def raised(found: re.Match[str]) -> str:
        word = found.group()
        for place, letter in enumerate(word):
            if letter.isalpha():
                return word[:place] + letter.title() + word[place + 1 :]
        return word

    return _WORD.sub(raised, text)


def split_host_port(text: str) -> tuple[str, str] | None:
    """net.SplitHostPort; None where it gives an error."""
    if text.startswith("["):
        host, bracket, rest = text[1:].partition("]")
        if not bracket or not rest.startswith(":") or "[" in host or "]" in rest or "[" in rest or ":" in rest[1:]:
            return None
        return host, rest[1:]
    host, colon, port = text.rpartition(":")
    if not colon or ":" in host or "[" in text or "]" in text:
        return None
    return host, port


def strip_port(text: str) -> str:
    parts = split_host_port(text)
    return text if parts is None else parts[0]


def strip_domain(text: str) -> str:
    """host.example.org:80 to host:80; addresses stay."""
    parts = split_host_port(text)
    host, port = parts or (text, "")
    try:
        ipaddress.ip_address(host.partition("%")[0] if ":" not in host else host)
        return text
    except ValueError:
        pass
    host = host.split(".")[0]
    return f"{host}:{port}" if port else host


def _duration_seconds(text: str) -> float:
    negative = text.startswith("-")
    try:
        milliseconds = parse_duration(text[1:] if negative else text)
    except ValueError as error:
        raise TemplateError(f"error calling parseDuration: {error}") from error
    return -milliseconds / 1000 if negative else milliseconds / 1000


def _label(name: str, sample: Sample) -> str:
    return sample.labels.get(name, "")


def _sort_by_label(name: str, samples: list[Sample]) -> list[Sample]:
    return sorted(samples, key=lambda one: _label(name, one))


def _link(expression: str, tab: int) -> str:
    return f"/graph?g0.expr={_query_escape(expression)}&g0.tab={tab}"


def _query_escape(text: str) -> str:
    return quote_plus(text, safe="")


FUNCTIONS: Mapping[str, Function] = {
    "first": Function(call=first, takes=(list,)),
    "label": Function(call=_label, takes=(str, Sample)),
    "value": Function(call=attrgetter("value"), takes=(Sample,)),
    "strvalue": Function(call=partial(_label, "__value__"), takes=(Sample,)),
    "sortByLabel": Function(call=_sort_by_label, takes=(str, list)),
    "args": Function(call=lambda *values: {f"arg{place}": one for place, one in enumerate(values)}, rest=object),
    "reReplaceAll": Function(call=replace_all, takes=(str, str, str), work=_references),
    "match": Function(call=matches, takes=(str, str)),
    "safeHtml": Function(call=str, takes=(str,)),
    "title": Function(call=title, takes=(str,)),
    "toUpper": Function(call=str.upper, takes=(str,)),
    "toLower": Function(call=str.lower, takes=(str,)),
    "graphLink": Function(call=partial(_link, tab=0), takes=(str,)),
    "tableLink": Function(call=partial(_link, tab=1), takes=(str,)),
    "stripPort": Function(call=strip_port, takes=(str,)),
    "stripDomain": Function(call=strip_domain, takes=(str,)),
    "humanize": Function(call=humanize, takes=(object,)),
    "humanize1024": Function(call=humanize_1024, takes=(object,)),
    "humanizeDuration": Function(call=humanize_duration, takes=(object,)),
    "humanizePercentage": Function(call=humanize_percentage, takes=(object,)),
    "humanizeTimestamp": Function(call=humanize_timestamp, takes=(object,)),
    "toTime": Function(call=to_time, takes=(object,)),
    "toDuration": Function(call=to_duration, takes=(object,)),
    "parseDuration": Function(call=_duration_seconds, takes=(str,)),
    "urlQueryEscape": Function(call=_query_escape, takes=(str,)),
}


def context_functions(time_ms: int, external_url: str, query: Callable[[str], list[Sample]]) -> Mapping[str, Function]:
    return {
        "query": Function(call=query, takes=(str,)),
        "now": Function(call=lambda: time_ms / 1000),
        "externalURL": Function(call=lambda: external_url),
        "pathPrefix": Function(call=lambda: urlsplit(external_url).path),
    }
