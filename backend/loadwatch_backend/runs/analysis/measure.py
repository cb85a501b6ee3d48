"""What a threshold asks for, measured, and whether it holds; and percentiles that a run's analysis does not keep."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import assert_never

import numpy as np
from loadwatch_formats.outcomes import Outcome

from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.core.texts.words import SILENT, Words, message_of
from loadwatch_backend.evidence.records.figures import endpoint_percentiles_over
from loadwatch_backend.evidence.records.model import OTHER_ENDPOINTS, FloatArray
from loadwatch_backend.runs.analysis.counters import SeriesReader
from loadwatch_backend.runs.analysis.load import Bounds, Load, Span, WindowLoad, percentiles_in
from loadwatch_backend.runs.analysis.own_figures import Subject
from loadwatch_backend.runs.analysis.phases import Shape
from loadwatch_backend.runs.analysis.schemas import (
    EndpointPercentiles,
    OwnFigureOut,
    PercentileOut,
    PercentilesOut,
    PercentileValue,
    ThresholdOut,
    ThresholdState,
    WindowSource,
)
from loadwatch_backend.runs.analysis.thresholds import (
    LATENCIES,
    OUTCOME_COUNTS,
    LoadMetric,
    OwnMetric,
    Part,
    Scope,
    SeriesMetric,
    Threshold,
    quantile_of,
)

BOTH = Words("{first} {then}", "{first}{then}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A figure; None with `detail` where nothing tells. `bounds` where it is an estimate."""

    actual: float | None
    detail: Words = SILENT
    bounds: Bounds | None = None
    requests: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurer:
    """Measures thresholds of one run.

    Attributes:
        whole: the run.
        over: figures of a span, each read once.
        steady: the span that thresholds cover by default.
        started_ms: what windows given in seconds count from.
        target_rate: None where nobody set one.
        expressions: of the signals, by id.
        own: figures of the user's own, by name.
    """

    whole: Span
    over: Callable[[Span], WindowLoad | None]
    steady: Span
    started_ms: int
    target_rate: float | None
    series: SeriesReader
    expressions: Mapping[str, str]
    own: Mapping[str, OwnFigureOut]

    def measure(self, text: str, threshold: Threshold) -> ThresholdOut:
        """The threshold with what was measured; never raises for what the data lacks."""
        span = self._span(threshold.window)
        limit = threshold.limit(self.target_rate)
        try:
            measured = self._measured(threshold, span, limit)
        except ProblemError as error:
            measured = Measured(actual=None, detail=Words(error.detail, error.detail_ja or error.detail))
        state, detail = judge(measured, threshold.operator, limit)
        least = least_requests(threshold, limit)
        if state is ThresholdState.PASSED and measured.requests is not None and measured.requests < least:
            state, detail = (
                ThresholdState.UNKNOWN,
                message_of("measured", "too-few", count=measured.requests, least=least),
            )
        actual = measured.actual if measured.actual is not None and math.isfinite(measured.actual) else None
        return ThresholdOut(
            expression=text,
            metric=str(threshold.metric),
            operator=threshold.operator,
            limit=limit,
            unit="" if threshold.unit is None else threshold.unit.value,
            actual=actual,
            window=str(threshold.window),
            state=state,
            detail=detail.en,
            detail_ja=detail.ja,
        )

    def _span(self, window: Scope | Part) -> Span:
        match window:
            case Scope.STEADY:
                return self.steady
            case Scope.WHOLE:
                return self.whole
            case Part():
                first, last = (self.started_ms + round(s * 1_000) for s in (window.from_seconds, window.to_seconds))
                return Span(first, last)
            case _:
                assert_never(window)

    def _measured(self, threshold: Threshold, span: Span, limit: float | None) -> Measured:
        if isinstance(threshold.metric, OwnMetric):
            return self._of_own(threshold.metric.name)
        if not isinstance(threshold.window, Part):
            return self._over(threshold, span, limit)
        seconds = f"{self.whole.seconds:g}"
        if span.from_ms >= self.whole.to_ms:
            return Measured(actual=None, detail=message_of("measured", "after-run", seconds=seconds))
        if span.to_ms <= self.whole.to_ms:
            return self._over(threshold, span, limit)
        found = self._over(threshold, Span(span.from_ms, self.whole.to_ms), limit)
        cut = message_of("measured", "cut", seconds=seconds)
        return replace(found, detail=BOTH.fill(first=found.detail, then=cut) if found.detail else cut)

    def _over(self, threshold: Threshold, span: Span, limit: float | None) -> Measured:
        if isinstance(threshold.metric, SeriesMetric):
            return self._of_series(threshold.metric, threshold.operator, span, limit)
        assert not isinstance(threshold.metric, OwnMetric)
        window = self.over(span)
        if window is None:
            return Measured(actual=None, detail=message_of("measured", "no-result"))
        return replace(measure_load(threshold.metric, window), requests=window.figures.requests)

    def _of_own(self, name: str) -> Measured:
        one = self.own.get(name)
        if one is None:
            return Measured(actual=None, detail=message_of("own_figures", "not-given", name=name))
        return Measured(actual=one.value, detail=Words(one.detail, one.detail_ja))

    def _of_series(self, metric: SeriesMetric, operator: str, span: Span, limit: float | None) -> Measured:
        expression = self.expressions[metric.text] if metric.is_signal else metric.text
        found = self.series.read(expression, span)
        figures = aggregate(metric.function, found.values)
        known = np.flatnonzero(~np.isnan(figures))
        if not len(known):
            return Measured(actual=None, detail=message_of("measured", "no-samples"))
        row = worst(figures, operator, limit)
        if len(known) == 1:
            return Measured(actual=float(figures[row]))
        labels = ", ".join(f"{name}={value}" for name, value in sorted(found.labels[row].items()) if name != "__name__")
        return Measured(
            actual=float(figures[row]), detail=message_of("measured", "worst", count=len(known), labels=labels)
        )


