"""Compares what the embedded store holds with what an engine gives back: each sample, told by metric and hour."""

import time
from collections.abc import Callable, Iterator

import numpy as np

from loadwatch_backend.store.embedded.stored_hours import StoredHours
from loadwatch_backend.store.transfer.comparison import Comparison, Difference
from loadwatch_backend.store.transfer.parts import Part
from loadwatch_backend.store.transfer.progress import hour_text
from loadwatch_backend.store.transfer.target import Target
from loadwatch_backend.store.transfer.transfer import Watch, hour_parts

_LOOK_AGAIN_SECONDS = 0.5


def compare_all(
    source: StoredHours,
    target: Target,
    watch: Watch,
    *,
    settled: Callable[[], bool],
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Difference]:
    """Of each metric and hour, in the order of the hours; those that differ and those that do not.

    What is missing is looked for again until `settled` says that the engine shows all that it was sent.

    Raises:
        TransferError: the engine does not answer, or cannot be read.
        StoreReadError: the disk does not give the samples.
    """
    hours = source.hours()
    total, done = sum(hours.values()), 0
    for hour_ms, rows in hours.items():
        found: dict[str, Difference] = {}
        done_here = 0
        for part in hour_parts(source, hour_ms):
            watch(hour_ms, done + done_here, total)
            for one in _compared(source, target, hour_ms, part, settled, sleep):
                found[one.metric] = one if one.metric not in found else _added(found[one.metric], one)
            done_here += part.samples
        done += rows
        watch(hour_ms, done, total)
        yield from found.values()


def _compared(
    source: StoredHours,
    target: Target,
    hour_ms: int,
    part: Part,
    settled: Callable[[], bool],
    sleep: Callable[[float], None],
) -> list[Difference]:
    ours = source.read(hour_ms, np.array(part.ids, np.uint32))
    while True:
        last = settled()
        comparison = Comparison(ours)
        for found in target.read(part, hour_ms):
            comparison.take(found)
        result = comparison.differences(hour_ms, stale=target.shows_markers)
        if last or not any(one.missing for one in result):
            return result
        sleep(_LOOK_AGAIN_SECONDS)


_SUMS: tuple[str, ...] = ("samples", "missing", "changed", "nan_missing", "rounded", "more", "repeated", "stale")


def _added(one: Difference, other: Difference) -> Difference:
    """Those of two parts of a metric."""
    sums = {name: getattr(one, name) + getattr(other, name) for name in _SUMS}
    return Difference(metric=one.metric, hour_ms=one.hour_ms, **sums)


class Findings:
    """What was found: sums over everything, and the metrics and hours that differ."""

    def __init__(self) -> None:
        self.sums: dict[str, int] = dict.fromkeys(_SUMS, 0)
        self.differing: list[Difference] = []
        self.hours = 0
        self._last_ms = -1

    def add(self, one: Difference) -> None:
        """One metric and hour; hours in their order."""
        for name in _SUMS:
            self.sums[name] += getattr(one, name)
        if one.differs:
            self.differing.append(one)
        self.hours += one.hour_ms != self._last_ms
        self._last_ms = one.hour_ms

    def notes(self) -> list[str]:
        """What is no fault and worth knowing."""
        return [f"{self.sums[name]:,} {words}" for name, words in _NOTES.items() if self.sums[name]]


_NOTES: dict[str, str] = {
    "rounded": "values are the same to eleven digits and not bit for bit: the engine rounds",
    "nan_missing": "NaN (no stale markers) are missing: the engine does not keep them",
    "stale": "stale markers were not compared: the engine does not show them",
    "repeated": "samples are in the engine more than once, which does no harm",
    "more": "samples of these series and hours are in the engine and not here",
}


def difference_text(one: Difference) -> str:
    """A line that names metric, hour and numbers, of one that differs."""
    what = [
        f"{count:,} of {one.samples:,} samples {words}"
        for count, words in ((one.missing, "missing"), (one.changed, "with another value"))
        if count
    ]
    return f"{one.metric} {hour_text(one.hour_ms)}: {', '.join(what)}"
