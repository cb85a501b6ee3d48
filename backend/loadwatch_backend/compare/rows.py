"""The table of a comparison: a metric a row, a group a cell. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from loadwatch_backend.compare.opinion import judge
from loadwatch_backend.compare.schemas import CompareCell, CompareRow, MetricInfo, Opinion
from loadwatch_backend.compare.statistics import (
    LEAST_EFFECTIVE,
    Difference,
    Interval,
    compare_repeats,
    compare_seconds,
    effective_count,
    from_zero,
    mean_interval,
    repeats_interval,
    spread,
)
from loadwatch_backend.signals.model import Orientation

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A metric of one run: its figure over the steady window, and the values of single seconds behind it."""

    figure: float | None
    seconds: FloatArray


def make_row(metric: MetricInfo, groups: Sequence[Sequence[Measured]]) -> CompareRow:
    """A row; the first group is the base."""
    base = groups[0]
    cells = [_cell(metric, base, group, is_base=place == 0) for place, group in enumerate(groups)]
    return CompareRow(metric=metric, cells=cells)


def _cell(metric: MetricInfo, base: Sequence[Measured], group: Sequence[Measured], *, is_base: bool) -> CompareCell:
    figures = _figures(group)
    interval = _interval(group)
    difference = None if is_base else _difference(base, group)
    repeats = min(len(_figures(base)), len(figures))
    orientation = Orientation(metric.orientation)
    judgement = judge(difference, orientation, short=_too_short(base, group), repeats=repeats)
    if is_base or len(figures) == 0:
        # The base is compared with nothing; a group without the figure has no opinion either.
        judgement = judge(None, orientation, short=False, repeats=repeats)
    return CompareCell(
        value=None if interval is None else interval.value,
        # No figure of a run can be negative; a symmetric interval of few repeats may reach below.
        low=None if interval is None else _finite(max(interval.low, min(interval.value, 0.0))),
        high=None if interval is None else _finite(interval.high),
        per_run=[one.figure for one in group],
        spread=spread(figures),
        delta=None if difference is None else _finite(difference.delta),
        delta_low=None if difference is None else _finite(difference.low),
        delta_high=None if difference is None else _finite(difference.high),
        p_value=None if difference is None or _without_evidence(base, group) else difference.p_value,
        opinion=Opinion.NEUTRAL if is_base else judgement.opinion,
        remark="" if is_base else judgement.remark,
    )


def _figures(group: Sequence[Measured]) -> FloatArray:
    return np.array([one.figure for one in group if one.figure is not None], np.float64)


def _interval(group: Sequence[Measured]) -> Interval | None:
    """Of repeats by their spread; of a single run by its seconds, moved to where the exact figure is."""
    figures = _figures(group)
    if len(figures) != 1:
        return repeats_interval(figures)
    inside = mean_interval(_known(group[0].seconds))
    value = float(figures[0])
    if inside is None:
        return Interval(value=value, low=value, high=value)
    return Interval(value=value, low=value + inside.low - inside.value, high=value + inside.high - inside.value)


def _difference(base: Sequence[Measured], group: Sequence[Measured]) -> Difference | None:
    base_figures, figures = _figures(base), _figures(group)
    repeats = compare_repeats(base_figures, figures)
    if repeats is not None or len(base_figures) == 0 or len(figures) == 0:
        return repeats
    seconds = compare_seconds(_pooled(base), _pooled(group))
    centre = float(base_figures.mean())
    if centre == 0:
        p_value = 1.0 if seconds is None else seconds.p_value
        return from_zero(float(figures.mean()), p_value)
    if seconds is None:
        # Nothing but the figures themselves: they differ by this much, and nothing tells how sure that is.
        return Difference(delta=float(figures.mean()) / centre - 1, low=-np.inf, high=np.inf, p_value=1.0)
    # The delta told is that of the exact figures; the seconds say how sure it is.
    delta = float(figures.mean()) / centre - 1
    shift = delta - seconds.delta
    return Difference(delta=delta, low=seconds.low + shift, high=seconds.high + shift, p_value=seconds.p_value)


def _too_short(base: Sequence[Measured], group: Sequence[Measured]) -> bool:
    if min(len(_figures(base)), len(_figures(group))) >= 2:
        return False
    return min(effective_count(_pooled(base)), effective_count(_pooled(group))) < LEAST_EFFECTIVE


def _without_evidence(base: Sequence[Measured], group: Sequence[Measured]) -> bool:
    """Single figures with no seconds behind them."""
    return min(len(_figures(base)), len(_figures(group))) < 2 and min(len(_pooled(base)), len(_pooled(group))) == 0


def _pooled(group: Sequence[Measured]) -> FloatArray:
    return np.concatenate([_known(one.seconds) for one in group]) if group else np.empty(0)


def _known(values: FloatArray) -> FloatArray:
    return values[~np.isnan(values)]


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
