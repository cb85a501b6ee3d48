"""OpenMetrics text 1.0 and Prometheus' text format 0.0.4 as files of samples with times: a line at a time. Pure.

A damaged line costs itself: it is counted, and the first ones are named by their numbers.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from loadwatch_formats.metrics.model import MetricInfo

from loadwatch_collectors.series import Series, encode_labels
from loadwatch_collectors.sources.exposition import (
    ExpositionError,
    metric_info,
    parse_comment,
    parse_series,
    parse_value,
)
from loadwatch_collectors.transfers.errors import TransferError
from loadwatch_collectors.transfers.lines import LONGEST_LINE, Line

MOST_LABELS = 256
"""Of a line; the server's own limit is lower by default, and said by itself."""
MOST_KNOWN = 200_000
"""Series that are remembered, so that their next line needs no parsing."""
MOST_METRICS = 50_000
"""Metrics whose type, help and unit are sent: as many as a server remembers."""
MOST_SERIES = 5_000_000
"""Series that are told apart to be counted."""
SHOWN = 5
GIVE_UP_AFTER = 1_000
"""Damaged lines before the first sample: it is another kind of file."""
_LONGEST_HELP = 4_096
_SECONDS_BELOW = 1e11
"""As seconds this is in the year 5138, as milliseconds in 1973: no time of a sample is on the wrong side."""
_LATEST_MS = 253_402_300_799_999
_SUFFIXES = {"counter": "_total", "info": "_info"}


class Form(StrEnum):
    """How times are written."""

    AUTO = "auto"
    """Each by its size: seconds, or milliseconds."""
    OPENMETRICS = "openmetrics"
    """Seconds, with a fraction."""
    PROMETHEUS = "prometheus"
    """Milliseconds."""


@dataclass(slots=True)
class ReadCounts:
    """What was found so far, over all files."""

    samples: int = 0
    damaged: int = 0
    undated: int = 0
    exemplars: int = 0
    series: set[int] = field(default_factory=set[int])
    problems: list[str] = field(default_factory=list[str])
    """The first damaged lines, in words."""

    def note(self, problem: str) -> None:
        """One more line is damaged."""
        self.damaged += 1
        if len(self.problems) < SHOWN:
            self.problems.append(problem)


Read = tuple[Series, int, float]
"""A sample: its series, its time in milliseconds, its value."""


