"""Locks of the database: rows that wait for each other."""

from collections.abc import Iterator, Mapping

import numpy as np

from loadwatch_backend.core.texts.words import SILENT, Words
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.measures.cloud import cloud_databases
from loadwatch_backend.findings.measures.facts import focused, largest, load_effects, longest_episode, selector
from loadwatch_backend.findings.measures.outcomes import Clear, Draft, Observation, Outcome, detector, further
from loadwatch_backend.findings.messages import message
from loadwatch_backend.findings.model import Evidence, Finding
from loadwatch_backend.findings.window import Episode, Table, Window, episodes

DEADLOCK_LEAST = 3.0
"""One or two are an accident that a retry mends."""

DEADLOCKS, CLOUD_DEADLOCKS = "mysql_global_status_innodb_deadlocks", "aws_rds_deadlocks_average"
LOCK_WAITS = "mysql_global_status_innodb_row_lock_waits"


@detector("database-deadlocks", needs=(DEADLOCKS, CLOUD_DEADLOCKS), reads=(LOCK_WAITS,))
def deadlocks(window: Window) -> Iterator[Outcome]:
    """Transactions block each other in a circle, and the database rolls some of them back.

    One finding for each database with several deadlocks.
    """
    seen: list[tuple[str, Mapping[str, str], FloatArray, str, Words]] = [
        (labels.get("instance", "the database"), labels, table.rate, f"rate({DEADLOCKS}{selector(labels)}[5s])", SILENT)
        for labels, table in window[DEADLOCKS].by("job", "instance")
    ]
    source = message("database-deadlocks.source")
    for one in cloud_databases(window, CLOUD_DEADLOCKS):
        expression = f"{CLOUD_DEADLOCKS}{selector(one.key)}"
        seen.append((one.name, one.labels, one.values(window, CLOUD_DEADLOCKS), expression, source))
    for name, labels, rate, expression, source in seen:
        if not np.isfinite(window.inside(rate)).any():
            continue
        found = episodes(focused(window, rate > 0))
        during = window.during(window.one_of(found)) if found else window
        times = during.total(rate)
        words = message("database-deadlocks.figures", times=times, name=name, source=source)
        if times < DEADLOCK_LEAST:
            yield Clear(words) if round(times) < 1 else Observation(words)
            continue
        yield _deadlock_finding(during, name, labels, rate, expression, source)


def _deadlock_finding(
    window: Window, name: str, labels: Mapping[str, str], rate: FloatArray, expression: str, source: Words
) -> Finding:
    places = np.flatnonzero(focused(window, rate > 0))
    episode = Episode(int(places[0]), int(places[-1]) + 1)
    times, most, effects = window.total(rate), largest(rate, window.focus), load_effects(window, episode)
    draft = Draft(window, episode, labels, name=name, times=times, source=source)
    shown = [draft.show("database-deadlocks.limit", rate, rate=most, expression=expression)]
    waits = window[LOCK_WAITS].where(**labels).rate
    began = window.total(waits)
    if began >= times:
        shown.append(draft.show("database-deadlocks.demand", waits, began=began))
    return draft.finding("database-deadlocks.sentence", [*shown, *effects], consequence=further(effects))


LEAST_WAITING = 3.0
"""Statements that wait at once; waits of two come and go under any load."""
LEAST_SECONDS = 5.0

WAITING = "mysql_global_status_innodb_row_lock_current_waits"
WAITED_MS = "mysql_global_status_innodb_row_lock_time"
WAITS = "mysql_global_status_innodb_row_lock_waits"


@detector("database-lock-waits", least_seconds=LEAST_SECONDS, needs=(WAITS,), reads=(WAITING, WAITED_MS))
def lock_waits(window: Window) -> Iterator[Outcome]:
    """Statements wait for rows that others have locked.

    One finding for each database in which several statements waited for locks all the time.
    """
    for labels, table in window[WAITS].by("job", "instance"):
        if not np.isfinite(window.inside(table.rate)).any():
            continue
        waiting = _waiting(window, labels, table)
        episode = longest_episode(window, waiting >= LEAST_WAITING, table.slowest_ms, seconds=LEAST_SECONDS)
        most, waits = largest(waiting, window.focus), window.total(table.rate)
        name = labels.get("instance", "The database")
        words = message("database-lock-waits.figures", most=most, name=name, waits=waits)
        if episode is None:
            yield Clear(words)
            continue
        effects = load_effects(window, episode)
        if window.load is not None and not effects:
            yield Observation(words)
            continue
        yield _lock_finding(window.during(episode), labels, waiting, table.rate, episode, effects)


def _waiting(window: Window, labels: Mapping[str, str], waits: Table) -> FloatArray:
    """Statements that wait at each instant: as counted, or where nobody counts them by the time that waits took."""
    now = window[WAITING].where(**labels).max
    # A known fault of InnoDB: the gauge can stay up for ever. Where no wait has begun at all, nobody waits.
    begun = np.cumsum(np.nan_to_num(waits.rate)) > 0
    # A wait is timed when it ends: one second can hold the time of many.
    ended = window[WAITED_MS].where(**labels).rate / 1_000
    return np.where(np.isfinite(now), np.where(begun, now, 0.0), ended)


def _lock_finding(
    window: Window,
    labels: Mapping[str, str],
    waiting: FloatArray,
    waits: FloatArray,
    episode: Episode,
    effects: list[Evidence],
) -> Finding:
    name = labels.get("instance", "the database")
    most, times = largest(waiting, episode.span), window.total(waits, episode.span)
    took = window.total(window[WAITED_MS].where(**labels).rate, episode.span) / 1_000
    each = message("database-lock-waits.each", took=took / times) if times >= 1 and took > 0 else SILENT
    draft = Draft(window, episode, labels, most=most, name=name, times=times, each=each)
    shown = [
        draft.show("database-lock-waits.limit", waiting),
        draft.show("database-lock-waits.demand", waits),
        *effects,
    ]
    return draft.finding("database-lock-waits.sentence", shown, consequence=further(effects))
