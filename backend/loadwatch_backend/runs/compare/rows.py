"""The table of a comparison: a metric a row, a group a cell. Pure."""

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from enum import StrEnum
from statistics import fmean, geometric_mean
from typing import NamedTuple

import numpy as np
from loadwatch_formats.numbers import format_value
from loadwatch_formats.outcomes import Outcome

from loadwatch_backend.catalogue.signals.model import NEAR, Orientation, Signal, Unit
from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts.numbers import duration, duration_ja, figure
from loadwatch_backend.core.texts.words import Texts
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.runs.analysis.schemas import EndpointOut, ResourceReached
from loadwatch_backend.runs.compare.schemas import (
    CompareCell,
    CompareEndpoint,
    CompareGroup,
    CompareHeadline,
    CompareRow,
    ComparisonOpinion,
    Grade,
    MetricInfo,
)
from loadwatch_backend.runs.compare.statistics import (
    ENOUGH_REPEATS,
    Between,
    Difference,
    Scale,
    Side,
    between_runs,
    compare_sides,
    relative,
    spread,
    to_log,
    value_interval,
    variance_within,
    weigh,
)
from loadwatch_backend.runs.fields import RunState, Verdict
from loadwatch_backend.runs.key_figures import OWN
from loadwatch_backend.runs.schemas import RunOut

COMMIT_SHOWN = 10


def identity(run: RunOut) -> tuple[object, ...]:
    """What repeats have in common; a run from a dirty tree is a repeat of nothing, since its change has no name."""
    alone = run.id if run.dirty or not (run.commit or run.parameters) else ""
    parameters = tuple(sorted(run.parameters.items()))
    return (run.scenario, run.scenario_version, run.tool, run.target_rate, run.commit, parameters, alone)


def counts(run: RunOut) -> bool:
    """Whether a run's figures are those of the system: not where it was cut off, or the generator was the limit."""
    saturated = run.generator is not None and run.generator.state == "saturated"
    return run.verdict is not Verdict.INVALID and run.state is not RunState.ABORTED and not saturated


def past_repeats(runs: Sequence[RunOut], given: Collection[str]) -> list[list[RunOut]]:
    """Repeats among earlier runs that count, without those that are given; groups of two or more."""
    repeats = _groups((run for run in runs if run.id not in given and counts(run)), identity)
    return [group for group in repeats if len(group) >= 2]


def _groups(runs: Iterable[RunOut], key: Callable[[RunOut], Hashable]) -> Collection[list[RunOut]]:
    members: dict[Hashable, list[RunOut]] = {}
    for run in runs:
        members.setdefault(key(run), []).append(run)
    return members.values()


def group_runs(runs: Sequence[RunOut]) -> list[CompareGroup]:
    """Groups in the order of their first run; the first group is the base."""
    return [
        CompareGroup(id=group[0].id, label=_label(group[0], runs), runs=[run.id for run in group], is_base=place == 0)
        for place, group in enumerate(_groups(runs, identity))
    ]


def series_of(runs: Sequence[RunOut]) -> list[tuple[str, str, list[RunOut]]]:
    """Runs that one line may join, with an id and what tells it from the others: of one tool, rate and parameters."""
    groups = _groups(runs, lambda run: (run.tool, run.target_rate, tuple(sorted(run.parameters.items()))))
    return [(group[0].id, series_label(group[0], runs), group) for group in groups]


def series_label(run: RunOut, runs: Sequence[RunOut]) -> str:
    """Parameters, target rate and tool, as far as they differ between the runs."""
    parts = _parameters(run, runs)
    if any(other.target_rate != run.target_rate for other in runs):
        parts.append("–" if run.target_rate is None else f"{run.target_rate:g}/s")
    if any(other.tool != run.tool for other in runs):
        parts.append(run.tool or "–")
    return " ".join(parts)


def differing(runs: Sequence[RunOut], parameter: str) -> list[str]:
    """What differs between runs that shall be repeats of one value of a parameter."""
    names = sorted({name for run in runs for name in run.parameters} - {parameter})
    facts = {
        **{name: {run.parameters.get(name) for run in runs} for name in names},
        "commit": {run.commit for run in runs},
        "target_rate": {run.target_rate for run in runs},
        "tool": {run.tool for run in runs},
    }
    return [name for name, values in facts.items() if len(values) > 1]


