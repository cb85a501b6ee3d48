"""What a reader of lines gives: texts of a line, not yet numbers, since the same texts come again and again."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import NamedTuple

from loadwatch_formats.access_logs.sketch import GREATEST
from loadwatch_formats.durations import parse_go_duration

AT, METHOD, PATH, STATUS, SIZE, TOOK, REST = range(7)
"""Places in the texts of a line. PATH is without its query, unless `LineOptions.queries`. REST is empty, or the whole
line where it was not understood at once: then everything else is empty."""
ROLES = ("at", "method", "path", "status", "size", "took")

Texts = tuple[str, ...]

UNITS: Mapping[str, float] = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
"""Of durations, in seconds."""
_UNIT_WORDS: Mapping[str, str] = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
_PARTS = re.compile(r"[,:; ]+")
_REQUEST = re.compile(r"([A-Za-z][A-Za-z-]*) (?:[A-Za-z][A-Za-z0-9+.-]*://[^/?\s]*)?([^?\s]*)(\S*)")
# The `?` among what ends a path in the patterns of the formats.
_PATH_END = re.compile(r"(\(\?P<path>(?:\(\?:)?\[\^)\?")
_LONGEST_DURATION = 200
NO_ANSWER = "0"
"""The status of a request that nobody answered."""
_STATUS = re.compile(r"[0-9]{1,3}|-")


class AccessLogError(ValueError):
    """A file cannot be read as an access log; the text says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineOptions:
    """What somebody says of a log.

    Attributes:
        format: the name of a format, or `auto`.
        keys: of LTSV and JSON by what they hold: `time`, `method`, `path`, `request` (method and path in one),
            `status`, `bytes`, `seconds`. Of combined logs `seconds` only: the number of the field behind the bytes,
            from 1 on.
        unit: of durations: `s`, `ms`, `us` or `ns`; None for what the format or the key's name says.
        queries: paths are read with their queries, of which somebody wants to keep something.
    """

    format: str = "auto"
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    unit: str | None = None
    queries: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LineReader:
    """Reads the lines of one log.

    Attributes:
        format: the name of its format.
        durations: where durations come from, in words; None where the log has none.
        without: why it has none, and what to do; empty if it has.
        later: it has none so far, and a field without a value in the lines that were seen may be one.
        read: the texts of each line of a text of whole lines, empty lines left out. A line in another order than the
            first ones has only REST: see `again`.
        again: reads such a line in the slow way; None if it is not of this format.
        seconds: of a text of TOOK; None where the line has no duration.
    """

    format: str
    durations: str | None
    without: str = ""
    later: bool = False
    read: Callable[[str], Iterable[Texts]]
    again: Callable[[str], Texts | None]
    seconds: Callable[[str], float | None]


class LineFormat(NamedTuple):
    """A kind of access log.

    Attributes:
        name: as in `--format`.
        title: for people.
        open: makes a reader for a log by its first lines; None where they are nothing of the kind.
    """

    name: str
    title: str
    open: Callable[[Sequence[str], LineOptions], LineReader | None]


def reading(pattern: str, *, queries: bool = False) -> Callable[[str], list[Texts]]:
    """A reader by one regular expression with the groups of `ROLES`, any of which may be missing.

    What the expression does not match is REST. It must not match the end of a line. With `queries` a path goes on
    behind the `?` at which the expression ends it.
    """
    pattern = _PATH_END.sub(r"\1", pattern) if queries else pattern
    compiled = re.compile(rf"^(?:{pattern})()\r?$|^([^\r\n].*)$", re.MULTILINE | re.ASCII)
    there, empty = compiled.groupindex, compiled.groups - 1
    places = [there.get(role, empty) - 1 for role in ROLES] + [compiled.groups - 1]
    find = compiled.findall
    if places == list(range(compiled.groups)):
        return find
    # Groups of the expression's own that are no role, and other orders.
    put = itemgetter(*places)
    return lambda text: list(map(put, find(text)))


def single(pattern: str, *, queries: bool = False) -> Callable[[str], Texts | None]:
    """Reads one line by another expression with the same groups; None where it does not match."""
    read = reading(pattern, queries=queries)

    def again(line: str) -> Texts | None:
        found = read(line)
        return found[0] if len(found) == 1 and not found[0][REST] else None

    return again


def one_expression(
    name: str, title: str, line: str, durations: str, seconds: Callable[[LineOptions], Callable[[str], float | None]]
) -> LineFormat:
    """A format whose lines are all of one form; `durations` says where they come from, `seconds` reads them."""

    def open_log(lines: Sequence[str], options: LineOptions) -> LineReader | None:
        if not any(re.fullmatch(line, one.rstrip("\r")) for one in lines):
            return None
        return LineReader(
            format=name,
            durations=durations,
            read=reading(line, queries=options.queries),
            again=single(line, queries=options.queries),
            seconds=seconds(options),
        )

    return LineFormat(name=name, title=title, open=open_log)


def milliseconds(options: LineOptions) -> Callable[[str], float | None]:
    """Durations of a format that writes milliseconds, unless somebody says otherwise."""
    return seconds_in(options.unit or "ms")


def split_request(text: str, *, queries: bool = False) -> tuple[str, str]:
    """Method and path of `GET /x?y HTTP/1.1`; `-` twice where it is none, as of a client that spoke no HTTP."""
    found = _REQUEST.match(text)
    if found is None:
        return "-", "-"
    return found[1], (found[2] or "/") + (found[3] if queries else "")


def path_of(text: str, *, queries: bool = False) -> str:
    return text if queries else text.partition("?")[0]


def status_of(text: str) -> str | None:
    """A status as text, `0` where nobody answered; None where it is none."""
    if not _STATUS.fullmatch(text):
        return None
    return NO_ANSWER if text in ("-", "000", "00") else text


def seconds_in(unit: str) -> Callable[[str], float | None]:
    """Reads durations: numbers in a unit, sums of those (nginx writes one for each upstream), or Go's `1.5ms`."""
    factor = UNITS[unit]

    def seconds(text: str) -> float | None:
        try:
            value = float(text) * factor
        except ValueError:
            value = _other_seconds(text, factor)
        # Not a number is neither less nor more than anything.
        return value if 0 <= value <= GREATEST else None

    return seconds


def no_seconds(_text: str) -> None:
    """Of a log without durations."""


def unit_words(unit: str) -> str:
    return _UNIT_WORDS[unit]


def _other_seconds(text: str, factor: float) -> float:
    if len(text) > _LONGEST_DURATION:
        return math.nan
    try:
        # Lines are read as Latin-1, and most writers write UTF-8.
        return parse_go_duration(text.replace("\xc2\xb5", "u").replace("\xce\xbc", "u").replace(" ", ""))
    except ValueError:
        parts = [part for part in _PARTS.split(text) if part and part != "-"]
        try:
            return math.fsum(map(float, parts)) * factor if parts else math.nan
        except ValueError:
            return math.nan