class SampleReader:
    """Reads files one after the other; the counts go on."""

    def __init__(self, *, form: Form = Form.AUTO, at_ms: int | None = None) -> None:
        """`at_ms` is the time of samples that have none."""
        self.counts = ReadCounts()
        self._form = form
        self._at_ms = at_ms
        self._known: dict[str, Series] = {}
        self._names: set[str] = set()
        self._said: dict[str, dict[str, str]] = {}
        self._unsent: set[str] = set()

    def read(self, lines: Iterator[Line], name: str) -> Iterator[Read]:
        """The samples of one file; `name` stands in what is said of it.

        Raises:
            TransferError: it is no such text.
        """
        in_seconds = ended = False
        for number, raw in lines:
            if ended and raw:
                self.counts.note(f"{name}: line {number}: text after # EOF")
                return
            try:
                text = _text(raw, number)
                if text.startswith("#"):
                    ended = text.rstrip() == "# EOF"
                    self._comment(text)
                elif text:
                    found = self._sample(text, number)
                    if found is not None:
                        sample, seconds = found
                        in_seconds |= seconds
                        self.counts.samples += 1
                        yield sample
            except ExpositionError as error:
                self.counts.note(f"{name}: {error}")
                self._check(name)
        if in_seconds and not ended:
            # Only OpenMetrics writes seconds, and it tells by this line that it is whole.
            self.counts.note(f"{name}: it ends without # EOF, so it may be cut off; what is there was read")

    def metadata(self) -> list[MetricInfo]:
        """What was said of metrics since the last time, under the names of their samples."""
        unsent, self._unsent = self._unsent, set()
        return [self._info(name) for name in sorted(unsent)]

    def _info(self, name: str) -> MetricInfo:
        info = metric_info(name, self._said[name])
        # A family of OpenMetrics has no sample of its own name, and readers look for that of the samples.
        full = name + _SUFFIXES.get(info.type, "")
        if full in self._names and name not in self._names:
            return MetricInfo(name=full, type=info.type, help=info.help, unit=info.unit)
        return info

    def _comment(self, text: str) -> None:
        found = parse_comment(text)
        if found is None:
            return
        name, word, said = found
        if name not in self._said and len(self._said) >= MOST_METRICS:
            return
        words = self._said.setdefault(name, {})
        if words.get(word) != said[:_LONGEST_HELP]:
            words[word] = said[:_LONGEST_HELP]
            self._unsent.add(name)

    def _sample(self, text: str, number: int) -> tuple[Read, bool] | None:
        # The common line: a series seen before, its value and its time.
        head, _, tail = text.rpartition(" ")
        head, _, value = head.rpartition(" ")
        series = self._known.get(head)
        if series is None:
            head, value, tail = self._split(text, number)
            series = self._known.get(head) or self._remember(head, number)
        if not tail:
            if self._at_ms is None:
                self.counts.undated += 1
                return None
            return (series, self._at_ms, parse_value(value, number)), False
        time_ms, seconds = self._time(tail, number)
        return (series, time_ms, parse_value(value, number)), seconds

    def _split(self, text: str, number: int) -> tuple[str, str, str]:
        """The text of the series, the value, and the time or nothing."""
        _, labels, end = parse_series(text, number)
        if len(labels) > MOST_LABELS:
            raise ExpositionError(f"line {number}: {len(labels)} labels, more than {MOST_LABELS}")
        rest, exemplar, _ = text[end:].partition(" # ")
        fields = rest.split()
        if not 1 <= len(fields) <= 2 or (text[end - 1] != "}" and rest[:1] not in (" ", "\t")):
            raise ExpositionError(f"line {number}: a value and a time must follow the series: {text[:80]!r}")
        self.counts.exemplars += bool(exemplar)
        return text[:end], fields[0], fields[1] if len(fields) == 2 else ""

    def _remember(self, head: str, number: int) -> Series:
        name, labels, _ = parse_series(head, number)
        full: Mapping[str, str] = {**{key: value for key, value in labels if value}, "__name__": name}
        series = Series(encode_labels(full))
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        self._known[head] = series
        if len(self._names) < MOST_METRICS:
            self._names.add(name)
        if len(self.counts.series) < MOST_SERIES:
            self.counts.series.add(hash(series.labels))
        return series

    def _time(self, text: str, number: int) -> tuple[int, bool]:
        """Milliseconds, and whether they were written as seconds."""
        value = parse_value(text, number)
        seconds = self._form is Form.OPENMETRICS or (self._form is Form.AUTO and abs(value) < _SECONDS_BELOW)
        time_ms = value * 1000 if seconds else value
        if not 0 <= time_ms <= _LATEST_MS:
            raise ExpositionError(f"line {number}: {text[:80]!r} is not a time of a sample")
        return round(time_ms), seconds

    def _check(self, name: str) -> None:
        if not self.counts.samples and not self.counts.undated and self.counts.damaged >= GIVE_UP_AFTER:
            raise TransferError(
                f"{name} is not OpenMetrics or Prometheus text: none of {self.counts.damaged} lines is a sample; the"
                f" first: {self.counts.problems[0]}"
            )


def _text(raw: bytes | None, number: int) -> str:
    if raw is None:
        raise ExpositionError(f"line {number}: longer than {LONGEST_LINE} bytes")
    try:
        return raw.decode().strip("\r \t")
    except UnicodeDecodeError as error:
        raise ExpositionError(f"line {number}: not UTF-8: {error.reason}") from None