def _parameters(run: RunOut, runs: Sequence[RunOut]) -> list[str]:
    return [
        f"{key}={value}"
        for key, value in sorted(run.parameters.items())
        if any(other.parameters.get(key) != value for other in runs)
    ]


def _label(run: RunOut, runs: Sequence[RunOut]) -> str:
    parts = _parameters(run, runs)
    if run.commit and any(other.commit != run.commit for other in runs):
        parts.append(run.commit[:COMMIT_SHOWN])
    return " ".join(parts) or run.name or run.id


UNLIMITED = frozenset({"process_cpu", "process_threads", "goroutines", "host_load"})
"""Uses whose limit no series tells: all cores of a process, threads. So it is with every use in bytes."""


class Nearness(StrEnum):
    """How near a run came to the limit of what a signal is the use of."""

    NEAR = "near"
    FAR = "far"
    UNKNOWN = "unknown"


def nearness(signal: Signal, values: FloatArray, reached: Sequence[ResourceReached]) -> Nearness | None:
    """Of a signal over a run's steady window; None of one that is no use of a resource.

    Args:
        signal: what it is; a ratio of which more is worse has its limit at 1.
        values: over the window.
        reached: how near the run came to each limit.
    """
    if signal.resource:
        shares = [one for one in reached if one.resource == signal.resource]
        if not shares:
            return Nearness.UNKNOWN
        return Nearness.NEAR if any(one.ratio_max >= one.near for one in shares) else Nearness.FAR
    if signal.orientation is not Orientation.MORE_IS_WORSE:
        return None
    if signal.id in UNLIMITED or signal.unit is Unit.BYTES:
        return Nearness.UNKNOWN
    if signal.unit is Unit.RATIO:
        return Nearness.NEAR if len(values) and float(values.max()) >= NEAR else Nearness.FAR
    return None


NO_DATA = "no-data"
SHORT = "short"
SINGLE_RUN = "single-run"
FEW_REPEATS = "few-repeats"
LIMIT_DIFFERS = "limit-differs"
FAR_FROM_LIMIT = "far-from-limit"
LIMIT_UNKNOWN = "limit-unknown"
NO_DIRECTION = "no-direction"
BELOW_ZERO = "below-zero"


class Judgement(NamedTuple):
    """An opinion, how sure it is, and why it is not firmer; the remark is empty when nothing is to be said."""

    opinion: ComparisonOpinion
    grade: Grade
    remark: str


def judge(difference: Difference | None, orientation: Orientation, reach: float, *, repeats: int) -> Judgement:
    """The interval inside the margin is "same", wholly outside of it better or worse, anything else cannot be told.

    Args:
        difference: None where a side has no figure.
        orientation: which way of the figure is good.
        reach: the margin on the logarithmic scale.
        repeats: number of runs on the side that has fewer.
    """
    if difference is None:
        return Judgement(ComparisonOpinion.UNCLEAR, Grade.CANNOT_TELL, NO_DATA)
    if math.isinf(difference.low):
        return Judgement(ComparisonOpinion.UNCLEAR, Grade.CANNOT_TELL, SHORT)
    remark = SINGLE_RUN if repeats < 2 else FEW_REPEATS if repeats < ENOUGH_REPEATS else ""
    opinion = direction(difference, orientation, reach)
    told = Grade.REPEATS if repeats >= ENOUGH_REPEATS else Grade.CLEAR
    return Judgement(opinion, Grade.CANNOT_TELL if opinion is ComparisonOpinion.UNCLEAR else told, remark)


def direction(difference: Difference, orientation: Orientation, reach: float) -> ComparisonOpinion:
    if -reach < difference.low and difference.high < reach:
        return ComparisonOpinion.SAME
    if -reach <= difference.high and difference.low <= reach:
        return ComparisonOpinion.UNCLEAR
    if orientation is Orientation.NEUTRAL:
        return ComparisonOpinion.NEUTRAL
    grew = difference.log > 0
    return ComparisonOpinion.BETTER if grew == (orientation is Orientation.MORE_IS_BETTER) else ComparisonOpinion.WORSE


