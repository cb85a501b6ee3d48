r"""nginx' and Apache's common and combined logs, with a time behind them.

    192.0.2.1 - - [23/Nov/2026:10:00:00 +0900] "GET /users/42 HTTP/1.1" 200 512 "-" "curl/8" 0.012

Which field is the duration is told by the first lines: one with a name (`rt=0.012`), else the first with a fraction
(nginx' `$request_time`, in seconds), else a whole number that stands alone behind the rest: Apache's `%D` in
microseconds, where half of them are a thousand or more. Smaller ones may as well be its `%T` or `%{ms}T`: nobody says.
nginx writes no duration as a whole number: where answers have `0` bytes (Apache's `%b` is `-` then), or where the
number never falls, as of a connection, it is none until somebody says it.
"""

import re
import statistics
from collections.abc import Collection, Sequence
from itertools import pairwise

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

_HEAD = (
    r'[^\[\n]*\[(?P<at>[^\]\n]*)\] "(?P<method>[A-Za-z-]+) (?:[A-Za-z][A-Za-z0-9+.-]*://[^/? "\n]*)?'
    r'(?P<path>[^? "\n]++)[^"\n]*+" (?P<status>[0-9]{3}) (?P<size>[0-9]+|-)'
)
# A request that nobody understood: `-`, nothing, or bytes that were no HTTP.
_HEAD_OF_ANYTHING = (
    r'[^\[\n]*\[(?P<at>[^\]\n]*)\] "(?P<method>)(?P<path>)(?:[^"\\\n]|\\.)*" (?P<status>[0-9]{3}) (?P<size>[0-9]+|-)'
)
# What follows a path begins with what cannot be in it, so there is one way only to part the two.
_HEAD_ESCAPED = _HEAD.replace(
    r'(?P<path>[^? "\n]++)[^"\n]*+"', r'(?P<path>(?:[^? "\\\n]|\\.)+)(?:[? ](?:[^"\\\n]|\\.)*)?"'
)
_FIELD = r'(?:"[^"\\\n]*(?:\\.[^"\\\n]*)*"|\[[^\]\n]*\]|[^ "\[\n][^ \n]*)'
_NUMBER = r"(?:(?P<name>[A-Za-z_.]+)[=:])?(?P<number>[0-9]+(?:\.[0-9]+)?|-)"
_ANY = r"[^\n]*"
_VALUE = re.compile(rf'"?{_NUMBER}"?,?')
_NAMES = frozenset(("rt", "request_time", "reqtime", "duration", "time", "took", "latency", "D", "T"))
_MICROSECONDS_FROM = 1_000
"""Half the requests at or above this many microseconds. So many seconds have not been seen; 60 milliseconds have."""
_MOMENTS_FROM = 1e8
"""Seconds: three years as a duration, 1973 as a moment."""
_A_FEW = 20
_ANYTHING = (
    "the last field may be anything (nginx writes durations with a fraction); if it is one, say its unit: us (Apache's "
    "%D), s or ms"
)
_WITHOUT = "no field behind the bytes is a duration; nginx: add $request_time to log_format, Apache: %D to LogFormat"


def _open(lines: Sequence[str], options: LineOptions) -> LineReader | None:
    head = re.compile(rf"(?:{_HEAD})(?P<rest>[^\n]*)")
    heads = [found for line in lines if (found := head.fullmatch(line.rstrip("\r")))]
    if not heads:
        return None
    rows = [re.findall(_FIELD, found["rest"]) for found in heads]
    place, unit, durations, without = _duration(rows, {found["size"] for found in heads}, options)
    tail = _ANY if place is None else rf'(?: {_FIELD}){{{place}}} "?(?:[A-Za-z_.]+[=:])?(?P<took>[0-9.]+|-)"?[^\n]*'
    others = [
        single(part + rest, queries=options.queries)
        for part in (_HEAD_ESCAPED, _HEAD_OF_ANYTHING)
        for rest in dict.fromkeys((tail, _ANY))
    ]

    def again(line: str) -> Texts | None:
        return next((found for read in others if (found := read(line)) is not None), None)

    return LineReader(
        format="combined",
        durations=durations,
        without=without,
        later=without == _WITHOUT and _may_come_later(rows),
        read=reading(_HEAD + tail, queries=options.queries),
        again=again,
        seconds=seconds_in(unit) if durations else no_seconds,
    )


