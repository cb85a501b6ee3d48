"""Samples as OpenMetrics text, family by family, in memory that is fixed before the first line.

Of a family some metrics are read at a time, as many as fit; one that does not fit by itself is read span by span. So
the text is in the order that OpenMetrics asks for however much there is, and no more of it is in memory than a block.

Names that OpenMetrics 1.0 cannot write (those with dots, say) are quoted as Prometheus 3 writes and reads them.
"""

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from loadwatch_backend.core.cancellation import Cancellation
from loadwatch_backend.series.promql.admission import LABELS_BYTES, Ticket
from loadwatch_backend.series.store.errors import QueryLimitError
from loadwatch_backend.series.store.port import (
    STALE_NAN_BITS,
    Labels,
    Matcher,
    MetricMetadata,
    Reader,
    Selection,
    one_of,
    quoted,
)

# From names of metrics to OpenMetrics' families. Pure.
#
# OpenMetrics names the family, and samples add a suffix that its type fixes: `orders` is a counter with
# `orders_total`, `answer_seconds` a histogram with `answer_seconds_bucket`. The store knows names of samples, and
# metadata under either.
# Source: the OpenMetrics 1.0 specification, "Metric Types".

SUFFIXES: Mapping[str, tuple[str, ...]] = {
    "counter": ("_total",),
    "info": ("_info",),
    "histogram": ("_bucket", "_count", "_sum"),
    "gaugehistogram": ("_bucket", "_gcount", "_gsum"),
    "summary": ("", "_count", "_sum"),
}
"""By type, in the order in which a point's samples are written."""
_PLAIN = ("gauge", "stateset")
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    name: str
    type: str
    help: str
    unit: str
    metrics: tuple[str, ...]

    @property
    def point_label(self) -> str:
        """The label by which the samples of one point differ; none for most types."""
        return {"histogram": "le", "gaugehistogram": "le", "summary": "quantile"}.get(self.type, "")


def plan_families(names: Iterable[str], metadata: Mapping[str, MetricMetadata]) -> list[Family]:
    """All families of the metrics, by name, each metric in one of them.

    A type that the name does not bear out (a counter without `_total`), or two that want one family's name, become
    `unknown` under their full names: nothing is left out for it.
    """
    wanted = sorted(set(names))
    known = set(wanted)
    typed: dict[str, set[str]] = defaultdict(set)
    found = {name: _family_of(name, metadata) for name in wanted}
    for base, kind in found.values():
        typed[base].add(kind)
    members: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, (base, kind) in found.items():
        clashes = len(typed[base]) > 1 or (base != name and base in known and kind != "summary")
        members[(name, kind if kind in _PLAIN else UNKNOWN) if clashes else (base, kind)].append(name)
    return [_family(base, kind, tuple(metrics), metadata) for (base, kind), metrics in sorted(members.items())]


def _family_of(name: str, metadata: Mapping[str, MetricMetadata]) -> tuple[str, str]:
    for kind, suffixes in SUFFIXES.items():
        for suffix in suffixes:
            base = name.removesuffix(suffix)
            if base + suffix == name and base and (suffix or kind == "summary"):
                # Senders of the older text format name the samples, those of OpenMetrics the family.
                for said in (name, base):
                    if (entry := metadata.get(said)) is not None and entry.type == kind:
                        return base, kind
    entry = metadata.get(name)
    return name, entry.type if entry is not None and entry.type in _PLAIN else UNKNOWN


def _family(name: str, kind: str, metrics: tuple[str, ...], metadata: Mapping[str, MetricMetadata]) -> Family:
    said = next((entry for one in (name, *metrics) if (entry := metadata.get(one)) is not None), None)
    unit = said.unit if said is not None else ""
    return Family(
        name=name,
        type=kind,
        help=said.help if said is not None else "",
        # The specification wants the unit at the end of the name; a reader may refuse it elsewhere.
        unit=unit if unit and name.endswith(f"_{unit}") else "",
        metrics=metrics,
    )


MEDIA_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
END = b"# EOF\n"
PIECE_LINES = 2_000
_METRIC_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_LABEL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_SPECIAL = {"inf": "+Inf", "-inf": "-Inf", "nan": "NaN"}

GroupKey = tuple[tuple[str, str], ...]
"""The labels of one metric of a family: those of its series without the name and the label of its points."""


