"""Values of evaluated expressions: arrays over series and steps."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from loadwatch_backend.series.promql.errors import QueryTooLargeError
from loadwatch_backend.series.store.port import Labels

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The instants at which an expression is evaluated: start, start + step, ... (`count` of them)."""

    start_ms: int
    step_ms: int
    count: int

    @property
    def end_ms(self) -> int:
        return self.start_ms + (self.count - 1) * self.step_ms

    def part(self, first: int, count: int) -> "Grid":
        return Grid(start_ms=self.start_ms + first * self.step_ms, step_ms=self.step_ms, count=count)

    def times_ms(self) -> IntArray:
        return self.start_ms + self.step_ms * np.arange(self.count, dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """A vector at each step of a grid.

    `values` and `present` are [series, steps]. Absence is `present`; NaN is a value like any other. What `values`
    holds where `present` is False means nothing.
    """

    labels: Sequence[Labels]
    values: FloatArray
    present: BoolArray

    @property
    def with_gaps(self) -> FloatArray:
        """The values, NaN where there is none."""
        return np.where(self.present, self.values, np.nan)


@dataclass(frozen=True, slots=True)
class Scalar:
    """One number at each step, float64[steps]."""

    values: FloatArray


@dataclass(frozen=True, slots=True)
class StringValue:
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RawSeries:
    labels: Labels
    timestamps: IntArray
    values: FloatArray


@dataclass(frozen=True, slots=True)
class RawMatrix:
    series: Sequence[RawSeries]


def check_cells(series: int, steps: int, limit: int) -> None:
    """Bounds what an operation makes of its input.

    Raises:
        QueryTooLargeError: more than `limit` values.
    """
    if series * steps > limit:
        raise QueryTooLargeError(
            f"a part of the query makes {series} series of {steps} points, more than {limit} values in all: add label"
            " matchers or use a larger step"
        )


def empty_matrix(steps: int) -> Matrix:
    return Matrix(labels=(), values=np.empty((0, steps)), present=np.empty((0, steps), dtype=np.bool_))


def unlabelled(values: FloatArray) -> Matrix:
    return Matrix(labels=[{}], values=values[None, :], present=np.ones((1, len(values)), dtype=np.bool_))
