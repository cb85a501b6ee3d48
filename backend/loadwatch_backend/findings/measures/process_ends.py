"""When watched processes ended, and when they began anew. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.measures.facts import LEAST_FAILED, program_name
from loadwatch_backend.findings.measures.hosts import OWN_JOBS
from loadwatch_backend.findings.window import Episode, Window, episodes, least_instants

UP, START = "up", "process_start_time_seconds"
DATABASE = "mysql_global_status_threads_connected"
LIFE_METRICS = (UP, START, DATABASE)
ANEW_SECONDS = 1.0
"""By how much a start has to be later to be another one."""
WAKES_SECONDS = 2
AFTER_SECONDS = 5
"""Refusals within this time after a new start still belong to the end before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Death:
    """The end of a watched process.

    Attributes:
        at: the first instant at which it was gone, or another one in its place.
        back: the first instant at which one ran again; None when none did.
        running: [instant], 1 while one runs, 0 while none does, NaN where nobody looked.
    """

    labels: Mapping[str, str]
    at: int
    back: int | None
    running: FloatArray
    database: bool
    name: str

    def gone_during(self, episode: Episode) -> bool:
        """Whether it was gone in some part of an episode; the failures of a moment may be counted earlier."""
        end = self.at + WAKES_SECONDS if self.back is None else self.back + WAKES_SECONDS
        return self.at - WAKES_SECONDS < episode.end and (self.back is None or end > episode.first)


def lost_requests(window: Window, death: Death, *outcomes: str) -> float:
    """Requests that failed in one of these ways (any, when none is named) by a process's end.

    What fails once another one runs fails for reasons of its own, but for what is refused before that one listens.
    """
    if window.load is None:
        return 0.0
    first, end = max(death.at - 1, 0), gone(window, death).end
    lost = window.total(window.load.failed(*outcomes), slice(first, end))
    if death.back is None or (outcomes and "refused" not in outcomes):
        return lost
    return lost + window.total(window.load.failed("refused"), slice(end, death.back + AFTER_SECONDS))


def gone(window: Window, death: Death) -> Episode:
    end = window.focus.stop if death.back is None else min(death.back, window.focus.stop)
    return Episode(death.at, max(end, death.at + 1))


def torn(window: Window, death: Death) -> bool:
    """Whether requests were cut off at the end, as they are unless a process is stopped with care."""
    return lost_requests(window, death, "reset") >= LEAST_FAILED


def deaths(window: Window) -> list[Death]:
    """The first end of each watched process within the focus."""
    targets = {(one.get("job", ""), one.get("instance", "")) for one in window[START].labels}
    found = (_death(window, {"job": job, "instance": instance}) for job, instance in sorted(targets))
    return [one for one in found if one is not None and one.labels.get("job") not in OWN_JOBS]


def process_starts(window: Window, target: Mapping[str, str]) -> FloatArray:
    """[instant]: when the process of a target started, seconds since the epoch; NaN where it did not tell."""
    table = window[START].where(**{name: target[name] for name in ("job", "instance", "name") if name in target})
    oldest = np.where(np.isfinite(table.values), table.values, np.inf).min(axis=0, initial=np.inf)
    return np.where(np.isfinite(oldest), oldest, np.nan)


def _death(window: Window, target: Mapping[str, str]) -> Death | None:
    table = window[START].where(**target)
    if any("name" in labels for labels in table.labels):
        return None  # several programs behind one search: which of them is the target nobody knows
    up = window[UP].where(**target, collector="process")
    running = up.max
    started = _starts(window, target)
    gone = _gone(window, target, running, up.slowest_ms)
    at = min([place for place in (gone, started) if place is not None], default=None)
    if at is None:
        return None
    back = started
    if gone is not None and (started is None or started < gone):
        again = np.flatnonzero(running[gone:] > 0)
        back = gone + int(again[0]) if again.size else None
    return Death(
        labels={name: value for name, value in target.items() if value},
        at=at,
        back=back,
        running=running,
        database=len(window[DATABASE].where(**target)) > 0,
        name=program_name(window, target),
    )


def _starts(window: Window, target: Mapping[str, str]) -> int | None:
    """The first instant in the focus at which the oldest process is another than before."""
    oldest = process_starts(window, target)
    before = float("nan")
    for place in np.flatnonzero(np.isfinite(oldest)).tolist():
        inside = window.focus.start <= place < window.focus.stop
        if inside and float(oldest[place]) > before + ANEW_SECONDS:
            return place
        before = float(oldest[place])
    return None


def _gone(window: Window, target: Mapping[str, str], running: FloatArray, interval_ms: int) -> int | None:
    """The first instant in the focus from which the process was not found, while nothing else of it answered."""
    missing = (running == 0) & ~(window[UP].where(**target, collector="dbstats").max > 0)
    least = least_instants(window.grid, interval_ms, samples=2, seconds=2)
    for one in episodes(missing, least=least, gap=1):
        seen_before = bool((running[: one.first] > 0).any())
        if seen_before and window.focus.start <= one.first < window.focus.stop:
            return one.first
    return None
