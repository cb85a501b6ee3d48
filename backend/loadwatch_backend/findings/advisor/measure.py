"""From a window's samples to what the advisor sees. Pure."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.advisor.advise import Demand, MeasuredPool, MeasuredServer, Measurement
from loadwatch_backend.findings.load import STREAMED
from loadwatch_backend.findings.measures.facts import POOL_METRICS, Pool, added, largest, pools
from loadwatch_backend.findings.measures.pool_waits import full_and_waiting
from loadwatch_backend.findings.programs import INFO, START
from loadwatch_backend.findings.window import BoolArray, Table, Window

CONNECTED = "mysql_global_status_threads_connected"
MAX_CONNECTIONS = "mysql_global_variables_max_connections"
BY_USER = "mysql_info_schema_processlist_processes_by_user"
WAIT_TIMEOUT = "mysql_global_variables_wait_timeout"
STATEMENTS = "mysql_global_status_questions"
LOCK_WAITS = "mysql_global_status_innodb_row_lock_current_waits"
MAX_IDLE = "go_sql_max_idle_connections"
LIFETIME = "go_sql_connection_max_lifetime_seconds"
IDLE_TIME = "go_sql_connection_max_idle_time_seconds"
CLOSED_IDLE = "go_sql_max_idle_closed_total"
CLOSED_OLD = "go_sql_max_lifetime_closed_total"
ACCEPTED = "ingest_accepted_total"
STORED = "ingest_stored_total"
QUEUE_LIMIT = "ingest_queue_limit"
HOST_CPU = "node_cpu_seconds_total"
PROCESS_CPU = "process_cpu_seconds_total"
METRICS = (
    *POOL_METRICS,
    *STREAMED,
    *(INFO, START),
    *(MAX_IDLE, LIFETIME, IDLE_TIME, CLOSED_IDLE, CLOSED_OLD, ACCEPTED, STORED, QUEUE_LIMIT),
    *(CONNECTED, MAX_CONNECTIONS, BY_USER, WAIT_TIMEOUT, STATEMENTS, LOCK_WAITS, PROCESS_CPU),
)
"""All that is read of the window; of `HOST_CPU`, which has many series, a moment is enough."""

MEAN_SECONDS = 10.0
"""Window over which the busiest time is found; shorter peaks are covered by the headroom."""
LEAST_SHORT_SECONDS = 3.0
LEAST_USED = 0.5
"""Connections in use, mean of ten seconds: below it there was no load worth measuring."""
MOST_USERS = 20
RECENT_SECONDS = 60.0
"""A pool that is silent for so long before the window's end is gone, or cannot be judged."""


def measure(window: Window, cores: Mapping[str, int] | None = None) -> Measurement:
    """All that is seen in the focus of pools that still send at its end, and databases; `cores`, by host's instance."""
    found = [pool for pool in pools(window) if _is_recent(window, pool.open)]
    busiest = _busiest(window, found)
    return Measurement(
        from_ms=window.from_ms,
        to_ms=window.to_ms,
        seconds=(window.to_ms - window.from_ms) / 1_000,
        pools=[_pool(window, pool) for pool in found],
        servers=_servers(window, found, busiest, cores or {}),
    )


def smooth(window: Window, values: FloatArray) -> FloatArray:
    """[instant]: the mean of the ten seconds up to each; NaN where less than half of them is known."""
    width = max(round(MEAN_SECONDS / window.step_seconds), 1)
    known = np.isfinite(values)
    kernel = np.ones(width)
    sums = np.convolve(np.where(known, values, 0.0), kernel)[: len(values)]
    counts = np.convolve(known.astype(np.float64), kernel)[: len(values)]
    return np.where(counts * 2 >= width, sums / np.maximum(counts, 1), np.nan)


def _busiest(window: Window, found: Sequence[Pool]) -> slice:
    nothing = np.full(window.grid.count, np.nan)
    used = smooth(window, added([pool.in_use for pool in found]) if found else nothing)
    return _span_of_peak(window, used)


def _span_of_peak(window: Window, smoothed: FloatArray) -> slice:
    inside = window.inside(smoothed)
    if not np.isfinite(inside).any():
        return window.focus
    end = window.focus.start + int(np.nanargmax(inside)) + 1
    width = max(round(MEAN_SECONDS / window.step_seconds), 1)
    return slice(max(end - width, window.focus.start), end)


def _pool(window: Window, pool: Pool) -> MeasuredPool:
    labels = {name: pool.labels.get(name, "") for name in ("job", "instance", "db_name")}

    def of(metric: str) -> Table:
        return window[metric].where(**labels)

    accepted = window[ACCEPTED].where(job=labels["job"], instance=labels["instance"]).rate
    most_open = _known(largest(pool.open, window.focus))
    return MeasuredPool(
        job=labels["job"],
        instance=labels["instance"],
        name=labels["db_name"],
        max_open=_last(window, pool.limit),
        max_idle=_last(window, of(MAX_IDLE).sum),
        lifetime_seconds=_last(window, of(LIFETIME).sum),
        idle_seconds=_last(window, of(IDLE_TIME).sum),
        most_open=most_open,
        most_used=_known(largest(pool.in_use, window.focus)),
        waits=window.total(pool.waits),
        wait_seconds=window.total(pool.waiting),
        closed_idle=window.total(of(CLOSED_IDLE).rate),
        closed_old=window.total(of(CLOSED_OLD).rate),
        demand=_demand(window, pool),
        unused_under_load=most_open == 0 and window.total(pool.waits) == 0 and window.total(accepted) >= 1,
    )


