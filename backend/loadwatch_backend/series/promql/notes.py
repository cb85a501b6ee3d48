"""What an answer is accompanied by: warnings and infos, in Prometheus' words.

Source: util/annotations/annotations.go and promql/functions.go of Prometheus 3.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from loadwatch_backend.series.promql.numbers import format_short_number
from loadwatch_backend.series.promql.value import BoolArray, FloatArray, IntArray

MOST = 10
"""Warnings, and likewise infos, that are shown; the number of further ones is stated."""
_REMEMBERED = 1_000
COUNTER_ENDINGS = ("_total", "_sum", "_count", "_bucket")


@dataclass(slots=True)
class Notes:
    """Collects them, each once; shared by the parts of one query."""

    _warnings: dict[str, None] = field(default_factory=dict[str, None])
    _infos: dict[str, None] = field(default_factory=dict[str, None])
    _forced: dict[str, "_Forced"] = field(default_factory=dict[str, "_Forced"])

    @property
    def warnings(self) -> list[str]:
        return _shown(self._warnings, "warning")

    @property
    def infos(self) -> list[str]:
        forced = {one.text(place): None for place, one in self._forced.items()}
        return _shown({**self._infos, **forced}, "info")

    def quantiles(self, q: FloatArray, place: str, seen: BoolArray | None = None) -> None:
        """Warn of quantiles, float64[steps], outside 0 to 1; `seen` marks the steps that count."""
        bad = np.isnan(q) | (q < 0) | (q > 1)
        if seen is not None:
            bad &= seen
        for value in np.unique(q[bad]).tolist():
            shown = format_short_number(value)
            self._warn(f"quantile value should be between 0 and 1, got {shown}", place)

    def ratios(self, ratio: FloatArray, place: str) -> None:
        """Warn of ratios of limit_ratio, float64[steps], outside -1 to 1."""
        for value, cap in ((float(ratio.max()), 1), (float(ratio.min()), -1)):
            if value * cap > 1:
                self._warn(
                    f"ratio value should be between -1 and 1, got {format_short_number(value)}, capping to {cap}", place
                )

    def bucket_labels(self, values: Iterable[str], place: str) -> None:
        for value in values:
            self._warn(f'bucket label "le" is missing or has a malformed value of {value}', place)

    def sorts_in_vain(self, place: str) -> None:
        self._warn("sort is ineffective for range queries since results are always ordered by labels", place)

    def falling_buckets(self, place: str, bounds: FloatArray, drops: FloatArray, times_ms: IntArray) -> None:
        """Note bucket counts that fall where they may not: by how much, float64[buckets, steps], and when."""
        rows, steps = np.nonzero(drops > 0)
        if len(steps):
            known = self._forced.setdefault(place, _Forced())
            known.low, known.high = min(known.low, bounds[rows].min()), max(known.high, bounds[rows].max())
            known.drop = max(known.drop, drops.max())
            known.count += len(np.unique(steps))
            known.first_ms = min(known.first_ms, int(times_ms[steps].min()))
            known.last_ms = max(known.last_ms, int(times_ms[steps].max()))

    def counters(self, names: Iterable[str], place: str) -> None:
        for name in sorted(set(names)):
            if name and not name.endswith(COUNTER_ENDINGS) and len(self._infos) < _REMEMBERED:
                text = f'metric might not be a counter, name does not end in _total/_sum/_count/_bucket: "{name}"'
                self._infos[f"PromQL info: {text} ({place})"] = None

    def rollups(self, text: str) -> None:
        self._infos[f"PromQL info: {text}"] = None

    def _warn(self, text: str, place: str) -> None:
        if len(self._warnings) < _REMEMBERED:
            self._warnings[f"PromQL warning: {text} ({place})"] = None


@dataclass(slots=True)
class _Forced:
    low: float = math.inf
    high: float = -math.inf
    drop: float = 0.0
    count: int = 0
    first_ms: int = 2**63 - 1
    last_ms: int = -(2**63)

    def text(self, place: str) -> str:
        low, high = (format_short_number(float(one)) for one in (self.low, self.high))
        first, last = (f"{np.datetime64(one // 1000, 's')}Z" for one in (self.first_ms, self.last_ms))
        return (
            "PromQL info: input to histogram_quantile needed to be fixed for monotonicity (see"
            " https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile), from buckets"
            f" {low} to {high}, with a max diff of {self.drop:.2g}, over {self.count} samples from {first} to {last}"
            f" ({place})"
        )


def _shown(texts: dict[str, None], kind: str) -> list[str]:
    found = list(texts)
    if len(found) <= MOST:
        return found
    return [*found[:MOST], f"{len(found) - MOST} more {kind} annotations omitted"]
