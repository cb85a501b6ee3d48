"""The table of a comparison: a metric a row, a group a cell. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, geometric_mean

import numpy as np
import numpy.typing as npt
from loadwatch_formats.outcomes import Outcome

from loadwatch_backend.catalogue.signals.model import Orientation, Unit
from loadwatch_backend.runs.analysis.schemas import EndpointOut
from loadwatch_backend.runs.compare.opinion import (
    BELOW_ZERO,
    FAR_FROM_LIMIT,
    LIMIT_DIFFERS,
    LIMIT_UNKNOWN,
    NO_DIRECTION,
    Nearness,
    judge,
)
from loadwatch_backend.runs.compare.schemas import (
    CompareCell,
    CompareEndpoint,
    CompareGroup,
    CompareRow,
    ComparisonOpinion,
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
from loadwatch_backend.runs.schemas import RunOut

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
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
    """Whether the figures cannot be held against each other: differences are ratios."""
    return any(one.figure is not None and one.figure < 0 for one in group)


def _unjudged(runs: Sequence[Measured]) -> str:
    """Why a use is neither better nor worse: no run came near its limit, or nobody knows it; empty where one did."""
    told = {run.near for run in runs}
    if Nearness.NEAR in told or told == {None}:
        return ""
    return FAR_FROM_LIMIT if Nearness.FAR in told else LIMIT_UNKNOWN


def _limits_differ(base: Sequence[Measured], group: Sequence[Measured]) -> bool:
    """Whether the means of what can be reached are apart by more than a rounding."""
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
