"""MySQL and MariaDB: variables, status, replication, who holds the connections, and table sizes.

Names, labels and types are mysqld_exporter's. What is dear for the server is read at its own slower period and kept in
between.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pymysql
from pymysql.constants import ER

from loadwatch_collectors.collector import Collector, MissingPrivilege, Sample, Source, address_of
from loadwatch_collectors.settings import Seconds, option
from loadwatch_collectors.sources.mysql import names as mysql_names
from loadwatch_collectors.sources.mysql.discovery import DiscoverSettings, MySQLFleet
from loadwatch_collectors.sources.mysql.iam import IamPassword, open_iam_password
from loadwatch_collectors.sources.mysql.server import (
    PROCESS_LOST,
    REPLICATION_LOST,
    TABLES_LOST,
    Server,
    account_of,
    isolation_samples,
    missing_process,
    missing_tables,
    process_samples,
    replication_samples,
    role_sample,
    table_samples,
    version_sample,
)
from loadwatch_collectors.sources.periodic import Periodic
from loadwatch_collectors.transport.mysql_session import MySQLLogin, MySQLSession, ServerVersion, check_login

SELECT_ACCOUNT = "SELECT CURRENT_USER()"
SHOW_GRANTS = "SHOW GRANTS"
SHOW_STATUS = "SHOW GLOBAL STATUS"
SHOW_VARIABLES = "SHOW GLOBAL VARIABLES"
SHOW_THREADS_CONNECTED = "SHOW GLOBAL STATUS LIKE 'Threads_connected'"
SHOW_MAX_CONNECTIONS = "SHOW GLOBAL VARIABLES LIKE 'max_connections'"
# The host is what stands before the last colon: IPv6 addresses have more of them, sockets none.
SELECT_PROCESSES = """
    SELECT user, IF(LOCATE(':', host), LEFT(host, LENGTH(host) - LENGTH(SUBSTRING_INDEX(host, ':', -1)) - 1), host)
             AS client, COUNT(*)
      FROM {table} WHERE id NOT IN ({own}) GROUP BY user, client ORDER BY 3 DESC LIMIT 500
"""
SELECT_TABLES = """
    SELECT table_schema, table_name, table_rows, data_length, index_length, data_free
      FROM information_schema.tables
     WHERE table_type = 'BASE TABLE' AND {schemas}
     ORDER BY COALESCE(data_length, 0) + COALESCE(index_length, 0) DESC LIMIT {limit}
