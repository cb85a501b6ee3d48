"""OpenMetrics text 1.0 of arrays. Pure.

Names that OpenMetrics 1.0 cannot write (those with dots, say) are quoted as Prometheus 3 writes and reads them.
"""

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from loadwatch_backend.series.store.port import STALE_NAN_BITS, Labels, MetricMetadata, Selection

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
    """One family: its samples belong to these `metrics`, in this order."""

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
    """Which metric of the family a series belongs to."""
    without = ("__name__", family.point_label)
    return tuple(sorted(pair for pair in labels.items() if pair[0] not in without))


def head(family: Family) -> bytes:
    """The lines before a family's samples."""
    name = family.name if _METRIC_NAME.fullmatch(family.name) else _quoted(family.name)
    lines = [f"# TYPE {name} {family.type}"]
    if family.unit:
        lines.append(f"# UNIT {name} {family.unit}")
    if family.help:
        lines.append(f"# HELP {name} {_escaped(family.help)}")
    return ("\n".join(lines) + "\n").encode()


def series_text(labels: Labels) -> str:
    """Name and labels, up to the blank before the value."""
    name = labels["__name__"]
    pairs = [
        f"{key if _LABEL_NAME.fullmatch(key) else _quoted(key)}={_quoted(value)}"
        for key, value in sorted(labels.items())
        if key != "__name__"
    ]
    if not _METRIC_NAME.fullmatch(name):
        return "{" + ",".join([_quoted(name), *pairs]) + "}"
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
    for place, value, time in zip(places.tolist(), _values(values), _times(times), strict=True):
        yield f"{texts[place]} {value} {time}\n"


def _place_in_point(labels: Labels, family: Family) -> tuple[int, float, str]:
    metric = family.metrics.index(labels["__name__"])
    text = labels.get(family.point_label, "")
    try:
        return metric, float(text) if text else np.inf, text
    except ValueError:
        return metric, np.inf, text


def _values(values: npt.NDArray[np.float64]) -> list[str]:
    texts = list(map(repr, values.tolist()))
    if not np.isfinite(values).all():
        texts = [_SPECIAL.get(text, text) for text in texts]
    return texts


def _times(times: npt.NDArray[np.int64]) -> list[str]:
    """Seconds with milliseconds where there are any."""
    if not (times % 1000).any():
        return list(map(str, (times // 1000).tolist()))
    return [f"{time // 1000}.{time % 1000:03d}" if time % 1000 else str(time // 1000) for time in times.tolist()]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'
