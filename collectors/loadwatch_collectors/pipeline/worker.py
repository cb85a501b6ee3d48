"""Runs one collector: one collection at a time, with a deadline, on a thread of its own."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import structlog
from loadwatch_formats.metrics.model import MetricInfo

from loadwatch_collectors.collector import KEPT, CollectFault, Collector, Labels, Sample, TargetIdentity, target_info
from loadwatch_collectors.config import CollectorSettings
from loadwatch_collectors.errors import CollectorError, ConfigError
from loadwatch_collectors.series import STALE_NAN, SampleRow, Series, make_series

_Key = tuple[str, Labels]
Claims = dict[_Key, "SeriesTracker"] | None
"""Owner of each series among the blocks of one source and target, so that only one sends it."""
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
        """Release the series, so that another block of the target may send it."""
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


@dataclass(slots=True)
class Schedule:
    """The ticks of one collector.

    Late wake-ups and forward jumps of the clock give the newest tick only, so what was missed stays a gap; after a
    backward jump the ticks go on at the new time.
    """

    interval_ms: int
    next_ms: int

    def due(self, now_ms: int) -> int | None:
        """The tick to run at `now_ms`, or None; moves on to the next one."""
        if now_ms >= self.next_ms:
            tick = now_ms // self.interval_ms * self.interval_ms
            self.next_ms = tick + self.interval_ms
            return tick
        # Being set back by less than an interval must not run the same tick again.
        if self.next_ms - now_ms > 2 * self.interval_ms:
            self.next_ms = next_tick(now_ms, self.interval_ms)
        return None


def next_tick(now_ms: int, interval_ms: int) -> int:
    return (now_ms // interval_ms + 1) * interval_ms


ERROR_TEXT_LIMIT = 200
_log: Any = structlog.get_logger("loadwatch.collector")

Deliver = Callable[[Sequence[SampleRow], bool], None]
"""Takes the rows of one tick; the flag says whether they end a collection that was announced."""


@dataclass(slots=True, eq=False)
class _InFlight:
    tick_ms: int
    started: float
    abandoned: bool = False


class Worker:
    """One collector on one target.

    The scheduler calls `begin` at each tick and `enforce_deadline` in between; results go to `deliver`. A collection
    that passes its deadline is reported as failed, and closed at twice that time: what is only slow keeps its session.
    Until it ends, each tick reports `up` 0 and no other starts.
    """

    def __init__(
        self, config: CollectorSettings, deliver: Deliver, now_ms: int, identity: Labels = (), claims: Claims = None
    ) -> None:
        interval_ms = round(config.interval_seconds * 1000)
        self.config = config
        self.schedule = Schedule(interval_ms, next_tick(now_ms, interval_ms))
        self._deliver = deliver
        self._samples = SeriesTracker(config.identity, own_times=config.source.own_times, claims=claims)
        self._health = SeriesTracker(config.identity)
        self._collector: Collector | None = None
        self._running: _InFlight | None = None
        self._lock = threading.Lock()
        self._wake = threading.Semaphore(0)
        self._ended = False
        self._cpu_seconds = 0.0
        self._state = ""
        self._name = config.name
        self._label: Labels = (("collector", config.name),)
        self._identity = identity
        self._thread = threading.Thread(target=self._run, name=f"collect-{self._name}", daemon=True)

    def start(self) -> None:
        """Make the collector and begin to wait for ticks.

        Raises:
            ConfigError: the settings cannot work.
        """
        try:
            self._collector = self.config.build()
        except ConfigError:
            raise
        except Exception:  # Tried again, and then reported, at the first tick.
            self._collector = None
        self._thread.start()

    def begin(self, tick_ms: int) -> bool:
        """Start a collection for the tick; False when the last one is still under way."""
        with self._lock:
            if self._running is not None:
                if self._running.abandoned:
                    self._deliver(self._report_failure(tick_ms, 0.0, self._state), False)
                return False
            self._running = _InFlight(tick_ms, time.monotonic())
        self._wake.release()
        return True

    def metadata(self) -> Sequence[MetricInfo]:
        collector = self._collector
        return () if collector is None else collector.metadata()

    def deadline(self) -> float | None:
        """Monotonic time at which the present collection is given up, or then closed."""
        running = self._running
        if running is None or (running.abandoned and self._collector is None):
            return None
        return running.started + (2 if running.abandoned else 1) * self.config.timeout_seconds

    def enforce_deadline(self) -> None:
        collector, rows = None, None
        with self._lock:
            running, timeout = self._running, self.config.timeout_seconds
            if running is None or time.monotonic() < running.started + timeout:
                return
            if not running.abandoned:
                running.abandoned = True
                text = f"no answer within {timeout:g} s; the read was given up"
                self._note_state(text)
                rows = self._report_failure(running.tick_ms, timeout, text)
            elif time.monotonic() >= running.started + 2 * timeout:
                collector, self._collector = self._collector, None
        if rows is not None:
            self._deliver(rows, True)
        if collector is not None:
            self._close(collector)

    def end(self, now_ms: int) -> list[SampleRow]:
        """Stop the worker; return stale markers for every series that it has shown."""
        with self._lock:
            self._ended = True
            if self._running is not None:
                self._running.abandoned = True
            rows = [*self._samples.end(now_ms), *self._health.end(now_ms)]
            collector, self._collector = self._collector, None
        self._wake.release()
        if collector is not None:
            self._close(collector)
        self._thread.join(1.0)
        return rows

    def _run(self) -> None:
        while True:
            self._wake.acquire()
            running = self._running
            if self._ended or running is None:
                return
            samples, error = self._collect()
            collector = self._collector
            fault = collector.fault() if not error and collector is not None else None
            self._finish(running, samples, error, fault)
            if self._ended:
                return

    def _collect(self) -> tuple[list[Sample], str]:
        try:
            collector = self._collector
            if collector is None:
                collector = self.config.build()
                with self._lock:
                    if self._running is None or not self._running.abandoned:
                        self._collector = collector
            return list(collector.collect()), ""
        except CollectorError as error:
            return [], str(error) or type(error).__name__
        except Exception as error:
            if not self._state.startswith("internal error"):
                _log.exception("a collector has a fault of its own", collector=self._name, where=self.config.where)
            return [], f"internal error: {type(error).__name__}: {error}"

    def _finish(self, running: _InFlight, samples: list[Sample], error: str, fault: CollectFault | None) -> None:
        duration = time.monotonic() - running.started
        with self._lock:
            self._running = None
            self._cpu_seconds = time.thread_time()
            if running.abandoned or self._ended:
                return
            rows: list[SampleRow] = []
            if not error:
                try:
                    rows = self._samples.update(running.tick_ms, samples)
                except CollectorError as refused:
                    error = str(refused)
            said = error or (fault.text if fault is not None else self._samples.refused)
            self._note_state(said)
            if error:
                rows = self._report_failure(running.tick_ms, duration, error)
            else:
                up = fault is None or not fault.total
                health = self._make_health(duration, len(samples), said, up=up)
                rows += self._health.update(running.tick_ms, health)
        self._deliver(rows, True)

    def _report_failure(self, tick_ms: int, duration: float, error: str) -> list[SampleRow]:
        health = self._make_health(duration, 0, error, up=False)
        return self._samples.end(tick_ms) + self._health.update(tick_ms, health)

    def _make_health(self, duration: float, count: int, error: str, *, up: bool) -> list[Sample]:
        health = [
            Sample("up", 1.0 if up else 0.0, self._label),
            Sample("scrape_duration_seconds", duration, self._label),
            Sample("scrape_samples_scraped", float(count), self._label),
            Sample("collector_cpu_seconds_total", self._cpu_seconds, self._label),
        ]
        if self._identity:
            health.append(Sample("collector_agent_info", 1.0, (*self._label, *self._identity)))
        if self.config.address:
            health.append(target_info(self._name, self.config.address))
        if error:
            text = " ".join(error.split())[:ERROR_TEXT_LIMIT]
            health.append(Sample("collector_error_info", 1.0, (*self._label, ("error", text))))
        return health

    def _note_state(self, error: str) -> None:
        identity = self.config.identity
        where = {"collector": self._name, "job": identity.job, "instance": identity.instance}
        if error and not self._state:
            _log.warning("a collector fails", **where, error=error)
        elif self._state and not error:
            _log.info("a collector works again", **where)
        self._state = error

    def _close(self, collector: Collector) -> None:
        """Close in a separate thread: `close` of a hung source may hang, too."""

        def close() -> None:
            with suppress(Exception):  # A source that is broken may fail to close; nothing is left to do about it.
                collector.close()

        threading.Thread(target=close, name=f"close-{self._name}", daemon=True).start()