def group_key(labels: Labels, family: Family) -> GroupKey:
    without = ("__name__", family.point_label)
    return tuple(sorted(pair for pair in labels.items() if pair[0] not in without))


def head(family: Family) -> bytes:
    """The TYPE, UNIT and HELP lines of a family."""
    name = family.name if _METRIC_NAME.fullmatch(family.name) else quoted(family.name)
    lines = [f"# TYPE {name} {family.type}"]
    if family.unit:
        lines.append(f"# UNIT {name} {family.unit}")
    if family.help:
        lines.append(f"# HELP {name} {quoted(family.help)[1:-1]}")
    return ("\n".join(lines) + "\n").encode()


def series_text(labels: Labels) -> str:
    """Name and labels, up to the blank before the value."""
    name = labels["__name__"]
    pairs = [
        f"{key if _LABEL_NAME.fullmatch(key) else quoted(key)}={quoted(value)}"
        for key, value in sorted(labels.items())
        if key != "__name__"
    ]
    if not _METRIC_NAME.fullmatch(name):
        return "{" + ",".join([quoted(name), *pairs]) + "}"
    return f"{name}{{{','.join(pairs)}}}" if pairs else name


def samples_text(
    selection: Selection, family: Family, groups: frozenset[GroupKey], wanted: Container[frozenset[tuple[str, str]]]
) -> Iterator[bytes]:
    """The samples of the wanted series in some metrics of a family: metric by metric, each in rising time.

    Stale markers have no form in OpenMetrics and are left out.
    """
    rows: dict[GroupKey, list[int]] = {}
    for row, labels in enumerate(selection.labels):
        key = group_key(labels, family)
        if key in groups and frozenset(labels.items()) in wanted:
            rows.setdefault(key, []).append(row)
    lines = (line for key in sorted(rows) for line in _lines(selection, family, rows[key]))
    while piece := list(islice(lines, PIECE_LINES)):
        yield "".join(piece).encode()


def _lines(selection: Selection, family: Family, rows: Sequence[int]) -> Iterator[str]:
    rows = sorted(rows, key=lambda row: _place_in_point(selection.labels[row], family))
    texts = [series_text(selection.labels[row]) for row in rows]
    bounds = [(int(selection.offsets[row]), int(selection.offsets[row + 1])) for row in rows]
    times = np.concatenate([selection.timestamps[begin:end] for begin, end in bounds])
    values = np.concatenate([selection.values[begin:end] for begin, end in bounds])
    places = np.repeat(np.arange(len(rows)), [end - begin for begin, end in bounds])
    kept = values.view(np.uint64) != STALE_NAN_BITS
    times, values, places = times[kept], values[kept], places[kept]
    if len(rows) > 1:
        # A point's samples stand together: by time, then by their order within it.
        order = np.lexsort((places, times))
        times, values, places = times[order], values[order], places[order]
    numbers = list(map(repr, values.tolist()))
    if not np.isfinite(values).all():
        numbers = [_SPECIAL.get(number, number) for number in numbers]
    for place, number, time in zip(places.tolist(), numbers, _times(times), strict=True):
        yield f"{texts[place]} {number} {time}\n"


def _place_in_point(labels: Labels, family: Family) -> tuple[int, float, str]:
    metric = family.metrics.index(labels["__name__"])
    text = labels.get(family.point_label, "")
    try:
        return metric, float(text) if text else np.inf, text
    except ValueError:
        return metric, np.inf, text


