"""Counts a log by route: its lines go in, figures by method and route come out."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

from loadwatch_formats.access_logs.figures import RouteFigures, SecondCounts, span_of
from loadwatch_formats.access_logs.groups import MatchingGroups
from loadwatch_formats.access_logs.lines.line import AT, METHOD, PATH, REST, SIZE, STATUS, TOOK, LineReader, Texts
from loadwatch_formats.access_logs.routes import OTHER, RouteNames

METHODS = frozenset(
    "GET HEAD POST PUT PATCH DELETE OPTIONS CONNECT TRACE PROPFIND PROPPATCH MKCOL COPY MOVE LOCK UNLOCK REPORT SEARCH"
    " PURGE QUERY -".split()
)
OTHER_METHOD = "other"
NOT_FOUND = frozenset(("400", "403", "404", "405", "410", "414", "444"))
"""Statuses with which a path that nobody serves is answered."""
_PATHS_KEPT = 50_000
_LONGEST_KEPT = 300
"""Paths whose route is remembered, and how long they may be: ten million distinct ones take no memory."""
_LINES_AT_ONCE, _CHARACTERS_AT_ONCE = 32_768, 8 << 20
"""Lines whose texts are held until they are counted together."""
_EXAMPLE = 200
_MOST_NAMES = 2_000
"""Names at which routes are settled before the end."""

Key = tuple[str, str]


@dataclass(slots=True, kw_only=True)
class Lines:
    """What became of the lines.

    Attributes:
        read: requests that were counted.
        unreadable: lines of another form. too_long: lines of more than a megabyte, see `blocks`.
        first_ms, last_ms: the earliest and the latest moment that a line names; None without any.
        example: the beginning of an unreadable line, as it stands there: mask it before it goes anywhere.
    """

    read: int = 0
    unreadable: int = 0
    too_long: int = 0
    first_ms: int | None = None
    last_ms: int | None = None
    example: str | None = None

    def add(self, other: "Lines") -> None:
        self.read += other.read
        self.unreadable += other.unreadable
        self.too_long += other.too_long
        self.example = self.example or other.example
        if other.first_ms is not None and other.last_ms is not None:
            self.span(other.first_ms, other.last_ms)

    def span(self, first_ms: int, last_ms: int) -> None:
        self.first_ms = first_ms if self.first_ms is None else min(self.first_ms, first_ms)
        self.last_ms = last_ms if self.last_ms is None else max(self.last_ms, last_ms)


class Tally:
    """Counts the lines of one log.

    Names of routes are candidates until `settled` is called, which a log that is read to its end needs once, and one
    that grows each time its figures are looked at.
    """

    def __init__(self, reader: LineReader, names: RouteNames, *, by_second: bool = False) -> None:
        """`by_second`: figures have sums of each second as well."""
        self._step = 1 if by_second else 0
        self.lines = Lines()
        self.names = names
        self.figures: dict[Key, RouteFigures] = {}
        self._reader = reader
        self._seconds: Callable[[str], float | None] = lru_cache(maxsize=65_536)(reader.seconds)
        # Texts by method and path as they stand in the log, all those of one route in one list.
        self._rows: dict[Key, list[Texts]] = {}
        self._known: dict[str, dict[str, list[Texts]]] = defaultdict(dict)
        self._kept = 0
        self._held = 0
        self._characters = 0
        self._settle_at = _MOST_NAMES

    @property
    def without_duration(self) -> int:
        """Requests that say no duration, once all is settled or finished."""
        return sum(figures.count - figures.durations.count for figures in self.figures.values())

    def feed(self, text: str) -> None:
        """Count the lines of a text of whole lines."""
        self.add(self._reader.read(text), len(text))

    def add(self, lines: Iterable[Texts], characters: int) -> None:
        known, held = self._known, 0
        for line in lines:
            try:
                known[line[METHOD]][line[PATH]].append(line)
                held += 1
            except KeyError:
                held += self._add_new(line)
        self._held += held
        self._characters += characters
        if self._held >= _LINES_AT_ONCE or self._characters >= _CHARACTERS_AT_ONCE:
            self._count()
            self._settle_many()

    def settled(self) -> dict[Key, RouteFigures]:
        """The figures by method and route, all of them numbers, names learnt and bounded."""
        self._count()
        self.rename(self.names.settle(self.counts(), self.unfound()))
        self.finish()
        return self.figures

    def finish(self) -> None:
        self._count()
        for figures in self.figures.values():
            figures.finish(self._seconds)

    def counts(self) -> dict[str, int]:
        counts: defaultdict[str, int] = defaultdict(int)
        for (_, name), figures in self.figures.items():
            counts[name] += figures.count
        return counts

    def unfound(self) -> set[str]:
        """Names that were answered with nothing but "not found"."""
        found = {name for (_, name), figures in self.figures.items() if figures.statuses.keys() - NOT_FOUND}
        return {name for _, name in self.figures if name not in found}

    def rename(self, names: Mapping[str, str]) -> None:
        self._count()
        self._forget()
        for method, name in [key for key in self.figures if key[1] in names]:
            self.take((method, names[name]), self.figures.pop((method, name)))

    def take(self, key: Key, figures: RouteFigures) -> None:
        there = self.figures.get(key)
        if there is None:
            self.figures[key] = figures
        else:
            there.merge(figures)

    @property
    def cells(self) -> int:
        return sum(len(one.by_second.cells) for one in self.figures.values() if one.by_second is not None)

    def coarsen(self, step: int) -> None:
        """Sum up in steps of so many seconds from now on, what is there too."""
        self._step = step
        for figures in self.figures.values():
            if figures.by_second is not None:
                figures.by_second.coarsen(step)

    def part(self) -> dict[str, Any]:
        """All that was counted, for another process to `join`."""
        self.finish()
        return {"lines": self.lines, "figures": self.figures, "names": self.names.to_json()}

    def join(self, part: Mapping[str, Any]) -> None:
        self.lines.add(part["lines"])
        self.names.adopt(part["names"])
        for (method, name), figures in part["figures"].items():
            self.take((method, name), figures)

    def _add_new(self, line: Texts) -> int:
        """Count a line whose path was not seen lately, or that is of another form; 1 if it was a request."""
        if line[REST]:
            again = self._reader.again(line[REST])
            if again is None:
                self.lines.unreadable += 1
                self.lines.example = self.lines.example or line[REST][:_EXAMPLE]
                return 0
            line = again
        method, path = line[METHOD], line[PATH]
        rows = self._rows.setdefault((method_label(method), self.names.candidate(path)), [])
        rows.append(line)
        # Without either it stands in the log as a line of another form does: `feed` would take those for it.
        if (method or path) and len(path) <= _LONGEST_KEPT and len(method) <= _LONGEST_KEPT:
            if self._kept >= _PATHS_KEPT:
                self._known.clear()
                self._kept = 0
            self._kept += 1
            self._known[method][path] = rows
        return 1

    def _count(self) -> None:
        self._held = self._characters = 0
        moments: set[str] = set()
        for key, rows in self._rows.items():
            if not rows:
                continue
            columns = list(zip(*rows, strict=True))
            moments.update(columns[AT])
            figures = self.figures.get(key)
            if figures is None:
                figures = self.figures[key] = RouteFigures()
            figures.add(columns[STATUS], columns[SIZE], columns[TOOK])
            if self._step:
                figures.by_second = figures.by_second or SecondCounts(self._step)
                figures.by_second.add(columns[AT], columns[STATUS], columns[SIZE], columns[TOOK], self._seconds)
            self.lines.read += len(rows)
            if figures.waits_long():
                figures.finish(self._seconds)
            rows.clear()
        if (span := span_of(moments)) is not None:
            self.lines.span(*span)

    def _settle_many(self) -> None:
        if len(self.figures) > self._settle_at:
            self.rename(self.names.settle(self.counts(), self.unfound()))
            self._settle_at = max(_MOST_NAMES, len(self.figures) + _MOST_NAMES // 2)

    def _forget(self) -> None:
        self._rows.clear()
        self._known.clear()
        self._kept = 0


def settle_together(tallies: Sequence[Tally]) -> None:
    """Give the routes of several logs, which share their `RouteNames`, the same names."""
    names = tallies[0].names
    counts: defaultdict[str, int] = defaultdict(int)
    for tally in tallies:
        tally.finish()
        for name, count in tally.counts().items():
            counts[name] += count
    found = {name for tally in tallies for name in tally.counts().keys() - tally.unfound()}
    renamed = names.settle(counts, counts.keys() - found)
    for tally in tallies:
        tally.rename(renamed)


# What counts lines needs of names: a cache of paths, requests by name, and settling when there are new names.

_MOST_CACHED = 20_000
_LONGEST_CACHED = 200


def method_label(method: str) -> str:
    called = method.upper() or "-"
    return called if called in METHODS else OTHER_METHOD


class Naming:
    """Names paths, and remembers by what they were named.

    Attributes:
        names: the decisions.
        waiting: names that came since the last `settle` and are no route yet.
    """

    def __init__(self, names: RouteNames) -> None:
        self.names = names
        self.waiting: set[str] = set()
        self._routes = names.routes
        self._totals: Counter[str] = Counter()
        self._found: set[str] = set()
        self._cache: dict[str, str] = {}

    def name(self, path: str) -> str:
        name = self._cache.get(path)
        if name is None:
            name = self.names.candidate(path)
            if len(path) <= _LONGEST_CACHED:
                if len(self._cache) >= _MOST_CACHED:
                    self._cache.clear()
                self._cache[path] = name
        return name

    def note(self, name: str, count: int, *, found: bool) -> None:
        """So many requests had the name; `found` if any was answered with anything but `tally.NOT_FOUND`."""
        self._totals[name] += count
        if found:
            self._found.add(name)
        if name not in self._routes:
            self.waiting.add(name)

    def settle(self) -> dict[str, str]:
        """Return {old: new} for names that changed; counts under `old` are to be counted under `new`."""
        if not self.waiting:
            return {}
        self.waiting.clear()
        renamed = self.names.settle(self._totals, self._totals.keys() - self._found)
        self._routes = self.names.routes
        for old, new in renamed.items():
            self._totals[new] += self._totals.pop(old, 0)
            if old in self._found:
                self._found.discard(old)
                self._found.add(new)
        if any(new != OTHER for new in renamed.values()):
            self._cache.clear()
        return renamed

    def forget_counts(self) -> None:
        self._totals.clear()
        self._found.clear()

    def to_json(self) -> dict[str, Any]:
        return {"names": self.names.to_json(), "totals": dict(self._totals), "found": sorted(self._found)}

    @classmethod
    def from_json(cls, document: Any, groups: MatchingGroups, limit: int) -> Self:
        """What `to_json` gave.

        Raises:
            ValueError: it is nothing of the kind.
        """
        try:
            naming = cls(RouteNames.from_json(document["names"], groups, limit))
            naming._totals = Counter({str(name): int(count) for name, count in document["totals"].items()})
            naming._found = {str(name) for name in document["found"]}
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"no names of routes: {error}") from error
        return naming
