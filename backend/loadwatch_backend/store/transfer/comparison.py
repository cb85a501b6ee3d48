"""Samples of ours beside those that an engine gives back, one by one. Pure.

Compared is what the engine can show: stale markers only where its way of reading has them, values to eleven digits
because VictoriaMetrics keeps twelve to fifteen. A repeated sample counts once: engines that keep what was sent twice
keep it at the same time with the same value.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from loadwatch_backend.store.embedded.block import TIME_BITS, U64
from loadwatch_backend.store.port import STALE_NAN_BITS, Selection
from loadwatch_backend.store.prometheus.wire import SeriesSamples

_DIGITS = 1e-11
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Of one metric in one hour; all are numbers of samples."""

    metric: str
    hour_ms: int
    samples: int
    """That are compared."""
    missing: int = 0
    changed: int = 0
    """There with another value."""
    nan_missing: int = 0
    """NaN other than stale markers, which VictoriaMetrics does not keep."""
    rounded: int = 0
    """The same to eleven digits, and not bit for bit."""
    more: int = 0
    """In the engine and not here."""
    repeated: int = 0
    """In the engine more than once."""
    stale: int = 0
    """Stale markers that were not compared."""

    @property
    def differs(self) -> bool:
        """Whether the engine lacks something, or has it otherwise."""
        return bool(self.missing or self.changed)


class Comparison:
    """Of the samples of one hour with what an engine gives of them, slice by slice."""

    def __init__(self, ours: Selection) -> None:
        counts = np.diff(ours.offsets)
        self._ours = ours
        self._rank = np.repeat(np.arange(len(counts), dtype=np.uint64), counts)
        self._keys: U64 = (self._rank << TIME_BITS) | ours.timestamps.astype(np.uint64)
        self._rank_of = {frozenset(labels.items()): rank for rank, labels in enumerate(ours.labels)}
        self.there: Flags = np.zeros(len(self._keys), np.bool_)
        self._changed: Flags = np.zeros(len(self._keys), np.bool_)
        self._rounded: Flags = np.zeros(len(self._keys), np.bool_)
        self._more: dict[str, int] = {}
        self._repeated: dict[str, int] = {}

    def take(self, found: Iterable[SeriesSamples]) -> None:
        """What the engine has of a span of the hour; spans must not overlap, a series may come in several parts."""
        by_series: dict[frozenset[tuple[str, str]], list[SeriesSamples]] = {}
        for one in found:
            by_series.setdefault(frozenset(one.labels.items()), []).append(one)
        for key, parts in by_series.items():
            times = np.concatenate([part.timestamps for part in parts])
            values = np.concatenate([part.values for part in parts])
            metric = parts[0].labels.get("__name__", "")
            distinct = len(np.unique(times))
            if len(times) > distinct:
                self._repeated[metric] = self._repeated.get(metric, 0) + len(times) - distinct
            rank = self._rank_of.get(key)
            known = 0 if rank is None else self._match(rank, times, values)
            if known < distinct:
                self._more[metric] = self._more.get(metric, 0) + distinct - known

    def _match(self, rank: int, times: npt.NDArray[np.int64], values: npt.NDArray[np.float64]) -> int:
        """Mark those of a series that are there; how many of the engine's times we have."""
        keys = (np.uint64(rank) << TIME_BITS) | times.astype(np.uint64)
        places = np.searchsorted(self._keys, keys)
        inside = np.minimum(places, len(self._keys) - 1)
        ours = self._keys[inside] == keys
        inside, theirs = inside[ours], values[ours]
        mine = self._ours.values[inside]
        same = mine.view(np.uint64) == theirs.view(np.uint64)
        with np.errstate(invalid="ignore"):
            near = np.isfinite(mine) & (np.abs(mine - theirs) <= _DIGITS * np.abs(mine))
            # The engine's way of reading may have one NaN for all that are no stale markers.
            near |= (mine == theirs) | (np.isnan(mine) & np.isnan(theirs) & (is_stale(mine) == is_stale(theirs)))
        self.there[inside] = True
        self._changed[inside[~near]] = True
        self._rounded[inside[near & ~same]] = True
        return len(np.unique(inside))

    def differences(self, hour_ms: int, *, stale: bool) -> list[Difference]:
        """By metric, all of them; `stale` says whether the engine shows stale markers."""
        values = self._ours.values
        markers = is_stale(values)
        shown = np.ones(len(values), np.bool_) if stale else ~markers
        nan = np.isnan(values) & ~markers
        metrics = [labels.get("__name__", "") for labels in self._ours.labels]
        found: list[Difference] = []
        for metric in sorted({*metrics, *self._more}):
            ranks = np.array([name == metric for name in metrics], np.bool_)
            mine = ranks[self._rank] if len(ranks) else np.zeros(0, np.bool_)
            gone = mine & shown & ~self.there
            found.append(
                Difference(
                    metric=metric,
                    hour_ms=hour_ms,
                    samples=int((mine & shown).sum()),
                    missing=int((gone & ~nan).sum()),
                    nan_missing=int((gone & nan).sum()),
                    changed=int((mine & shown & self._changed).sum()),
                    rounded=int((mine & shown & self._rounded).sum()),
                    more=self._more.get(metric, 0),
                    repeated=self._repeated.get(metric, 0),
                    stale=int((mine & ~shown).sum()),
                )
            )
        return found


def is_stale(values: npt.NDArray[np.float64]) -> Flags:
    """Which are stale markers."""
    return np.ascontiguousarray(values).view(np.uint64) == np.uint64(STALE_NAN_BITS)


def without(selection: Selection, there: Flags) -> Selection:
    """The samples that are not there."""
    kept = ~there
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(kept, dtype=np.int64)))
    return Selection(
        labels=selection.labels,
        offsets=before[selection.offsets],
        timestamps=selection.timestamps[kept],
        values=selection.values[kept],
    )
