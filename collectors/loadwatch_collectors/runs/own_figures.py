"""Figures of one's own and markers, read in the lines that the command prints, as it prints them."""

import json
import math
import re
import signal
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from loadwatch_formats.metrics.loadtest import OWN_FIGURE
from loadwatch_formats.own_figures import (
    LONGEST_MARKER,
    MOST_MARKERS,
    FigureSource,
    ReportProblem,
    find_path,
    parse_figure,
    parse_path,
    parse_pattern,
    read_number,
)

from loadwatch_collectors.runs.delivery import now_ms
from loadwatch_collectors.runs.errors import UsageError
from loadwatch_collectors.runs.facts.redaction import redact_text
from loadwatch_collectors.series import STALE_NAN, SampleRow, Series, encode_labels

HEAD_BYTES = 64 << 10
TAIL_BYTES = 192 << 10
LONGEST_LINE = 2_000
_SEQUENCE = re.compile(
    rb"\x1b\[[0-?]{0,40}[ -/]{0,4}[@-~]"
    rb"|\x1b\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)"
    rb"|\x1b[PX^_][^\x1b]{0,4096}\x1b\\"
    rb"|\x1b[ -/]{0,4}[0-~]"
)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


class Output:
    """Keeps the beginning and the end of a command's output; the middle is dropped."""

    def __init__(self) -> None:
        self.size = 0
        self.binary = 0
        """Bytes of streams that are no text, such as a result: none of them is kept."""
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0
        self._is_text: dict[int, bool] = {}

    def add(self, stream: int, data: bytes) -> None:
        """Take output of the command; a stream's first piece decides whether the stream is text."""
        if not self._is_text.setdefault(stream, b"\0" not in data):
            self.binary += len(data)
            return
        self.size += len(data)
        room = HEAD_BYTES - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * TAIL_BYTES:
            self._cut()

    def text(self) -> str:
        """The text, without sequences of a terminal and without what looks like a secret; empty where nothing was."""
        self._cut()
        parts = [bytes(self._head)]
        if self._dropped:
            parts.append(b"\n[%d bytes are left out]\n" % self._dropped)
        return clean("\n".join(shown_lines(b"".join([*parts, self._tail]))))

    def _cut(self) -> None:
        most = len(self._tail) - TAIL_BYTES
        if most > 0:
            self._dropped += most
            del self._tail[:most]


def clean(text: str) -> str:
    return "".join(f"{redact_text(line[:LONGEST_LINE])}\n" for line in text.splitlines()).strip("\n")


def shown_lines(data: bytes) -> list[str]:
    """As a terminal would show them at last: a line that was drawn anew and anew is there once."""
    shown = _SEQUENCE.sub(b"", data).decode("utf-8", "replace").replace("\r\n", "\n")
    return [_CONTROL.sub("", line.rstrip("\r").rpartition("\r")[2]) for line in shown.split("\n")]


_LONGEST_DOCUMENT = 4 << 20
_MOST_WAITING = 10_000
_MATCH_SECONDS = 0.25
"""CPU time of this process that one line may take."""
_LINE_END = re.compile(rb"[\r\n]+")
_DOCUMENT = re.compile(r"^[ \t]*([{\[])", re.MULTILINE)


class _TooSlowError(Exception):
    pass


class _Figure:
    def __init__(self, given: str) -> None:
        self.read = parse_figure(given)
        self.name, source, text, _ = self.read
        self.source = source
        self.pattern = parse_pattern(text, 1) if source is FigureSource.REGEX else None
        self.path = parse_path(text) if source is FigureSource.JSON else ()
        self.value: float | None = None
        self.at_ms = 0
        self.problem = ReportProblem.NO_JSON if self.path else ReportProblem.NO_LINE


