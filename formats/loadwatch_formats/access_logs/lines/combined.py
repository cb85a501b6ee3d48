r"""nginx' and Apache's common and combined logs, with a time behind them; Traefik's, Tomcat's, gunicorn's are such too.

    192.0.2.1 - - [23/Nov/2026:10:00:00 +0900] "GET /users/42 HTTP/1.1" 200 512 "-" "curl/8" 0.012

No log says which field is the duration, so evidence does, over all of the first lines:

- a name that is known (`rt=0.012`; `rt="0.012"` is one field, `"curl/8"rt=0.012` are two), or a unit (`12ms`);
- three decimals or more, always as many, on every line. nginx writes its times so, in seconds; `$request_time` is never
  `-`, never a list, and never below the time of an upstream. `$gzip_ratio` has two decimals;
- a whole number of microseconds, Apache's `%D`: half of them are a thousand or more, and none is below ten, which no
  answer takes (Tomcat before 10.1 writes milliseconds by the same `%D`, and its lines look the same). Numbers that come
  again and again (`%P`), never fall (a connection's), follow the bytes (`%O`) or stand in a log with `0` bytes (nginx',
  where Apache's `%b` is `-`) are none. In `%T/%D` the seconds are those of the microseconds.

Where that leaves several columns, or none for certain, there are no durations until somebody names the field.
"""

import re
import statistics
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from loadwatch_formats.access_logs.lines.line import (
    UNITS,
    AccessLogError,
    LineFormat,
    LineOptions,
    LineReader,
    Texts,
    no_seconds,
    reading,
    seconds_in,
    single,
    unit_words,
)
from loadwatch_formats.access_logs.lines.ltsv import UPSTREAM_DURATIONS, duration_key, unit_of

_QUOTED = r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"'
_BRACKETED = r"\[[^\[\]\n]*+\]"
_KEY = r"[A-Za-z_][A-Za-z0-9_.-]*+"
_NAME = rf"{_KEY}[=:]"
# nginx' lists of upstreams have spaces in them (`0.001, 0.002 : 0.003`); so has `12.3 ms`.
_BARE = rf'[^ "\r\n]++(?:(?:(?<=,)| :) (?!{_NAME})[^ "\r\n]++){{0,20}}+(?:(?<=[0-9]) (?:ms|us|ns|s)(?![^ \r\n]))?+'
_FIELD = rf"(?>(?:{_NAME})?+{_QUOTED}|{_BRACKETED}|{_BARE})"
_BEGIN = (
    # An address of IPv6, an id and the like may stand in brackets before the time, a host between it and the request.
    r"[^\[\n]*+(?:\[[^\[\n]*+)*?\[(?P<at>[^\[\]:\n]*:[0-9]{2}[^\[\]\n]*|[0-9]{10}(?:\.[0-9]+)?)\]"
    rf'(?: (?>"[^"\\\n]*+"|{_BRACKETED}|[^ "\[\n]++)){{0,2}}? "'
)
_STATUS_SIZE = '" (?P<status>[0-9]{3}) (?P<size>[0-9]+|-)'
_METHOD = r"(?P<method>[A-Za-z-]+) (?:[A-Za-z][A-Za-z0-9+.-]*://[^/? \"\n]*)?"
_HEAD = rf'{_BEGIN}{_METHOD}(?P<path>[^? "\n]++)[^"\n]*+{_STATUS_SIZE}'
# A request that nobody understood: `-`, nothing, or bytes that were no HTTP.
_HEAD_OF_ANYTHING = rf'{_BEGIN}(?P<method>)(?P<path>)(?:[^"\\\n]|\\.)*{_STATUS_SIZE}'
# What follows a path begins with what cannot be in it, so there is one way only to part the two.
_HEAD_ESCAPED = _HEAD.replace(
    r'(?P<path>[^? "\n]++)[^"\n]*+', r'(?P<path>(?:[^? "\\\n]|\\.)+)(?:[? ](?:[^"\\\n]|\\.)*)?'
)
_ANY = r"[^\n]*"
_VALUE = re.compile(rf'"?(?:(?P<name>{_KEY})[=:])?+"?(?P<value>[^"]*?),?"?,?')
_TIME = r"(?:[0-9]+h)?(?:[0-9]+m)?[0-9]+(?:\.[0-9]+)? ?(?:[num]|\xc2?\xb5|\xce\xbc)?s"
_SECONDS_AND_MICROSECONDS = re.compile(r"([0-9]{1,9})/([0-9]{1,15})")
_MOST_DIGITS = 40
_MOST = 0.95
"""Share of the lines that must match: the last one may be cut."""
_MANY, _FEW = 0.8, 0.01
_MICROSECONDS_FROM = 1_000
"""Half the requests at or above this many microseconds. So many seconds have not been seen; 60 milliseconds have."""
_LEAST_MICROSECONDS = 10
_DISTINCT = 0.7
"""Share of different numbers among microseconds, at the least; those of processes come again and again."""
_MOMENTS_FROM = 1e8
"""Seconds: three years as a duration, 1973 as a moment."""
_LATER_SECONDS = 0.0015
"""How much an upstream's time may exceed that of its request: they are of two clocks, in milliseconds."""
_A_FEW = 20
_ANYTHING = (
    "{} may be anything (nginx writes durations with three decimals); if it is a duration, say its unit: us (Apache's "
    "%D), s or ms"
)
_WITHOUT = "no field behind the bytes is a duration; nginx: add $request_time to log_format, Apache: %D to LogFormat"
_UNIT_UNKNOWN = (
    "durations may be in {}, whose unit nobody says: us (Apache's %D), s (its %T) or ms (Tomcat's %D before 10.1)"
)


