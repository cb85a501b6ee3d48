"""What of an access log lies within a run, as a document to be kept with it: no line, query or address. No I/O."""

from collections.abc import Mapping
from typing import Any

from loadwatch_formats.access_logs.document import lines_document, route_document, window_document
from loadwatch_formats.access_logs.groups import MatchingGroups
from loadwatch_formats.access_logs.instants import instant_of
from loadwatch_formats.access_logs.lines.line import AT, REST, LineReader, Texts
from loadwatch_formats.access_logs.routes import MOST_ROUTES, RouteNames
from loadwatch_formats.access_logs.tally import Lines, Tally, settle_together
from loadwatch_formats.run_spans import Span

MOST_NAMES = 4_000
"""Routes of one file: which of them are too many is decided when all are together."""


class RunPart:
    """Counts the lines of a run, those of its steady window apart.

    Attributes:
        outside: lines of another time, and what they cover; `undated` those without a time that can be read.
    """

    def __init__(self, run: Span, steady: Span | None, groups: MatchingGroups) -> None:
        self.outside = Lines()
        self.undated = 0
        self._run, self._steady = run, steady
        self._groups = groups
        self._reader: LineReader | None = None
        self._parts: tuple[Tally, Tally] | None = None
        self._whole: tuple[Tally, Tally] | None = None

    def begin(self, reader: LineReader) -> None:
        """Begin a file."""
        self._reader = reader
        self._parts = self._tallies(reader, MOST_NAMES, share_names=False)
        self._whole = self._whole or self._tallies(reader, MOST_ROUTES, share_names=True)

    def feed(self, text: str) -> None:
        """Count the lines of a text of whole lines."""
        assert self._reader is not None
        assert self._parts is not None
        inside: list[Texts] = []
        steady: list[Texts] = []
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
            elif self._steady is not None and self._steady.has(at_ms):
                steady.append(found)
            else:
                inside.append(found)
        for tally, lines in zip(self._parts, (inside, steady), strict=True):
            tally.add(lines, len(text))

    def end(self, too_long: int) -> None:
        """End a file, of which so many lines were left out for their length."""
        assert self._parts is not None
        assert self._whole is not None
        self._parts[0].lines.too_long += too_long
        for whole, part in zip(self._whole, self._parts, strict=True):
            whole.join(part.part())

    def document(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """As `loadwatch digest access --json` writes it, with `run`, which has `facts` too, and `steady`."""
        assert self._whole is not None
        settle_together(self._whole)
        whole, steady = self._whole
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
        }

    def _tallies(self, reader: LineReader, most: int, *, share_names: bool) -> tuple[Tally, Tally]:
        names = RouteNames(self._groups, limit=most)
        return Tally(reader, names), Tally(reader, names if share_names else RouteNames(self._groups, limit=most))


def _routes(tally: Tally) -> list[dict[str, Any]]:
    order = sorted(tally.figures, key=lambda key: (-tally.figures[key].durations.sum, -tally.figures[key].count, key))
    return [route_document(key, tally.figures[key]) for key in order]
