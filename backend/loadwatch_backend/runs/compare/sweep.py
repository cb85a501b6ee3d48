"""One parameter against two figures: the best value, and from where on more of it brings little."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

from loadwatch_backend.catalogue.signals.model import Orientation
from loadwatch_backend.runs.compare.rows import direction
from loadwatch_backend.runs.compare.schemas import ComparisonOpinion, NextReason, SweepNext
from loadwatch_backend.runs.compare.statistics import (
    Between,
    Interval,
    Scale,
    Side,
    compare_sides,
    from_log,
    value_interval,
)

SMALL_GAIN = 0.05
SMALL_GAP = 1.25
"""Ratio of two values of a parameter between which no third is worth a run."""
LARGEST_STEP = 2.0
"""Bound of a step beyond the measured values: doubling reaches any value in few runs."""


class SweptValue(NamedTuple):
    """A value of the parameter with the figures of its runs, of which there is one at least."""

    parameter: float
    side: Side


@dataclass(frozen=True, slots=True, kw_only=True)
class Peak:
    """What a sweep tells.

    Attributes:
        best: the lowest parameter that cannot be told from the one with the best figure.
        tied: all such parameters, rising; one of its own is no tie.
        diminishing: the lowest parameter within `SMALL_GAIN` of the whole gain, where more was tried.
        falls_from: the lowest parameter beyond the best from which on every one is surely worse: more of it costs
            throughput (negative scaling). None where none is, and of figures that are better when they are lower.
        edge: `first` or `last` where the best is the end of what was measured and stands alone: there may be better.
    """

    best: float | None
    tied: Sequence[float] = ()
    diminishing: float | None = None
    falls_from: float | None = None
    edge: str = ""


def find_peak(values: Sequence[SweptValue], orientation: Orientation, scale: Scale, between: Between) -> Peak:
    """The best of the values, by rising parameter; nothing without values or a direction."""
    if not values or orientation is Orientation.NEUTRAL:
        return Peak(best=None)
    sign = 1 if orientation is Orientation.MORE_IS_BETTER else -1
    top = max(values, key=lambda one: (sign * float(one.side.logs.mean()), -one.parameter))
    tied = [one for one in values if one is top or not _is_worse(top, one, orientation, scale, between)]
    best = tied[0]
    ends = {values[0].parameter: "first", values[-1].parameter: "last"}
    alone = len(tied) == 1 and len(values) > 1
    return Peak(
        best=best.parameter,
        tied=[one.parameter for one in tied],
        diminishing=None if values[0] in tied else _diminishing(values, best, sign, scale.floor),
        falls_from=find_fall(values, top, orientation, scale, between),
        edge=ends.get(best.parameter, "") if alone else "",
    )


def find_fall(
    values: Sequence[SweptValue], top: SweptValue, orientation: Orientation, scale: Scale, between: Between
) -> float | None:
    """Where more of the parameter begins to cost throughput, for good; None with fewer than three values.

    Contention bounds throughput, coherence makes it fall (N. J. Gunther, Guerrilla Capacity Planning, 2007, chapter 4).
    """
    if orientation is not Orientation.MORE_IS_BETTER or len(values) < 3:
        return None
    found: float | None = None
    for one in reversed(values):
        if one.parameter <= top.parameter or not _is_worse(top, one, orientation, scale, between):
            break
        found = one.parameter
    return found


class SweptFigure(NamedTuple):
    scale: Scale
    between: Between
    values: Sequence[SweptValue]

    def at(self, value: float) -> Interval | None:
        found = next((one for one in self.values if one.parameter == value), None)
        return None if found is None else value_interval(found.side, self.between, self.scale.floor)


def _is_worse(top: SweptValue, other: SweptValue, orientation: Orientation, scale: Scale, between: Between) -> bool:
    difference = compare_sides(top.side, other.side, between)
    return difference is not None and direction(difference, orientation, scale.reach) is ComparisonOpinion.WORSE


def _diminishing(values: Sequence[SweptValue], best: SweptValue, sign: int, floor: float) -> float | None:
    """None with fewer than three values, which cannot bend, and where nothing beyond was measured."""
    if len(values) < 3:
        return None
    figures = {one.parameter: from_log(float(one.side.logs.mean()), floor) for one in values}
    start = figures[values[0].parameter]
    whole = sign * (figures[best.parameter] - start)
    reached = (one.parameter for one in values if sign * (figures[one.parameter] - start) >= (1 - SMALL_GAIN) * whole)
    found = next(reached)
    return None if found == values[-1].parameter else found


def next_value(values: Sequence[SweptValue], peak: Peak, orientation: Orientation) -> SweepNext:
    """Which value to measure next, as a search for one peak would: beyond an end that is best, else beside the best.

    It supposes that the figure rises to one peak and falls behind it; each further run may tell otherwise.
    """
    places = [one.parameter for one in values]
    if orientation is Orientation.NEUTRAL:
        return SweepNext(value=None, reason=NextReason.NO_DIRECTION)
    if len(places) < 3 or peak.best is None:
        return SweepNext(value=None, reason=NextReason.FEW_VALUES)
    if len(peak.tied) > 1:
        return SweepNext(value=None, reason=NextReason.FLAT if len(peak.tied) == len(places) else NextReason.PLATEAU)
    at = places.index(peak.best)
    if peak.edge:
        inner = places[at - 1] if peak.edge == "last" else places[at + 1]
        found = _tidy(_beyond(peak.best, inner), places)
        reason = NextReason.BEYOND if peak.edge == "last" else NextReason.BELOW
        return SweepNext(value=found, reason=NextReason.FINE if found is None else reason, beside=inner)
    beside = max((places[at - 1], places[at + 1]), key=lambda place: _gap(peak.best or 0.0, place))
    found = _tidy(_middle(peak.best, beside), places) if _gap(peak.best, beside) > SMALL_GAP else None
    return SweepNext(value=found, reason=NextReason.FINE if found is None else NextReason.BETWEEN, beside=beside)


def _gap(one: float, other: float) -> float:
    low, high = sorted((one, other))
    return high / low if low > 0 else float("inf")


def _beyond(end: float, inner: float) -> float:
    if min(end, inner) <= 0:
        return 2 * end - inner
    return end * min(max(end / inner, 1 / LARGEST_STEP), LARGEST_STEP)


def _middle(one: float, other: float) -> float:
    return sqrt(one * other) if min(one, other) > 0 else (one + other) / 2


def _tidy(value: float, measured: Sequence[float]) -> float | None:
    """Whole where all are whole, else of three digits; None where it would be one that was measured, or below 1."""
    if all(place == round(place) for place in measured):
        tidy = float(round(value))
        return None if tidy in measured or (tidy < 1 <= min(measured)) else tidy
    tidy = float(f"{value:.3g}")
    return None if tidy in measured else tidy