def _demand(window: Window, pool: Pool) -> Demand | None:
    short = _short(window, pool)
    if short.any():
        in_use, waiting = _mean(pool.in_use, short), _mean(pool.waiting, short)
        middle = int(np.flatnonzero(short).mean())
        span: slice | BoolArray = short
    else:
        span = _span_of_peak(window, smooth(window, pool.in_use))
        in_use, waiting = _mean(pool.in_use, span), _mean(pool.waiting, span)
        middle = (span.start + span.stop - 1) // 2
        if not in_use >= LEAST_USED:
            return None
    asked, served = _throughput(window, pool, span)
    load_asked, load_served = _load(window, span)
    return Demand(
        at_ms=window.grid.time_ms(middle),
        in_use=in_use,
        waiting=_known(waiting),
        asked=asked,
        served=served,
        load_asked=load_asked,
        load_served=load_served,
        short=bool(short.any()),
    )


def _short(window: Window, pool: Pool) -> BoolArray:
    """[instant]: where requests waited for a connection; nowhere when that was for a moment only."""
    full, holds = full_and_waiting(window, pool)
    enough = max(LEAST_SHORT_SECONDS, 2 * pool.interval_ms / 1_000)
    if int(holds.sum()) * window.step_seconds < enough or not bool((full & holds).any()):
        return np.zeros_like(holds)
    return holds & np.isfinite(pool.in_use)


def _throughput(window: Window, pool: Pool, span: slice | BoolArray) -> tuple[float | None, float | None]:
    """Requests per second that the instance was asked for and stored, where each takes a connection once."""
    labels = {name: pool.labels.get(name, "") for name in ("job", "instance")}
    if window[QUEUE_LIMIT].where(**labels):
        return None, None  # it writes many with one statement
    asked = _mean(window[ACCEPTED].where(**labels).rate, span)
    served = _mean(window[STORED].where(**labels).rate, span)
    if not (asked > 0 and served > 0):
        return None, None
    return asked, served


def _load(window: Window, span: slice | BoolArray) -> tuple[float | None, float | None]:
    """Requests per second that the load generator was told to send, and that were answered well."""
    load = window.load
    if load is None or "ok" not in load.outcomes:
        return None, None
    return _or_none(_mean(load.target, span)), _or_none(_mean(load.outcomes["ok"], span))


def _servers(window: Window, found: Sequence[Pool], busiest: slice, cores: Mapping[str, int]) -> list[MeasuredServer]:
    # Before the first and after the last sample of any pool nothing is known of what is theirs. The most of some
    # seconds stands for each: applications and the database are not asked at the same instant.
    nearby = [_most_around(window, pool.open) for pool in found]
    opened = added(nearby) if found else np.zeros(window.grid.count)
    servers: list[MeasuredServer] = []
    for labels, table in window[CONNECTED].by("job", "instance"):
        limit = largest(window[MAX_CONNECTIONS].where(**labels).max, window.focus)
        connected = smooth(window, table.max)
        most = largest(connected, window.focus)
        if not math.isfinite(limit + most):
            continue
        servers.append(
            MeasuredServer(
                job=labels.get("job", ""),
                instance=labels.get("instance", ""),
                max_connections=limit,
                connected=most,
                others=_others(window, table.max, opened),
                by_user=_users(window, labels),
                wait_timeout_seconds=_last(window, window[WAIT_TIMEOUT].where(**labels).max),
                statements=_or_none(_mean(window[STATEMENTS].where(**labels).rate, busiest)),
                lock_waits=_or_none(_mean(window[LOCK_WAITS].where(**labels).max, busiest)),
                cores_used=_or_none(_mean(window[PROCESS_CPU].where(**labels).rate, busiest)),
                cores=cores.get(labels.get("instance", ""), 0),
            )
        )
    return servers


def _most_around(window: Window, values: FloatArray) -> FloatArray:
    """[instant]: the most within five seconds before and after; NaN where nothing is known."""
    reach = max(round(MEAN_SECONDS / 2 / window.step_seconds), 1)
    padded = np.pad(np.where(np.isfinite(values), values, -np.inf), reach, constant_values=-np.inf)
    most = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1).max(axis=1)
    return np.where(np.isfinite(most), most, np.nan)


def _is_recent(window: Window, values: FloatArray) -> bool:
    """Whether there is a value near the end of the focus: what is silent for longer is gone."""
    return bool(np.isfinite(values[: window.focus.stop][-max(round(RECENT_SECONDS / window.step_seconds), 1) :]).any())


def _others(window: Window, connected: FloatArray, opened: FloatArray) -> float | None:
    """Connections beside the pools' own at the end of the focus; None where no instant near it tells both."""
    beside = smooth(window, connected - opened)
    last = _last(window, beside)
    return max(last, 0.0) if last is not None and _is_recent(window, beside) else None


def _users(window: Window, labels: Mapping[str, str]) -> dict[str, float]:
    table = window[BY_USER].where(**labels)
    most: dict[str, float] = {}
    for row, own in enumerate(table.labels):
        seen = largest(table.held[row], window.focus)
        if math.isfinite(seen) and seen > 0:
            most[own.get("mysql_user", "")] = max(seen, most.get(own.get("mysql_user", ""), 0.0))
    return dict(sorted(most.items(), key=lambda one: (-one[1], one[0]))[:MOST_USERS])


def count_cores(cpu: Table) -> dict[str, int]:
    return {
        labels.get("instance", ""): len({one.get("cpu") for one in own.labels}) for labels, own in cpu.by("instance")
    }


def _mean(values: FloatArray, span: slice | BoolArray) -> float:
    part = values[span]
    known = part[np.isfinite(part)]
    return float(known.mean()) if known.size else math.nan


def _last(window: Window, values: FloatArray) -> float | None:
    known = window.known(values)
    return float(known[-1]) if known.size else None


def _known(value: float) -> float:
    return value if math.isfinite(value) else 0.0


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None