class _Column(NamedTuple):
    """The field at one place behind the bytes, over all lines: its name and values, `` where a line ends before."""

    at: int
    name: str
    values: Sequence[str]

    @property
    def called(self) -> str:
        return f"{self.name}=" if self.name else f"field {self.at + 1} behind the bytes"

    def given(self) -> list[str]:
        return [value for value in self.values if value not in ("", "-")]

    def is_complete(self) -> bool:
        """Whether each line has one value, as all have of their own request."""
        return "-" not in self.values and not any(" " in value and "," in value for value in self.values)

    def is_mostly(self, pattern: str) -> bool:
        given = self.given()
        return bool(given) and sum(bool(re.fullmatch(pattern, value)) for value in given) >= _MOST * len(given)

    def seconds(self) -> list[float | None]:
        return list(map(seconds_in("s"), self.values))


class _Choice(NamedTuple):
    """Where the durations are: the column, their unit, both in words, and their form; or why there are none."""

    at: int | None = None
    unit: str = "s"
    durations: str | None = None
    without: str = ""
    form: str = ""


def _open(lines: Sequence[str], options: LineOptions) -> LineReader | None:
    head = re.compile(rf"(?:{_HEAD})(?P<rest>[^\n]*)")
    heads = [found for line in lines if (found := head.fullmatch(line.rstrip("\r")))]
    if not heads:
        return None
    columns = _columns([_fields(found["rest"]) for found in heads])
    chosen = _duration(columns, [found["size"] for found in heads], options)
    tail = _ANY
    if chosen.at is not None:
        tail = rf'(?: ?+{_FIELD}){{{chosen.at}}} ?"?(?:{_NAME})?+"?(?:[0-9]++/)?+(?P<took>{_BARE})[^\n]*'
    others = [
        single(part + rest, queries=options.queries)
        for part in (_HEAD_ESCAPED, _HEAD_OF_ANYTHING)
        for rest in dict.fromkeys((tail, _ANY))
    ]

    def again(line: str) -> Texts | None:
        return next((found for read in others if (found := read(line)) is not None), None)

    return LineReader(
        format="combined",
        durations=chosen.durations,
        without=chosen.without,
        # A referrer and an agent in quotes are no field without a value.
        later=chosen.without == _WITHOUT
        and any(not column.given() and (column.at > 1 or not _in_quotes(heads, column.at)) for column in columns),
        read=reading(_HEAD + tail, queries=options.queries),
        again=again,
        seconds=_seconds(chosen) if chosen.durations else no_seconds,
    )


def _seconds(chosen: _Choice) -> Callable[[str], float | None]:
    form, seconds = re.compile(chosen.form), seconds_in(chosen.unit)
    return lambda text: seconds(text) if form.match(text) else None