def _times(times: npt.NDArray[np.int64]) -> list[str]:
    """Seconds with milliseconds where there are any."""
    if not (times % 1000).any():
        return list(map(str, (times // 1000).tolist()))
    return [f"{time // 1000}.{time % 1000:03d}" if time % 1000 else str(time // 1000) for time in times.tolist()]


BLOCK_SAMPLES = 200_000
SAMPLE_BYTES = 320
"""Memory of a sample while a block is read and written: columns, their source, its line of text."""
MOST_GROUPS = 200
"""Metrics of a family that are read at once."""
_PATTERN_CHARACTERS = 4_000

Selectors = Sequence[Sequence[Matcher]]


class _BlockFullError(Exception):
    """There are more samples than one block may hold."""


class _Block(NamedTuple):
    most_samples: int
    cancellation: Cancellation

    def reserve(self, samples: int) -> None:
        if samples > self.most_samples:
            raise _BlockFullError


class Exports:
    """Safe to use from any thread."""

    def __init__(self, store: Reader) -> None:
        self._store = store

    def text(self, selectors: Selectors, start_ms: int, end_ms: int, ticket: Ticket) -> Iterator[bytes]:
        """All samples in the span of the series that meet any of the selectors, or of all series without one.

        Memory for all of it is taken before the first piece: errors of it, and of the selectors, come before that.
        """
        names = self._store.label_values("__name__", selectors, start_ms, end_ms)
        families = plan_families(names, self._store.metadata())
        most = max((len(self._labels(family, selectors, start_ms, end_ms)) for family in families), default=0)
        ticket.take(most * LABELS_BYTES)
        block = max(1, min(BLOCK_SAMPLES, ticket.room_bytes // 2 // SAMPLE_BYTES))
        ticket.take(block * SAMPLE_BYTES)
        for family in families:
            labels = self._labels(family, selectors, start_ms, end_ms)
            if labels:
                yield head(family)
                yield from _FamilyText(self._store, family, labels, _Block(block, ticket.cancellation)).pieces(
                    start_ms, end_ms
                )
        yield END

    def _labels(self, family: Family, selectors: Selectors, start_ms: int, end_ms: int) -> list[Labels]:
        name = one_of("__name__", family.metrics)
        return self._store.series([(*one, name) for one in (selectors or [()])], start_ms, end_ms)


class _FamilyText:
    def __init__(self, store: Reader, family: Family, labels: Sequence[Labels], block: _Block) -> None:
        self._store = store
        self._family = family
        self._block = block
        self._groups = sorted({group_key(one, family) for one in labels})
        self._names = {name for group in self._groups for name, _ in group}
        # What the selectors leave out of a metric, one bucket say, stays out.
        self._series = {frozenset(one.items()) for one in labels}
        self._length_ms: int | None = None
        """Length of a span that fitted a block; the next metric read span by span starts with it."""

    def pieces(self, start_ms: int, end_ms: int) -> Iterator[bytes]:
        at, size = 0, MOST_GROUPS
        while at < len(self._groups):
            groups = self._groups[at : at + size]
            found = self._read(groups, start_ms, end_ms)
            if found is not None:
                yield from self._text(found, groups)
                at += len(groups)
                if len(found.timestamps) < self._block.most_samples // 4:
                    size = min(MOST_GROUPS, size * 2)
            elif len(groups) > 1:
                size = len(groups) // 2
            else:
                yield from self._in_spans(groups, start_ms, end_ms)
                at += 1

    def _in_spans(self, groups: Sequence[GroupKey], start_ms: int, end_ms: int) -> Iterator[bytes]:
        at, length = start_ms, self._length_ms or max(1, (end_ms - start_ms) // 2)
        while at <= end_ms:
            last = min(end_ms, at + length - 1)
            found = self._read(groups, at, last, bounded=length > 1)
            if found is None:
                # What fitted before is nearer than half of a span that has grown over years without a sample.
                length = max(1, min(length // 2, self._length_ms or length))
                continue
            yield from self._text(found, groups)
            at = last + 1
            if len(found.timestamps):
                self._length_ms = length
            if len(found.timestamps) < self._block.most_samples // 4:
                length *= 2

    def _text(self, found: Selection, groups: Sequence[GroupKey]) -> Iterator[bytes]:
        return samples_text(found, self._family, frozenset(groups), self._series)

    def _read(
        self, groups: Sequence[GroupKey], start_ms: int, end_ms: int, *, bounded: bool = True
    ) -> Selection | None:
        """What the store has of some metrics; None when it is more than a block, unless it cannot be less."""
        self._block.cancellation.check()
        matchers = [one_of("__name__", self._family.metrics)]
        # Conditions that all of the metrics meet, and few others.
        for name in sorted(self._names):
            values = sorted({next((value for key, value in group if key == name), "") for group in groups})
            if len(values) == 1 or sum(map(len, values)) < _PATTERN_CHARACTERS:
                matchers.append(one_of(name, values))
        try:
            return self._store.select(matchers, start_ms, end_ms, self._block if bounded else None)
        except (_BlockFullError, QueryLimitError):
            if bounded:
                return None
            raise
