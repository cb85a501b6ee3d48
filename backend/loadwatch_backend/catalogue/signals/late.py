"""Reads late values from the store: each once, at the end of its period, and never beyond the newest.

PromQL's `* on (name) group_left (role) info` does the same with one look-back for both sides. Late values are looked up
with the period of one value, facts with minutes, so the join is made here. Pure.

What a viewer sees of a dense line is the envelope of each pixel column; means would flatten the spikes that the page
exists to show. (Jugel et al., "M4: A Visualization-Oriented Time Series Data Aggregation", VLDB 2014, without the
first and last value, which a line between buckets does not need.)
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from loadwatch_backend.catalogue.signals.cadence import (
    FACTS_LOOKBACK_MS,
    GIVEN_UP_MS,
    NEWEST_WITHIN_MS,
    Plan,
    bridged,
    held,
    newest_step,
)
from loadwatch_backend.catalogue.signals.headroom import join_limits
from loadwatch_backend.catalogue.signals.interval import selectors_of
from loadwatch_backend.catalogue.signals.model import Cadence, InfoJoin, Resource, Signal
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.promql.parsing.expression import Expression
from loadwatch_backend.series.promql.value import Matrix

FloatArray = npt.NDArray[np.float64]


def reduce_means(values: FloatArray, per_bucket: int, wholes: Sequence[int]) -> FloatArray:
    """The mean of each bucket, twice, in the shape of `reduce_extrema`.

    For parts of a whole: extrema of parts lie at different times, and put on top of each other are no one's sum. Series
    with the same number in `wholes` are parts of one: where any of them has a value the others had nothing, and a mean
    over fewer steps than the whole's would make the parts more than it.
    """
    series, steps = values.shape
    cells = values.reshape(series, steps // per_bucket, per_bucket)
    own = ~np.isnan(cells)
    number = np.asarray(wholes, dtype=np.intp)
    whole = np.zeros((number.max(initial=-1) + 1, *cells.shape[1:]), dtype=bool)
    np.logical_or.at(whole, number, own)
    steps_of_whole = whole.sum(axis=2)[number]
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(own.any(axis=2), np.nansum(cells, axis=2) / steps_of_whole, np.nan)
    return np.repeat(means, 2, axis=1)


def reduce_extrema(values: FloatArray, per_bucket: int) -> FloatArray:
    """Two values for each bucket: its minimum and maximum, the earlier one first.

    Args:
        values: [series, buckets * per_bucket]; NaN where there is no value.
        per_bucket: values in one bucket.

    Returns:
        [series, 2 * buckets]; NaN twice where a bucket has no value.
    """
    series, steps = values.shape
    buckets = steps // per_bucket
    cells = values.reshape(series, buckets, per_bucket)
    gaps = np.isnan(cells)
    lowest = np.where(gaps, np.inf, cells).argmin(axis=2)[..., None]
    highest = np.where(gaps, -np.inf, cells).argmax(axis=2)[..., None]
    first = np.take_along_axis(cells, np.minimum(lowest, highest), axis=2)
    second = np.take_along_axis(cells, np.maximum(lowest, highest), axis=2)
    # Where all values are the same infinity, one of the two fell on a gap that stands for it.
    first, second = np.where(np.isnan(first), second, first), np.where(np.isnan(second), first, second)
    return np.concatenate([first, second], axis=2).reshape(series, 2 * buckets)


BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
Labels = Mapping[str, str]


def join_info(
    facts: InfoJoin, labels: Sequence[Labels], values: FloatArray, info: Sequence[Labels], present: BoolArray
) -> tuple[list[Labels], FloatArray]:
    """Series with the labels `facts.take` of the info series that held at each time.

    Args:
        facts: what is joined.
        labels: of the series.
        values: [series, steps], NaN where there is none.
        info: labels of the info series.
        present: [info, steps], whether each info series was there, on the same steps.

    Returns:
        Labels and values; a series whose facts change becomes two, each with its own part of the values. A time without
        facts takes the ones before it, else the ones after it. Without any facts a series stays as it is.
    """
    places: dict[tuple[str, ...], list[int]] = {}
    for index, one in enumerate(info):
        places.setdefault(_key(facts, one), []).append(index)
    found: list[Labels] = []
    rows: list[FloatArray] = []
    for row, one in enumerate(labels):
        candidates = places.get(_key(facts, one), [])
        taken = [tuple(info[index].get(label, "") for label in facts.take) for index in candidates]
        chosen = _choose(present[candidates]) if candidates else None
        if chosen is None:
            found.append(one)
            rows.append(values[row])
            continue
        for text in dict.fromkeys(taken):
            here = np.isin(chosen, [place for place, other in enumerate(taken) if other == text])
            part = np.where(here, values[row], np.nan)
            if not np.isnan(part).all():
                found.append({**one, **{label: value for label, value in zip(facts.take, text, strict=True) if value}})
                rows.append(part)
    return found, np.array(rows).reshape(len(rows), values.shape[1])


def _key(facts: InfoJoin, labels: Labels) -> tuple[str, ...]:
    return tuple(labels.get(label, "") for label in facts.on)


def _choose(present: BoolArray) -> IntArray | None:
    """For each step the info series that holds: of several the one that began last. None when none ever does."""
    rows, steps = present.shape
    began = np.where(present.any(axis=1), present.argmax(axis=1), -1)
    order = np.argsort(began, kind="stable")
    chosen = np.full(steps, -1, np.int64)
    for place in order.tolist():
        chosen[present[place]] = place
    known = np.flatnonzero(chosen >= 0)
    if rows == 0 or len(known) == 0:
        return None
    before = np.searchsorted(known, np.arange(steps, dtype=np.int64), side="right") - 1
    return chosen[known[np.maximum(before, 0)]]


WINDOW = "$window"
FACTS_WINDOW = f"{FACTS_LOOKBACK_MS // 1_000}s"


def read_late(
    engine: Engine, signal: Signal, tree: Expression, plan: Plan, newest_ms: int, *, stacked: bool = False
) -> tuple[Sequence[Labels], FloatArray, int | None]:
    """Labels, the drawn points [series, plan.count], and the time of the newest value that was delivered.

    A look-back of one step of the grid repeats nothing: neither beyond the newest value, nor into a hole.

    Raises:
        ProblemError: the engine or the store refused.
    """
    evaluated = min((newest_ms - plan.start_ms) // plan.fine_ms + 1, plan.fine_count)
    labels: Sequence[Labels] = []
    fine = np.empty((0, plan.fine_count))
    if evaluated > 0:
        labels, found = _evaluate(engine, signal, plan, evaluated)
        fine = np.full((len(labels), plan.fine_count), np.nan)
        fine[:, :evaluated] = found
    step = newest_step(fine)
    newest = _newest_sample(engine, tree, newest_ms) if step is None else plan.start_ms + step * plan.fine_ms
    if plan.reduced:
        per_bucket = plan.per_bucket
        fine = reduce_means(fine, per_bucket, _wholes(labels, signal)) if stacked else reduce_extrema(fine, per_bucket)
    return labels, fine, newest


def _wholes(labels: Sequence[Labels], signal: Signal) -> list[int]:
    """Which series are parts of one instance's whole: a number for each."""
    numbers: dict[frozenset[tuple[str, str]], int] = {}
    own = [frozenset(pair for pair in one.items() if pair[0] not in signal.layers) for one in labels]
    return [numbers.setdefault(one, len(numbers)) for one in own]