GOOD, FAILED, SLOW = "ok_rate", "error_rate", "p95"
TOLD = (GOOD, SLOW, FAILED, "signal:lag_max", "signal:rps_stored")
"""Metrics of a headline, in this order, as far as both sides have them."""
LEAST_FACTOR = 2.0
"""Ratio from which a change is stated as a factor."""


def headlines(groups: Sequence[CompareGroup], rows: Sequence[CompareRow], language: Language) -> list[CompareHeadline]:
    texts = Texts("compare", language)
    by_metric = {row.metric.id: row for row in rows}
    return [_headline(groups, place, by_metric, texts) for place in range(1, len(groups))]


_Pair = tuple[CompareCell, CompareCell]


def _headline(groups: Sequence[CompareGroup], place: int, rows: dict[str, CompareRow], texts: Texts) -> CompareHeadline:
    own = {id: pair for id in rows if id.startswith(OWN) and (pair := _pair(rows[id], place)) is not None}
    pairs = {**own, **{id: _pair(rows.get(id), place) for id in TOLD}}
    parts = [_part(rows[id].metric, pair, texts) for id, pair in pairs.items() if pair is not None]
    if pairs[GOOD] is None and not own:
        parts.insert(0, texts("unknown", title=texts(GOOD)))
    parts.append(_runs(len(groups[0].runs), len(groups[place].runs), texts))
    first = next(iter(own.values()), None)
    judged = _judged(pairs[GOOD] or first, [pairs[FAILED], pairs[SLOW]])
    return CompareHeadline(
        group=groups[place].id,
        text=texts("separator").join(part for part in parts if part),
        opinion=ComparisonOpinion.UNCLEAR if judged is None else judged.opinion,
        grade=None if judged is None else judged.grade,
    )


def _pair(row: CompareRow | None, place: int) -> _Pair | None:
    if row is None or row.cells[0].value is None or row.cells[place].value is None:
        return None
    return row.cells[0], row.cells[place]


def _judged(good: _Pair | None, others: Sequence[_Pair | None]) -> CompareCell | None:
    """The cell whose opinion stands for the sentence: that of good answers, unless the rest of it is worse.

    More good answers with a larger share that fails, or slower ones, are neither better nor worse. Fewer good answers
    are worse whatever the others are: what fails at once is quick.
    """
    if good is None:
        return None
    worse = next((pair[1] for pair in others if pair is not None and pair[1].opinion is ComparisonOpinion.WORSE), None)
    if worse is None or good[1].opinion is ComparisonOpinion.WORSE:
        return good[1]
    if good[1].opinion is ComparisonOpinion.BETTER:
        return good[1].model_copy(update={"opinion": ComparisonOpinion.NEUTRAL})
    return worse


def _part(metric: MetricInfo, pair: _Pair, texts: Texts) -> str:
    """Both figures, and of good answers and the user's own the change; nothing of a share or a lag that is the same."""
    other, leads = pair[1], metric.id == GOOD or metric.id.startswith(OWN)
    title = texts.known(metric.id, metric.title)
    before, after = (_figure(cell.value or 0.0, metric.unit, texts) for cell in pair)
    if before == after or other.opinion is ComparisonOpinion.SAME:
        return texts("same", title=title, after=after) if leads or metric.id == SLOW else ""
    if not leads or other.delta is None:
        return texts("short", title=title, before=before, after=after)
    factor = other.delta + 1
    change = texts("times", factor=figure(round(factor, 1))) if factor >= LEAST_FACTOR else _percent(other.delta, texts)
    return texts("changed", title=title, before=before, after=after, change=change)


def _figure(value: float, unit: str, texts: Texts) -> str:
    if unit == "ratio":
        return texts("percent", sign="", percent=figure(value * 100))
    if unit == "seconds":
        return duration_ja(value) if texts.language is Language.JA else duration(value)
    if unit.startswith("bytes"):
        return format_value(value, unit)
    return figure(value) if unit == "count" else f"{figure(value)}/s"


def _percent(delta: float, texts: Texts) -> str:
    percent = abs(delta) * 100
    digits = 0 if percent >= 10 else 1
    return texts("percent", sign="+" if delta > 0 else "−", percent=f"{percent:.{digits}f}")


def _runs(base: int, other: int, texts: Texts) -> str:
    if base == other:
        return texts("runs-1" if base == 1 else "runs-each", count=base)
    return texts("runs-unlike", base=base, count=other)


