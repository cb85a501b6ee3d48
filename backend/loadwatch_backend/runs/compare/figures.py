"""Figures of runs by their ids: what they are, and what each is for a run."""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from loadwatch_backend.catalogue.signals.model import Orientation, Signal, Unit
from loadwatch_backend.catalogue.signals.service import SignalService
from loadwatch_backend.core.errors import NotFoundError, ProblemError
from loadwatch_backend.core.language import Language
from loadwatch_backend.runs.analysis.percentiles import shortest_name
from loadwatch_backend.runs.compare.metrics import (
    LISTED_PERCENTILES,
    METRICS_BY_ID,
    ROUTE_PREFIX,
    RUN_METRICS,
    SCALE,
    SIGNAL_PREFIX,
    describe_metric,
    own_metric,
    percentile_metric,
    route_metric,
    route_value,
    scale_of,
    signal_scale,
)
from loadwatch_backend.runs.compare.schemas import MetricInfo, MetricList
from loadwatch_backend.runs.compare.statistics import Scale
from loadwatch_backend.runs.fields import RunState
from loadwatch_backend.runs.registry.registry import Registry
from loadwatch_backend.runs.schemas import RunOut

Found = TypeVar("Found")
FloatArray = npt.NDArray[np.float64]
LARGEST_CACHE = 2_000
LARGEST_ENDPOINTS = 100
"""Runs whose endpoints, a thousand each at most, are remembered."""


class UnknownMetricError(NotFoundError, code="unknown-metric"):
    """No figure has this id."""


class _Memory(Generic[Found]):
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
                    self._found.clear()
                self._found[key] = found
        return found


class FigureReader:
    """Safe to use from any thread."""

    def __init__(self, runs: Registry, signals: SignalService) -> None:
        self._runs = runs
        self._signals = signals
        self._percentiles = _Memory[float](LARGEST_CACHE)
        self._of_endpoints = _Memory[Mapping[str, float]](LARGEST_ENDPOINTS)
        self._of_signals = _Memory[FloatArray](LARGEST_CACHE)
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
        """A signal as a figure."""
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
        """A figure of a run that is known by its id; None where nothing tells."""
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
        """Values over the steady window."""
        found = self._of_signals.of(run, signal.id, lambda: self._values(run, signal))
        return np.empty(0) if found is None else found

    def _values(self, run: RunOut, signal: Signal) -> FloatArray | None:
        found = signal_values(self._signals, signal, *_span(run))
        return found if len(found) else None

    def scale(self, metric: str, runs: Sequence[RunOut]) -> Scale:
        """How a figure that is known by its id is compared between runs."""
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


MOST_POINTS = 240
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
        found = signals.over(signal.id, start_ms, end_ms, MOST_POINTS)
    except ProblemError:
        return np.empty(0)
    if not found:
        return np.empty(0)
    return combine_series(np.stack(list(found.values())), signal)
