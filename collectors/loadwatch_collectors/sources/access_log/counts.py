"""Counters of requests by route and method, as lines make them; what they are follows from the lines alone.

So they go on where they stopped: whoever keeps them together with the place in the log counts each line once, however
often it is started anew. No I/O here.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from loadwatch_formats.access_logs.groups import MatchingGroups
from loadwatch_formats.access_logs.lines.line import NO_ANSWER, LineReader, Texts, status_of
from loadwatch_formats.access_logs.naming import Naming, method_label
from loadwatch_formats.access_logs.routes import OTHER, RouteNames
from loadwatch_formats.access_logs.tally import NOT_FOUND

BOUNDS: Sequence[float] = tuple(round(0.0005 * 2 ** (step / 4), 9) for step in range(69))
"""Upper bounds of durations in seconds: from 0.5 ms to 65.5 s, each 2^(1/4) times the one before."""
_SETTLE_AT = 2_000
_MOST_DURATIONS = 20_000
_SHOWN = 120
_VERSION = 1

Key = tuple[str, str]
"""Method and route."""


@dataclass(slots=True)
class RouteCounts:
    """What was counted of one method and route; durations by the place of the first bound that is not less."""

    statuses: Counter[str] = field(default_factory=Counter[str])
    bytes: int = 0
    seconds: float = 0.0
    timed: int = 0
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))

    @property
    def requests(self) -> int:
        """All of them."""
        return self.statuses.total()

    def add(self, other: "RouteCounts") -> None:
        """Add what was counted elsewhere."""
        self.statuses.update(other.statuses)
        self.bytes += other.bytes
        self.seconds += other.seconds
        self.timed += other.timed
        self.buckets = [mine + theirs for mine, theirs in zip(self.buckets, other.buckets, strict=True)]

    def to_json(self) -> list[Any]:
        """A JSON array; `from_json` reads it."""
        return [dict(self.statuses), self.bytes, self.seconds, self.timed, self.buckets]

    @classmethod
    def from_json(cls, document: Any) -> Self:
        """What `to_json` gave.

        Raises:
            ValueError, TypeError: it is nothing of the kind.
        """
        statuses, size, seconds, timed, buckets = document
        if len(buckets) != len(BOUNDS) + 1:
            raise ValueError("other bounds than now")
        counts = Counter({str(status): int(count) for status, count in statuses.items()})
        return cls(counts, int(size), float(seconds), int(timed), [int(count) for count in buckets])


class LogCounts:
    """Counts lines. Not for several threads.

    Attributes:
        routes: what was counted of each.
        counted, unreadable: lines.
        example: an unreadable line of which only the form is left.
    """

    def __init__(self, naming: Naming) -> None:
        self.routes: dict[Key, RouteCounts] = {}
        self.counted = 0
        self.unreadable = 0
        self.example = ""
        self._naming = naming
        self._seconds: dict[str, tuple[float, int] | None] = {}

    @property
    def other(self) -> int:
        """Requests that are under the route `other`."""
        return sum(counts.requests for (_, route), counts in self.routes.items() if route == OTHER)

    @property
    def named(self) -> int:
        """Routes with a name of their own."""
        return len({route for _, route in self.routes if route != OTHER})

    def learn(self, reader: LineReader, text: str) -> None:
        """Learn names from lines that are not counted, so that the first that are counted have their final ones."""
        lines: dict[Key, _Lines] = {}
        for texts in reader.read(text):
            self._take(lines, texts, reader)
        self._settle(lines)
        self._naming.forget_counts()

    def add(self, reader: LineReader, text: str) -> None:
        """Count the lines of a text of whole lines."""
        lines: dict[Key, _Lines] = {}
        for texts in reader.read(text):
            if not self._take(lines, texts, reader):
                self.unreadable += 1
                self.example = masked(texts[-1])
            elif len(lines) >= _SETTLE_AT:
                self._count(lines, reader)
                lines = {}
        self._count(lines, reader)

    def forget_counts(self) -> None:
        """Begin to count anew, under the names that were learnt: the same route keeps its name."""
        self.routes.clear()
        self.counted = self.unreadable = 0
        self.example = ""
        self._naming.forget_counts()

    def to_json(self) -> dict[str, Any]:
        """A JSON object; `from_json` reads it."""
        return {
            "version": _VERSION,
            "naming": self._naming.to_json(),
            "counted": self.counted,
            "unreadable": self.unreadable,
            "routes": [[*key, counts.to_json()] for key, counts in self.routes.items()],
        }

    @classmethod
    def from_json(cls, document: Any, groups: MatchingGroups, limit: int) -> Self:
        """What `to_json` gave.

        Raises:
            ValueError: it is nothing of the kind.
        """
        try:
            if document["version"] != _VERSION:
                raise ValueError("another version")
            counts = cls(Naming.from_json(document["naming"], groups, limit))
            counts.counted, counts.unreadable = int(document["counted"]), int(document["unreadable"])
            counts.routes = {
                (str(method), str(route)): RouteCounts.from_json(one) for method, route, one in document["routes"]
            }
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"no counts of an access log: {error}") from error
        return counts

    def _take(self, lines: "dict[Key, _Lines]", texts: Texts, reader: LineReader) -> bool:
        _, method, path, status, size, took, rest = texts
        if rest:
            again = reader.again(rest)
            if again is None:
                return False
            _, method, path, status, size, took, _ = again
        key = (method, self._naming.name(path))
        line = lines.get(key)
        if line is None:
            line = lines[key] = _Lines()
        line.statuses[status] += 1
        line.sizes[size] += 1
        line.tooks[took] += 1
        return True

    def _settle(self, lines: "dict[Key, _Lines]") -> dict[str, str]:
        for (_, name), line in lines.items():
            self._naming.note(name, line.statuses.total(), found=not NOT_FOUND.issuperset(line.statuses))
        return self._naming.settle()

    def _count(self, lines: "dict[Key, _Lines]", reader: LineReader) -> None:
        """Add what was read under the names that it settles to; routes that are called otherwise now begin anew."""
        renamed = self._settle(lines)
        for key in [key for key in self.routes if key[1] in renamed]:
            del self.routes[key]
        for (method, name), line in lines.items():
            key = (method_label(method), renamed.get(name, name))
            counts = self.routes.get(key)
            if counts is None:
                counts = self.routes[key] = RouteCounts()
            for status, times in line.statuses.items():
                counts.statuses[status_of(status) or NO_ANSWER] += times
            counts.bytes += sum(int(text) * times for text, times in line.sizes.items() if _is_size(text))
            for text, times in line.tooks.items():
                timed = self._duration(text, reader)
                if timed is not None:
                    seconds, place = timed
                    counts.seconds += seconds * times
                    counts.timed += times
                    counts.buckets[place] += times
            self.counted += line.statuses.total()

    def _duration(self, text: str, reader: LineReader) -> tuple[float, int] | None:
        """Seconds, and the place of their bucket."""
        if text in self._seconds:
            return self._seconds[text]
        seconds = reader.seconds(text) if text else None
        found = None if seconds is None else (seconds, bisect_left(BOUNDS, seconds))
        if len(self._seconds) >= _MOST_DURATIONS:
            self._seconds.clear()
        self._seconds[text] = found
        return found


class _Lines:
    """Lines of one method and name: their texts, which are few, counted; numbers are made of them later."""

    __slots__ = ("sizes", "statuses", "tooks")

    def __init__(self) -> None:
        self.statuses: Counter[str] = Counter()
        self.sizes: Counter[str] = Counter()
        self.tooks: Counter[str] = Counter()


def new_counts(groups: MatchingGroups, limit: int) -> LogCounts:
    """Nothing is counted yet."""
    return LogCounts(Naming(RouteNames(groups, limit)))


def masked(line: str) -> str:
    """The form of a line: letters as `a`, digits as `0`, what is not printable ASCII as `?`."""
    form = "".join(
        "0" if "0" <= one <= "9" else "a" if one.isascii() and one.isalpha() else one if " " <= one <= "~" else "?"
        for one in line[:_SHOWN]
    )
    return form + ("…" if len(line) > _SHOWN else "")


def _is_size(text: str) -> bool:
    return len(text) <= 15 and text.isdecimal() and text.isascii()