class LateResource(NamedTuple):
    """One entry of a resource at the time of its newest value, with which `used`, `limit` and `ratios` end.

    `history` has all ratios that were asked for; it ends with NaN for the periods that are still to come.
    """

    labels: Labels
    used: FloatArray
    limit: FloatArray
    ratios: FloatArray
    history: FloatArray
    time_ms: int


def read_late_resource(
    engine: Engine, resource: Resource, cadence: Cadence, at_ms: int, points: int
) -> list[LateResource]:
    """The entries of a resource whose newest value is not too old; one value each period, `points` of them."""
    step_ms = cadence.period_ms
    end_ms = at_ms // step_ms * step_ms
    start_ms = end_ms - (points - 1) * step_ms

    def read(text: str, lookback_ms: int) -> Matrix:
        text = text.replace(WINDOW, FACTS_WINDOW)
        return engine.range(text, start_ms, end_ms, step_ms, lookback_ms=lookback_ms)

    used, limit = read(resource.used, step_ms), read(resource.limit, FACTS_LOOKBACK_MS)
    used_values, limit_values = used.with_gaps, held(limit.with_gaps)
    found: list[LateResource] = []
    for row, place in enumerate(join_limits(used.labels, limit.labels)):
        if place is None:
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(limit_values[place] > 0, used_values[row] / limit_values[place], np.nan)
        step = newest_step(ratios[None])
        if step is None or at_ms - (start_ms + step * step_ms) > GIVEN_UP_MS:
            continue
        labels = {name: value for name, value in used.labels[row].items() if name != "__name__"}
        until = tuple(one[: step + 1] for one in (used_values[row], limit_values[place], ratios))
        found.append(LateResource(labels, *until, history=ratios, time_ms=start_ms + step * step_ms))
    return found


def _evaluate(engine: Engine, signal: Signal, plan: Plan, count: int) -> tuple[Sequence[Labels], FloatArray]:
    end_ms = plan.start_ms + (count - 1) * plan.fine_ms
    text = signal.expression.replace(WINDOW, FACTS_WINDOW)
    matrix = engine.range(text, plan.start_ms, end_ms, plan.fine_ms, lookback_ms=plan.fine_ms)
    values = matrix.with_gaps
    if signal.cadence is not None and signal.cadence.usual_ms is not None and len(matrix.labels):
        wider = engine.range(text, plan.start_ms, end_ms, plan.fine_ms, lookback_ms=plan.fine_ms * 5 // 4)
        rows = {tuple(sorted(one.items())): row for row, one in enumerate(wider.labels)}
        values = bridged(values, wider.with_gaps[[rows[tuple(sorted(one.items()))] for one in matrix.labels]])
    if signal.facts is None or len(matrix.labels) == 0:
        return matrix.labels, values
    # What was discovered since the last instant of the grid is known too: one instant more.
    info = engine.range(
        signal.facts.info, plan.start_ms, end_ms + plan.fine_ms, plan.fine_ms, lookback_ms=FACTS_LOOKBACK_MS
    )
    padded = np.pad(values, ((0, 0), (0, 1)), constant_values=np.nan)
    labels, found = join_info(signal.facts, matrix.labels, padded, info.labels, info.present)
    return labels, found[:, :-1]


def _newest_sample(engine: Engine, tree: Expression, before_ms: int) -> int | None:
    """Time of the newest sample where the span asked for has none: it may be shorter than the delay."""
    found = [
        engine.select(selector.matchers, before_ms - NEWEST_WITHIN_MS, before_ms).timestamps
        for selector in selectors_of(tree)
    ]
    return min((int(times.max()) for times in found if len(times)), default=None)