def _fields(rest: str) -> list[str]:
    field, fields, at = re.compile(rf" ?+({_FIELD})"), list[str](), 0
    while (found := field.match(rest, at)) is not None:
        fields.append(found[1])
        at = found.end()
    return fields


def _in_quotes(heads: Sequence[re.Match[str]], at: int) -> bool:
    return any(len(fields := _fields(found["rest"])) > at and fields[at].startswith('"') for found in heads)


def _columns(rows: Sequence[Sequence[str]]) -> list[_Column]:
    columns: list[_Column] = []
    for at in range(max(map(len, rows))):
        found = [_VALUE.fullmatch(row[at] if at < len(row) else "") for row in rows]
        names = statistics.multimode(one["name"] or "" for one in found if one and one["value"])
        columns.append(_Column(at, names[0] if names else "", [one["value"] if one else "?" for one in found]))
    return columns


def _duration(columns: Sequence[_Column], sizes: Sequence[str], options: LineOptions) -> _Choice:
    if options.unit is not None and options.unit not in UNITS:
        raise AccessLogError(f"a unit is one of {', '.join(UNITS)}; not {options.unit}")
    if "seconds" in options.keys:
        return _named_by(options.keys["seconds"], options.unit, columns)
    numbers = [column for column in columns if _has_times(column) or column.is_mostly(r"[0-9.,:; -]*[0-9]")]
    # Fields that few lines have are what is left of an agent with quotes in it.
    numbers = [column for column in numbers if column.values.count("") <= (1 - _MANY) * len(column.values)]
    named = {column.name: column for column in numbers if column.name}
    key = duration_key(named.keys() - set(UPSTREAM_DURATIONS))
    if key is not None:
        column = named[key]
        unit = options.unit or ("s" if _has_times(column) else unit_of(key, column.given()) or _unit_by_size(column))
        return _taken(column, unit) if unit else _Choice(without=_UNIT_UNKNOWN.format(column.called))
    times = [column for column in numbers if _has_times(column)]
    if times:
        own = [column for column in times if column.is_complete() and not column.name.startswith(("u", "U"))]
        best = max(own or times, key=lambda column: sum(filter(None, column.seconds())))
        if not all(_reaches(best, other) for other in times):
            return _Choice(without=_one_of(times))
        # Of a log without any other time; somebody may know that nothing is answered without an upstream.
        return _taken(best, options.unit or "s", "" if own else " (of an upstream: not every request has one)")
    if len(columns) > 12 and columns[12].is_mostly("[A-Za-z-]{4}") and columns[11].is_mostly("[0-9]+"):
        return _taken(columns[11], options.unit or "ms", " (HAProxy's %Ta)")
    for column in columns:
        pairs = [_SECONDS_AND_MICROSECONDS.fullmatch(value) for value in column.given()]
        if pairs and all(pair and int(pair[1]) == int(pair[2]) // 1_000_000 for pair in pairs):
            return _taken(column, options.unit or "us", " (Apache's %T/%D)")
    if fractions := [column for column in numbers if not column.name and _has_fractions(column)]:
        if len(fractions) == 1 and options.unit:
            return _taken(fractions[0], options.unit)
        return _Choice(without=_one_of(fractions))
    return _whole(columns, numbers, sizes, options.unit)


def _named_by(key: str, unit: str | None, columns: Sequence[_Column]) -> _Choice:
    by_key = {str(column.at + 1): column for column in columns} | {one.name: one for one in columns if one.name}
    if key not in by_key:
        raise AccessLogError(
            "the key of seconds is the number of a field behind the bytes, "
            f"from 1 to {len(columns)} here, or its name; not {key!r}"
        )
    return _taken(by_key[key], unit or ("us" if by_key[key].is_mostly("[0-9]+/[0-9]+") else "s"))


def _whole(columns: Sequence[_Column], numbers: Sequence[_Column], sizes: Sequence[str], unit: str | None) -> _Choice:
    """Choose the durations of a log that has no fractions."""
    whole = [column for column in numbers if not column.name and column.is_mostly("[0-9]+")]
    likely = [column for column in whole if not (_is_number_of_something(column) or _is_bytes(column, sizes))]
    if len(likely) > 1 or (len(whole) > 1 and not likely):
        return _Choice(without=_one_of(likely or whole))
    if not whole:
        return _Choice(without=_WITHOUT)
    column = (likely or whole)[0]
    called = "the last field" if column.at == len(columns) - 1 else column.called
    found = unit or _unit_by_size(column)
    if unit is None and not likely:
        return _Choice(without=_ANYTHING.format(called))
    if found is None:
        return _Choice(without=_UNIT_UNKNOWN.format(called))
    if unit is None and "0" in sizes and "-" not in sizes:
        return _Choice(without=_ANYTHING.format(called))
    words = f"{called}, taken as {unit_words(found)}" + " (Apache's %D)" * (found == "us")
    words += "; Tomcat before 10.1 writes milliseconds there: then name the unit ms" * (unit is None)
    return _Choice(column.at, found, words)


def _taken(column: _Column, unit: str, what: str = "") -> _Choice:
    # `10ms` at the end of a log that is still written may be `1` or `10m` so far.
    form = rf"{_TIME}\Z" if column.is_mostly(_TIME) else ""
    return _Choice(column.at, unit, f"{column.called}{what}, in {unit_words(unit)}", form=form)


def _one_of(columns: Sequence[_Column]) -> str:
    called = " or ".join(column.called for column in columns)
    number = columns[0].at + 1
    return (
        f"durations may be in {called}, and the lines do not tell; name the field, such as --key seconds={number}, and "
        "its unit (nginx: $request_time has three decimals; Apache: %D)"
    )


def _has_times(column: _Column) -> bool:
    """Whether they are times for certain: with a unit, or with so many decimals as nginx writes, and no moments."""
    if column.is_mostly(_TIME):
        return True
    number = r"[0-9]+\.([0-9]{3,9})"
    given = [part for value in column.given() for part in re.split(r"[,:; ]+", value) if part not in ("", "-")]
    decimals = [len(found[1]) for part in given if (found := re.fullmatch(number, part))]
    if not decimals or decimals.count(statistics.mode(decimals)) < _MOST * len(given):
        return False
    return min(float(part) for part in given if re.fullmatch(number, part)) < _MOMENTS_FROM


def _reaches(column: _Column, other: _Column) -> bool:
    """Whether it is never less than the other, as the time of a request is that of any part of it."""
    both = zip(column.seconds(), other.seconds(), strict=True)
    later = [mine + _LATER_SECONDS < theirs for mine, theirs in both if mine is not None and theirs is not None]
    return sum(later) <= _FEW * len(later)


def _has_fractions(column: _Column) -> bool:
    numbers = [float(value) for value in column.given() if re.fullmatch(r"[0-9]+\.[0-9]+", value)]
    return bool(numbers) and min(numbers) < _MOMENTS_FROM


def _is_number_of_something(column: _Column) -> bool:
    """Whether they are numbers of processes, connections or moments rather than durations."""
    values = [int(value) for value in column.given() if value.isdecimal() and len(value) < _MOST_DIGITS]
    if len(values) >= _A_FEW and all(before <= after for before, after in pairwise(values)):
        return True
    return not values or min(values) >= _MOMENTS_FROM or len(set(values)) < _DISTINCT * len(values)


def _is_bytes(column: _Column, sizes: Sequence[str]) -> bool:
    """Whether they are the answer's bytes with its head (Apache's `%O`): these differ by less than the bytes do."""
    pairs = [
        (int(value), int(size))
        for value, size in zip(column.values, sizes, strict=True)
        if (value + size).isdecimal() and len(value + size) < _MOST_DIGITS
    ]
    heads, bodies = sorted(value - size for value, size in pairs), sorted(size for _, size in pairs)
    few = len(pairs) // 20
    return bool(pairs) and heads[0] >= 0 and 2 * (heads[-1 - few] - heads[few]) < bodies[-1 - few] - bodies[few]


def _unit_by_size(column: _Column) -> str | None:
    values = [float(value) for value in column.given() if value.isdecimal()]
    is_long = bool(values) and statistics.median(values) >= _MICROSECONDS_FROM
    return "us" if is_long and min(values) >= _LEAST_MICROSECONDS else None


COMBINED = LineFormat(name="combined", title="common or combined (nginx, Apache, Traefik)", open=_open)
