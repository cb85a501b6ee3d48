"""The figures that every run may have, and how each is read: from its result, second by second, or from the store."""

import math
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from loadwatch_formats.outcomes import Outcome

from loadwatch_backend.catalogue.signals.model import Orientation, Signal, Unit
from loadwatch_backend.catalogue.signals.service import SignalService
from loadwatch_backend.core.errors import NotFoundError, ProblemError
from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts.words import Texts, Words, message_of
from loadwatch_backend.evidence.records.model import OUTCOME_CODES, FloatArray, Seconds
from loadwatch_backend.runs.analysis.measure import shortest_name
from loadwatch_backend.runs.analysis.schemas import FiguresOut
from loadwatch_backend.runs.analysis.thresholds import quantile_of
from loadwatch_backend.runs.compare.schemas import CompareSeries, MetricInfo, MetricList
from loadwatch_backend.runs.compare.statistics import Scale
from loadwatch_backend.runs.fields import RunState
from loadwatch_backend.runs.key_figures import OWN
from loadwatch_backend.runs.registry.registry import Registry
from loadwatch_backend.runs.schemas import RunOut

MOST_POINTS = 600
PARTIAL_MS = 50
P50, P95, P99 = 0, 2, 3
"""Columns of `Seconds.latency`."""


class Lane(NamedTuple):
    """One run: its seconds, and the run's second that is elapsed time zero (a whole number)."""

    seconds: Seconds
    zero: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """Elapsed seconds of the first bucket, the bucket's length, and how many there are."""

    start: int
    step: int
    count: int


