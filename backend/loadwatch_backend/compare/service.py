"""Comparison, sweep and trend over the registry of runs."""

import math
import threading
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from loadwatch_backend.compare.groups import group_runs
from loadwatch_backend.compare.metrics import METRICS_BY_ID, RUN_METRICS, SIGNAL_PREFIX, describe_metric, window_figures
from loadwatch_backend.compare.overlay import (
    P50,
    P95,
    P99,
    Axis,
    Lane,
    common_axis,
    lane_rates,
    max_on_axis,
    mean_on_axis,
    without_partial,
)
from loadwatch_backend.compare.rows import Measured, make_row
from loadwatch_backend.compare.schemas import (
    Align,
    ChangePoint,
    CompareEndpoint,
    CompareGroup,
    CompareOut,
    CompareRow,
    CompareSeries,
    MetricInfo,
    MetricList,
    Opinion,
    SweepOut,
    SweepPoint,
    TrendOut,
    TrendPoint,
)
from loadwatch_backend.compare.signal_values import signal_values
from loadwatch_backend.compare.source import RunSource
from loadwatch_backend.compare.statistics import repeats_interval
from loadwatch_backend.compare.sweep import best_value, diminishing_value, parse_number
from loadwatch_backend.compare.trend import LEAST_RUNS, find_changes
from loadwatch_backend.kit.errors import InvalidError, NotFoundError
from loadwatch_backend.records.model import Outcome, Seconds
from loadwatch_backend.runs.analysis.schemas import EndpointOut
from loadwatch_backend.runs.fields import RunState
from loadwatch_backend.runs.schemas import RunOut
from loadwatch_backend.signals.model import Orientation, Signal
from loadwatch_backend.signals.schemas import Language
from loadwatch_backend.signals.service import SignalService

FloatArray = npt.NDArray[np.float64]
LARGEST_CACHE = 2_000
ENDPOINTS_SHOWN = 500
DURATIONS_DIFFER = 0.2


class UnknownMetricError(NotFoundError):
    """No figure has this id."""

    code = "unknown-metric"


class CompareSameError(InvalidError):
    """A run is named twice."""

    code = "compare-same"


