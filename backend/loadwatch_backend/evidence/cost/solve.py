"""Who asks a statement how often: non-negative least squares over the intervals of a run. Pure.

Calls of a statement are what each route's requests ask of it, and what clients ask that are there without requests:
`calls[t] = sum over routes (per_request[route] * requests[t, route]) + background * length[t] + noise[t]`.

A request that is under way at the edge of an interval has some of its statements before the edge and is counted after
it, so what one interval misses the next one has: the noise is a moving average. It is undone by the filter
`z[t] = v[t] + theta * z[t-1]` on both sides, with the theta that leaves the least variance (theta near 1 compares
running totals, theta 0 compares intervals). Source: Hamilton, Time Series Analysis, 3.3 and 5.4 (conditional
likelihood of MA(1)); the estimator of running totals: Engle and Granger 1987, "Co-integration and error correction".
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from loadwatch_backend.evidence.cost.model import Basis, Estimate, Share
from loadwatch_backend.evidence.records.model import FloatArray

# Non-negative least squares and the filter of a moving average; the one place of costs that knows SciPy's types.
#
# SciPy is imported with the first question: it would take a fifth of the server's start.


def fit_positive(matrix: FloatArray, target: FloatArray) -> tuple[FloatArray, float]:
    """Coefficients that are none below 0 with the least sum of squares, and that sum (Lawson and Hanson 1974).

    Args:
        matrix: [row, column].
        target: [row].
    """
    if not matrix.shape[1]:
        return np.zeros(0), float(target @ target)
    solution, left = _optimize().nnls(matrix, target)
    return np.asarray(solution, np.float64), float(left) ** 2


def remembered(values: FloatArray, theta: float) -> FloatArray:
    """`z[t] = v[t] + theta * z[t-1]` along the first axis."""
    if not theta:
        return values
    bands = np.empty((2, len(values)))
    bands[0], bands[1] = 1.0, -theta
    return np.asarray(_linalg().solve_banded((1, 0), bands, values, check_finite=False), np.float64)


def folded(matrix: FloatArray) -> FloatArray:
    """A square matrix on which least squares say what they say of this one: R of its QR decomposition."""
    return matrix if len(matrix) <= matrix.shape[1] else np.asarray(np.linalg.qr(matrix, mode="r"), np.float64)


@cache
def _optimize() -> Any:
    from scipy import optimize

    return optimize


@cache
def _linalg() -> Any:
    from scipy import linalg

    return linalg


THETAS = (0.0, 0.3, 0.6, 0.8, 0.9, 0.95, 0.98)
TOLD = 12.0
"""Log likelihood ratio (times 2) from which a route is needed to explain a statement: beyond chance at 1 in 1,000."""
LEAST_INTERVALS = 12
"""Intervals with requests; with fewer, several routes cannot be told apart."""
ALONE_INTERVALS, ALONE_REQUESTS = 5, 20
DRAWS = 200
BLOCK = 5
BURST_DEVIATIONS, BURST_KEPT, MOST_BURSTS = 8.0, 0.7, 0.05
"""A burst of another client stands out of the usual noise so far, is not paid back around it, and is rare."""
TAKES_OVER = 0.1
MANY = 5.0
"""Calls per request from which a route may be accused, so that its lower bound is looked at more closely."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What some routes, by their columns, ask of a statement: calls per request."""

    columns: tuple[int, ...]
    basis: Basis
    calls: Estimate
    least: float
    """What the routes ask at the least: over all intervals, beside all other routes, and in both halves of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """Who asks one statement. `background`: calls per second; `bursts`: intervals in which somebody else asked."""

    parts: Sequence[Part]
    background: float
    bursts: tuple[int, ...] = ()


def is_repeated(share: Share) -> bool:
    """Whether each request of one route asks the same again and again (N+1)."""
    return len(share.routes) == 1 and share.basis is not Basis.TOGETHER and share.least_calls >= MANY


class Ground:
    """Requests and intervals that all statements of a window are fitted on.

    Args:
        requests: [interval, route].
        lengths: [interval] seconds.
    """

    def __init__(self, requests: FloatArray, lengths: FloatArray) -> None:
        self.requests, self.lengths = requests, lengths
        self.busy = requests.sum(axis=1) > 0
        self._filtered: dict[float, FloatArray] = {}

    def filtered(self, theta: float) -> FloatArray:
        """[interval, column]: the routes' requests and the interval's length, filtered with `theta`."""
        if theta not in self._filtered:
            self._filtered[theta] = remembered(np.column_stack([self.requests, self.lengths]), theta)
        return self._filtered[theta]

    @property
    def idle_seconds(self) -> float:
        return float(self.lengths[~self.busy].sum())

    def idle_rate(self, calls: FloatArray) -> float:
        """Calls per second while there were no requests; 0 where there always were."""
        return float(calls[~self.busy].sum()) / self.idle_seconds if self.idle_seconds > 0 else 0.0


def solve(ground: Ground, calls: FloatArray) -> Solution:
    alone = _alone(ground, calls)
    requests = ground.requests
    parts = [
        Part(columns=(column,), basis=Basis.ALONE, calls=one, least=one.low)
        for column, one in alone.items()
        if one.value > 0
    ]
    fitted = [column for column in range(requests.shape[1]) if column not in alone and requests[:, column].any()]
    if not fitted or int(ground.busy.sum()) < LEAST_INTERVALS:
        return Solution(parts=parts, background=ground.idle_rate(calls))
    left = calls.astype(np.float64)
    for column, one in alone.items():
        left = left - requests[:, column] * one.value
    bursts = _bursts(ground, fitted, left)
    fit = _Fit(ground, fitted, left, bursts)
    parts.extend(replace(one, columns=tuple(fitted[at] for at in one.columns)) for one in fit.parts())
    return Solution(parts=parts, background=fit.background, bursts=tuple(bursts))


def noise_of(ground: Ground, calls: FloatArray) -> float:
    """Variance that the best fit leaves, as a share of that of the calls: to find by how much requests are late."""
    fit = _Fit(ground, range(ground.requests.shape[1]), calls, ())
    return fit.variance / max(float(np.var(calls)), 1e-12)


class _Fit:
    """One statement over the routes that are not known otherwise; columns are places among these."""

    def __init__(self, ground: Ground, fitted: Sequence[int], calls: FloatArray, bursts: Sequence[int]) -> None:
        self._routes = len(fitted)
        self._count = max(int(ground.busy.sum()), 1)
        self._volume = ground.requests[:, list(fitted)].sum(axis=0)
        self._columns = [(column,) for column in range(self._routes)]
        self.background = 0.0
        marks = np.zeros((len(calls), len(bursts) + 1))
        marks[list(bursts), range(len(bursts))] = 1.0
        marks[:, -1] = calls
        places = [*fitted, ground.requests.shape[1]]
        best = np.inf
        for theta in THETAS:
            rows = np.column_stack([ground.filtered(theta)[:, places], remembered(marks, theta)])
            small = folded(rows)
            left = fit_positive(small[:, :-1], small[:, -1])[1]
            if left < best:
                best, self._rows, self._small = left, rows, small
        self.variance = best / self._count
        # Below this the fit is exact: the likelihood of nothing would tell nothing.
        self._floor = (1e-6 * max(float(np.abs(calls).max(initial=0.0)), 1e-12)) ** 2 * self._count

    def _grouped(self, rows: FloatArray, columns: Sequence[tuple[int, ...]]) -> FloatArray:
        grouped = [rows[:, list(group)].sum(axis=1) for group in columns]
        return np.column_stack([*grouped, rows[:, self._routes : -1]])

    def _solve(self, columns: Sequence[tuple[int, ...]]) -> tuple[FloatArray, float]:
        """Coefficients of the columns, then of the rest, and the sum of squares that is left."""
        solution, left = fit_positive(self._grouped(self._small, columns), self._small[:, -1])
        return solution, max(left, self._floor)

    def _ratio(self, without: float, whole: float) -> float:
        return self._count * float(np.log(without / whole))

    def parts(self) -> list[Part]:
        columns = self._columns
        solution, whole = self._solve(columns)
        active = [column for column in range(self._routes) if solution[column] > 0]
        told: list[int] = []
        heirs: dict[int, set[int]] = {}
        for column in active:
            others = [group for group in columns if group != (column,)]
            instead, left = self._solve(others)
            if self._ratio(left, whole) >= TOLD:
                told.append(column)
                continue
            lost = solution[column] * self._volume[column]
            heirs[column] = {
                group[0]
                for place, group in enumerate(others)
                if (instead[place] - solution[group[0]]) * self._volume[group[0]] > TAKES_OVER * lost
            }
        groups: list[tuple[int, ...]] = [(column,) for column in told]
        _, simple = self._solve(groups)
        if self._ratio(simple, whole) >= TOLD:
            groups.extend(self._together(heirs, told))
        return self._measured(self._needed(groups))

    def _together(self, heirs: dict[int, set[int]], told: Sequence[int]) -> list[tuple[int, ...]]:
        """Groups of routes that stand in for each other; those in `told` join no other group."""
        sets: list[set[int]] = []
        for column, others in heirs.items():
            joined = {column, *(other for other in others if other not in told)}
            rest = [one for one in sets if not one & joined]
            for one in sets:
                if one & joined:
                    joined |= one
            sets = [*rest, joined]
        return [tuple(sorted(one)) for one in sets]

    def _needed(self, groups: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
        while groups:
            _, whole = self._solve(groups)
            weakest = min(
                (self._ratio(self._solve([one for one in groups if one != group])[1], whole), group) for group in groups
            )
            if weakest[0] >= TOLD:
                break
            groups = [one for one in groups if one != weakest[1]]
        return groups

    def _measured(self, groups: Sequence[tuple[int, ...]]) -> list[Part]:
        solution, _ = self._solve(groups)
        self.background = float(solution[len(groups)])
        if not groups:
            return []
        low, high = _interval(self._grouped(self._rows, groups), self._rows[:, -1], len(groups))
        values = solution[: len(groups)]
        low, high = np.minimum(low, values), np.maximum(high, values)
        least = self._least(groups, low) if (low >= MANY).any() else low
        return [
            Part(
                columns=group,
                basis=Basis.FITTED if len(group) == 1 else Basis.TOGETHER,
                calls=Estimate(float(values[place]), float(low[place]), float(high[place])),
                least=float(least[place]),
            )
            for place, group in enumerate(groups)
        ]

    def _least(self, groups: Sequence[tuple[int, ...]], low: FloatArray) -> FloatArray:
        """The lowest of several estimates, used before a route is accused."""
        alone = [group for group in self._columns if not any(set(group) & set(one) for one in groups)]
        columns = [*groups, *alone]
        matrix, target = self._grouped(self._rows, columns), self._rows[:, -1]
        values = self._solve(groups)[0][: len(groups)]
        # Noise that is not quite that of the model makes intervals too narrow: who accuses takes them twice.
        least = np.minimum(values - 2 * (values - low), _interval(matrix, target, len(groups))[0])
        middle = len(target) // 2
        for part in (slice(None, middle), slice(middle, None)):
            least = np.minimum(least, fit_positive(matrix[part], target[part])[0][: len(groups)])
        return least


def _interval(matrix: FloatArray, target: FloatArray, wanted: int) -> tuple[FloatArray, FloatArray]:
    """Bounds of the first columns' coefficients: percentiles of fits on blocks of rows that are drawn again.

    Rows near to each other are drawn together (block bootstrap, Künsch 1989); the seed is fixed, so that the same run
    says the same twice.
    """
    rows = len(target)
    block = min(BLOCK, rows)
    draw = np.random.default_rng(0)
    starts = draw.integers(0, rows - block + 1, size=(DRAWS, -(-rows // block)))
    solutions = np.empty((DRAWS, wanted))
    for place, chosen in enumerate(starts):
        taken = (chosen[:, None] + np.arange(block)).ravel()[:rows]
        solutions[place] = fit_positive(matrix[taken], target[taken])[0][:wanted]
    bounds = np.percentile(solutions, [2.5, 97.5], axis=0)
    return bounds[0], bounds[1]


def _alone(ground: Ground, calls: FloatArray) -> dict[int, Estimate]:
    """Calls per request of each route that ran alone long enough.

    An interval at each end of such a span is left out, where requests of others may have been under way.
    """
    requests, lengths = ground.requests, ground.lengths
    background = ground.idle_rate(calls)
    some = requests > 0
    found: dict[int, Estimate] = {}
    for column in range(requests.shape[1]):
        others = some.sum(axis=1) - some[:, column] > 0
        near = others.copy()
        near[1:] |= others[:-1]
        near[:-1] |= others[1:]
        rows = np.flatnonzero(~near & some[:, column])
        asked = requests[rows, column]
        if len(rows) < ALONE_INTERVALS or asked.sum() < ALONE_REQUESTS:
            continue
        made = np.maximum(calls[rows] - background * lengths[rows], 0.0)
        value = float(made.sum() / asked.sum())
        blocks = [one for one in np.array_split(np.arange(len(rows)), max(len(rows) // BLOCK, 2)) if len(one)]
        draw = np.random.default_rng(0)
        made_by = np.array([made[one].sum() for one in blocks])
        asked_by = np.array([asked[one].sum() for one in blocks])
        chosen = draw.integers(0, len(blocks), size=(DRAWS, len(blocks)))
        sums = asked_by[chosen].sum(axis=1)
        ratios = made_by[chosen].sum(axis=1) / np.where(sums > 0, sums, np.nan)
        low, high = np.nanpercentile(ratios, [2.5, 97.5])
        found[column] = Estimate(value, float(min(low, value)), float(max(high, value)))
    return found


def _bursts(ground: Ground, fitted: Sequence[int], calls: FloatArray) -> list[int]:
    """Intervals in which another client asked much more than usual: they say nothing of the routes."""
    matrix = ground.filtered(0.0)[:, [*fitted, ground.requests.shape[1]]]
    left = calls - matrix @ fit_positive(matrix, calls)[0]
    usual = 1.4826 * float(np.median(np.abs(left - np.median(left))[ground.busy]))
    if not usual:
        return []
    most = max(int(MOST_BURSTS * len(calls)), 1)
    found: list[int] = []
    for place in np.argsort(-left)[:most].tolist():
        around = left[max(place - BLOCK, 0) : place + BLOCK + 1]
        if left[place] > BURST_DEVIATIONS * usual and around.sum() > BURST_KEPT * left[place]:
            found.append(place)
    return sorted(found)
