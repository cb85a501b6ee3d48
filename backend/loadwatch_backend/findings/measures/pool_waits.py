"""Whether a pool ran out: it was full, and requests waited for it. Pure."""

import numpy as np

from loadwatch_backend.findings.measures.facts import Pool, focused
from loadwatch_backend.findings.measures.process_ends import process_starts
from loadwatch_backend.findings.window import BoolArray, Episode, Window, episodes, least_instants

FULL = 0.98
LEAST_WAITING = 0.3
"""Requests that wait at once, on average: below it a wait is an accident of two that came together."""
LEAST_MEAN_SECONDS = 0.002


def full_and_waiting(window: Window, pool: Pool) -> tuple[BoolArray, BoolArray]:
    """[instant]: where the pool was full, and where in the focus requests waited for it."""
    full = pool.in_use >= FULL * pool.limit
    # Waits that begin and never end are seen by their beginning, the others by the time that they took.
    waiting = (pool.waiting >= LEAST_WAITING) | (full & (pool.waits >= 1.0) & ~(pool.waiting > 0))
    return full, focused(window, waiting & (pool.limit > 0))


def exhausted(window: Window, pool: Pool) -> Episode | None:
    """Where requests waited and the pool was full, with one limit and in one life of its process."""
    full, holds = full_and_waiting(window, pool)
    least = least_instants(window.grid, pool.interval_ms)
    found = episodes(holds, least=least, gap=max(least, 3))
    if not found:
        return None
    whole = window.one_of(found, pool.limit, process_starts(window, pool.labels))
    during = window.during(whole)
    if not full[whole.span].any() or (mean_wait(during, pool) < LEAST_MEAN_SECONDS and during.total(pool.waiting) > 0):
        return None
    # Requests that come at the same instant wait for each other in any pool; it has run out when it is seen full.
    seen = np.flatnonzero((full | np.isnan(pool.in_use))[whole.span])
    return Episode(whole.first + int(seen[0]), whole.end)


def mean_wait(window: Window, pool: Pool) -> float:
    """Seconds that a request waited for a connection, over the focus; 0 where none did."""
    waits = window.total(pool.waits)
    return window.total(pool.waiting) / waits if waits else 0.0