class LineReader:
    """Reads lines in the main thread; samples may be fetched in any other.

    Raises:
        UsageError: a figure or a marker is not written as it should be.
    """

    def __init__(self, figures: Sequence[str], markers: Sequence[str]) -> None:
        try:
            read = [_Figure(one) for one in figures]
            self._markers = [parse_pattern(one, 0) for one in markers]
        except ValueError as error:
            raise UsageError(str(error)) from None
        twice = {one.name for one in read if sum(other.name == one.name for other in read) > 1}
        if twice:
            raise UsageError(f"--figure {min(twice)} is given twice: give each figure a name of its own")
        self.notes: list[str] = []
        self._figures = [one for one in read if one.source is not FigureSource.PROMQL]
        self._lines = [one for one in self._figures if one.pattern is not None]
        self._documents = [one for one in self._figures if one.path]
        self.wanted = bool(self._markers or self._figures)
        self._found: list[dict[str, Any]] = []
        self._waiting: deque[tuple[int, str, float]] = deque(maxlen=_MOST_WAITING)
        self._series: dict[str, Series] = {}
        self._is_text: dict[int, bool] = {}
        self._rest: dict[int, bytes] = {}
        self._text: dict[int, bytearray] = {}
        self._matching = False
        if self.wanted:
            signal.signal(signal.SIGVTALRM, self._interrupt)

    def add(self, stream: int, data: bytes) -> None:
        """Take output of the command; a stream's first piece decides whether the stream is text."""
        if not self._is_text.setdefault(stream, b"\0" not in data):
            return
        if self._documents:
            text = self._text.setdefault(stream, bytearray())
            text += data[: _LONGEST_DOCUMENT - len(text)]
        *lines, rest = _LINE_END.split(self._rest.get(stream, b"") + data)
        self._rest[stream] = rest if len(rest) <= _LONGEST_DOCUMENT else rest[:LONGEST_LINE]
        for line in lines:
            self._read(line)

    def rows(self, run: str) -> list[SampleRow]:
        """The values since the last call, each at the time when it was printed."""
        found: list[SampleRow] = []
        while self._waiting:
            at_ms, name, value = self._waiting.popleft()
            series = self._series.get(name)
            if series is None:
                unit = next(one.read.base_unit for one in self._figures if one.name == name)
                labels = {"__name__": OWN_FIGURE, "run": run, "figure": name, **({"unit": unit} if unit else {})}
                series = self._series[name] = Series(encode_labels(labels))
            found.append(SampleRow(at_ms, [series], [value]))
        return found

    def finish(self, run: str) -> list[SampleRow]:
        """Read what ends without a line's end, and documents of several lines; the last rows."""
        for rest in self._rest.values():
            self._read(rest)
        self._rest.clear()
        if any(one.value is None for one in self._documents):
            for text in self._text.values():
                self._read_documents("\n".join(shown_lines(bytes(text))))
        rows = self.rows(run)
        ended = list(self._series.values())
        if not ended:
            return rows
        end_ms = max(now_ms(), *(one.at_ms + 1 for one in self._figures))
        return [*rows, SampleRow(end_ms, ended, [STALE_NAN] * len(ended))]

    def report(self) -> Mapping[str, Any]:
        """Fields of `RunFinish`."""
        figures = [
            {"name": one.name, "value": one.value, "problem": "" if one.value is not None else one.problem}
            for one in self._figures
        ]
        return {"figures": figures, "markers": self._found}

    def _read(self, line: bytes) -> None:
        at_ms = now_ms()
        text = shown_lines(line[:_LONGEST_DOCUMENT])[0].strip()
        if not text:
            return
        short = text[:LONGEST_LINE]
        for figure in list(self._lines):
            assert figure.pattern is not None
            try:
                found = self._search(figure.pattern, short)
            except _TooSlowError:
                self._lines.remove(figure)
                figure.problem = ReportProblem.TOO_SLOW
                continue
            if found is not None:
                self._take(figure, found[1], at_ms)
        for marker in list(self._markers):
            try:
                if self._search(marker, short) is not None:
                    self._mark(short, at_ms)
                    break
            except _TooSlowError:
                self._markers.remove(marker)
                self.notes.append(
                    f"--marker {marker.pattern!r} takes too long on a line, so it is ignored: simplify it"
                )
        if self._documents and text[0] in "{[":
            try:
                self._take_paths(json.loads(text), at_ms)
            except (ValueError, RecursionError):
                return

    def _read_documents(self, text: str) -> None:
        decoder, at = json.JSONDecoder(), 0
        while (start := _DOCUMENT.search(text, at)) is not None:
            try:
                document, at = decoder.raw_decode(text, start.start(1))
            except (ValueError, RecursionError):
                at = start.end()
            else:
                self._take_paths(document, now_ms())

    def _take_paths(self, document: Any, at_ms: int) -> None:
        for figure in self._documents:
            found = find_path(document, figure.path)
            if found is not None:
                self._take(figure, found, at_ms)
            elif figure.problem is ReportProblem.NO_JSON:
                figure.problem = ReportProblem.NO_PATH

    def _take(self, figure: _Figure, found: Any, at_ms: int) -> None:
        number = read_number(found)
        if number is None or not math.isfinite(number := figure.read.in_base(number)):
            figure.problem = ReportProblem.NO_NUMBER
            return
        figure.value = number
        # Lines that are read at once are samples of their own all the same.
        figure.at_ms = max(at_ms, figure.at_ms + 1)
        self._waiting.append((figure.at_ms, figure.name, number))

    def _mark(self, line: str, at_ms: int) -> None:
        if len(self._found) < MOST_MARKERS:
            self._found.append({"at_ms": at_ms, "text": redact_text(line)[:LONGEST_MARKER]})
        elif len(self._found) == MOST_MARKERS and not any("--marker matches" in one for one in self.notes):
            self.notes.append(f"--marker matches more than {MOST_MARKERS} lines; only the first are kept: narrow it")

    def _search(self, pattern: re.Pattern[str], line: str) -> re.Match[str] | None:
        """Run `pattern.search` until a signal ends it: some patterns backtrack almost endlessly."""
        try:
            self._matching = True
            signal.setitimer(signal.ITIMER_VIRTUAL, _MATCH_SECONDS)
            try:
                return pattern.search(line)
            finally:
                self._matching = False
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def _interrupt(self, _number: int, _frame: object) -> None:
        if self._matching:
            raise _TooSlowError