def common_axis(lanes: Sequence[Lane]) -> Axis:
    """From the earliest beginning to the latest end, in at most `MOST_POINTS` buckets; empty without lanes."""
    if not lanes:
        return Axis(start=0, step=1, count=0)
    start = min(-lane.zero for lane in lanes)
    end = max(len(lane.seconds.outcomes) - lane.zero for lane in lanes)
    step = max(-(-(end - start) // MOST_POINTS), 1)
    return Axis(start=start, step=step, count=-(-(end - start) // step))


def mean_on_axis(values: FloatArray, lane: Lane, axis: Axis) -> FloatArray:
    """Means of per-second values in each bucket; NaN where the run has no second."""
    laid = _laid(values, lane, axis)
    counts: npt.NDArray[np.int64] = axis.step - np.isnan(laid).sum(axis=1)
    sums = np.nansum(laid, axis=1)
    return np.divide(sums, counts, out=np.full(axis.count, np.nan), where=counts > 0)


def max_on_axis(values: FloatArray, lane: Lane, axis: Axis) -> FloatArray:
    """Largest of per-second values in each bucket, so that a slow second stays; NaN where there is none."""
    return np.fmax.reduce(_laid(values, lane, axis), axis=1, initial=np.nan)


def lane_rates(seconds: Seconds) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Requests, good answers and failures of each second."""
    requests = seconds.requests.astype(np.float64)
    good = seconds.outcomes[:, OUTCOME_CODES[Outcome.OK]].astype(np.float64)
    return requests, good, requests - good


def without_partial(values: FloatArray, seconds: Seconds, started_ms: int) -> FloatArray:
    """Rates without the run's first and last second where they are cut: half a second has half the requests."""
    cut = values.copy()
    if started_ms - seconds.start_ms > PARTIAL_MS:
        cut[:1] = np.nan
    if len(cut) > 1:
        cut[-1:] = np.nan
    return cut


def run_series(run: RunOut, lane: Lane, axis: Axis) -> CompareSeries:
    requests, good, failures = (without_partial(one, lane.seconds, run.started_ms) for one in lane_rates(lane.seconds))
    latency = lane.seconds.latency
    empty = np.full(len(requests), np.nan)
    p50, p95, p99 = (empty if latency is None else latency[:, column] for column in (P50, P95, P99))
    return CompareSeries(
        run=run.id,
        offset_seconds=lane.zero,
        rate=_listed(mean_on_axis(requests, lane, axis)),
        ok_rate=_listed(mean_on_axis(good, lane, axis)),
        failures=_listed(mean_on_axis(failures, lane, axis)),
        p50=_listed(max_on_axis(p50, lane, axis)),
        p95=_listed(max_on_axis(p95, lane, axis)),
        p99=_listed(max_on_axis(p99, lane, axis)),
    )


def _laid(values: FloatArray, lane: Lane, axis: Axis) -> FloatArray:
    """[bucket, second of the bucket], NaN outside of the run."""
    laid = np.full(axis.count * axis.step, np.nan)
    begin = -lane.zero - axis.start
    laid[begin : begin + len(values)] = values
    return laid.reshape(axis.count, axis.step)


def _listed(values: FloatArray) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]


ROUTE_PREFIX = "route:"
MOST_ROUTES = 100
SCALE = Scale(margin=0.05, scatter=0.2, floor=0.000_01)


def route_metric(metric: str, language: Language) -> MetricInfo | None:
    name = metric.removeprefix(ROUTE_PREFIX)
    if name == metric or not name:
        return None
    t = Texts("compare", language)
    return MetricInfo(
        id=metric,
        title=t("route-title", route=name),
        unit=Unit.SECONDS,
        orientation=Orientation.MORE_IS_WORSE,
        help=t("route-help"),
    )


def route_value(run: RunOut, metric: str) -> float | None:
    """Database seconds for each request of a route; None where the run's findings do not tell."""
    name = metric.removeprefix(ROUTE_PREFIX)
    routes = [] if run.diagnosis is None else run.diagnosis.routes
    return next((one.database_seconds for one in routes if one.name == name), None)


def route_metrics(runs: Iterable[RunOut], language: Language) -> list[MetricInfo]:
    names = {one.name for run in runs if run.diagnosis is not None for one in run.diagnosis.routes}
    found = [route_metric(f"{ROUTE_PREFIX}{name}", language) for name in sorted(names)[:MOST_ROUTES]]
    return [one for one in found if one is not None]


def own_value(run: RunOut, name: str) -> float | None:
    return next((one.value for one in run.own_figures if one.name == name), None)


def in_one_unit(runs: Iterable[RunOut]) -> list[RunOut]:
    """Figures of the user's own in the unit of the last run that has them; what is in another is not compared."""
    runs = list(runs)
    units = {one.name: one.unit for run in runs for one in run.own_figures}
    return [
        run.model_copy(
            update={
                "own_figures": [
                    one if one.unit == units[one.name] else one.model_copy(update={"value": None})
                    for one in run.own_figures
                ]
            }
        )
        for run in runs
    ]


def own_metric(metric: str, runs: Iterable[RunOut]) -> "RunMetric | None":
    """A figure of the user's own, better on the side that the runs agree on; None where it is none."""
    name = metric.removeprefix(OWN)
    if name == metric or not name:
        return None
    figures = [one for run in runs for one in run.own_figures if one.name == name]
    sides = {one.orientation for one in figures} - {Orientation.NEUTRAL}
    return RunMetric(
        metric,
        Unit((figures[-1].unit if figures else "") or Unit.COUNT),
        sides.pop() if len(sides) == 1 else Orientation.NEUTRAL,
        SCALE,
        figure=lambda run: own_value(run, name),
        text="own",
    )


def own_metrics(runs: Sequence[RunOut]) -> "list[RunMetric]":
    names = dict.fromkeys(one.name for run in runs for one in run.own_figures)
    return [found for name in names if (found := own_metric(f"{OWN}{name}", runs)) is not None]


SIGNAL_PREFIX = "signal:"
P90, MAX = 1, 4

RATES = Scale(margin=0.02, scatter=0.05, floor=0.01)
PACED = 0.005
"""Scatter of a rate that a clock holds: of runs that were asked for a rate and sent it."""
REACHED = 0.01
SHARES = Scale(margin=0.05, scatter=0.5, floor=0.001)
MIDDLE = Scale(margin=0.05, scatter=0.2, floor=0.000_01)
"""Scatters of response times are what bench.compare saw between equal short runs on a machine that others used, too."""
MEAN = Scale(margin=0.05, scatter=0.35, floor=0.000_01)
SLOW = Scale(margin=0.05, scatter=0.5, floor=0.000_01)
SLOWER = Scale(margin=0.05, scatter=0.7, floor=0.000_01)
SLOWEST = Scale(margin=0.05, scatter=1.0, floor=0.000_01)
_SIGNAL_FLOORS: Mapping[Unit, float] = {
    Unit.SECONDS: 0.001,
    Unit.BYTES: 1_048_576.0,
    Unit.RATIO: 0.005,
    Unit.COUNT: 1.0,
    Unit.PER_SECOND: 0.1,
    Unit.BYTES_PER_SECOND: 1_024.0,
}
SIGNAL_SCATTER = 0.25


@dataclass(frozen=True, slots=True)
class RunMetric:
    """A figure of a run's result.

    `figure` reads it from the figures of a window. `seconds` gives the values of each second whose spread stands for
    its uncertainty; None where single seconds have no such value. `scale` is how two of them are compared. `text` is
    the key of its title and help where that is not its id.
    """

    id: str
    unit: Unit
    orientation: Orientation
    scale: Scale
    figure: Callable[[RunOut], float | None]
    seconds: Callable[[Seconds], FloatArray] | None = None
    compared: bool = True
    text: str = ""

    @property
    def title(self) -> Words:
        return message_of("figures", f"title.{self.text or self.id}", name=self.id.removeprefix(OWN))

    @property
    def help(self) -> Words:
        return message_of("figures", f"help.{self.text or self.id}")


def window_figures(run: RunOut) -> FiguresOut | None:
    """Figures of the steady window; of the whole run where none was found; None before there are any."""
    return whole_figures(run) if run.steady is None else run.steady


def whole_figures(run: RunOut) -> FiguresOut | None:
    if run.requests is None:
        return None
    seconds = run.requests / run.rate if run.rate else 0.0
    return FiguresOut(duration_seconds=seconds, **{name: getattr(run, name) for name in _WHOLE})


_WHOLE = FiguresOut.model_fields.keys() & RunOut.model_fields.keys()


def _figure(read: Callable[[FiguresOut], float | None]) -> Callable[[RunOut], float | None]:
    def value(run: RunOut) -> float | None:
        figures = window_figures(run)
        return None if figures is None else read(figures)

    return value


def _latency_seconds(column: int) -> Callable[[Seconds], FloatArray]:
    def values(seconds: Seconds) -> FloatArray:
        return np.full(len(seconds.outcomes), np.nan) if seconds.latency is None else seconds.latency[:, column]

    return values


def _mean_seconds(seconds: Seconds) -> FloatArray:
    """Approximate mean of each second, by the trapezoidal rule over its percentiles; only for scatter."""
    if seconds.latency is None:
        return np.full(len(seconds.outcomes), np.nan)
    return seconds.latency @ _MEAN_WEIGHTS


_EDGES = np.array([0.0, 0.5, 0.9, 0.95, 0.99, 1.0])
_WIDTHS = np.diff(_EDGES)
_MEAN_WEIGHTS: FloatArray = np.concatenate(
    [[_WIDTHS[0] + _WIDTHS[1] / 2], (_WIDTHS[1:-1] + _WIDTHS[2:]) / 2, [_WIDTHS[-1] / 2]]
)


def _latency(id: str, seconds: Callable[[Seconds], FloatArray], scale: Scale, text: str = "latency") -> RunMetric:
    """A metric of response time; its figure is None for percentiles that runs do not store."""
    figure = _figure(lambda figures: getattr(figures.latency_seconds, id, None))
    return RunMetric(id, Unit.SECONDS, Orientation.MORE_IS_WORSE, scale, figure, seconds, text=text)


def _failed(id: str, outcomes: Sequence[Outcome]) -> RunMetric:
    def share(figures: FiguresOut) -> float | None:
        return sum(figures.outcomes.get(one, 0) for one in outcomes) / figures.requests if figures.requests else None

    def shares(seconds: Seconds) -> FloatArray:
        requests = seconds.requests
        counted = seconds.outcomes[:, [OUTCOME_CODES[one] for one in outcomes]].sum(axis=1)
        return np.divide(counted, requests, out=np.full(len(requests), np.nan), where=requests > 0)

    return RunMetric(id, Unit.RATIO, Orientation.MORE_IS_WORSE, SHARES, _figure(share), shares)


def _rate(
    id: str, figure: Callable[[RunOut], float | None], seconds: Callable[[Seconds], FloatArray] | None = None
) -> RunMetric:
    return RunMetric(id, Unit.PER_SECOND, Orientation.MORE_IS_BETTER, RATES, figure, seconds)


_SUCCESS = _figure(lambda figures: figures.success_ratio)
RUN_METRICS: Sequence[RunMetric] = (
    _rate("rate", _figure(lambda figures: figures.rate), lambda seconds: lane_rates(seconds)[0]),
    _rate("ok_rate", _figure(lambda figures: figures.ok_rate), lambda seconds: lane_rates(seconds)[1]),
    _failed("error_rate", [outcome for outcome in Outcome if outcome is not Outcome.OK]),
    RunMetric("success_ratio", Unit.RATIO, Orientation.MORE_IS_BETTER, SHARES, _SUCCESS, compared=False),
    _failed("timeout_rate", [Outcome.TIMEOUT]),
    _latency("mean", _mean_seconds, MEAN, "mean"),
    _latency("p50", _latency_seconds(P50), MIDDLE),
    _latency("p90", _latency_seconds(P90), SLOW),
    _latency("p95", _latency_seconds(P95), SLOW),
    _latency("p99", _latency_seconds(P99), SLOWER),
    _latency("max", _latency_seconds(MAX), SLOWEST, "max"),
    _rate("sustained_rate", lambda run: getattr(run.ramp, "sustained_rate", None)),
    _rate("knee_rate", lambda run: getattr(run.ramp, "knee_rate", None)),
)


def scale_of(metric: RunMetric, runs: Sequence[RunOut]) -> Scale:
    """How the metric is compared between these runs: a rate that a clock held hardly scatters."""
    held = metric.scale is RATES and all(_is_held(metric.figure(run), run.target_rate) for run in runs)
    return replace(metric.scale, scatter=PACED) if held else metric.scale


def _is_held(rate: float | None, target: float | None) -> bool:
    return bool(target) and rate is not None and abs(rate / target - 1) <= REACHED


def signal_scale(unit: Unit) -> Scale:
    return Scale(margin=0.05, scatter=SIGNAL_SCATTER, floor=_SIGNAL_FLOORS[unit])


METRICS_BY_ID = {metric.id: metric for metric in RUN_METRICS}


LISTED_PERCENTILES = ("p70", "p75", "p80", "p99.9")
"""Told beside those that every run keeps; any other may be asked for by its name."""


def percentile_metric(id: str) -> RunMetric | None:
    """A percentile that runs do not keep, by its name in its shortest form; it is read from the single requests."""
    quantile = quantile_of(id)
    if quantile is None or id in METRICS_BY_ID or id != f"p{Decimal(id[1:]).normalize():f}":
        return None
    near = P90 if quantile <= 0.9 else P99
    scale = MIDDLE if quantile <= 0.5 else SLOW if quantile <= 0.95 else SLOWER
    return _latency(id, _latency_seconds(near), scale)


def with_percentiles(names: Sequence[str]) -> list[RunMetric]:
    """The figures of runs that are compared, and the percentiles named, in the order of their ranks.

    `names` that are no percentile, or one that runs keep anyway, add nothing.
    """
    found = [metric for metric in RUN_METRICS if metric.compared]
    for added in (metric for name in dict.fromkeys(names) if (metric := percentile_metric(name)) is not None):
        rank = quantile_of(added.id) or 0
        ranks = [(place, quantile_of(metric.id)) for place, metric in enumerate(found)]
        lower = [place for place, quantile in ranks if quantile is not None and quantile < rank]
        first = min(place for place, quantile in ranks if quantile is not None)
        found.insert(lower[-1] + 1 if lower else first, added)
    return found


def describe_metric(metric: RunMetric, language: Language) -> MetricInfo:
    return MetricInfo(
        id=metric.id,
        title=metric.title.read(language),
        unit=metric.unit,
        orientation=metric.orientation,
        help=metric.help.read(language),
    )


Found = TypeVar("Found")
LARGEST_CACHE = 2_000
LARGEST_ENDPOINTS = 100
"""Runs whose endpoints, a thousand each at most, are remembered."""


class UnknownMetricError(NotFoundError, code="unknown-metric"):
    """No figure has this id."""


class Memory(Generic[Found]):
    """What was found of ended runs, by run, figure and steady window, which are past. Safe to use from any thread."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._found: dict[tuple[str, str, int, int], Found] = {}
        self._lock = threading.Lock()

    def of(self, run: RunOut, name: str, find: Callable[[], Found | None]) -> Found | None:
        """What is remembered, else what is found; nothing (None) is looked for again: samples may come later."""
        key = (run.id, name, *_span(run))
        with self._lock:
            if key in self._found:
                return self._found[key]
        found = find()
        if found is not None and run.state is not RunState.RUNNING:
            with self._lock:
                if len(self._found) >= self._most:
                    del self._found[next(iter(self._found))]
                self._found[key] = found
        return found


class FigureReader:
    """Safe to use from any thread."""

    def __init__(self, runs: Registry, signals: SignalService) -> None:
        self._runs = runs
        self._signals = signals
        self._percentiles = Memory[float](LARGEST_CACHE)
        self._of_endpoints = Memory[Mapping[str, float]](LARGEST_ENDPOINTS)
        self._of_signals = Memory[FloatArray](LARGEST_CACHE)
        self.compared_signals = [one for one in signals.definitions() if _is_compared(one)]

    def metrics(self, language: Language) -> MetricList:
        """Figures of results first, then signals."""
        return MetricList(
            metrics=[
                *(describe_metric(metric, language) for metric in RUN_METRICS),
                *(self.info(id, language) for id in LISTED_PERCENTILES),
                *(self.describe_signal(signal, language) for signal in self._signals.definitions()),
            ]
        )

    def info(self, metric: str, language: Language, runs: Sequence[RunOut] = ()) -> MetricInfo:
        """What a figure of these runs is.

        Raises:
            UnknownMetricError: there is none of this id.
        """
        known = METRICS_BY_ID.get(metric) or percentile_metric(metric) or own_metric(metric, runs)
        if known is not None:
            return describe_metric(known, language)
        route = route_metric(metric, language)
        if route is not None:
            return route
        signal = self._signals.definition(metric.removeprefix(SIGNAL_PREFIX))
        if not metric.startswith(SIGNAL_PREFIX) or signal is None:
            raise UnknownMetricError(f"There is no figure {metric!r}; GET /api/metrics lists all.")
        return self.describe_signal(signal, language)

    def describe_signal(self, signal: Signal, language: Language) -> MetricInfo:
        return MetricInfo(
            id=SIGNAL_PREFIX + signal.id,
            title=self._signals.full_title(signal.id).read(language),
            unit=signal.unit,
            orientation=signal.orientation,
            help=signal.help.read(language),
        )

    def percentile_name(self, name: str) -> str:
        """The percentile's id.

        Raises:
            UnknownMetricError: it is none.
        """
        id = shortest_name(name)
        if id is None:
            raise UnknownMetricError(f"{name!r} is no percentile; write such as p70 or p99.9.")
        return id

    def value(self, run: RunOut, metric: str) -> float | None:
        if metric in METRICS_BY_ID:
            return METRICS_BY_ID[metric].figure(run)
        if percentile_metric(metric) is not None:
            return self._percentiles.of(run, metric, lambda: self._runs.percentile(run.id, metric))
        own = own_metric(metric, ())
        if own is not None:
            return own.figure(run)
        if metric.startswith(ROUTE_PREFIX):
            return route_value(run, metric)
        signal = self._signals.definition(metric.removeprefix(SIGNAL_PREFIX))
        values = np.empty(0) if signal is None else self.signal_values(run, signal)
        return float(values.mean()) if len(values) else None

    def endpoint_percentile(self, run: RunOut, name: str) -> Mapping[str, float]:
        """A percentile of each endpoint of a run, seconds; empty where single requests are not kept."""
        known = METRICS_BY_ID.get(name)
        if known is not None:
            kept = {one.name: getattr(one.latency_seconds, name) for one in run.endpoints}
            return {endpoint: seconds for endpoint, seconds in kept.items() if seconds is not None}
        return self._of_endpoints.of(run, name, lambda: self._endpoint_seconds(run, name)) or {}

    def _endpoint_seconds(self, run: RunOut, name: str) -> Mapping[str, float] | None:
        return {one.name: one.seconds[0] for one in self._runs.percentiles(run.id, [name]).endpoints} or None

    def signal_values(self, run: RunOut, signal: Signal) -> FloatArray:
        found = self._of_signals.of(run, signal.id, lambda: self._values(run, signal))
        return np.empty(0) if found is None else found

    def _values(self, run: RunOut, signal: Signal) -> FloatArray | None:
        found = signal_values(self._signals, signal, *_span(run))
        return found if len(found) else None

    def scale(self, metric: str, runs: Sequence[RunOut]) -> Scale:
        known = METRICS_BY_ID.get(metric) or percentile_metric(metric) or own_metric(metric, ())
        if known is not None:
            return scale_of(known, runs)
        if metric.startswith(ROUTE_PREFIX):
            return SCALE
        signal = self._signals.definition(metric.removeprefix(SIGNAL_PREFIX))
        assert signal is not None
        return signal_scale(signal.unit)


def _is_compared(signal: Signal) -> bool:
    """Signals with a good and a bad side; what the load tool measures is compared by the run's own figures."""
    return signal.orientation is not Orientation.NEUTRAL and "loadtest_" not in signal.expression


def _span(run: RunOut) -> tuple[int, int]:
    if run.steady_window is not None:
        return run.steady_window.from_ms, run.steady_window.to_ms
    return run.started_ms, run.ended_ms or run.updated_ms


MOST_SIGNAL_POINTS = 240
_ADDED = frozenset({Unit.COUNT, Unit.PER_SECOND, Unit.BYTES, Unit.BYTES_PER_SECOND})


def combine_series(series: FloatArray, signal: Signal) -> FloatArray:
    """One value an instant from [series, instant]: amounts are added; of ratios and times the worst is taken.

    An instant at which no series has a value is left out.
    """
    known = series[:, ~np.isnan(series).all(axis=0)]
    if signal.unit in _ADDED:
        return np.nansum(known, axis=0)
    if signal.orientation is Orientation.MORE_IS_BETTER:
        return np.nanmin(known, axis=0)
    if signal.orientation is Orientation.MORE_IS_WORSE:
        return np.nanmax(known, axis=0)
    return np.nanmean(known, axis=0)


def signal_values(signals: SignalService, signal: Signal, start_ms: int, end_ms: int) -> FloatArray:
    """Values of a signal over a span; empty when the store has none, or cannot tell."""
    try:
        found = signals.over(signal.id, start_ms, end_ms, MOST_SIGNAL_POINTS)
    except ProblemError:
        return np.empty(0)
    if not found:
        return np.empty(0)
    return combine_series(np.stack(list(found.values())), signal)