class Measured(NamedTuple):
    """A metric of one run: its figure over the steady window, and the values of single seconds behind it.

    `limit` is what the figure can reach at most, where it is the use of something that runs out; `near` how near that
    came to it.
    """

    figure: float | None
    seconds: FloatArray
    limit: float | None = None
    near: Nearness | None = None


def make_row(
    metric: MetricInfo, scale: Scale, groups: Sequence[Sequence[Measured]], past: Sequence[Sequence[float]] = ()
) -> CompareRow:
    """A row; the first group is the base.

    Args:
        metric: what is compared.
        scale: how.
        groups: runs that are compared.
        past: figures of further repeats, group by group, which tell how far equal runs differ.
    """
    sides = weigh([_side(group, scale) for group in groups])
    further = [to_log(np.array(figures, np.float64), scale.floor) for figures in past]
    between = between_runs([*(side.logs for side in sides), *further], scale.scatter)
    cells = [
        _cell(metric, scale, between, (groups[0], sides[0]), (group, side), is_base=place == 0)
        for place, (group, side) in enumerate(zip(groups, sides, strict=True))
    ]
    return CompareRow(metric=metric, margin=scale.margin, cells=cells)


_Given = tuple[Sequence[Measured], Side]


def _cell(
    metric: MetricInfo, scale: Scale, between: Between, base: _Given, other: _Given, *, is_base: bool
) -> CompareCell:
    group, side = other
    interval = value_interval(side, between, scale.floor)
    most = _most(metric.unit, group)
    # An interval that is assumed and reaches beyond what can be is none; one that repeats tell ends there.
    possible = interval is None or not interval.high > most or len(side.logs) >= ENOUGH_REPEATS
    difference = None if is_base else compare_sides(base[1], side, between)
    moved = not is_base and _limits_differ(base[0], group)
    unjudged = "" if difference is None else _unjudged([*base[0], *group])
    # More in use of something that there is more of is no bad news.
    judgement = judge(
        difference,
        Orientation.NEUTRAL if moved or unjudged else Orientation(metric.orientation),
        scale.reach,
        repeats=min(len(base[1].logs), len(side.logs)),
    )
    if judgement.opinion is ComparisonOpinion.NEUTRAL and metric.orientation == Orientation.NEUTRAL:
        unjudged = NO_DIRECTION
    if _below_zero([*base[0], *group]):
        unjudged = BELOW_ZERO
    remark = unjudged or (
        LIMIT_DIFFERS if moved and judgement.opinion is ComparisonOpinion.NEUTRAL else judgement.remark
    )
    delta, low, high = _percentages(base[1], difference, scale.floor)
    return CompareCell(
        value=None if interval is None else interval.value,
        low=_finite(interval.low) if interval is not None and possible else None,
        high=_finite(min(interval.high, most)) if interval is not None and possible else None,
        per_run=[one.figure for one in group],
        spread=spread(_figures(group)),
        delta=delta,
        delta_low=low if possible else None,
        delta_high=high if possible else None,
        p_value=None if difference is None or math.isinf(difference.low) else difference.p_value,
        opinion=ComparisonOpinion.NEUTRAL if is_base or unjudged else judgement.opinion,
        grade=None if is_base or unjudged else judgement.grade,
        remark="" if is_base else remark,
    )


def _most(unit: str, group: Sequence[Measured]) -> float:
    """The most that the figure can be: all of a share, or the limit of what is used; no less than what was measured."""
    limits = [one.limit for one in group if one.limit is not None]
    most = 1.0 if unit == Unit.RATIO else max(limits, default=math.inf)
    return max([most, *(one.figure for one in group if one.figure is not None)])


def _percentages(
    base: Side, difference: Difference | None, floor: float
) -> tuple[float | None, float | None, float | None]:
    """The difference and its interval as shares of the base; from a base of zero there are none, or it is 0."""
    if difference is None:
        return None, None, None
    origin = math.exp(base.centre) - max(floor, 1e-12)
    origin = 0.0 if origin < 1e-12 else origin
    delta, low, high = (relative(origin, one, floor) for one in (difference.log, difference.low, difference.high))
    if math.isinf(difference.low) or (origin == 0 and delta != 0):
        return _finite(delta), None, None
    return _finite(delta), _finite(low), _finite(high)


