"""Reads PostgreSQL servers, their own views and settings.

Names and labels are postgres_exporter's. Sessions named `loadwatch` are left out of all counts of sessions and locks,
also of `pg_stat_database_numbackends`, where the server counts them. They stay in what the server sums up itself, such
as transactions: those sums reach the view late, and a difference could fall.

Source of the names: postgres_exporter, collector/pg_stat_database.go and its neighbours, and queries.go.
"""

import re
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loadwatch_formats.own_traffic import NAME

from loadwatch_collectors.collector import (
    CollectFault,
    Collector,
    Labels,
    MissingPrivilege,
    Periodic,
    Sample,
    Source,
    address_of,
)
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.settings import Seconds, option
from loadwatch_collectors.transport.postgresql_session import PostgreSQLLogin, PostgreSQLSession, Row

DATABASE = """
    xact_commit xact_rollback blks_read blks_hit tup_returned tup_fetched tup_inserted tup_updated tup_deleted
    conflicts temp_files temp_bytes deadlocks blk_read_time blk_write_time sessions sessions_abandoned sessions_fatal
    sessions_killed
""".split()
_BGWRITER = """
    checkpoints_timed checkpoints_req checkpoint_write_time checkpoint_sync_time buffers_checkpoint buffers_clean
    maxwritten_clean buffers_backend buffers_backend_fsync buffers_alloc
""".split()
_CHECKPOINTER = "num_timed num_requested restartpoints_done write_time sync_time buffers_written".split()
_WAL = "records fpi bytes buffers_full write sync write_time sync_time".split()
COLUMNS: Mapping[str, str] = {
    **{f"pg_stat_database.{column}": f"pg_stat_database_{column}" for column in DATABASE},
    **{f"pg_stat_bgwriter.{column}": f"pg_stat_bgwriter_{column}_total" for column in _BGWRITER},
    **{f"pg_stat_checkpointer.{column}": f"pg_stat_checkpointer_{column}_total" for column in _CHECKPOINTER},
    **{f"pg_stat_wal.wal_{column}": f"pg_stat_wal_{column}_total" for column in _WAL},
}
"""The metric of a view's column; a server has some of them only."""

SETTINGS = """
    autovacuum autovacuum_max_workers bgwriter_delay_seconds bgwriter_lru_maxpages checkpoint_completion_target
    checkpoint_timeout_seconds deadlock_timeout_seconds default_statistics_target effective_cache_size_bytes
    effective_io_concurrency fsync full_page_writes hot_standby idle_in_transaction_session_timeout_seconds jit
    maintenance_work_mem_bytes max_connections max_locks_per_transaction
    max_parallel_workers max_parallel_workers_per_gather max_prepared_transactions max_replication_slots
    max_wal_senders max_wal_size_bytes max_worker_processes min_wal_size_bytes random_page_cost
    reserved_connections seq_page_cost shared_buffers_bytes
    superuser_reserved_connections temp_buffers_bytes track_io_timing wal_buffers_bytes work_mem_bytes
""".split()
"""Settings that are always sent, as metrics name them: with the base unit that their values are converted to."""


