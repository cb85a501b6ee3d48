"""OTLP metrics to samples as Prometheus translates them (its storage/remote/otlptranslator, 0.315). Pure.

What differs: a point that cannot be translated is refused alone and everything else is kept; exponential histograms
become classic buckets, and deltas are marked as such instead of being refused; exemplars are left out.

Bounds are those of scale 2, or of the histogram's own if that is coarser: each is 2**(1/4) = 1.19 times the one before,
so a quantile that is interpolated between them is at most 19 % from the truth. Bounds of a coarser scale are among
those of a finer one, so no observation is ever moved: counts at the bounds that are left are exact. Only bounds beside
an observation are sent, so an idle histogram costs little and the bounds of a cumulative one stay.
"""

import base64
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import accumulate
from typing import Any, NamedTuple

from loadwatch_backend.series.ingest.decode_v2 import encode_label
from loadwatch_backend.series.ingest.entries import Entries
from loadwatch_backend.series.ingest.errors import WriteTooLargeError
from loadwatch_backend.series.ingest.otlp.names import (
    Kind,
    Strategy,
    UnnameableError,
    label_name,
    metric_name,
    unit_name,
)
from loadwatch_backend.series.ingest.otlp.otlp_pb2 import (
    AGGREGATION_TEMPORALITY_CUMULATIVE,
    AGGREGATION_TEMPORALITY_DELTA,
    AnyValue,
    ExponentialHistogramDataPoint,
    ExportRequest,
    HistogramDataPoint,
    KeyValue,
    Metric,
    NumberDataPoint,
    Resource,
    ScopeMetrics,
    SummaryDataPoint,
)
from loadwatch_backend.series.store.port import STALE_NAN, MetricMetadata
from loadwatch_backend.series.store.remote_pb2 import TimeSeries


def text_of(value: AnyValue) -> str:
    """A value as a label's; what is built of others as JSON, as OpenTelemetry's Go library writes it."""
    match value.WhichOneof("value"):
        case "string_value":
            return value.string_value
        case "int_value":
            return str(value.int_value)
        case "bool_value":
            return "true" if value.bool_value else "false"
        case "double_value":
            return _number(value.double_value)
        case "bytes_value":
            return base64.b64encode(value.bytes_value).decode()
        case "array_value" | "kvlist_value":
            return _json(value)
        case _:
            return ""


def texts_of(attributes: Iterable[KeyValue]) -> list[tuple[str, str]]:
    return sorted((one.key, text_of(one.value)) for one in attributes)


def encode_labels(labels: Mapping[str, str]) -> bytes:
    """A label set, without empty values, as a series of remote write 1.0 begins."""
    return b"".join(encode_label(name.encode(), value.encode()) for name, value in labels.items() if value)


def decode_labels(prefix: bytes) -> list[tuple[bytes, bytes]]:
    return [(label.name, label.value) for label in TimeSeries.FromString(prefix).labels]


def plain_number(number: float) -> str:
    """A bound as a label has it: the shortest digits that are this number, without an exponent."""
    if math.isinf(number):
        return "+Inf" if number > 0 else "-Inf"
    if math.isnan(number):
        return "NaN"
    return format(Decimal(repr(number)), "f").removesuffix(".0")


def _number(number: float) -> str:
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    if number and not 1e-6 <= abs(number) < 1e21:
        digits, _, exponent = repr(number).partition("e")
        return f"{digits.removesuffix('.0')}e{int(exponent):+d}"
    return plain_number(number)


def _json(value: AnyValue) -> str:
    text = json.dumps(_raw(value), ensure_ascii=False, separators=(",", ":"), sort_keys=True, default=str)
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _raw(value: AnyValue) -> Any:
    match value.WhichOneof("value"):
        case "array_value":
            return [_raw(one) for one in value.array_value.values]
        case "kvlist_value":
            return {one.key: _raw(one.value) for one in value.kvlist_value.values}
        case "bytes_value":
            return base64.b64encode(value.bytes_value).decode()
        case "double_value":
            number = value.double_value
            return int(number) if number.is_integer() and abs(number) < 1e21 else number
        case None:
            return None
        case which:
            return getattr(value, which)