class CompareService:
    """Safe to use from any thread."""

    def __init__(self, runs: RunSource, signals: SignalService) -> None:
        self._runs = runs
        self._signals = signals
        self._compared_signals = [one for one in signals.definitions() if _is_compared(one)]
        self._known: dict[tuple[str, str, int, int], FloatArray] = {}
        self._lock = threading.Lock()

    def metrics(self, language: Language) -> MetricList:
        """Figures of results first, then signals."""
        return MetricList(
            metrics=[
                *(describe_metric(metric, language) for metric in RUN_METRICS),
                *(self._describe_signal(signal, language) for signal in self._signals.definitions()),
            ]
        )

    # Comparison -----------------------------------------------------------------------------------------------

    def compare(self, run_ids: Sequence[str], align: Align, language: Language) -> CompareOut:
        """2 to 8 runs; the first one's group is the base.

        Raises:
            CompareSameError: a run is named twice.
            NotFoundError: a run does not exist.
        """
        if len(set(run_ids)) != len(run_ids):
            raise CompareSameError("A run is named twice; name each run once.")
        runs = {run_id: self._runs.read(run_id) for run_id in run_ids}
        seconds = {run_id: self._runs.raw_seconds(run_id) for run_id in run_ids}
        groups = group_runs(list(runs.values()))
        lanes = {
            run_id: Lane(seconds=one, zero=_zero(runs[run_id], align))
            for run_id, one in seconds.items()
            if one is not None
        }
        axis = common_axis(list(lanes.values()))
        return CompareOut(
            align=align,
            runs=[self._runs.summary(run_id) for run_id in run_ids],
            groups=groups,
            from_seconds=axis.start,
            step_seconds=axis.step,
            count=axis.count,
            series=[_series(runs[run_id], lanes[run_id], axis) for run_id in run_ids if run_id in lanes],
            rows=self._rows(groups, runs, seconds, language),
            endpoints=_endpoints(groups, runs),
            configuration=[self._runs.difference(group.id, groups[0].id) for group in groups[1:]],
            remarks=[*_remarks(list(runs.values())), *(f"no-seconds:{one}" for one in run_ids if one not in lanes)],
        )

    def _rows(
        self,
        groups: Sequence[CompareGroup],
        runs: dict[str, RunOut],
        seconds: dict[str, Seconds | None],
        language: Language,
    ) -> list[CompareRow]:
        rows: list[CompareRow] = []
        for metric in RUN_METRICS:
            if not metric.compared:
                continue
            measured = {
                run_id: Measured(
                    figure=metric.figure(run),
                    seconds=_steady_part(metric.seconds(given), run)
                    if metric.seconds is not None and (given := seconds[run_id]) is not None
                    else np.empty(0),
                )
                for run_id, run in runs.items()
            }
            rows.extend(_row_if_any(describe_metric(metric, language), groups, measured))
        for signal in self._compared_signals:
            values = {run_id: self._signal_values(run, signal) for run_id, run in runs.items()}
            measured = {
                run_id: Measured(figure=float(given.mean()) if len(given) else None, seconds=given)
                for run_id, given in values.items()
            }
            rows.extend(_row_if_any(self._describe_signal(signal, language), groups, measured))
        return rows

    # Sweep and trend ------------------------------------------------------------------------------------------

    def sweep(
        self,
        scenario: str,
        version: str | None,
        parameter: str,
        first: str,
        second: str,
        language: Language,
    ) -> SweepOut:
        """Runs of a scenario by a numeric parameter; runs without it are left out.

        Raises:
            UnknownMetricError: a metric does not exist.
        """
        infos = self._info(first, language), self._info(second, language)
        by_value: dict[float, list[RunOut]] = {}
        words = 0
        for run in self._ended(scenario, version):
            text = run.parameters.get(parameter)
            number = None if text is None else parse_number(text)
            words += text is not None and number is None
            if number is not None:
                by_value.setdefault(number, []).append(run)
        points = [self._sweep_point(value, by_value[value], first, second) for value in sorted(by_value)]
        known = [(point.value, point.x) for point in points if point.x is not None]
        orientation = Orientation(infos[0].orientation)
        remarks = ["few-values"] if len(points) < 3 else []
        remarks += ["single-runs"] if any(len(point.runs) < 2 for point in points) else []
        remarks += [f"not-numeric:{words}"] if words else []
        return SweepOut(
            scenario=scenario,
            scenario_version=version,
            parameter=parameter,
            first=infos[0],
            second=infos[1],
            points=points,
            best=best_value(known, orientation),
            diminishing=diminishing_value(known, orientation),
            remarks=remarks,
        )

    def trend(self, scenario: str, version: str | None, metric: str, language: Language) -> TrendOut:
        """A figure over the runs of a scenario, with the change points of its level.

        Raises:
            UnknownMetricError: the metric does not exist.
        """
        info = self._info(metric, language)
        runs = self._ended(scenario, version)
        values = [self._value(run, metric) for run in runs]
        known = [(run, value) for run, value in zip(runs, values, strict=True) if value is not None]
        return TrendOut(
            scenario=scenario,
            scenario_version=version,
            versions=list(dict.fromkeys(run.scenario_version for run in self._ended(scenario, None))),
            metric=info,
            points=[_trend_point(run, value) for run, value in zip(runs, values, strict=True)],
            changes=_changes(known, Orientation(info.orientation)),
            remark="too-few-runs" if len(known) < LEAST_RUNS else "",
        )

    def _sweep_point(self, value: float, runs: Sequence[RunOut], first: str, second: str) -> SweepPoint:
        x = repeats_interval(_numbers(self._value(run, first) for run in runs))
        y = repeats_interval(_numbers(self._value(run, second) for run in runs))
        verdicts = {run.verdict for run in runs}
        return SweepPoint(
            value=value,
            runs=[run.id for run in runs],
            x=None if x is None else x.value,
            x_low=None if x is None else x.low,
            x_high=None if x is None else x.high,
            y=None if y is None else y.value,
            y_low=None if y is None else y.low,
            y_high=None if y is None else y.high,
            verdict=next(iter(verdicts)) if len(verdicts) == 1 else None,
        )

    def _ended(self, scenario: str, version: str | None) -> list[RunOut]:
        return [run for run in self._runs.of_scenario(scenario, version) if run.state is not RunState.RUNNING]

    # One figure -----------------------------------------------------------------------------------------------

    def _info(self, metric: str, language: Language) -> MetricInfo:
        if metric in METRICS_BY_ID:
            return describe_metric(METRICS_BY_ID[metric], language)
        signal = self._signals.definition(metric.removeprefix(SIGNAL_PREFIX))
        if not metric.startswith(SIGNAL_PREFIX) or signal is None:
            raise UnknownMetricError(f"There is no figure {metric!r}; GET /api/metrics lists all.")
        return self._describe_signal(signal, language)

    def _describe_signal(self, signal: Signal, language: Language) -> MetricInfo:
        japanese = language is Language.JA
        title = self._signals.full_title(signal.id)
        return MetricInfo(
            id=SIGNAL_PREFIX + signal.id,
            title=title.ja if japanese else title.en,
            unit=signal.unit,
            orientation=signal.orientation,
            help=signal.help.ja if japanese else signal.help.en,
        )

    def _value(self, run: RunOut, metric: str) -> float | None:
        if metric in METRICS_BY_ID:
            return METRICS_BY_ID[metric].figure(run)
        signal = self._signals.definition(metric.removeprefix(SIGNAL_PREFIX))
        values = np.empty(0) if signal is None else self._signal_values(run, signal)
        return float(values.mean()) if len(values) else None

    def _signal_values(self, run: RunOut, signal: Signal) -> FloatArray:
        """Values over the steady window; those of ended runs are remembered, since their window is past."""
        start, end = _span(run)
        if run.state is RunState.RUNNING:
            return signal_values(self._signals, signal, start, end)
        key = (run.id, signal.id, start, end)
        with self._lock:
            known = self._known.get(key)
        if known is None:
            known = signal_values(self._signals, signal, start, end)
            if len(known) == 0:
                # Samples may still come: an agent that was cut off delivers later.
                return known
            with self._lock:
                if len(self._known) >= LARGEST_CACHE:
                    self._known.clear()
                self._known[key] = known
        return known


