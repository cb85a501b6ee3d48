"""Parts of a date, UTC, from seconds since the epoch."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from loadwatch_backend.series.promql.value import FloatArray, IntArray

_DAY = 86_400
_RANGE = 2.0**62


def _seconds(values: FloatArray) -> IntArray:
    """Whole seconds; NaN and what no date can hold become the epoch."""
    usable = np.isfinite(values) & (np.abs(values) < _RANGE)
    return np.where(usable, values, 0.0).astype(np.int64)


def _days(values: FloatArray) -> npt.NDArray[np.datetime64]:
    return (_seconds(values) // _DAY).astype("datetime64[D]")


def minute(values: FloatArray) -> FloatArray:
    """0 to 59."""
    return (_seconds(values) // 60 % 60).astype(np.float64)


def hour(values: FloatArray) -> FloatArray:
    """0 to 23."""
    return (_seconds(values) // 3600 % 24).astype(np.float64)


def day_of_week(values: FloatArray) -> FloatArray:
    """0, Sunday, to 6."""
    # The epoch was a Thursday.
    return ((_seconds(values) // _DAY + 4) % 7).astype(np.float64)


def day_of_month(values: FloatArray) -> FloatArray:
    """1 to 31."""
    days = _days(values)
    return ((days - days.astype("datetime64[M]")).astype(np.int64) + 1).astype(np.float64)


def day_of_year(values: FloatArray) -> FloatArray:
    """1 to 366."""
    days = _days(values)
    return ((days - days.astype("datetime64[Y]")).astype(np.int64) + 1).astype(np.float64)


def days_in_month(values: FloatArray) -> FloatArray:
    """28 to 31."""
    months = _days(values).astype("datetime64[M]")
    following = (months + np.timedelta64(1, "M")).astype("datetime64[D]")
    return (following - months.astype("datetime64[D]")).astype(np.int64).astype(np.float64)


def month(values: FloatArray) -> FloatArray:
    """1 to 12."""
    return (_days(values).astype("datetime64[M]").astype(np.int64) % 12 + 1).astype(np.float64)


def year(values: FloatArray) -> FloatArray:
    """The year."""
    return (_days(values).astype("datetime64[Y]").astype(np.int64) + 1970).astype(np.float64)


DATE_FUNCTIONS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "minute": minute,
    "hour": hour,
    "day_of_week": day_of_week,
    "day_of_month": day_of_month,
    "day_of_year": day_of_year,
    "days_in_month": days_in_month,
    "month": month,
    "year": year,
}