def least_requests(threshold: Threshold, limit: float | None) -> int:
    """Requests without which a threshold holds by chance: one beyond a percentile, or one failure within a share."""
    quantile = quantile_of(str(threshold.metric))
    beyond = None if quantile is None or threshold.operator not in ("<", "<=") else 1 - quantile
    if limit is not None and str(threshold.metric) == "error_rate" and threshold.operator in ("<", "<="):
        beyond = limit
    elif limit is not None and str(threshold.metric) == "success_ratio" and threshold.operator in (">", ">="):
        beyond = 1 - limit
    return math.ceil(round(1 / beyond, 6)) if beyond is not None and 0 < beyond < 1 else 1


def measure_load(metric: LoadMetric, window: WindowLoad) -> Measured:
    figures = window.figures
    name = metric.name
    if name in LATENCIES:
        actual: float | None = getattr(figures.latency, name)
        bounds = window.bounds.get(name)
        if actual is None:
            return Measured(actual=None, detail=_nothing(window))
        return Measured(actual=actual, bounds=bounds)
    quantile = quantile_of(name)
    if quantile is not None:
        return _measure_percentile(window, quantile)
    ok = figures.outcomes.get(Outcome.OK, 0)
    if name in OUTCOME_COUNTS:
        return Measured(actual=float(figures.outcomes.get(Outcome(OUTCOME_COUNTS[name]), 0)))
    actual = _COUNTED[name](window, ok)
    return Measured(actual=actual, detail=SILENT if actual is not None else message_of("measured", "not-told"))


def _nothing(window: WindowLoad) -> Words:
    return message_of("measured", "not-kept" if window.figures.requests else "no-requests")


def _measure_percentile(window: WindowLoad, quantile: float) -> Measured:
    bounds = None if window.percentile is None else window.percentile(quantile)
    if bounds is None:
        return Measured(actual=None, detail=_nothing(window))
    return Measured(actual=bounds.middle, bounds=bounds)


def _per_second(count: float, window: WindowLoad) -> float | None:
    figures = window.figures
    if not figures.requests:
        return 0.0
    if figures.rate is not None:
        return figures.rate * count / figures.requests
    return count / figures.duration_seconds if figures.duration_seconds > 0 else None


def _ratio(window: WindowLoad, failed: bool) -> float | None:
    figures = window.figures
    good = figures.success_ratio
    if good is None or not figures.requests:
        return None
    if not failed:
        return good
    # From counts where they are whole: 1 - 0.999 is more than 0.001.
    if sum(figures.outcomes.values()) == figures.requests:
        return (figures.requests - figures.outcomes.get(Outcome.OK, 0)) / figures.requests
    return 1 - good


def _float(value: int | None) -> float | None:
    return None if value is None else float(value)


_COUNTED: Mapping[str, Callable[[WindowLoad, int], float | None]] = {
    "rate": lambda window, _: _per_second(window.figures.requests, window),
    "ok_rate": lambda window, ok: _per_second(ok, window),
    "throughput": lambda window, _: window.figures.throughput if window.figures.requests else 0.0,
    "success_ratio": lambda window, _: _ratio(window, failed=False),
    "error_rate": lambda window, _: _ratio(window, failed=True),
    "requests": lambda window, _: float(window.figures.requests),
    "failures": lambda window, ok: float(window.figures.requests - ok),
    "bytes_in": lambda window, _: _float(window.figures.bytes_in),
    "bytes_out": lambda window, _: _float(window.figures.bytes_out),
}


