"""Turns a collector's samples into rows, and knows which series have to be marked stale."""

from collections.abc import Iterable

from loadwatch_collectors.collector import KEPT, Labels, Sample, TargetIdentity
from loadwatch_collectors.series import STALE_NAN, SampleRow, Series, make_series

_Key = tuple[str, Labels]
Claims = dict[_Key, "SeriesTracker"] | None
"""Who sends which series, of several blocks of one source in one target; two would overwrite each other's samples."""
_FORGET_MS = 3 * 3600 * 1000


class SeriesTracker:
    """The series of one collector on one target.

    A series that was there at the last tick and is not there now gets Prometheus' stale marker, so that a chart shows
    a gap and not a flat line. With `own_times` that is not so for series whose samples have times of their own: they
    come late and now and then, and a marker at the tick would lie in the middle of what comes later. (Prometheus, too,
    leaves series with explicit times alone.)
    """

    def __init__(self, identity: TargetIdentity, *, own_times: bool = False, claims: Claims = None) -> None:
        self.refused = ""
        """What was not sent at the last update, in words; the facts of a program (`_info`) may be on each page."""
        self._claims = claims
        self._identity = identity
        self._own_times = own_times
        self._known: dict[_Key, Series] = {}
        self._live: dict[_Key, Series] = {}
        self._explicit: dict[_Key, tuple[int, float]] = {}
        self._seen: dict[_Key, int] = {}
        self._sweep_ms = 0

    def update(self, tick_ms: int, samples: Iterable[Sample]) -> list[SampleRow]:
        """Blocks of this tick: its samples, and stale markers for what vanished. Repeats at one time: first wins.

        A series may have samples at several times of its own; one that was the last to be sent is not sent again.

        Raises:
            CollectorError: a name that no server takes; the tracker is as before.
        """
        live: dict[_Key, Series] = {}
        series: list[Series] = []
        values: list[float] = []
        others: dict[int, tuple[list[Series], list[float]]] = {}
        known = self._known
        taken: set[tuple[_Key, int]] = set()
        self.refused = ""
        for name, value, labels, timestamp_ms in samples:
            key = (name, labels)
            own_time = timestamp_ms is not None and timestamp_ms != KEPT
            if key in live and not own_time:
                continue
            found = known.get(key)
            if found is None:
                if self._claims is not None and self._claims.setdefault(key, self) is not self:
                    if not name.endswith("_info"):
                        self.refused = (
                            f"{name} is sent by another block of this target, too; give the block a target "
                            "of its own, with another instance or a label"
                        )
                    continue
                found = known[key] = make_series(name, labels, self._identity)
            if own_time and self._own_times:
                self._seen[key] = tick_ms
            else:
                live[key] = found
            if timestamp_ms is None or (timestamp_ms == KEPT and key not in self._live):
                series.append(found)
                values.append(value)
            elif own_time and (key, timestamp_ms) not in taken and self._explicit.get(key) != (timestamp_ms, value):
                taken.add((key, timestamp_ms))
                self._explicit[key] = (timestamp_ms, value)
                other = others.setdefault(timestamp_ms, ([], []))
                other[0].append(found)
                other[1].append(value)
        for key, gone in self._live.items():
            if key not in live:
                series.append(gone)
                values.append(STALE_NAN)
                self._forget(key)
                self._explicit.pop(key, None)
        self._live = live
        self._sweep(tick_ms)
        rows = [SampleRow(time, *columns) for time, columns in others.items()]
        if series:
            rows.append(SampleRow(tick_ms, series, values))
        return rows

    def end(self, tick_ms: int) -> list[SampleRow]:
        """Stale markers for every series that is there; the source failed, or the agent ends."""
        series = list(self._live.values())
        for key in self._live:
            self._forget(key)
        if not self._own_times:
            self._explicit.clear()
        self._live = {}
        return [SampleRow(tick_ms, series, [STALE_NAN] * len(series))] if series else []

    def _forget(self, key: _Key) -> None:
        """Let another block of the target send the series."""
        del self._known[key]
        if self._claims is not None:
            self._claims.pop(key, None)

    def _sweep(self, tick_ms: int) -> None:
        """Forget series with times of their own that have not been seen for long; no marker tells of their end."""
        if not self._seen or tick_ms - self._sweep_ms < _FORGET_MS:
            return
        self._sweep_ms = tick_ms
        for key in [key for key, seen_ms in self._seen.items() if tick_ms - seen_ms > _FORGET_MS]:
            del self._seen[key]
            self._explicit.pop(key, None)
            if key not in self._live:
                self._known.pop(key, None)