VIEWS = {"pg_stat_bgwriter": 0, "pg_stat_wal": 140_000, "pg_stat_checkpointer": 170_000}
"""Single-row views, and the `server_version_num` that introduced each."""
SELECT_DATABASES = """
    SELECT 'pg_stat_database', row_to_json(d) FROM (
        SELECT * FROM pg_catalog.pg_stat_database WHERE datname <> 'template0' ORDER BY datid) d
"""
SELECT_ACTIVITY = """
    SELECT datname, state, usename, application_name, backend_type, wait_event_type, wait_event, count(*),
           max(extract(epoch FROM clock_timestamp() - xact_start))::float8
      FROM pg_catalog.pg_stat_activity WHERE datname IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 8 DESC
"""
ACTIVITY_LABELS = ("datname", "state", "usename", "application_name", "backend_type", "wait_event_type", "wait_event")
SELECT_LOCKS = f"""
    SELECT a.datname, lower(l.mode), count(*) FILTER (WHERE l.database = a.datid),
           count(DISTINCT l.pid) FILTER (WHERE NOT l.granted),
           max(extract(epoch FROM clock_timestamp() - {{waitstart}})) FILTER (WHERE NOT l.granted)
      FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_stat_activity a USING (pid)
     WHERE a.datname IS NOT NULL AND a.application_name <> '{NAME}' GROUP BY 1, 2 LIMIT 500
"""
# Those whose turn comes first wait for the holder itself, the others for them.
SELECT_BLOCKING = """
    WITH waiting AS (SELECT pid FROM pg_catalog.pg_locks l WHERE NOT granted ORDER BY {waitstart} LIMIT 20)
    SELECT usename, application_name, state, count(*) FROM pg_catalog.pg_stat_activity
     WHERE pid IN (SELECT unnest(pg_catalog.pg_blocking_pids(pid)) FROM waiting)
       AND pid NOT IN (SELECT pid FROM pg_catalog.pg_locks WHERE NOT granted) GROUP BY 1, 2, 3
"""
SELECT_SERVER = """
    SELECT split_part(current_setting('server_version'), ' ', 1),
           extract(epoch FROM pg_postmaster_start_time())::float8,
           pg_catalog.pg_has_role(current_user, 'pg_monitor', 'usage'), quote_ident(current_user)
"""
# What the agent sets for its own session is no setting of the server.
SELECT_SETTINGS = """
    SELECT name, setting, coalesce(unit, '') FROM pg_catalog.pg_settings
     WHERE vartype IN ('bool', 'integer', 'real') AND source NOT IN ('client', 'session')
       AND (name = ANY(%s) OR source NOT IN ('default', 'override')) ORDER BY name = ANY(%s) DESC, name LIMIT 150
"""
SELECT_WAL = "SELECT count(*), sum(size)::float8 FROM pg_catalog.pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$'"
SELECT_LAG = """
    SELECT CASE WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() AND EXISTS (
                     SELECT FROM pg_catalog.pg_stat_wal_receiver) THEN 0
                ELSE greatest(0, extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())) END::float8
     WHERE pg_is_in_recovery()
"""
SELECT_REPLICAS = """
    SELECT application_name, host(client_addr), state,
           max(pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_receive_lsn()
                                    ELSE pg_current_wal_lsn() END, replay_lsn))::float8,
           max(extract(epoch FROM replay_lag))::float8
      FROM pg_catalog.pg_stat_replication GROUP BY 1, 2, 3 ORDER BY 4 DESC NULLS LAST LIMIT 50
"""
SELECT_SIZES = """
    SELECT datname, age(datfrozenxid)::float8,
           CASE WHEN has_database_privilege(oid, 'CONNECT') OR pg_has_role(current_user, 'pg_read_all_stats', 'usage')
                THEN pg_database_size(oid) END::float8
      FROM pg_catalog.pg_database WHERE datallowconn ORDER BY 2 DESC LIMIT 50
"""
SELECT_TABLES = """
    SELECT current_database(), schemaname, relname, n_live_tup::float8, n_dead_tup::float8
      FROM pg_catalog.pg_stat_user_tables ORDER BY n_live_tup DESC, relid LIMIT {most}
"""
LOST = "state, kind and waits of other roles' sessions, lag of replicas, and size of the WAL"
REPLICATION_EVERY = 5.0
SLOW_EVERY = 15.0
MOST_DATABASES = 50
MOST_GROUPS = 300
"""Rows of `pg_stat_activity_count` at one time; the sessions of the others are told by state alone."""
MOST_APPLICATIONS = 100
FORGET_SECONDS = 3_600.0
OTHER = "other"
_UNIT = re.compile(r"(\d*)(\w+)")
_UNITS = {
    **{
        name: ("seconds", size)
        for name, size in {"us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400}.items()
    },
    **{name: ("bytes", 1024**power) for power, name in enumerate(("B", "kB", "MB", "GB", "TB"))},
}
_NOT_A_NAME = re.compile(r"[^a-zA-Z0-9_]")
_SETTINGS = [name.removesuffix("_bytes").removesuffix("_seconds") for name in SETTINGS]


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgreSQLSettings(PostgreSQLLogin):
    tables_every: Seconds = option(help="Time between two readings of the sizes of databases and tables.", default=60.0)
    max_tables: int = option(
        help="Only this many tables of the session's database are reported, the largest ones; 0 for none.", default=50
    )

    def __post_init__(self) -> None:
        PostgreSQLLogin.__post_init__(self)
        if self.max_tables < 0:
            raise ValueError("max_tables must be 0 or more")


class PostgreSQLCollector(Collector):
    """Reads one server over a kept session; without a session it still sends samples that say so."""

    def __init__(self, settings: PostgreSQLSettings) -> None:
        """Read the password; the session is opened by the first `collect`."""
        self._settings = settings
        self._session = PostgreSQLSession(settings, self._on_connect, shared=True)
        self._version = 0
        self._fault: CollectFault | None = None
        self._errors: dict[str, str] = {}
        self._missing: MissingPrivilege | None = None
        self._applications: dict[str, float] = {}
        self._periodic = [
            Periodic(self._server, SLOW_EVERY),
            Periodic(self._read_settings, SLOW_EVERY),
            Periodic(self._wal, SLOW_EVERY),
            Periodic(self._replication, REPLICATION_EVERY),
            Periodic(self._sizes, settings.tables_every),
        ]

    def collect(self) -> Sequence[Sample]:
        try:
            samples = self._session.run(self._read)
            self._fault = CollectFault(text="; ".join(self._errors.values())) if self._errors else None
        except CollectorError as error:
            self._fault = CollectFault(text=str(error), total=True)
            samples = [Sample("pg_up", float(self._session.refusal == "slots"))]
        refused = self._session.refused.items()
        samples += [Sample("pg_refused_logins_total", count, (("reason", reason),)) for reason, count in refused]
        return samples

    def fault(self) -> CollectFault | None:
        return self._fault

    def missing_privileges(self) -> Sequence[MissingPrivilege]:
        return () if self._missing is None else (self._missing,)

    def close(self) -> None:
        self._session.close()

    def _on_connect(self, session: PostgreSQLSession) -> None:
        ((self._version,),) = session.query("SELECT current_setting('server_version_num')::int")
        self._errors.clear()
        for part in self._periodic:
            part.forget()

    def _read(self) -> list[Sample]:
        now = time.monotonic()
        own, samples = self._activity(now)
        samples += [Sample("pg_up", 1.0), *self._statistics(own), *self._locks(now)]
        for part in self._periodic:
            samples += part.read(now)
        return samples

    def _statistics(self, own: Counter[str]) -> list[Sample]:
        views = (
            f"SELECT '{view}', row_to_json(v) FROM pg_catalog.{view} v"
            for view in VIEWS
            if self._version >= VIEWS[view]
        )
        sums: defaultdict[tuple[str, Labels], float] = defaultdict(float)
        databases = 0
        for view, row in self._session.query(" UNION ALL ".join((SELECT_DATABASES, *views))):
            labels: Labels = ()
            if "datname" in row:
                databases += 1
                labels = (("datname", row["datname"] if databases <= MOST_DATABASES else OTHER),)
                sums["pg_stat_database_numbackends", labels] += max(row["numbackends"] - own[row["datname"]], 0)
            for column, value in row.items():
                metric = COLUMNS.get(f"{view}.{column}")
                if metric is not None and value is not None:
                    sums[metric, labels] += value
        return [Sample(name, value, labels) for (name, labels), value in sums.items()]

    def _activity(self, now: float) -> tuple[Counter[str], list[Sample]]:
        own = Counter[str]()
        sums: dict[Labels, tuple[float, float | None]] = {}
        for *texts, count, age in self._session.query(SELECT_ACTIVITY):
            datname, state, user, application, *rest = (text or "" for text in texts)
            if application == NAME:
                own[datname] += count
                continue
            values = (datname, state, user, self._named(application, now), *rest)
            labels = tuple(zip(ACTIVITY_LABELS, values, strict=True))
            if labels not in sums and len(sums) >= MOST_GROUPS:
                labels = tuple((name, state if name == "state" else OTHER) for name in ACTIVITY_LABELS)
            counted, oldest = sums.get(labels, (0.0, None))
            sums[labels] = (counted + count, max((one for one in (oldest, age) if one is not None), default=None))
        return own, [
            Sample(f"pg_stat_activity_{name}", value, labels)
            for labels, pair in sums.items()
            for name, value in zip(("count", "max_tx_duration"), pair, strict=True)
            if value is not None
        ]

    def _locks(self, now: float) -> list[Sample]:
        waitstart = "l.waitstart" if self._version >= 140_000 else "NULL::timestamptz"
        samples: list[Sample] = []
        blocked = Counter({self._settings.database: 0})
        waited = {self._settings.database: 0.0}
        for datname, mode, count, waiting, seconds in self._session.query(SELECT_LOCKS.format(waitstart=waitstart)):
            samples.append(Sample("pg_locks_count", count, (("datname", datname), ("mode", mode))))
            blocked[datname] += waiting
            waited[datname] = max(waited.get(datname, 0.0), float(seconds or 0))
        for datname, count in blocked.items():
            samples.append(Sample("pg_blocked_sessions", count, (("datname", datname),)))
            if self._version >= 140_000:
                samples.append(Sample("pg_blocked_max_seconds", waited[datname], (("datname", datname),)))
        if blocked.total():
            holders = Counter[Labels]()
            for user, application, state, count in self._session.query(SELECT_BLOCKING.format(waitstart=waitstart)):
                names = ("usename", user or ""), ("application_name", self._named(application or "", now))
                holders[*names, ("state", state or "")] += count
            samples += [Sample("pg_blocking_sessions", count, labels) for labels, count in holders.items()]
        return samples

    def _named(self, application: str, now: float) -> str:
        """Return the name, or `other` beyond the bound; a name unseen for an hour gives up its place."""
        known = self._applications
        if application not in known and len(known) >= MOST_APPLICATIONS:
            oldest = min(known, key=known.__getitem__)
            if now - known[oldest] < FORGET_SECONDS:
                return OTHER
            del known[oldest]
        known[application] = now
        return application

    def _server(self) -> list[Sample]:
        ((version, started, may, role),) = self._session.query(SELECT_SERVER)
        self._missing = None if may else MissingPrivilege("pg_monitor", LOST, f"GRANT pg_monitor TO {role};")
        server = self._settings.address or address_of("localhost", self._settings.port)
        return [
            Sample("pg_static", 1.0, (("server", server), ("short_version", version))),
            Sample("pg_postmaster_start_time_seconds", started),
        ]

    def _read_settings(self) -> list[Sample]:
        samples: list[Sample] = []
        for name, text, unit in self._session.query(SELECT_SETTINGS, (_SETTINGS, _SETTINGS)):
            value = {"on": 1.0, "off": 0.0}[text] if text in ("on", "off") else float(text)
            metric = f"pg_settings_{_NOT_A_NAME.sub('_', name)}"
            match = _UNIT.fullmatch(unit)
            if match is not None and match[2] in _UNITS:
                base, size = _UNITS[match[2]]
                metric = f"{metric}_{base}"
                # -1 is a word of its own, such as "never".
                value = value if value == -1 else value * int(match[1] or 1) * size
            samples.append(Sample(metric, value))
        return samples

    def _wal(self) -> list[Sample]:
        if self._missing is not None:
            return []
        return [
            sample
            for count, size in self._try("pg_ls_waldir", SELECT_WAL)
            for sample in (Sample("pg_wal_segments", count), Sample("pg_wal_size_bytes", size or 0.0))
        ]

    def _replication(self) -> list[Sample]:
        lags = self._try("replication lag", SELECT_LAG)
        samples = [Sample("pg_replication_is_replica", float(bool(lags)))]
        samples += [Sample("pg_replication_lag_seconds", lag) for (lag,) in lags if lag is not None]
        for application, address, state, behind, seconds in self._try("pg_stat_replication", SELECT_REPLICAS):
            labels = (("application_name", application or ""), ("client_addr", address or ""), ("state", state or ""))
            if behind is not None:
                samples.append(Sample("pg_stat_replication_pg_wal_lsn_diff", behind, labels))
            if seconds is not None:
                samples.append(Sample("pg_stat_replication_replay_lag_seconds", seconds, labels))
        return samples

    def _sizes(self) -> list[Sample]:
        samples: list[Sample] = []
        for datname, age, size in self._try("sizes of databases", SELECT_SIZES):
            labels: Labels = (("datname", datname),)
            samples.append(Sample("pg_database_wraparound_age_datfrozenxid_seconds", age, labels))
            if size is not None:
                samples.append(Sample("pg_database_size_bytes", size, labels))
        tables = SELECT_TABLES.format(most=self._settings.max_tables)
        for datname, schema, table, live, dead in self._try("sizes of tables", tables):
            labels = (("datname", datname), ("schemaname", schema), ("relname", table))
            samples.append(Sample("pg_stat_user_tables_n_live_tup", live, labels))
            samples.append(Sample("pg_stat_user_tables_n_dead_tup", dead, labels))
        return samples

    def _try(self, what: str, sql: str) -> Sequence[Row]:
        rows, error = self._session.try_query(sql)
        self._errors.pop(what, None)
        if error:
            self._errors[what] = f"{what}: {error}"
        return rows


POSTGRESQL = Source(
    name="postgresql",
    help="PostgreSQL: slots, sessions, waits and locks, cache, checkpoints, WAL, replication, settings.",
    settings=PostgreSQLSettings,
    build=PostgreSQLCollector,
    packs=("postgresql",),
    privileges=(MissingPrivilege(permission="pg_monitor", lost=LOST, remedy="GRANT pg_monitor TO loadwatch;"),),
)