def _side(group: Sequence[Measured], scale: Scale) -> Side:
    known = [] if _below_zero(group) else [one for one in group if one.figure is not None]
    within = [variance_within(_known(one.seconds), scale.floor) for one in known]
    return Side(logs=to_log(_figures(known), scale.floor), within=np.array(within, np.float64))


def _below_zero(group: Sequence[Measured]) -> bool:
    """Whether a figure is negative: differences are ratios, so such figures are not compared."""
    return any(one.figure is not None and one.figure < 0 for one in group)


def _unjudged(runs: Sequence[Measured]) -> str:
    """Why a use is neither better nor worse: no run came near its limit, or nobody knows it; empty where one did."""
    told = {run.near for run in runs}
    if Nearness.NEAR in told or told == {None}:
        return ""
    return FAR_FROM_LIMIT if Nearness.FAR in told else LIMIT_UNKNOWN


def _limits_differ(base: Sequence[Measured], group: Sequence[Measured]) -> bool:
    before, after = ([one.limit for one in side if one.limit is not None] for side in (base, group))
    if not before or not after:
        return False
    return not math.isclose(sum(before) / len(before), sum(after) / len(after), rel_tol=0.001)


def _figures(group: Sequence[Measured]) -> FloatArray:
    return np.array([one.figure for one in group if one.figure is not None], np.float64)


def _known(values: FloatArray) -> FloatArray:
    return values[~np.isnan(values)]


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


ENDPOINTS_SHOWN = 500
MIX_DIFFERS = 0.05
Seconds = Mapping[str, float]
"""A response time of each endpoint."""


def endpoint_rows(
    groups: Sequence[CompareGroup], runs: Mapping[str, RunOut], percentiles: Mapping[str, Mapping[str, Seconds]]
) -> list[CompareEndpoint]:
    """Endpoints over all groups, those with the most requests first.

    `percentiles` are by their names and by runs.
    """
    tables: list[dict[str, list[EndpointOut]]] = []
    totals: dict[str, int] = {}
    for group in groups:
        table: dict[str, list[EndpointOut]] = {}
        for endpoint in (endpoint for run in group.runs for endpoint in runs[run].endpoints):
            table.setdefault(endpoint.name, []).append(endpoint)
            totals[endpoint.name] = totals.get(endpoint.name, 0) + endpoint.requests
        tables.append(table)
    sums = [sum(one.requests for found in table.values() for one in found) for table in tables]
    names = sorted(totals, key=lambda name: (-totals[name], name))[:ENDPOINTS_SHOWN]
    return [
        _row(name, [table.get(name, []) for table in tables]).model_copy(
            update={
                "share": [
                    sum(one.requests for one in table.get(name, [])) / total if total else None
                    for table, total in zip(tables, sums, strict=True)
                ],
                "percentiles": {
                    percentile: [_typical([found[run].get(name) for run in group.runs]) for group in groups]
                    for percentile, found in percentiles.items()
                },
            }
        )
        for name in names
    ]


def mix_differs(endpoints: Sequence[CompareEndpoint]) -> bool:
    """Whether a twentieth of a group's requests, or more, went to other endpoints than in the base."""
    shares = np.array([one.share for one in endpoints if None not in one.share], np.float64)
    return bool(len(shares) and (np.abs(shares - shares[:, :1]).sum(axis=0) / 2 >= MIX_DIFFERS).any())


def _row(name: str, found: Sequence[Sequence[EndpointOut]]) -> CompareEndpoint:
    return CompareEndpoint(
        name=name,
        requests=[sum(one.requests for one in group) if group else None for group in found],
        rate=[_mean([one.rate for one in group]) for group in found],
        p95_seconds=[_typical([one.latency_seconds.p95 for one in group]) for group in found],
        failure_ratio=[_failure_ratio(group) for group in found],
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _typical(values: Sequence[float | None]) -> float | None:
    """The geometric mean, as of all response times that are compared; zero where one of them is."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    return geometric_mean(known) if min(known) > 0 else 0.0


def _failure_ratio(group: Sequence[EndpointOut]) -> float | None:
    requests = sum(one.requests for one in group)
    return 1 - sum(one.outcomes.get(Outcome.OK, 0) for one in group) / requests if requests else None
