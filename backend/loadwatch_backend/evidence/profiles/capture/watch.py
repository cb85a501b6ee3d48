"""Orders profiles by itself: in the steady part of runs, and when alerts fire that ask for them.

Only the server that leads does so, in a transaction that the lead fences: several servers on one database order once.
"""

import threading
from collections.abc import Callable, Sequence

import structlog

from loadwatch_backend.evidence.profiles.capture.errors import ProfileOrderLimitError
from loadwatch_backend.evidence.profiles.capture.orders import Processes, ProfileOrders, RunsNow
from loadwatch_backend.evidence.profiles.capture.planning import (
    FiringAlert,
    Process,
    RunNow,
    begins_ms,
    wanted_by_alert,
    wanted_by_run,
)
from loadwatch_backend.evidence.profiles.capture.repository import find_of_run, find_open, forget_before
from loadwatch_backend.kit.clock import Clock
from loadwatch_backend.kit.errors import ProblemError
from loadwatch_backend.store.leadership import LeadershipLostError
from loadwatch_backend.store.outages import DatabaseError
from loadwatch_backend.store.relational import Relational, Session, Stillness

log = structlog.get_logger(__name__)

PAUSE_SECONDS = 1.0
RETRY_SECONDS = 10.0
STILL_SECONDS = 10.0
"""While no run goes on and nobody writes, tables are looked at so often."""
FORGET_MS = 90 * 24 * 3_600_000
_SWEEP_MS = 3_600_000

Fence = Callable[[Session], None]
Alerts = Callable[[], Sequence[FiringAlert]]
"""Firing alerts that ask for profiles."""


class ProfileWatch:
    """Started once. `look` may be called by itself where no thread runs."""

    def __init__(
        self,
        *,
        relational: Relational,
        orders: ProfileOrders,
        runs: RunsNow,
        processes: Processes,
        alerts: Alerts,
        fence: Fence,
        leads: Callable[[], bool],
        clock: Clock,
    ) -> None:
        """`fence` fails inside of a transaction where another server leads."""
        self._relational = relational
        self._orders = orders
        self._runs = runs
        self._processes = processes
        self._alerts = alerts
        self._fence = fence
        self._leads = leads
        self._clock = clock
        self._still = Stillness(relational, STILL_SECONDS)
        self._open = True
        """Whether orders may be open; at the start, those of a server before."""
        self._swept_ms = 0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="profile-orders", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def stop(self) -> None:
        """End; a look under way is finished."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def look(self) -> int:
        """Order what is due and give up what nothing will come of; how many were ordered.

        Raises:
            LeadershipLostError: another server leads.
            ProblemError: samples or tables cannot be read.
        """
        if not self._leads() or self._still.holds:
            return 0
        written = self._relational.written
        runs = self._runs()
        now_ms = self._clock()
        # Nothing goes on most of the time, and then nothing is asked but that.
        if not (runs or self._open or now_ms - self._swept_ms > _SWEEP_MS):
            self._still.note(written)
            return 0
        alerts = self._alerts() if runs else ()
        processes = self._processes() if alerts or any(now_ms >= begins_ms(run) for run in runs) else ()
        ordered = 0
        with self._relational.transaction() as session:
            self._fence(session)
            for run in runs if processes else ():
                # An alert is of the whole system, and of two runs the newer one is what people look at.
                ordered += self._order(session, run, processes, alerts if run is runs[0] else (), now_ms)
            self._orders.give_up(session, {run.id for run in runs})
            self._open = bool(find_open(session))
            if now_ms - self._swept_ms > _SWEEP_MS:
                forget_before(session, now_ms - FORGET_MS)
                self._swept_ms = now_ms
        return ordered

    def _order(
        self, session: Session, run: RunNow, processes: Sequence[Process], alerts: Sequence[FiringAlert], now_ms: int
    ) -> int:
        had = {(row.run_id, row.cause, row.cause_id, row.job, row.instance) for row in find_of_run(session, run.id)}
        wanted = list(wanted_by_run(run, processes, had, now_ms))
        for alert in alerts:
            wanted += wanted_by_alert(run, alert, processes, had)
        if not wanted:
            return 0
        try:
            self._orders.add(session, wanted)
        except ProfileOrderLimitError:  # people see on the page what there is; the log would repeat it each second
            return 0
        log.info("profiles are ordered", run=run.id, profiles=len(wanted))
        return len(wanted)

    def _run(self) -> None:
        while not self._stopping.wait(PAUSE_SECONDS):
            try:
                self.look()
            except LeadershipLostError:
                log.info("profiles are ordered by another server")
            except (DatabaseError, ProblemError) as error:
                log.warning("profiles cannot be ordered now; tried again", error=str(error).partition("\n")[0])
                self._stopping.wait(RETRY_SECONDS)
            except Exception:
                log.exception("ordering profiles has a fault of its own")
                self._stopping.wait(RETRY_SECONDS)
