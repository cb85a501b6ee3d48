"""What of an access log lies within a run, as a document to be kept with it: no line, query or address. No I/O."""

from collections.abc import Mapping
from typing import Any

from loadwatch_formats.access_logs.figures import RouteFigures, SecondCounts, instant_of
from loadwatch_formats.access_logs.groups import MatchingGroups
from loadwatch_formats.access_logs.lines.line import AT, REST, LineReader, Texts
from loadwatch_formats.access_logs.routes import MOST_ROUTES, OTHER, RouteNames
from loadwatch_formats.access_logs.sketch import RELATIVE_ERROR
from loadwatch_formats.access_logs.tally import Key, Lines, Tally, settle_together
from loadwatch_formats.run_spans import Span

# Figures of routes as documents: what `loadwatch digest access --json` writes, and what is kept with a run. Pure.

QUANTILES: Mapping[str, float] = {"p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99}


def quantiles_of(figures: RouteFigures) -> dict[str, float | None]:
    """By name, in seconds; None where there are none."""
    return dict(zip(QUANTILES, figures.durations.quantiles(tuple(QUANTILES.values())), strict=True))


def route_document(key: Key, figures: RouteFigures) -> dict[str, Any]:
    method, route = key
    return {"route": route, "method": method, **figures_document(figures)}


def figures_document(figures: RouteFigures) -> dict[str, Any]:
    durations = figures.durations
    return {
        "count": figures.count,
        "sum": durations.sum if durations.count else None,
        "min": durations.least,
        "mean": durations.mean,
        **quantiles_of(figures),
        "max": durations.greatest,
        "stddev": durations.deviation,
        "status": {status: figures.statuses[status] for status in sorted(figures.statuses)},
        "bytes": figures.bytes if figures.sized else None,
        "body": {
            "count": figures.sized,
            "min": figures.least_bytes,
            "mean": figures.bytes / figures.sized if figures.sized else None,
            "max": figures.most_bytes,
        },
    }


def lines_document(tally: Tally) -> dict[str, Any]:
    return {
        "read": tally.lines.read,
        "unreadable": tally.lines.unreadable,
        "too_long": tally.lines.too_long,
        "without_duration": tally.without_duration,
        "other_routes": sum(figures.count for (_, route), figures in tally.figures.items() if route == OTHER),
        "percentile_error": RELATIVE_ERROR,
    }


def window_document(tally: Tally) -> dict[str, int] | None:
    lines = tally.lines
    if lines.first_ms is None or lines.last_ms is None:
        return None
    return {"first_ms": lines.first_ms, "last_ms": lines.last_ms}


MOST_NAMES = 4_000
"""Routes of one file: which of them are too many is decided when all are together."""
MARGIN_MS = 20_000
"""Margin kept around the run: database load while no requests come is not caused by them."""
MOST_CELLS = 200_000
"""Sums of seconds that are kept, about five megabytes; where there are more, they are of two seconds, of four, ..."""
_Parts = tuple[Tally, Tally, Tally]


class RunPart:
    """Counts the lines of a run, those of its steady window and those just before and after it apart.

    Attributes:
        outside: lines of another time, and what they cover; `undated` those without a time that can be read.
    """

    def __init__(self, run: Span, steady: Span | None, groups: MatchingGroups, most_cells: int = MOST_CELLS) -> None:
        self.outside = Lines()
        self.undated = 0
        self._run, self._steady = run, steady
        self._near = Span(run.from_ms - MARGIN_MS, run.to_ms + MARGIN_MS)
        self._groups = groups
        self._most_cells = most_cells
        self._step = 1
        self._reader: LineReader | None = None
        self._parts: _Parts | None = None
        self._whole: _Parts | None = None

    def begin(self, reader: LineReader) -> None:
        self._reader = reader
        self._parts = self._tallies(reader, MOST_NAMES, share_names=False)
        self._whole = self._whole or self._tallies(reader, MOST_ROUTES, share_names=True)

    def feed(self, text: str) -> None:
        """Count the lines of a text of whole lines."""
        assert self._reader is not None
        assert self._parts is not None
        inside: list[Texts] = []
        steady: list[Texts] = []
        around: list[Texts] = []
        for texts in self._reader.read(text):
            found = self._reader.again(texts[REST]) if texts[REST] else texts
            if found is None:
                inside.append(texts)
                continue
            at_ms = instant_of(found[AT])
            if at_ms is None:
                self.undated += 1
            elif not self._run.has(at_ms):
                self.outside.read += 1
                self.outside.span(at_ms, at_ms)
                if self._near.has(at_ms):
                    around.append(found)
            elif self._steady is not None and self._steady.has(at_ms):
                steady.append(found)
            else:
                inside.append(found)
        for tally, lines in zip(self._parts, (inside, steady, around), strict=True):
            tally.add(lines, len(text))
        self._bound()

    def end(self, too_long: int) -> None:
        assert self._parts is not None
        assert self._whole is not None
        self._parts[0].lines.too_long += too_long
        for whole, part in zip(self._whole, self._parts, strict=True):
            whole.join(part.part())
        self._parts = None
        self._bound()

    def document(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """As `loadwatch digest access --json` writes it, with `run`, which has `facts` too, `steady` and `seconds`.

        `seconds` has columns for each route (see `SecondCounts.document`), `step` in seconds, the first step `from_ms`,
        and from when to when the log says all, `known_ms`.
        """
        assert self._whole is not None
        settle_together(self._whole)
        whole, steady, around = self._whole
        document: dict[str, Any] = {}
        if self._steady is not None:
            document["steady"] = {**self._steady.document(), "routes": _routes(steady)}
        for key, figures in steady.figures.items():
            whole.take(key, figures)
        whole.lines.add(steady.lines)
        lines = {**lines_document(whole), "outside": self.outside.read, "undated": self.undated}
        return {
            "routes": _routes(whole),
            "lines": lines,
            "window": window_document(whole),
            "run": {**self._run.document(), **facts},
            **document,
            "seconds": self._seconds(whole, around),
        }

    def _seconds(self, whole: Tally, around: Tally) -> dict[str, Any] | None:
        """None where no line has a time."""
        times = [
            at for lines in (whole.lines, self.outside) for at in (lines.first_ms, lines.last_ms) if at is not None
        ]
        if not times:
            return None
        counts: dict[Key, SecondCounts] = {}
        for tally in (whole, around):
            for key, figures in tally.figures.items():
                if figures.by_second is not None:
                    counts.setdefault(key, SecondCounts(self._step)).merge(figures.by_second)
        first = min((min(one.cells) for one in counts.values() if one.cells), default=0)
        return {
            "step": self._step,
            "from_ms": first * self._step * 1_000,
            # What comes before the first line of all, and after the last one, the log may have lost.
            "known_ms": [
                max(self._near.from_ms, min(times) // 1_000 * 1_000),
                min(self._near.to_ms, (max(times) // 1_000 + 1) * 1_000),
            ],
            "routes": [
                {"method": method, "route": route, **one.document(first)}
                for (method, route), one in sorted(counts.items())
                if one.cells
            ],
        }

    def _bound(self) -> None:
        tallies = [*(self._parts or ()), *(self._whole or ())]
        while sum(tally.cells for tally in tallies) > self._most_cells:
            self._step *= 2
            for tally in tallies:
                tally.coarsen(self._step)

    def _tallies(self, reader: LineReader, most: int, *, share_names: bool) -> _Parts:
        names = RouteNames(self._groups, limit=most)

        def tally() -> Tally:
            own = names if share_names else RouteNames(self._groups, limit=most)
            made = Tally(reader, own, by_second=True)
            made.coarsen(self._step)
            return made

        return tally(), tally(), tally()


def _routes(tally: Tally) -> list[dict[str, Any]]:
    order = sorted(tally.figures, key=lambda key: (-tally.figures[key].durations.sum, -tally.figures[key].count, key))
    return [route_document(key, tally.figures[key]) for key in order]
