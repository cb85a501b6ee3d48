"""Orders profiles by itself: in the steady part of runs, and when alerts fire that ask for them.

Only the server that leads does so, in a transaction that the lead fences: several servers on one database order once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import structlog
from loadwatch_formats.metrics.pprof import SOURCE
from loadwatch_formats.profile_kinds import MOST_SECONDS, PROFILE_KINDS

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.relational import Relational, Session, Stillness
from loadwatch_backend.evidence.profiles.capture.orders import Processes, ProfileOrders, RunsNow
from loadwatch_backend.evidence.profiles.capture.planning import (
    FiringAlert,
    Process,
    ProfileOrderLimitError,
    RunNow,
    begins_ms,
    wanted_by_alert,
    wanted_by_run,
)
from loadwatch_backend.evidence.profiles.capture.repository import find_of_run, find_open, forget_before
from loadwatch_backend.evidence.profiles.capture.tables import NAME_LENGTH
from loadwatch_backend.series.store.port import STALE_NAN_BITS, Labels, Matcher, MatchOperator, Reader

HEARD_MS = 120_000
"""Agents report processes every 15 s, slow ones every minute: a silent process is gone."""
AHEAD_MS = 600_000


def read_processes(store: Reader, now_ms: int) -> list[Process]:
    """Those that were heard of lately and have not ended, by job and instance."""
    named = Matcher("__name__", MatchOperator.EQUAL, SOURCE)
    selection = store.select([named], now_ms - HEARD_MS, now_ms + AHEAD_MS)
    found: dict[tuple[str, str], tuple[int, Process]] = {}
    for row, labels in enumerate(selection.labels):
        end = int(selection.offsets[row + 1])
        if end == int(selection.offsets[row]) or int(selection.values[end - 1 : end].view("u8")[0]) == STALE_NAN_BITS:
            continue
        process = _read_labels(labels)
        at_ms = int(selection.timestamps[end - 1])
        if process is not None:
            key = (process.job, process.instance)
            # Of two descriptions (the configuration was changed) the newer one holds.
            found[key] = max(found.get(key, (at_ms, process)), (at_ms, process), key=lambda one: one[0])
    return [found[key][1] for key in sorted(found)]


def _read_labels(labels: Labels) -> Process | None:
    job, instance = labels.get("job", ""), labels.get("instance", "")
    told = labels.get("kinds", "").split(",")
    kinds = tuple(kind for kind in PROFILE_KINDS if kind in told)
    seconds = labels.get("seconds", "")
    if not kinds or not seconds.isdecimal() or max(len(job), len(instance)) > NAME_LENGTH:
        return None
    return Process(job=job, instance=instance, kinds=kinds, seconds=min(max(int(seconds[:4]), 1), MOST_SECONDS))


log = structlog.get_logger(__name__)

PAUSE_SECONDS = 1.0
RETRY_SECONDS = 10.0
STILL_SECONDS = 10.0
"""Interval of looking at the tables while no run goes on and nobody writes."""
FORGET_MS = 90 * 24 * 3_600_000
_SWEEP_MS = 3_600_000

Fence = Callable[[Session], None]
Alerts = Callable[[], Sequence[FiringAlert]]


@dataclass(eq=False)
class ProfileWatch:
    """`tick` is called by one thread, each second."""

    _relational: Relational
    _orders: ProfileOrders
    _runs: RunsNow
    _processes: Processes
    _alerts: Alerts
    _fence: Fence
    """Fails inside of a transaction where another server leads."""
    _leads: Callable[[], bool]
    _clock: Clock
    _open: bool = True
    """Whether orders may be open; at the start, those of a server before."""
    _swept_ms: int = 0

    def __post_init__(self) -> None:
        self._still = Stillness(self._relational, STILL_SECONDS)

    def tick(self) -> None:
        """Order what is due and give up what nothing will come of.

        Raises:
            LeadershipLostError: another server leads.
            ProblemError: samples or tables cannot be read.
        """
        if not self._leads() or self._still.holds:
            return
        written = self._relational.written
        runs = self._runs()
        now_ms = self._clock()
        # Nothing goes on most of the time, and then nothing is asked but that.
        if not (runs or self._open or now_ms - self._swept_ms > _SWEEP_MS):
            self._still.note(written)
            return
        alerts = self._alerts() if runs else ()
        processes = self._processes() if alerts or any(now_ms >= begins_ms(run) for run in runs) else ()
        with self._relational.transaction() as session:
            self._fence(session)
            for run in runs if processes else ():
                # An alert is of the whole system, and of two runs the newer one is what people look at.
                self._order(session, run, processes, alerts if run is runs[0] else (), now_ms)
            self._orders.give_up(session, {run.id for run in runs})
            self._open = bool(find_open(session))
            if now_ms - self._swept_ms > _SWEEP_MS:
                forget_before(session, now_ms - FORGET_MS)
                self._swept_ms = now_ms

    def _order(
        self, session: Session, run: RunNow, processes: Sequence[Process], alerts: Sequence[FiringAlert], now_ms: int
    ) -> None:
        had = {(row.run_id, row.cause, row.cause_id, row.job, row.instance) for row in find_of_run(session, run.id)}
        wanted = list(wanted_by_run(run, processes, had, now_ms))
        for alert in alerts:
            wanted += wanted_by_alert(run, alert, processes, had)
        if not wanted:
            return
        try:
            self._orders.add(session, wanted)
        except ProfileOrderLimitError:  # people see on the page what there is; the log would repeat it each second
            return
        log.info("profiles are ordered", run=run.id, profiles=len(wanted))