def merge(texts: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Merges labels of one name into one, its values joined by semicolons."""
    merged: dict[str, list[str]] = {}
    for name, value in texts:
        before = merged.setdefault(name, [])
        if before == [""]:
            before.clear()
        before.append(value)
    return {name: ";".join(values) for name, values in merged.items()}


FINEST_SCALE = 2
COARSEST_SCALE = -10
"""The least that OpenTelemetry's SDKs make."""
MOST_BUCKETS = 160
"""As many as an SDK sends by default; a histogram with more is made coarser."""


class CoarseError(ValueError):
    """A scale that no SDK makes."""


def classic_buckets(point: ExponentialHistogramDataPoint) -> list[tuple[float, int]]:
    """(upper bound, observations up to it), rising, without +Inf.

    Raises:
        CoarseError: its scale is less than any SDK makes.
    """
    if point.scale < COARSEST_SCALE:
        raise CoarseError(f"an exponential histogram of scale {point.scale}; the least is {COARSEST_SCALE}")
    shift = max(point.scale - FINEST_SCALE, 0)
    positive = _merged(enumerate(point.positive.bucket_counts, point.positive.offset), shift)
    negative = _merged(enumerate(point.negative.bucket_counts, point.negative.offset), shift)
    while len(positive) + len(negative) > MOST_BUCKETS:
        positive, negative = _merged(positive.items(), 1), _merged(negative.items(), 1)
        shift += 1
    step = 2.0 ** (shift - point.scale)
    counts: dict[float, int] = {}
    for place, count in positive.items():
        _add(counts, _power(place * step), 0)
        _add(counts, _power((place + 1) * step), count)
    for place, count in negative.items():
        _add(counts, -_power((place + 1) * step), 0)
        _add(counts, -_power(place * step), count)
    if point.zero_count or negative:
        _add(counts, point.zero_threshold, point.zero_count)
    found: list[tuple[float, int]] = []
    total = 0
    for bound in sorted(counts):
        total += counts[bound]
        if abs(bound) < float("inf"):
            found.append((bound, total))
    return found


def _merged(counts: Iterable[tuple[int, int]], shift: int) -> dict[int, int]:
    merged: dict[int, int] = {}
    for place, count in counts:
        if count:
            merged[place >> shift] = merged.get(place >> shift, 0) + count
    return merged


def _add(counts: dict[float, int], bound: float, count: int) -> None:
    counts[bound] = counts.get(bound, 0) + count


def _power(exponent: float) -> float:
    return 2.0**exponent if exponent < 1024 else float("inf")


_NAMESPACE, _SERVICE, _INSTANCE = "service.namespace", "service.name", "service.instance.id"
_IDENTITY = (_NAMESPACE, _SERVICE, _INSTANCE)
_TARGET_INFO_MS = 150_000
"""Half of the look-back, so that `target_info` is found wherever a sample of its resource is."""
_MOST_TARGET_INFO = 100
"""Most samples of `target_info` of a resource in one request; a time of 0 would make millions."""
_SHOWN = 5
_MOST_LABEL_BYTES = 256 << 20
"""Most bytes of labels of all rows of one request; requests are translated one at a time."""

Point = NumberDataPoint | HistogramDataPoint | ExponentialHistogramDataPoint | SummaryDataPoint


@dataclass(frozen=True, slots=True, kw_only=True)
class OtlpRules:
    """How OTLP becomes series; the server's settings of the same names (LOADWATCH_OTLP_…) fill it.

    Attributes:
        strategy: how names are translated.
        promote: resource attributes that become labels of all series.
        keep_identity: service.name and its like are labels of `target_info` beside job and instance.
        scope: name, version and attributes of the instrumentation scope become labels (`otel_scope_…`).
    """

    strategy: Strategy = Strategy.UNDERSCORES
    promote: frozenset[str] = frozenset()
    keep_identity: bool = False
    scope: bool = False


class ExponentialDelta(NamedTuple):
    """The finite buckets of a delta, whose bounds may be others than those before it.

    `labels` are those of its buckets but for `le`, `row` is that of its count.
    """

    labels: dict[str, str]
    row: int
    buckets: Sequence[tuple[float, int]]


@dataclass(slots=True)
class Translated:
    """Samples, column by column, and what could not be translated.

    `series` are label sets as remote write 1.0 encodes them, `points` the number of the data point that a sample is of
    (-1 for `target_info`), `deltas` the rows that are to be added to what was before.
    """

    series: list[bytes] = field(default_factory=list[bytes])
    label_bytes: int = 0
    starts: list[int] = field(default_factory=list[int])
    times: list[int] = field(default_factory=list[int])
    values: list[float] = field(default_factory=list[float])
    points: list[int] = field(default_factory=list[int])
    deltas: list[int] = field(default_factory=list[int])
    exponential: list[ExponentialDelta] = field(default_factory=list[ExponentialDelta])
    metadata: dict[str, MetricMetadata] = field(default_factory=dict[str, MetricMetadata])
    target_info_times: dict[bytes, set[int]] = field(default_factory=dict[bytes, set[int]])
    point_count: int = 0
    refused_points: int = 0
    details: list[str] = field(default_factory=list[str])

    def add(self, series: bytes, start: int, time: int, value: float, point: int) -> None:
        self.series.append(series)
        self.starts.append(start)
        self.times.append(time)
        self.values.append(value)
        self.points.append(point)

    def refuse(self, points: int, detail: str) -> None:
        self.refused_points += points
        if len(self.details) < _SHOWN and detail not in self.details:
            self.details.append(detail)


def translate(request: ExportRequest, rules: OtlpRules, entries: Entries) -> Translated:
    """All samples of a request.

    Raises:
        TooManyEntriesError: they are more than `entries` has room for.
    """
    to = Translated()
    for one in request.resource_metrics:
        try:
            resource = _Resource(one.resource, rules)
        except UnnameableError as error:
            to.refuse(sum(len(_points(metric)) for scope in one.scope_metrics for metric in scope.metrics), str(error))
            continue
        earliest, latest = 1 << 64, -1
        for scope in one.scope_metrics:
            translator = _Translator(resource, scope, rules, entries, to)
            for metric in scope.metrics:
                translator.metric(metric)
                times = [point.time_unix_nano for point in _points(metric)]
                earliest, latest = min([earliest, *times]), max([latest, *times])
        if latest >= 0:
            _add_target_info(resource, earliest // 1_000_000, latest // 1_000_000, entries, to)
    return to


class _Resource:
    def __init__(self, resource: Resource, rules: OtlpRules) -> None:
        self.strategy = rules.strategy
        attributes = {one.key: text_of(one.value) for one in reversed(resource.attributes)}
        self.identity: dict[str, str] = {}
        if _SERVICE in attributes:
            namespace = f"{attributes[_NAMESPACE]}/" if _NAMESPACE in attributes else ""
            self.identity["job"] = namespace + attributes[_SERVICE]
        if attributes.get(_INSTANCE):
            self.identity["instance"] = attributes[_INSTANCE]
        self.promoted = {
            label_name(one.key, rules.strategy): text_of(one.value)
            for one in resource.attributes
            if one.key in rules.promote
        }
        self._attributes = resource.attributes
        self._ignored = () if rules.keep_identity else _IDENTITY
        self._describes = any(name not in _IDENTITY for name in attributes)

    def info(self) -> dict[str, str] | None:
        """The labels of `target_info`; None if it would say nothing, or not of whom.

        Raises:
            UnnameableError: an attribute cannot be a label.
        """
        if not self._describes or not any(self.identity.values()):
            return None
        labels = _labels(self._attributes, self.strategy, self._ignored)
        return {**labels, **self.identity, "__name__": "target_info"}


@dataclass
class _Translator:
    _resource: _Resource
    _scope: ScopeMetrics
    _rules: OtlpRules
    _entries: Entries
    _to: Translated

    def __post_init__(self) -> None:
        self._scope_labels: dict[str, str] = {}
        self._problem: str | None = None
        if self._rules.scope and self._scope.scope.name:
            try:
                self._scope_labels = _scope_labels(self._scope, self._rules.strategy)
            except UnnameableError as error:
                self._problem = str(error)

    def metric(self, metric: Metric) -> None:
        """All points of a metric."""
        points = _points(metric)
        to = self._to
        try:
            if self._problem is not None:
                raise UnnameableError(self._problem)
            delta = _is_delta(metric)
            which = metric.WhichOneof("data")
            monotonic = which == "sum" and metric.sum.is_monotonic
            kind = Kind(counter=monotonic, gauge=which == "gauge")
            types = {"gauge": "gauge", "summary": "summary", "sum": "counter" if monotonic else "gauge"}
            name = metric_name(metric.name, metric.unit, kind, self._rules.strategy)
        except UnnameableError as error:
            to.refuse(len(points), str(error))
            to.point_count += len(points)
            return
        if not points:
            return
        to.metadata[name] = MetricMetadata(
            type=types.get(which or "", "histogram"), help=metric.description[:4096], unit=unit_name(metric.unit)
        )
        for point in points:
            try:
                self._point(name, point, delta=delta)
            except (UnnameableError, CoarseError) as error:
                to.refuse(1, f"{error} (a point of {metric.name[:100]})")
            to.point_count += 1

    def _point(self, name: str, point: Point, *, delta: bool) -> None:
        labels = self._labels(point.attributes)
        stale = bool(point.flags & 1)
        if delta and (stale or not point.time_unix_nano):
            return
        rows: list[tuple[str, dict[str, str], float]] = []
        match point:
            case NumberDataPoint():
                value = point.as_double if point.WhichOneof("value") == "as_double" else float(point.as_int)
                rows = [(name, {}, value)]
            case SummaryDataPoint():
                rows = [(f"{name}_sum", {}, point.sum), (f"{name}_count", {}, float(point.count))]
                self._entries.take(len(point.quantile_values))
                rows += [(name, {"quantile": plain_number(one.quantile)}, one.value) for one in point.quantile_values]
            case HistogramDataPoint():
                self._entries.take(2 * len(point.bucket_counts))
                counts = accumulate(point.bucket_counts)
                rows = _histogram(name, point, zip(point.explicit_bounds, counts, strict=False))
            case ExponentialHistogramDataPoint():
                self._entries.take(len(point.positive.bucket_counts) + len(point.negative.bucket_counts))
                buckets = classic_buckets(point)
                if delta:
                    self._entries.take(len(buckets))
                    row = len(self._to.series) + point.HasField("sum")
                    group = {**labels, "__name__": f"{name}_bucket"}
                    self._to.exponential.append(ExponentialDelta(labels=group, row=row, buckets=buckets))
                    buckets = []
                rows = _histogram(name, point, buckets)
        self._entries.take(len(rows))
        start, time = point.start_time_unix_nano // 1_000_000, point.time_unix_nano // 1_000_000
        to = self._to
        for metric, more, value in rows:
            if delta:
                to.deltas.append(len(to.series))
            series = encode_labels({**labels, **more, "__name__": metric})
            to.label_bytes += len(series)
            if to.label_bytes > _MOST_LABEL_BYTES:
                raise WriteTooLargeError(
                    f"the labels of all points have more than {_MOST_LABEL_BYTES} bytes; send fewer points per request"
                )
            to.add(series, start, time, STALE_NAN if stale else value, to.point_count)

    def _labels(self, attributes: Iterable[KeyValue]) -> dict[str, str]:
        labels = _labels(attributes, self._rules.strategy, ("__name__",))
        for name, value in self._resource.promoted.items():
            if not labels.get(name):
                labels[name] = value
        labels.update({name: value for name, value in self._resource.identity.items() if value})
        labels.update(self._scope_labels)
        return labels


def _labels(attributes: Iterable[KeyValue], strategy: Strategy, ignored: Sequence[str]) -> dict[str, str]:
    texts = [(name, value) for name, value in texts_of(attributes) if name not in ignored]
    named = [(label_name(name, strategy) if strategy.escapes else name, value) for name, value in texts]
    return merge(named) if strategy.escapes else dict(named)


def _scope_labels(scope: ScopeMetrics, strategy: Strategy) -> dict[str, str]:
    labels = {label_name(f"otel_scope_{one.key}", strategy): text_of(one.value) for one in scope.scope.attributes}
    return {
        **labels,
        "otel_scope_name": scope.scope.name,
        "otel_scope_version": scope.scope.version,
        "otel_scope_schema_url": scope.schema_url,
    }


def _histogram(
    name: str, point: HistogramDataPoint | ExponentialHistogramDataPoint, buckets: Iterable[tuple[float, int]]
) -> list[tuple[str, dict[str, str], float]]:
    rows: list[tuple[str, dict[str, str], float]] = []
    if point.HasField("sum"):
        rows.append((f"{name}_sum", {}, point.sum))
    rows.append((f"{name}_count", {}, float(point.count)))
    rows += [(f"{name}_bucket", {"le": plain_number(bound)}, float(count)) for bound, count in buckets]
    rows.append((f"{name}_bucket", {"le": "+Inf"}, float(point.count)))
    return rows


def _add_target_info(resource: _Resource, earliest_ms: int, latest_ms: int, entries: Entries, to: Translated) -> None:
    try:
        labels = resource.info()
    except UnnameableError as error:
        to.refuse(0, str(error))
        return
    if labels is None:
        return
    first = max(earliest_ms, latest_ms - _MOST_TARGET_INFO * _TARGET_INFO_MS)
    series = encode_labels(labels)
    # Resources of one target are one series.
    target_info_times = to.target_info_times.setdefault(series, set())
    times = [time for time in (*range(first, latest_ms, _TARGET_INFO_MS), latest_ms) if time not in target_info_times]
    target_info_times.update(times)
    entries.take(len(times))
    for time in times:
        to.add(series, 0, time, 1.0, -1)
    to.metadata["target_info"] = MetricMetadata(type="gauge", help="Target metadata", unit="")


def _points(metric: Metric) -> Sequence[Point]:
    which = metric.WhichOneof("data")
    return () if which is None else getattr(metric, which).data_points


def _is_delta(metric: Metric) -> bool:
    """Whether values are to be added to what was before.

    Raises:
        UnnameableError: it says neither.
    """
    which = metric.WhichOneof("data")
    if which not in ("sum", "histogram", "exponential_histogram"):
        return False
    temporality = getattr(metric, which).aggregation_temporality
    if temporality not in (AGGREGATION_TEMPORALITY_DELTA, AGGREGATION_TEMPORALITY_CUMULATIVE):
        raise UnnameableError(f"{metric.name[:100]!r} is neither cumulative nor delta (aggregation_temporality)")
    return temporality == AGGREGATION_TEMPORALITY_DELTA
