"""Turns a collector's samples into blocks, and knows which series have to be marked stale."""

from collections.abc import Iterable

from loadwatch_collectors.collector import KEPT, Labels, Sample, TargetIdentity
from loadwatch_collectors.series import STALE_NAN, Block, Series, make_series

_Key = tuple[str, Labels]


class SeriesTracker:
    """The series of one collector on one target.

    A series that was there at the last tick and is not there now gets Prometheus' stale marker, so that a chart shows
    a gap and not a flat line.
    """

    def __init__(self, identity: TargetIdentity) -> None:
        self._identity = identity
        self._known: dict[_Key, Series] = {}
        self._live: dict[_Key, Series] = {}
        self._explicit: dict[_Key, int] = {}

    def update(self, tick_ms: int, samples: Iterable[Sample]) -> list[Block]:
        """Blocks of this tick: its samples, and stale markers for what vanished. Repeats in one tick: first wins.

        Raises:
            CollectorError: a name that no server takes; the tracker is as before.
        """
        live: dict[_Key, Series] = {}
        series: list[Series] = []
        values: list[float] = []
        others: dict[int, tuple[list[Series], list[float]]] = {}
        known = self._known
        for name, value, labels, timestamp_ms in samples:
            key = (name, labels)
            if key in live:
                continue
            found = known.get(key)
            if found is None:
                found = known[key] = make_series(name, labels, self._identity)
            live[key] = found
            if timestamp_ms is None or (timestamp_ms == KEPT and key not in self._live):
                series.append(found)
                values.append(value)
            elif timestamp_ms != KEPT and self._explicit.get(key) != timestamp_ms:
                self._explicit[key] = timestamp_ms
                other = others.setdefault(timestamp_ms, ([], []))
                other[0].append(found)
                other[1].append(value)
        for key, gone in self._live.items():
            if key not in live:
                series.append(gone)
                values.append(STALE_NAN)
                del known[key]
                self._explicit.pop(key, None)
        self._live = live
        blocks = [Block(time, *rows) for time, rows in others.items()]
        if series:
            blocks.append(Block(tick_ms, series, values))
        return blocks

    def end(self, tick_ms: int) -> list[Block]:
        """Stale markers for every series that is there; the source failed, or the agent ends."""
        series = list(self._live.values())
        self._live = {}
        self._explicit.clear()
        return [Block(tick_ms, series, [STALE_NAN] * len(series))] if series else []
