"""Exponential histograms as classic buckets. Pure.

Bounds are those of scale 2, or of the histogram's own if that is coarser: each is 2**(1/4) = 1.19 times the one before,
so a quantile that is interpolated between them is at most 19 % from the truth. Bounds of a coarser scale are among
those of a finer one, so no observation is ever moved: counts at the bounds that are left are exact. Only bounds beside
an observation are sent, so an idle histogram costs little and the bounds of a cumulative one stay.
"""

from collections.abc import Mapping, Sequence

from loadwatch_backend.series.ingest.otlp.otlp_pb2 import ExponentialHistogramDataPoint

FINEST_SCALE = 2
COARSEST_SCALE = -10
"""The least that OpenTelemetry's SDKs make."""
MOST_BUCKETS = 160
"""As many as an SDK sends by default; a histogram with more is made coarser."""


class CoarseError(ValueError):
    """A scale that no SDK makes."""


def classic_buckets(point: ExponentialHistogramDataPoint) -> list[tuple[float, int]]:
    """(upper bound, observations up to it), rising, without +Inf.

    Raises:
        CoarseError: its scale is less than any SDK makes.
    """
    if point.scale < COARSEST_SCALE:
        raise CoarseError(f"an exponential histogram of scale {point.scale}; the least is {COARSEST_SCALE}")
    shift = max(point.scale - FINEST_SCALE, 0)
    positive = _merged(point.positive.offset, point.positive.bucket_counts, shift)
    negative = _merged(point.negative.offset, point.negative.bucket_counts, shift)
    while len(positive) + len(negative) > MOST_BUCKETS:
        positive, negative = _halved(positive), _halved(negative)
        shift += 1
    step = 2.0 ** (shift - point.scale)
    counts: dict[float, int] = {}
    for place, count in positive.items():
        _add(counts, _power(place * step), 0)
        _add(counts, _power((place + 1) * step), count)
    for place, count in negative.items():
        _add(counts, -_power((place + 1) * step), 0)
        _add(counts, -_power(place * step), count)
    if point.zero_count or negative:
        _add(counts, point.zero_threshold, point.zero_count)
    found: list[tuple[float, int]] = []
    total = 0
    for bound in sorted(counts):
        total += counts[bound]
        if abs(bound) < float("inf"):
            found.append((bound, total))
    return found


def _merged(offset: int, counts: Sequence[int], shift: int) -> dict[int, int]:
    merged: dict[int, int] = {}
    for place, count in enumerate(counts, offset):
        if count:
            merged[place >> shift] = merged.get(place >> shift, 0) + count
    return merged


def _halved(counts: Mapping[int, int]) -> dict[int, int]:
    merged: dict[int, int] = {}
    for place, count in counts.items():
        merged[place >> 1] = merged.get(place >> 1, 0) + count
    return merged


def _add(counts: dict[float, int], bound: float, count: int) -> None:
    counts[bound] = counts.get(bound, 0) + count


def _power(exponent: float) -> float:
    return 2.0**exponent if exponent < 1024 else float("inf")
