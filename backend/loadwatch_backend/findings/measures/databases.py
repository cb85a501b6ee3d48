"""What several detectors ask of a database: its connections, its limit, and whether it refused anybody. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.measures.evidence import evidence
from loadwatch_backend.findings.measures.facts import largest, usual
from loadwatch_backend.findings.messages import step
from loadwatch_backend.findings.model import Evidence, Step
from loadwatch_backend.findings.window import BoolArray, Episode, Table, Window, episodes, in_force

NEAR = 0.7
"""While logins are refused, Threads_connected read each second shows 44 to 61 of 60."""
NEAR_INSTANTS = 3
LEAST_REFUSED = 3
GROWTH_SECONDS = 30

CONNECTED = "mysql_global_status_threads_connected"
LIMIT = "mysql_global_variables_max_connections"
REFUSED = "mysql_global_status_aborted_connects"
RUNNING = "mysql_global_status_threads_running"
LOGINS = "mysql_global_status_connections"
BY_USER = "mysql_info_schema_processlist_processes_by_user"
PEAK = "mysql_global_status_max_used_connections"
DATABASE_METRICS = (CONNECTED, LIMIT, REFUSED, RUNNING, LOGINS, BY_USER, PEAK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """A MySQL or MariaDB server, on the grid; [instant] each, NaN where unknown.

    Attributes:
        bound: max_connections; NaN where unknown. `limit` is what it was at each instant.
        refused, logins: per second.
        refusing: where logins were refused while the connections were near their limit, or had just reached it
            between two samples; a wrong password also counts among the refused, but does not come at the limit.
        interval_ms: usual distance of samples.
    """

    labels: Mapping[str, str]
    connected: FloatArray
    bound: float
    limit: FloatArray
    refused: FloatArray
    refusing: BoolArray
    running: FloatArray
    logins: FloatArray
    interval_ms: int

    @property
    def name(self) -> str:
        return self.labels.get("instance", self.labels.get("job", "The database"))

    def during(self, episode: Episode) -> Self:
        """With the limit that was in force in an episode."""
        bound = largest(self.limit, episode.span)
        return replace(self, bound=bound) if np.isfinite(bound) else self


def databases(window: Window) -> Iterator[Database]:
    for labels, table in window[CONNECTED].by("job", "instance"):
        connected = table.max
        limit = in_force(window[LIMIT].where(**labels).max)
        bound = largest(limit, slice(None))
        refused = window[REFUSED].where(**labels).rate
        at_peak = _since_peak(window[PEAK].where(**labels).max, limit, refused)
        yield Database(
            labels=labels,
            connected=connected,
            bound=bound,
            limit=limit,
            refused=refused,
            refusing=(refused > 0) & ((most_around(connected) >= NEAR * limit) | at_peak),
            running=window[RUNNING].where(**labels).max,
            logins=window[LOGINS].where(**labels).rate,
            interval_ms=table.slowest_ms,
        )


def _since_peak(peak: FloatArray, limit: FloatArray, refused: FloatArray) -> BoolArray:
    """[instant]: refusals without a pause since Max_used_connections, which never falls, rose to the limit."""
    held = in_force(peak)
    rose = np.flatnonzero((np.diff(held, prepend=held[:1]) > 0) & (held >= limit))
    found = np.zeros(len(held), np.bool_)
    for episode in episodes(refused > 0, gap=5):
        if ((rose >= episode.first - 2) & (rose <= episode.end)).any():
            found[episode.span] = True
    return found


def refusals(window: Window, database: Database, refusing: BoolArray) -> Episode | None:
    """Where logins were refused, with one limit; None where fewer than `LEAST_REFUSED` are."""
    found = episodes(refusing, gap=5)
    if not found or window.total(np.where(refusing, database.refused, 0.0), slice(None)) < LEAST_REFUSED:
        return None
    return window.one_of(found, database.limit)


def users(window: Window, database: Database) -> Mapping[str, FloatArray]:
    """Connections by user, [instant]; without the agent's own session."""
    table: Table = window[BY_USER].where(**database.labels)
    return {labels.get("mysql_user", "?"): table.held[row] for row, labels in enumerate(table.labels)}


def holders_of(window: Window, database: Database, span: slice) -> list[tuple[str, float]]:
    """Who held how many connections at most, the largest first; empty where nothing tells."""
    held = [(user, largest(values, span)) for user, values in users(window, database).items()]
    return sorted((one for one in held if np.isfinite(one[1]) and one[1] >= 1), key=lambda one: (-one[1], one[0]))


def steps_for_growth(window: Window, database: Database, episode: Episode) -> list[Step]:
    """Stop the user whose connections grew most over the half minute before; nothing where that is not known."""
    before = slice(max(episode.first - round(GROWTH_SECONDS / window.step_seconds), 0), episode.first)
    level = {user: usual(values, before) for user, values in users(window, database).items()}
    if not np.isfinite(list(level.values())).any():
        return []
    # Who is not seen before had none.
    grown = [
        (most - np.nan_to_num(level[user]), user, most) for user, most in holders_of(window, database, episode.span)
    ]
    by, user, held = max(grown, default=(0.0, "", 0.0))
    if by < 1:
        return []
    return [step("databases.stop-user", user=user, held=held, bound=database.bound)]


def level_shown(window: Window, database: Database) -> Evidence:
    most = largest(database.connected, window.focus)
    return evidence(
        window, "databases.connections", database.connected, limit=database.bound, most=most, database=database
    )


def refusals_shown(window: Window, database: Database) -> Evidence:
    most = largest(database.refused, window.focus)
    return evidence(window, "databases.refusals", database.refused, most=most, labels=database.labels)


def most_around(values: FloatArray) -> FloatArray:
    """[instant]: the highest value of the instants around; across a gap that of its two ends."""
    known = np.isfinite(values)
    if not known.any():
        return values
    places = np.arange(len(values))
    last = np.maximum.accumulate(np.where(known, places, -1))
    following = np.minimum.accumulate(np.where(known, places, len(values))[::-1])[::-1]
    before = np.where(last >= 0, values[np.maximum(last, 0)], -np.inf)
    after = np.where(following < len(values), values[np.minimum(following, len(values) - 1)], -np.inf)
    highest = np.maximum(before, after)
    padded = np.pad(highest, NEAR_INSTANTS, constant_values=-np.inf)
    return np.lib.stride_tricks.sliding_window_view(padded, 2 * NEAR_INSTANTS + 1).max(axis=1)