def _duration(
    rows: Sequence[Sequence[str]], sizes: Collection[str], options: LineOptions
) -> tuple[int | None, str, str | None, str]:
    """The place of the field from 0 on, its unit, both in words; and why there is none, or nothing."""
    if options.unit is not None and options.unit not in UNITS:
        raise AccessLogError(f"a unit is one of {', '.join(UNITS)}; not {options.unit}")
    width = max(map(len, rows))
    if "seconds" in options.keys:
        try:
            place = int(options.keys["seconds"]) - 1
        except ValueError:
            place = -1
        if not 0 <= place < width:
            raise AccessLogError(
                f"the key of seconds is the number of a field behind the bytes, from 1 to {width} here; "
                f"not {options.keys['seconds']!r}"
            )
        unit = options.unit or "s"
        return place, unit, f"field {place + 1} behind the bytes, in {unit_words(unit)}", ""
    columns = [[row[at] if at < len(row) else "-" for row in rows] for at in range(width)]
    found = [(at, values) for at, texts in enumerate(columns) if (values := _numbers(texts)) is not None]
    named = [(at, values) for at, values in found if values[0] in _NAMES]
    fractions = [(at, values) for at, values in found if _has_fractions(values[1])]
    for at, (name, numbers) in (*named, *fractions):
        unit = options.unit or ("s" if any("." in number for number in numbers) else _unit_by_size(numbers))
        called = f"{name}=" if name else f"field {at + 1} behind the bytes"
        return (at, unit, f"{called}, in {unit_words(unit)}", "") if unit else _without_unit(called)
    whole = [(at, values) for at, values in found if not any("." in number for number in values[1])]
    if len(whole) == 1 and whole[0][0] == width - 1:
        at, (_, numbers) = whole[0]
        unit = options.unit or _unit_by_size(numbers)
        if unit is None:
            return _without_unit("the last field")
        if options.unit is None and (("0" in sizes and "-" not in sizes) or _never_falls(numbers)):
            return None, "s", None, _ANYTHING
        return at, unit, f"the last field, taken as {unit_words(unit)}" + " (Apache's %D)" * (unit == "us"), ""
    return None, "s", None, _WITHOUT


def _has_fractions(numbers: Sequence[str]) -> bool:
    """Whether they are numbers with fractions and no moments, as nginx' `$msec` is one."""
    some = [number for number in numbers if "." in number]
    return bool(some) and min(map(float, some)) < _MOMENTS_FROM


def _never_falls(numbers: Sequence[str]) -> bool:
    values = [int(number) for number in numbers if number != "-"]
    return len(values) >= _A_FEW and all(before <= after for before, after in pairwise(values))


def _may_come_later(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a field has no value in any line; a referrer and an agent in quotes are none."""
    return any(
        all(len(row) <= at or ((found := _VALUE.fullmatch(row[at])) and found["number"] == "-") for row in rows)
        for at in range(max(map(len, rows)))
        if at > 1 or all(len(row) <= at or not row[at].startswith('"') for row in rows)
    )


def _unit_by_size(numbers: Sequence[str]) -> str | None:
    values = [float(number) for number in numbers if number != "-"]
    return "us" if values and statistics.median(values) >= _MICROSECONDS_FROM else None


def _without_unit(called: str) -> tuple[int | None, str, str | None, str]:
    units = "us (Apache's %D), s (its %T) or ms"
    return None, "s", None, f"durations may be in {called}, whose unit nobody says: {units}"


def _numbers(texts: Sequence[str]) -> tuple[str, list[str]] | None:
    """Name and numbers of a column that holds numbers nearly everywhere."""
    found = [match for text in texts if (match := _VALUE.fullmatch(text))]
    numbers = [match["number"] for match in found]
    if len(found) < 0.8 * len(texts) or all(number == "-" for number in numbers):
        return None
    return found[0]["name"] or "", numbers


COMBINED = LineFormat(name="combined", title="common or combined (nginx, Apache)", open=_open)
