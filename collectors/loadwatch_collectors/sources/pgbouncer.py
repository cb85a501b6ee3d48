"""PgBouncer by its admin console: pools, databases, limits, totals and clients, under pgbouncer_exporter's names.

The console's own database is left out, and of the clients in use this agent's connection.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from loadwatch_collectors.collector import Collector, Sample, Source
from loadwatch_collectors.settings import option
from loadwatch_collectors.transport.postgresql_session import PostgreSQLLogin, PostgreSQLSession

_CONSOLE = "pgbouncer"


class _Table(NamedTuple):
    """A table of the console: label columns, and metric names by column (empty: the column's own)."""

    labels: tuple[str, ...]
    names: Mapping[str, str]


_TABLES = {
    "POOLS": _Table(
        ("database", "user"),
        {
            "cl_active": "client_active_connections",
            "cl_waiting": "client_waiting_connections",
            "sv_active": "server_active_connections",
            "sv_idle": "server_idle_connections",
            "sv_used": "server_used_connections",
            "sv_tested": "server_testing_connections",
            "sv_login": "server_login_connections",
            "maxwait": "client_maxwait_seconds",
        },
    ),
    "DATABASES": _Table(
        ("name", "host", "port", "database", "force_user", "pool_mode"),
        dict.fromkeys(("pool_size", "max_connections", "current_connections", "paused", "disabled"), "")
        | {"reserve_pool": "reserve_pool", "reserve_pool_size": "reserve_pool"},  # the latter since 1.24
    ),
    "STATS_TOTALS": _Table(
        ("database",),
        {
            "query_count": "queries_pooled_total",
            "query_time": "queries_duration_seconds_total",
            "xact_count": "sql_transactions_pooled_total",
            "xact_time": "server_in_transaction_seconds_total",
            "wait_time": "client_wait_seconds_total",
            "bytes_received": "received_bytes_total",
            "bytes_sent": "sent_bytes_total",
        },
    ),
}
_LISTS = "databases users pools free_clients used_clients login_clients free_servers used_servers".split()
_SETTINGS = {"max_client_conn": "max_client_connections", "default_pool_size": "default_pool_size"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PgBouncerSettings(PostgreSQLLogin):
    product: ClassVar = "PgBouncer"
    port: int = option(help="Port of PgBouncer.", default=6432)
    user: str = option(help="User of `stats_users` in pgbouncer.ini.")
    database: str = option(help="Name of the admin console.", default=_CONSOLE)


class PgBouncerCollector(Collector):
    def __init__(self, settings: PgBouncerSettings) -> None:
        self._session = PostgreSQLSession(settings)

    def collect(self) -> Sequence[Sample]:
        return self._session.run(lambda: [Sample("pgbouncer_up", 1.0), *self._read()])

    def close(self) -> None:
        self._session.close()

    def _read(self) -> Iterator[Sample]:
        for what, table in _TABLES.items():
            for row in self._session.show(what):
                if row[table.labels[0]] != _CONSOLE:
                    labels = tuple((name, str(row[name] or "")) for name in table.labels if name in row)
                    for column, name in table.names.items():
                        if column in row:
                            yield Sample(f"pgbouncer_{what.lower()}_{name or column}", _figure(row, column), labels)
        for row in self._session.show("LISTS"):
            if row["list"] in _LISTS:
                yield Sample(f"pgbouncer_{row['list']}", float(row["items"] - (row["list"] == "used_clients")))
        for row in self._session.show("CONFIG"):
            if row["key"] in _SETTINGS:
                yield Sample(f"pgbouncer_config_{_SETTINGS[row['key']]}", float(row["value"]))


def _figure(row: Mapping[str, Any], column: str) -> float:
    """In seconds where it is a time: totals are microseconds, and the longest wait has its fraction beside it."""
    value = float(row[column] or 0)
    if column == "maxwait":
        return value + float(row.get("maxwait_us", 0)) / 1e6
    return value / 1e6 if column.endswith("_time") else value


PGBOUNCER = Source(
    name="pgbouncer",
    help="PgBouncer: pools, who waits for one, clients and limits.",
    settings=PgBouncerSettings,
    build=PgBouncerCollector,
    packs=("pgbouncer",),
)