"""
REPLICATION_EVERY = 5.0
SYSTEM_SCHEMAS = ("information_schema", "mysql", "performance_schema", "sys")


@dataclass(frozen=True, slots=True, kw_only=True)
class MySQLSettings(MySQLLogin):
    """A MySQL or MariaDB server to watch."""

    all: bool = option(
        help="Read every variable and status that has a number (some 1,000), not the chosen 150.", default=False
    )
    variables_every: Seconds = option(help="Time between two readings of the variables.", default=10.0)
    other_variables: bool = option(
        help="Show all other variables as labels of mysql_global_variables_info, for comparing configurations.",
        default=True,
    )
    other_variables_every: Seconds = option(help="Time between two readings of the other variables.", default=60.0)
    processes: bool = option(help="Count connections by user and host.", default=True)
    processes_every: Seconds = option(help="Time between two counts of connections by user and host.", default=2.0)
    tables: bool = option(help="Read rows (estimated) and sizes of tables.", default=True)
    tables_every: Seconds = option(help="Time between two readings of table sizes.", default=60.0)
    max_tables: int = option(help="Only this many tables are reported, the largest ones.", default=50)
    schemas: tuple[str, ...] = option(help="Only tables of these databases; none named means all.", default=())
    discover: DiscoverSettings | None = option(
        help="Watch the instances of RDS and Aurora that are found, instead of one host.", default=None
    )

    def __post_init__(self) -> None:
        """Check what types cannot say."""
        check_login(self)
        if self.discover is not None and (self.host != "127.0.0.1" or self.unix_socket or self.iam_region):
            raise ValueError("discover finds the servers; leave host, unix_socket and iam_region out")
        if self.max_tables < 1:
            raise ValueError("max_tables must be at least 1; `tables: false` leaves table sizes out")

    @property
    def address(self) -> str:
        """Of the server; empty for several."""
        return "" if self.discover is not None or self.unix_socket else address_of(self.host, self.port)


class MySQLCollector:
    """Reads one server over a session that it keeps."""

    def __init__(self, settings: MySQLSettings, iam_password: IamPassword | None = None) -> None:
        """Read the password; the session is opened by the first `collect`."""
        self._settings = settings
        self._session = MySQLSession(settings, self._on_connect, iam_password or open_iam_password(settings))
        self._server = Server(version=ServerVersion(text=""), account="", grants=())
        self._extra_slot = False
        self._missing: dict[str, MissingPrivilege] = {}
        self._show_status = SHOW_STATUS if settings.all else _only(SHOW_STATUS, mysql_names.STATUSES)
        names = (*mysql_names.VARIABLES, *mysql_names.TEXT_VARIABLES)
        self._show_variables = SHOW_VARIABLES if settings.all else _only(SHOW_VARIABLES, names)
        self._periodic = [
            Periodic(self._variables, settings.variables_every),
            Periodic(self._replication, REPLICATION_EVERY),
        ]
        if settings.other_variables:
            self._periodic.append(Periodic(self._other_variables, settings.other_variables_every))
        if settings.processes:
            self._periodic.append(Periodic(self._processes, settings.processes_every))
        if settings.tables:
            self._periodic.append(Periodic(self._tables, settings.tables_every))

    def collect(self) -> Sequence[Sample]:
        """Read the server once."""
        return self._session.run(self._read)

    def missing_privileges(self) -> Sequence[MissingPrivilege]:
        """What the account cannot see, with the grant that this server wants."""
        return tuple(self._missing.values())

    def close(self) -> None:
        """End the session."""
        self._session.close()

    def _read(self) -> list[Sample]:
        samples = [Sample("mysql_up", 1.0), Sample("mysql_session_extra_slot", float(self._extra_slot))]
        samples += mysql_names.status_samples(self._session.query(self._show_status))
        now = time.monotonic()
        for part in self._periodic:
            samples += part.read(now)
        return samples

    def _on_connect(self, session: MySQLSession) -> None:
        current_user = session.query(SELECT_ACCOUNT)[0][0]
        grants = [str(row[0]) for row in session.query(SHOW_GRANTS)]
        self._server = Server(version=session.version, account=account_of(current_user or ""), grants=grants)
        limits = {
            (name or "").lower(): float(text or 0)
            for statement in (SHOW_THREADS_CONNECTED, SHOW_MAX_CONNECTIONS)
            for name, text in session.query(statement)
        }
        self._extra_slot = limits.get("threads_connected", 0) > limits.get("max_connections", float("inf"))
        for part in self._periodic:
            part.forget()  # this may be another server than before, or the same with another configuration

    def _variables(self) -> list[Sample]:
        rows = self._session.query(self._show_variables)
        variables = {name.lower(): text for name, text in rows if name is not None and text is not None}
        return [
            *mysql_names.variable_samples(variables),
            version_sample(variables),
            role_sample(variables),
            *isolation_samples(variables),
        ]

    def _other_variables(self) -> list[Sample]:
        rows = self._session.query(SHOW_VARIABLES)
        variables = {name.lower(): text for name, text in rows if name is not None and text}
        return mysql_names.other_variable_samples(variables, all_numbers=self._settings.all)

    def _replication(self) -> list[Sample]:
        try:
            rows = self._session.query_named(self._server.show_replicas)
        except pymysql.MySQLError as error:
            if error.args[0] != ER.SPECIFIC_ACCESS_DENIED_ERROR:
                raise
            privilege = self._server.replication_privilege
            remedy = f"GRANT {privilege} ON *.* TO {self._server.account};"
            self._note("REPLICATION", MissingPrivilege(permission=privilege, lost=REPLICATION_LOST, remedy=remedy))
            return []
        self._note("REPLICATION", None)
        return replication_samples(rows)

    def _processes(self) -> list[Sample]:
        lean = self._server.has_lean_processlist
        table = "performance_schema.processlist" if lean else "information_schema.processlist"
        rows = self._session.query(
            SELECT_PROCESSES.format(table=table, own=", ".join(map(str, self._session.own_ids())))
        )
        self._note("PROCESS", missing_process(self._server, [row[0] or "" for row in rows], self._settings.user))
        return process_samples(rows)

    def _tables(self) -> list[Sample]:
        chosen, excluded = self._settings.schemas, SYSTEM_SCHEMAS
        schemas = (
            f"table_schema IN ({self._list(chosen)})" if chosen else f"table_schema NOT IN ({self._list(excluded)})"
        )
        rows = self._session.query(SELECT_TABLES.format(schemas=schemas, limit=self._settings.max_tables))
        self._note("SELECT", None if rows else missing_tables(self._server, chosen))
        return table_samples(rows)

    def _note(self, key: str, missing: MissingPrivilege | None) -> None:
        if missing is None:
            self._missing.pop(key, None)
        else:
            self._missing[key] = missing

    def _list(self, names: Sequence[str]) -> str:
        return ", ".join(self._session.quote(name) for name in names)


def build_mysql(settings: MySQLSettings) -> Collector:
    """The collector of one server, or of all that are found.

    Raises:
        ConfigError: a password cannot be read, or boto3 is not installed.
    """
    if settings.discover is None:
        return MySQLCollector(settings)

    def build(host: str, port: int, password: IamPassword | None) -> Collector:
        return MySQLCollector(replace(settings, discover=None, host=host, port=port), password)

    return MySQLFleet(settings.discover, settings, build)


def _only(show: str, names: Sequence[str]) -> str:
    return f"{show} WHERE Variable_name IN ({', '.join(repr(name) for name in names)})"


MYSQL = Source(
    name="mysql",
    help="MySQL and MariaDB: limits, status, connections by holder, table sizes.",
    settings=MySQLSettings,
    build=build_mysql,
    packs=("mysql",),
    privileges=(
        MissingPrivilege(permission="PROCESS", lost=PROCESS_LOST, remedy="GRANT PROCESS ON *.* TO 'loadwatch'@'HOST';"),
        MissingPrivilege(
            permission="SELECT", lost=TABLES_LOST, remedy="GRANT SELECT ON `DATABASE`.* TO 'loadwatch'@'HOST';"
        ),
        MissingPrivilege(
            permission="REPLICATION CLIENT (MariaDB: SLAVE MONITOR)",
            lost=REPLICATION_LOST,
            remedy="GRANT REPLICATION CLIENT ON *.* TO 'loadwatch'@'HOST';",
        ),
        MissingPrivilege(
            permission="CONNECTION_ADMIN (MariaDB: CONNECTION ADMIN)",
            lost="the server's one extra connection, when all others are taken before the agent starts",
            remedy="GRANT CONNECTION_ADMIN ON *.* TO 'loadwatch'@'HOST';",
        ),
    ),
)