def aggregate(function: str, values: FloatArray) -> FloatArray:
    """One figure for each series, [series]; NaN where a series has no value in the window."""
    known = ~np.isnan(values)
    counts = known.sum(axis=1)
    if not values.size:
        return np.full(len(values), np.nan)
    match function:
        case "max":
            found = np.where(known, values, -np.inf).max(axis=1)
        case "min":
            found = np.where(known, values, np.inf).min(axis=1)
        case "avg":
            found = np.where(known, values, 0.0).sum(axis=1) / np.maximum(counts, 1)
        case _:
            last = values.shape[1] - 1 - np.argmax(known[:, ::-1], axis=1)
            found = values[np.arange(len(values)), last]
    return np.where(counts > 0, found, np.nan)


def worst(figures: FloatArray, operator: str, limit: float | None) -> int:
    """Which series is nearest to breaking a threshold, or breaks it most; `figures` has a number somewhere."""
    if operator in ("<", "<="):
        return int(np.nanargmax(figures))
    if operator in (">", ">="):
        return int(np.nanargmin(figures))
    return int(np.nanargmax(np.abs(figures - (limit or 0.0))))


def judge(measured: Measured, operator: str, limit: float | None) -> tuple[ThresholdState, Words]:
    if limit is None:
        return ThresholdState.UNKNOWN, message_of("measured", "no-target")
    if measured.actual is None or math.isnan(measured.actual):
        return ThresholdState.UNKNOWN, measured.detail or message_of("measured", "not-measured")
    bounds = measured.bounds
    if bounds is None or bounds.low == bounds.high:
        return _state(holds(measured.actual, operator, limit)), measured.detail
    caveat = message_of("measured", "between", low=f"{bounds.low:.6g}", high=f"{bounds.high:.6g}")
    if operator == "==":
        return ThresholdState.UNKNOWN, caveat
    answers = {holds(edge, operator, limit) for edge in (bounds.low, bounds.high)}
    return (_state(answers.pop()) if len(answers) == 1 else ThresholdState.UNKNOWN), caveat


def holds(actual: float, operator: str, limit: float) -> bool:
    """Whether a comparison is true; equal means equal to nine digits."""
    match operator:
        case "<":
            return actual < limit
        case "<=":
            return actual <= limit
        case ">":
            return actual > limit
        case ">=":
            return actual >= limit
        case _:
            return math.isclose(actual, limit, rel_tol=1e-9, abs_tol=1e-12)


def _state(passed: bool) -> ThresholdState:
    return ThresholdState.PASSED if passed else ThresholdState.FAILED


def shortest_name(name: str) -> str | None:
    """`p99.9` of `p99.90`; None of what names no percentile."""
    return None if quantile_of(name) is None else f"p{Decimal(name[1:]).normalize():f}"


def read_percentiles(subject: Subject, load: Load, shape: Shape, names: Sequence[str]) -> PercentilesOut:
    """Exact where single requests are kept; of the run otherwise with bounds, of endpoints none.

    Args:
        subject: the run.
        load: its load.
        shape: its windows.
        names: each names a percentile, see `quantile_of`.
    """
    quantiles = [quantile for name in names if (quantile := quantile_of(name)) is not None]
    steady = None if shape.window.source is WindowSource.WHOLE else percentiles_in(load, shape.steady, quantiles)
    whole = percentiles_in(load, load.span, quantiles)
    detail = ""
    if not whole:
        nothing = load.whole is None or not load.whole.requests
        detail = "no-requests" if nothing else "not-kept"
    span = load.span if shape.window.source is WindowSource.WHOLE else shape.steady
    endpoints = _endpoints(subject, load, span, quantiles)
    return PercentilesOut(
        percentiles=[
            PercentileOut(name=name, steady=_at(steady, place), whole=_at(whole, place))
            for place, name in enumerate(names)
        ],
        detail=detail,
        endpoints=endpoints or [],
        endpoints_detail="not-kept" if endpoints is None else "",
    )


def _at(found: Sequence[Bounds] | None, place: int) -> PercentileValue | None:
    if not found:
        return None
    bounds = found[place]
    return PercentileValue(seconds=bounds.middle, low=bounds.low, high=bounds.high)


def _endpoints(
    subject: Subject, load: Load, span: Span, quantiles: Sequence[float]
) -> list[EndpointPercentiles] | None:
    """None where single requests are not kept: seconds are of all endpoints together."""
    result = subject.load
    if result is None or subject.files is None or load.percentiles is None:
        return None
    names = [endpoint.name for endpoint in result.endpoints]
    try:
        if len(names) == 1:
            found = [load.percentiles(quantiles, *load.records_ns(span))]
        else:
            named = [name for name in names if name != OTHER_ENDPOINTS]
            found = endpoint_percentiles_over(subject.files, named, quantiles, *load.records_ns(span))
            names = [*named, OTHER_ENDPOINTS]
    except (ProblemError, OSError):
        # The records are gone or damaged.
        return None
    return [
        EndpointPercentiles(name=name, seconds=list(seconds))
        for name, seconds in zip(names, found, strict=True)
        if seconds is not None
    ]
