"""Comparison, sweep and trend over the registry of runs.

Otava is imported with the first question, for the sake of the server's start: it brings SciPy's statistics.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from loadwatch_backend.catalogue.signals.model import Orientation
from loadwatch_backend.catalogue.signals.service import SignalService
from loadwatch_backend.core.errors import InvalidError
from loadwatch_backend.core.language import Language
from loadwatch_backend.core.text import parse_number
from loadwatch_backend.evidence.records.model import FloatArray, Seconds
from loadwatch_backend.runs.compare.metrics import (
    METRICS_BY_ID,
    RUN_METRICS,
    FigureReader,
    Lane,
    common_axis,
    describe_metric,
    in_one_unit,
    own_metrics,
    route_metrics,
    run_series,
    scale_of,
    signal_scale,
    window_figures,
    with_percentiles,
)
from loadwatch_backend.runs.compare.rows import (
    Measured,
    counts,
    differing,
    endpoint_rows,
    group_runs,
    headlines,
    make_row,
    mix_differs,
    nearness,
    past_repeats,
    series_of,
)
from loadwatch_backend.runs.compare.schemas import (
    Align,
    ChangePoint,
    CompareGroup,
    CompareOut,
    CompareRow,
    ComparisonOpinion,
    FigureRepeats,
    LeftOutRun,
    MetricInfo,
    MetricList,
    NextReason,
    SweepOut,
    SweepPoint,
    TrendOut,
    TrendPoint,
    TrendSeries,
)
from loadwatch_backend.runs.compare.statistics import ENOUGH_REPEATS, Interval, Scale, Side, between_runs, to_log
from loadwatch_backend.runs.compare.sweep import Peak, SweptFigure, SweptValue, find_peak, next_value
from loadwatch_backend.runs.fields import RunState, Verdict
from loadwatch_backend.runs.key_figures import OWN
from loadwatch_backend.runs.registry.registry import Registry
from loadwatch_backend.runs.schemas import RunOut

LEAST_RUNS = 6
"""Three runs on each side: fewer cannot tell a new level from noise."""
MAX_P_VALUE = 0.001
LEAST_CHANGE = 0.02
"""Smaller changes are found on long series, but nobody acts on them."""
WINDOW = 30


@dataclass(frozen=True, slots=True)
class LevelChange:
    """A new level begins at `index` of the series."""

    index: int
    before: float
    after: float
    p_value: float


def find_changes(values: Sequence[float]) -> list[LevelChange]:
    """Where the level of the series changes, in order; empty below `LEAST_RUNS` values."""
    if len(values) < LEAST_RUNS:
        return []
    found = _otava().compute_change_points(
        list(values), window_len=WINDOW, max_pvalue=MAX_P_VALUE, min_magnitude=LEAST_CHANGE
    )[0]
    changes = [(one.index, one.stats.mean_1, one.stats.mean_2, one.stats.pvalue) for one in found]
    return [LevelChange(int(index), *map(float, figures)) for index, *figures in sorted(changes)]


def trend_point(run: RunOut, series: str, value: float | None) -> TrendPoint:
    same = TrendPoint.model_fields.keys() & RunOut.model_fields.keys()
    return TrendPoint(run=run.id, series=series, value=value, **{name: getattr(run, name) for name in same})


def level_changes(series: str, known: Sequence[tuple[RunOut, float]], orientation: Orientation) -> list[ChangePoint]:
    return [
        ChangePoint(
            series=series,
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


def _direction(before: float, after: float, orientation: Orientation) -> ComparisonOpinion:
    if orientation is Orientation.NEUTRAL or before == after:
        return ComparisonOpinion.NEUTRAL
    return (
        ComparisonOpinion.BETTER
        if (after > before) == (orientation is Orientation.MORE_IS_BETTER)
        else ComparisonOpinion.WORSE
    )


@cache
def _otava() -> Any:
    from otava import analysis

    return analysis


DURATIONS_DIFFER = 0.2
LEAST_FREEDOM = 2
"""Degrees of freedom of a scatter between equal runs: three of them."""


class CompareSameError(InvalidError, code="compare-same"):
    """A run is named twice."""


class CompareService:
    """Safe to use from any thread."""

    def __init__(self, runs: Registry, signals: SignalService) -> None:
        self._runs = runs
        self._figures = FigureReader(runs, signals)

    def metrics(self, language: Language) -> MetricList:
        return self._figures.metrics(language)

    # Comparison -----------------------------------------------------------------------------------------------

    def compare(
        self, run_ids: Sequence[str], align: Align, language: Language, percentiles: Sequence[str] = ()
    ) -> CompareOut:
        """2 to 8 runs; the first one's group is the base. `percentiles` are compared besides those that runs keep.

        Raises:
            CompareSameError: a run is named twice.
            NotFoundError: a run does not exist.
            UnknownMetricError: one of the percentiles is none.
        """
        percentiles = [self._figures.percentile_name(name) for name in dict.fromkeys(percentiles)]
        if len(set(run_ids)) != len(run_ids):
            raise CompareSameError("A run is named twice; name each run once.")
        runs = {run.id: run for run in in_one_unit(map(self._runs.read, run_ids))}
        seconds = {run_id: self._runs.raw_seconds(run_id) for run_id in run_ids}
        groups = group_runs(list(runs.values()))
        lanes = {
            run_id: Lane(seconds=one, zero=_zero(runs[run_id], align))
            for run_id, one in seconds.items()
            if one is not None
        }
        axis = common_axis(list(lanes.values()))
        rows = self._rows(groups, runs, seconds, language, percentiles)
        endpoints = endpoint_rows(groups, runs, self._of_endpoints(runs, percentiles))
        return CompareOut(
            align=align,
            headlines=headlines(groups, rows, language),
            runs=[self._runs.summary(run_id) for run_id in run_ids],
            groups=groups,
            from_seconds=axis.start,
            step_seconds=axis.step,
            count=axis.count,
            series=[run_series(runs[run_id], lanes[run_id], axis) for run_id in run_ids if run_id in lanes],
            rows=rows,
            endpoints=endpoints,
            configuration=[self._runs.difference(group.id, groups[0].id) for group in groups[1:]],
            remarks=[
                *_remarks(list(runs.values())),
                *(["mix-differs"] if mix_differs(endpoints) else []),
                *(f"no-seconds:{one}" for one in run_ids if one not in lanes),
            ],
            repeats=self.repeats(list(runs.values()), language),
        )

    def repeats(self, runs: Sequence[RunOut], language: Language) -> list[FigureRepeats]:
        """How well figures repeat between equal runs of the scenarios of these, the best first."""
        scenarios = {(run.scenario, run.scenario_version) for run in runs if run.scenario}
        everyone = {run.id: run for run in runs} | {
            run.id: run for scenario, version in sorted(scenarios) for run in self._ended(scenario, version)
        }
        groups = past_repeats(list(everyone.values()), ())
        found: list[FigureRepeats] = []
        for metric in (*RUN_METRICS, *own_metrics(list(everyone.values()))):
            figures = [[one for run in group if (one := metric.figure(run)) is not None] for group in groups]
            figures = [one for one in figures if len(one) > 1 and any(one)]
            freedom = sum(len(one) - 1 for one in figures)
            if metric.compared and freedom >= LEAST_FREEDOM:
                scatter = math.expm1(math.sqrt(sum(_squares(one, metric.scale.floor) for one in figures) / freedom))
                runs_told = sum(len(one) for one in figures)
                found.append(FigureRepeats(metric=describe_metric(metric, language), scatter=scatter, runs=runs_told))
        return sorted(found, key=lambda one: one.scatter)

    def _rows(
        self,
        groups: Sequence[CompareGroup],
        runs: dict[str, RunOut],
        seconds: dict[str, Seconds | None],
        language: Language,
        percentiles: Sequence[str],
    ) -> list[CompareRow]:
        rows: list[CompareRow] = []
        past = self._past(groups, list(runs.values()))
        for metric in (*with_percentiles(percentiles), *own_metrics(list(runs.values()))):
            measured = {
                run_id: Measured(
                    figure=self._figures.value(run, metric.id),
                    seconds=_steady_part(metric.seconds(given), run)
                    if metric.seconds is not None and (given := seconds[run_id]) is not None
                    else np.empty(0),
                )
                for run_id, run in runs.items()
            }
            # Of other percentiles the requests of hundreds of earlier runs would have to be read; the stated scatter
            # stands for them.
            known = (
                [[one for run in group if (one := metric.figure(run)) is not None] for group in past]
                if metric.id in METRICS_BY_ID or metric.id.startswith(OWN)
                else ()
            )
            scale = scale_of(metric, list(runs.values()))
            rows.extend(_row_if_any(describe_metric(metric, language), scale, groups, measured, known))
        for signal in self._figures.compared_signals:
            values = {run_id: self._figures.signal_values(run, signal) for run_id, run in runs.items()}
            measured = {
                run_id: Measured(
                    figure=float(given.mean()) if len(given) else None,
                    seconds=given,
                    limit=_limit_of(runs[run_id], signal.resource),
                    near=nearness(signal, given, runs[run_id].resources),
                )
                for run_id, given in values.items()
            }
            info = self._figures.describe_signal(signal, language)
            rows.extend(_row_if_any(info, signal_scale(signal.unit), groups, measured, ()))
        return rows

    def _of_endpoints(
        self, runs: Mapping[str, RunOut], percentiles: Sequence[str]
    ) -> dict[str, dict[str, Mapping[str, float]]]:
        return {
            name: {id: self._figures.endpoint_percentile(run, name) for id, run in runs.items()} for name in percentiles
        }

    def _past(self, groups: Sequence[CompareGroup], runs: Sequence[RunOut]) -> list[list[RunOut]]:
        """Repeats of the same scenario besides these runs, which tell how far equal runs differ; groups of two or more.

        None are looked for where every group has repeats enough of its own.
        """
        if all(len(group.runs) >= ENOUGH_REPEATS for group in groups):
            return []
        scenarios = {(run.scenario, run.scenario_version) for run in runs if run.scenario}
        given = {run.id for run in runs}
        return [
            group
            for scenario, version in sorted(scenarios)
            for group in past_repeats(self._ended(scenario, version), given)
        ]

    # Sweep and trend ------------------------------------------------------------------------------------------

    def sweep(
        self, scenario: str, version: str | None, parameter: str, first: str, second: str, language: Language
    ) -> SweepOut:
        """Runs of a scenario by a numeric parameter; runs without it are left out.

        Raises:
            UnknownMetricError: a metric does not exist.
        """
        ended = self._ended(scenario, version)
        infos = self._figures.info(first, language, ended), self._figures.info(second, language, ended)
        by_value: dict[float, list[RunOut]] = {}
        words = 0
        for run in ended:
            text = run.parameters.get(parameter)
            number = None if text is None else parse_number(text)
            words += text is not None and number is None
            if number is not None:
                by_value.setdefault(number, []).append(run)
        orientation = Orientation(infos[0].orientation)
        everyone = [run for runs in by_value.values() for run in runs]
        lanes = [self._swept(by_value, metric, everyone) for metric in (first, second)]
        points = [
            SweepPoint(
                value=value,
                runs=[run.id for run in by_value[value]],
                left_out=[
                    LeftOutRun(
                        run=run.id,
                        name=run.name,
                        x=self._figures.value(run, first),
                        y=self._figures.value(run, second),
                        verdict=run.verdict,
                    )
                    for run in by_value[value]
                    if not counts(run)
                ],
                **_interval("x", lanes[0].at(value)),
                **_interval("y", lanes[1].at(value)),
                verdict=_common_verdict(by_value[value]),
            )
            for value in sorted(by_value)
        ]
        peak = find_peak(lanes[0].values, orientation, lanes[0].scale, lanes[0].between)
        following = next_value(lanes[0].values, peak, orientation)
        if following.reason in (NextReason.FEW_VALUES, NextReason.FLAT):
            peak = Peak(best=None)
        left_out = sum(len(point.left_out) for point in points)
        mixed = list(dict.fromkeys(name for runs in by_value.values() for name in differing(runs, parameter)))
        told = {
            "few-values": len(points) < 3,
            "single-runs": any(len(point.runs) - len(point.left_out) == 1 for point in points),
            f"not-numeric:{words}": words > 0,
            f"left-out:{left_out}": left_out > 0,
            f"mixed:{', '.join(mixed)}": bool(mixed),
            f"best-is-{peak.edge}": bool(peak.edge),
            f"negative-scaling:{peak.falls_from or 0:g}": peak.falls_from is not None,
        }
        return SweepOut(
            scenario=scenario,
            scenario_version=version,
            parameter=parameter,
            first=infos[0],
            second=infos[1],
            own=[describe_metric(one, language) for one in own_metrics(ended)],
            points=points,
            best=peak.best,
            tied=list(peak.tied),
            next=following,
            diminishing=peak.diminishing,
            remarks=[code for code, holds in told.items() if holds],
        )

    def _swept(self, by_value: Mapping[float, Sequence[RunOut]], metric: str, runs: Sequence[RunOut]) -> SweptFigure:
        scale = self._figures.scale(metric, runs)
        figures = {
            value: _numbers(self._figures.value(run, metric) for run in runs if counts(run))
            for value, runs in by_value.items()
        }
        # Reading the seconds of hundreds of runs would take long; the stated scatter is wider than theirs.
        values = [
            SweptValue(
                parameter=value,
                side=Side(logs=to_log(figures[value], scale.floor), within=np.zeros(len(figures[value]))),
            )
            for value in sorted(figures)
            if len(figures[value]) and min(figures[value]) >= 0
        ]
        return SweptFigure(
            scale=scale, between=between_runs([one.side.logs for one in values], scale.scatter), values=values
        )

    def trend(self, scenario: str, version: str | None, metric: str, language: Language) -> TrendOut:
        """A figure over the runs of a scenario, with the change points of its level.

        Raises:
            UnknownMetricError: the metric does not exist.
        """
        runs = self._ended(scenario, version)
        info = self._figures.info(metric, language, runs)
        values = {run.id: self._figures.value(run, metric) for run in runs}
        series = series_of(runs)
        known = {
            id: [(run, value) for run in members if counts(run) and (value := values[run.id]) is not None]
            for id, _, members in series
        }
        names = {run.id: id for id, _, members in series for run in members}
        return TrendOut(
            scenario=scenario,
            scenario_version=version,
            versions=list(dict.fromkeys(run.scenario_version for run in self._ended(scenario, None))),
            metric=info,
            routes=route_metrics(runs, language),
            own=[describe_metric(one, language) for one in own_metrics(runs)],
            series=[TrendSeries(id=id, label=label, runs=len(members)) for id, label, members in series],
            points=[trend_point(run, names[run.id], values[run.id]) for run in runs],
            changes=[
                change
                for id, members in known.items()
                for change in level_changes(id, members, Orientation(info.orientation))
            ],
            remark="too-few-runs" if max(map(len, known.values()), default=0) < LEAST_RUNS else "",
        )

    def _ended(self, scenario: str, version: str | None) -> list[RunOut]:
        runs = self._runs.of_scenario(scenario, version)
        return in_one_unit(run for run in runs if run.state is not RunState.RUNNING)


def _interval(name: str, found: Interval | None) -> dict[str, float | None]:
    value, low, high = (None, None, None) if found is None else (found.value, found.low, found.high)
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def _common_verdict(runs: Sequence[RunOut]) -> Verdict | None:
    verdicts = {run.verdict for run in runs if counts(run)}
    return verdicts.pop() if len(verdicts) == 1 else None


def _limit_of(run: RunOut, resource: str) -> float | None:
    limits = [one.limit for one in run.resources if one.resource == resource]
    return sum(limits) if limits else None


def _row_if_any(
    info: MetricInfo,
    scale: Scale,
    groups: Sequence[CompareGroup],
    measured: dict[str, Measured],
    past: Sequence[Sequence[float]],
) -> list[CompareRow]:
    figures = [one.figure for one in measured.values() if one.figure is not None]
    if len(figures) < 2 or not any(figures):
        return []
    return [make_row(info, scale, [[measured[run] for run in group.runs] for group in groups], past)]


def _squares(figures: Sequence[float], floor: float) -> float:
    logs = to_log(np.array(figures, np.float64), floor)
    return float(((logs - logs.mean()) ** 2).sum())


def _zero(run: RunOut, align: Align) -> int:
    if align is Align.START or run.steady_window is None:
        return 0
    return math.floor(run.steady_window.from_seconds)


def _steady_part(values: FloatArray, run: RunOut) -> FloatArray:
    window = run.steady_window
    if window is None:
        return values
    return values[
        math.ceil(window.from_seconds) : max(math.floor(window.to_seconds), math.ceil(window.from_seconds) + 1)
    ]


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


def _numbers(values: Iterable[float | None]) -> FloatArray:
    return np.array([value for value in values if value is not None], np.float64)
