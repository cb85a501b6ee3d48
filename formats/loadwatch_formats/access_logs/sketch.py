"""A mergeable sketch of durations: each quantile within 0.5 % of the value that nearest rank would give.

Values are counted in buckets whose bounds grow by (1 + e) / (1 - e), e = 0.005; a bucket's value is the one that is
within e of both its bounds. Sum, count, least and greatest are exact, and a duration of 0 has a place of its own.
Source: Masson, Rim, Lee: DDSketch, VLDB 2019, section 2.1, without its collapsing: durations from a nanosecond to a
year take 3,900 buckets at most.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, Self

RELATIVE_ERROR = 0.005
LEAST, GREATEST = 1e-9, 3.2e7
"""Seconds; what is less but not 0 counts as a nanosecond in the buckets, and nothing lasts longer than a year."""
_GROWTH = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR)
_PER_LOG = 1 / math.log(_GROWTH)
_MIDDLE = 2 / (1 + _GROWTH)


def bucket_of(seconds: float) -> int:
    """The number of the bucket of a duration above 0."""
    return math.ceil(math.log(max(seconds, LEAST)) * _PER_LOG)


def value_of(bucket: int) -> float:
    """The value that is within the error of all that is in the bucket."""
    return math.exp(bucket / _PER_LOG) * _MIDDLE


class Sketch:
    """Durations in seconds, counted.

    Attributes:
        count: how many there were.
        sum: of all; `squares`: of their squares.
        least, greatest: exact; None without any.
        zeros: how many were exactly 0.
        buckets: how many were in which bucket.
    """

    __slots__ = ("buckets", "count", "greatest", "least", "squares", "sum", "zeros")

    def __init__(self) -> None:
        self.count = 0
        self.sum = 0.0
        self.squares = 0.0
        self.least: float | None = None
        self.greatest: float | None = None
        self.zeros = 0
        self.buckets: dict[int, int] = {}

    def add(self, seconds: float, times: int = 1) -> None:
        """Count a duration.

        Raises:
            ValueError: it is none: below 0, above a year, or not a number.
        """
        if not 0 <= seconds <= GREATEST:
            raise ValueError(f"{seconds} is not a duration in seconds")
        self.count += times
        self.sum += seconds * times
        self.squares += seconds * seconds * times
        if self.least is None or seconds < self.least:
            self.least = seconds
        if self.greatest is None or seconds > self.greatest:
            self.greatest = seconds
        if seconds:
            bucket = bucket_of(seconds)
            self.buckets[bucket] = self.buckets.get(bucket, 0) + times
        else:
            self.zeros += times

    def add_all(self, values: Iterable[float]) -> None:
        for value in values:
            self.add(value)

    def merge(self, other: "Sketch") -> None:
        """Add what another has counted: the same as if all had been counted here."""
        self.count += other.count
        self.sum += other.sum
        self.squares += other.squares
        self.zeros += other.zeros
        for seconds in (other.least, other.greatest):
            if seconds is not None:
                self.least = seconds if self.least is None else min(self.least, seconds)
                self.greatest = seconds if self.greatest is None else max(self.greatest, seconds)
        for bucket, count in other.buckets.items():
            self.buckets[bucket] = self.buckets.get(bucket, 0) + count

    @property
    def mean(self) -> float | None:
        """Exact; None without any."""
        return self.sum / self.count if self.count else None

    @property
    def deviation(self) -> float | None:
        if not self.count:
            return None
        return math.sqrt(max(0.0, self.squares / self.count - (self.sum / self.count) ** 2))

    def quantiles(self, wanted: Sequence[float]) -> list[float | None]:
        """The value of each rank ceil(q * n), within 0.5 %; the first and the last rank are exact. None without any."""
        if self.least is None or self.greatest is None:
            return [None] * len(wanted)
        ordered = sorted(self.buckets)
        ends = list(accumulate((self.buckets[bucket] for bucket in ordered), initial=self.zeros))[1:]
        found: list[float | None] = []
        for share in wanted:
            rank = min(self.count, max(1, math.ceil(round(share * self.count, 6))))
            if rank == 1 or rank <= self.zeros:
                found.append(self.least)
            elif rank == self.count:
                found.append(self.greatest)
            else:
                value = value_of(ordered[bisect_left(ends, rank)])
                found.append(min(self.greatest, max(self.least, value)))
        return found

    def quantile(self, share: float) -> float | None:
        return self.quantiles((share,))[0]

    def cumulative(self, bounds: Sequence[float]) -> list[int]:
        """How many were at most each bound, for histograms with fixed bounds (`le`) in rising order.

        A bucket of the sketch belongs where its value does, so a duration within 1 % of a bound may stand on its
        other side. Counts never fall while a sketch grows.
        """
        counts = [self.zeros] + [0] * len(bounds)
        for bucket, count in self.buckets.items():
            counts[bisect_left(bounds, value_of(bucket))] += count
        return list(accumulate(counts[:-1]))

    def to_json(self) -> dict[str, Any]:
        return {
            "error": RELATIVE_ERROR,
            "count": self.count,
            "sum": self.sum,
            "squares": self.squares,
            "least": self.least,
            "greatest": self.greatest,
            "zeros": self.zeros,
            "buckets": sorted(self.buckets.items()),
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """What `to_json` gave.

        Raises:
            ValueError: it is no such document, of another error, or its counts do not agree.
        """
        sketch = cls()
        try:
            if document["error"] != RELATIVE_ERROR:
                raise ValueError(f"has an error of {document['error']!r}, not {RELATIVE_ERROR}")
            sketch.count, sketch.zeros = int(document["count"]), int(document["zeros"])
            sketch.sum, sketch.squares = float(document["sum"]), float(document["squares"])
            sketch.buckets = {int(bucket): int(count) for bucket, count in document["buckets"]}
            least, greatest = document["least"], document["greatest"]
            sketch.least = None if least is None else float(least)
            sketch.greatest = None if greatest is None else float(greatest)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"no sketch of durations: {error}") from None
        counts = (sketch.zeros, *sketch.buckets.values())
        furthest = bucket_of(GREATEST) + 1
        if (
            min(counts) < 0
            or sum(counts) != sketch.count
            or (sketch.least is None) is (sketch.count > 0)
            or any(not bucket_of(LEAST) <= bucket <= furthest for bucket in sketch.buckets)
        ):
            raise ValueError("no sketch of durations: its counts do not agree")
        return sketch
