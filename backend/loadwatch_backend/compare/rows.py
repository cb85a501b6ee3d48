"""The table of a comparison: a metric a row, a group a cell. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from loadwatch_backend.compare.near import Nearness
from loadwatch_backend.compare.opinion import FAR_FROM_LIMIT, LIMIT_DIFFERS, LIMIT_UNKNOWN, judge
from loadwatch_backend.compare.schemas import CompareCell, CompareRow, MetricInfo, Opinion
from loadwatch_backend.compare.statistics import (
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
from loadwatch_backend.signals.model import Orientation, Unit

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
    remark = unjudged or (LIMIT_DIFFERS if moved and judgement.opinion is Opinion.NEUTRAL else judgement.remark)
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
        opinion=Opinion.NEUTRAL if is_base or unjudged else judgement.opinion,
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
    known = [one for one in group if one.figure is not None]
    within = [variance_within(_known(one.seconds), scale.floor) for one in known]
    return Side(logs=to_log(_figures(group), scale.floor), within=np.array(within, np.float64))


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
