"""A signal of the store as one value an instant, whatever number of series it has."""

import numpy as np
import numpy.typing as npt

from loadwatch_backend.kit.errors import ProblemError
from loadwatch_backend.signals.model import Orientation, Signal, Unit
from loadwatch_backend.signals.service import SignalService

FloatArray = npt.NDArray[np.float64]
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