def _is_compared(signal: Signal) -> bool:
    """Signals with a good and a bad side; what the load tool measures is compared by the run's own figures."""
    return signal.orientation is not Orientation.NEUTRAL and "loadtest_" not in signal.expression


def _row_if_any(info: MetricInfo, groups: Sequence[CompareGroup], measured: dict[str, Measured]) -> list[CompareRow]:
    """A row where two runs at least have the figure: otherwise there is nothing to compare."""
    if sum(one.figure is not None for one in measured.values()) < 2:
        return []
    if all(not one.figure for one in measured.values()):
        return []
    return [make_row(info, [[measured[run] for run in group.runs] for group in groups])]


def _span(run: RunOut) -> tuple[int, int]:
    if run.steady_window is not None:
        return run.steady_window.from_ms, run.steady_window.to_ms
    return run.started_ms, run.ended_ms or run.updated_ms


def _zero(run: RunOut, align: Align) -> int:
    if align is Align.START or run.steady_window is None:
        return 0
    return math.floor(run.steady_window.from_seconds)


def _steady_part(values: FloatArray, run: RunOut) -> FloatArray:
    """The seconds inside the steady window; all of them without one."""
    window = run.steady_window
    if window is None:
        return values
    return values[
        math.ceil(window.from_seconds) : max(math.floor(window.to_seconds), math.ceil(window.from_seconds) + 1)
    ]


def _series(run: RunOut, lane: Lane, axis: Axis) -> CompareSeries:
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


def _endpoints(groups: Sequence[CompareGroup], runs: dict[str, RunOut]) -> list[CompareEndpoint]:
    """Of each group's first run, those with the most requests first."""
    tables = [{endpoint.name: endpoint for endpoint in runs[group.id].endpoints} for group in groups]
    totals: dict[str, int] = {}
    for table in tables:
        for name, endpoint in table.items():
            totals[name] = totals.get(name, 0) + endpoint.requests
    names = sorted(totals, key=lambda name: (-totals[name], name))[:ENDPOINTS_SHOWN]
    return [_endpoint(name, [table.get(name) for table in tables]) for name in names]


def _endpoint(name: str, found: Sequence[EndpointOut | None]) -> CompareEndpoint:
    return CompareEndpoint(
        name=name,
        requests=[None if one is None else one.requests for one in found],
        rate=[None if one is None else one.rate for one in found],
        p95_seconds=[None if one is None else one.latency_seconds.p95 for one in found],
        failure_ratio=[None if one is None else _failure_ratio(one) for one in found],
    )


def _failure_ratio(endpoint: EndpointOut) -> float | None:
    return 1 - endpoint.outcomes.get(Outcome.OK, 0) / endpoint.requests if endpoint.requests else None


def _remarks(runs: Sequence[RunOut]) -> list[str]:
    """Why the runs may not be comparable, the gravest first."""
    durations = [figures.duration_seconds for run in runs if (figures := window_figures(run)) is not None]
    found = {
        "scenario-differs": len({run.scenario for run in runs}) > 1,
        "version-differs": len({(run.scenario, run.scenario_version) for run in runs})
        > len({r.scenario for r in runs}),
        "tool-differs": len({run.tool for run in runs}) > 1,
        "target-differs": len({run.target_rate for run in runs}) > 1,
        "duration-differs": bool(durations) and max(durations) - min(durations) > DURATIONS_DIFFER * max(durations),
    }
    return [code for code, holds in found.items() if holds]


def _trend_point(run: RunOut, value: float | None) -> TrendPoint:
    return TrendPoint(
        run=run.id,
        started_ms=run.started_ms,
        name=run.name,
        value=value,
        commit=run.commit,
        branch=run.branch,
        dirty=run.dirty,
        verdict=run.verdict,
        is_baseline=run.is_baseline,
    )


def _changes(known: Sequence[tuple[RunOut, float]], orientation: Orientation) -> list[ChangePoint]:
    return [
        ChangePoint(
            run=known[change.index][0].id,
            previous_run=known[change.index - 1][0].id,
            commit=known[change.index][0].commit,
            previous_commit=known[change.index - 1][0].commit,
            before=change.before,
            after=change.after,
            change=(change.after - change.before) / change.before if change.before else 0.0,
            p_value=change.p_value,
            opinion=_direction(change.before, change.after, orientation),
        )
        for change in find_changes([value for _, value in known])
    ]


def _direction(before: float, after: float, orientation: Orientation) -> Opinion:
    if orientation is Orientation.NEUTRAL or before == after:
        return Opinion.NEUTRAL
    return Opinion.BETTER if (after > before) == (orientation is Orientation.MORE_IS_BETTER) else Opinion.WORSE


def _numbers(values: Iterable[float | None]) -> FloatArray:
    return np.array([value for value in values if value is not None], np.float64)


def _listed(values: FloatArray) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]
