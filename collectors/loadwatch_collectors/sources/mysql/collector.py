"""MySQL and MariaDB: variables, status, replication, who holds the connections, and table sizes.

Names, labels and types are mysqld_exporter's. What is dear for the server is read at its own slower period and kept in
between.
"""

import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import NamedTuple

import pymysql
from pymysql.constants import ER

from loadwatch_collectors.collector import Collector, Labels, MissingPrivilege, Periodic, Sample, Source, address_of
from loadwatch_collectors.settings import Seconds, option
from loadwatch_collectors.sources.mysql.discovery import DiscoverSettings, MySQLFleet
from loadwatch_collectors.sources.mysql.iam import IamPassword, open_iam_password
from loadwatch_collectors.transport.mysql_session import MySQLLogin, MySQLSession, Row, ServerVersion

# Rows of SHOW GLOBAL STATUS and SHOW GLOBAL VARIABLES as samples: which are shown, and what their texts stand for.
#
# Source of names, labels and types: mysqld_exporter, collector/global_status.go and global_variables.go.

STATUSES = """
    Aborted_clients Aborted_connects Aborted_connects_preauth Access_denied_errors Bytes_received Bytes_sent
    Com_alter_table Com_begin Com_call_procedure Com_commit Com_create_table Com_delete Com_delete_multi Com_insert
    Com_insert_select Com_load Com_lock_tables Com_replace Com_rollback Com_select Com_set_option Com_stmt_close
    Com_stmt_execute Com_stmt_prepare Com_stmt_reprepare Com_truncate Com_unlock_tables Com_update Com_update_multi
    Connection_errors_accept Connection_errors_internal Connection_errors_max_connections
    Connection_errors_peer_address Connection_errors_select Connection_errors_tcpwrap Connections
    Created_tmp_disk_tables Created_tmp_files Created_tmp_tables
    Handler_commit Handler_delete Handler_external_lock Handler_prepare Handler_read_first Handler_read_key
    Handler_read_last Handler_read_next Handler_read_prev Handler_read_rnd Handler_read_rnd_next Handler_rollback
    Handler_tmp_write Handler_update Handler_write
    Innodb_buffer_pool_bytes_data Innodb_buffer_pool_bytes_dirty Innodb_buffer_pool_pages_data
    Innodb_buffer_pool_pages_dirty Innodb_buffer_pool_pages_flushed Innodb_buffer_pool_pages_free
    Innodb_buffer_pool_pages_misc Innodb_buffer_pool_read_requests Innodb_buffer_pool_reads
    Innodb_buffer_pool_wait_free Innodb_buffer_pool_write_requests Innodb_checkpoint_age Innodb_checkpoint_max_age
    Innodb_data_fsyncs Innodb_data_pending_fsyncs Innodb_data_pending_reads Innodb_data_pending_writes Innodb_data_read
    Innodb_data_reads Innodb_data_writes Innodb_data_written Innodb_deadlocks Innodb_history_list_length
    Innodb_log_waits Innodb_log_write_requests Innodb_log_writes Innodb_os_log_fsyncs Innodb_os_log_written
    Innodb_page_size Innodb_pages_created Innodb_pages_read Innodb_pages_written Innodb_row_lock_current_waits
    Innodb_row_lock_time Innodb_row_lock_time_avg Innodb_row_lock_time_max Innodb_row_lock_waits Innodb_rows_deleted
    Innodb_rows_inserted Innodb_rows_read Innodb_rows_updated
    Max_used_connections Memory_used Open_files Open_tables Opened_tables Prepared_stmt_count Queries Questions
    Rows_read Rows_sent Select_full_join Select_scan Slow_launch_threads Slow_queries Sort_merge_passes
    Ssl_server_not_after Table_locks_immediate Table_locks_waited Table_open_cache_hits Table_open_cache_misses
    Table_open_cache_overflows Threadpool_idle_threads Threadpool_threads Threads_cached Threads_connected
    Threads_created Threads_running Uptime Uptime_since_flush_status
""".split()
"""The statuses that are read at each tick; a server has some of them only."""

VARIABLES = """
    autocommit back_log connect_timeout event_scheduler extra_max_connections innodb_buffer_pool_instances
    innodb_buffer_pool_size innodb_doublewrite innodb_flush_log_at_trx_commit innodb_io_capacity
    innodb_io_capacity_max innodb_lock_wait_timeout innodb_log_buffer_size innodb_log_file_size
    innodb_log_files_in_group innodb_open_files innodb_page_size innodb_read_io_threads innodb_read_only
    innodb_redo_log_capacity innodb_thread_concurrency innodb_write_io_threads interactive_timeout lock_wait_timeout
    log_bin long_query_time max_allowed_packet max_connect_errors max_connections max_execution_time
    max_heap_table_size max_prepared_stmt_count max_statement_time max_user_connections net_read_timeout
    net_write_timeout open_files_limit performance_schema query_cache_size read_only server_id skip_name_resolve
    slow_query_log super_read_only sync_binlog table_definition_cache table_open_cache thread_cache_size
    thread_pool_max_threads thread_pool_size tmp_table_size wait_timeout
""".split()
_CHOSEN = frozenset(VARIABLES)

TEXT_VARIABLES = (
    *("aurora_server_id", "aurora_version", "basedir", "innodb_version", "transaction_isolation", "tx_isolation"),
    *("version", "version_comment"),
)

_NEVER_SHOWN = frozenset(
    "init_connect init_replica init_slave last_gtid report_password report_user timestamp wsrep_sst_auth".split()
)
"""Variables that may hold a secret, or that differ at each look."""
_NEVER_SHOWN_PREFIXES = ("gtid_", "rand_seed", "pseudo_", "wsrep_last_")
_LONGEST_VALUE = 200

_NOT_A_NAME = re.compile(r"[^a-zA-Z0-9_]")
_WORDS: Mapping[str, float] = {
    **dict.fromkeys(("on", "yes", "primary"), 1.0),
    **dict.fromkeys(("off", "no", "disabled", "connecting", "non-primary", "disconnected"), 0.0),
}
_TIME = "%b %d %H:%M:%S %Y GMT"

_FAMILY = re.compile(
    r"(com|handler|connection_errors|innodb_buffer_pool_pages|innodb_rows|performance_schema)_(.+)", re.DOTALL
)
_PAGE_STATES = frozenset({"data", "free", "misc", "old"})
_FAMILIES: Mapping[str, tuple[str, str]] = {
    "com": ("mysql_global_status_commands_total", "command"),
    "handler": ("mysql_global_status_handlers_total", "handler"),
    "connection_errors": ("mysql_global_status_connection_errors_total", "error"),
    "innodb_rows": ("mysql_global_status_innodb_row_ops_total", "operation"),
    "performance_schema": ("mysql_global_status_performance_schema_lost_total", "instrumentation"),
}

_KNOWN: dict[str, tuple[str, Labels] | None] = {}
_MOST_KNOWN = 5000


def parse_number(text: str | None) -> float | None:
    """The number that a variable's text stands for; None when it stands for none. Times are seconds since the epoch."""
    if not text:
        return None
    first = text[0]
    if first.isdecimal() or first == "-":
        try:
            return float(text) if "_" not in text else None
        except ValueError:
            return None
    word = _WORDS.get(text.lower())
    if word is None and text.endswith(" GMT"):
        try:
            return datetime.strptime(text, _TIME).replace(tzinfo=UTC).timestamp()
        except ValueError:
            return None
    return word


def status_series(name: str) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    """Metric and labels of a status; None for the one that the exporter leaves out as the sum of others."""
    key = name.lower()
    family = _FAMILY.fullmatch(key)
    if family is None:
        return f"mysql_global_status_{_NOT_A_NAME.sub('_', key)}", ()
    if family[1] != "innodb_buffer_pool_pages":
        metric, label = _FAMILIES[family[1]]
        return metric, ((label, family[2]),)
    if family[2] == "total":
        return None
    if family[2] == "dirty":
        return "mysql_global_status_buffer_pool_dirty_pages", ()
    if family[2] in _PAGE_STATES:
        return "mysql_global_status_buffer_pool_pages", (("state", family[2]),)
    return "mysql_global_status_buffer_pool_page_changes_total", (("operation", family[2]),)


def status_samples(rows: Iterable[tuple[str | None, ...]]) -> list[Sample]:
    """The samples of `SHOW GLOBAL STATUS`; texts that are no number are left out."""
    samples: list[Sample] = []
    for name, text in rows:
        value = parse_number(text)
        if value is None or name is None:
            continue
        if name not in _KNOWN:
            if len(_KNOWN) > _MOST_KNOWN:
                _KNOWN.clear()
            _KNOWN[name] = status_series(name)
        series = _KNOWN[name]
        if series is not None:
            samples.append(Sample(series[0], value, series[1]))
    return samples


def variable_samples(variables: Mapping[str, str]) -> list[Sample]:
    """The samples of `SHOW GLOBAL VARIABLES`, names in lower case; texts that are no number are left out."""
    samples: list[Sample] = []
    for name, text in variables.items():
        value = parse_number(text)
        if value is not None:
            samples.append(Sample(f"mysql_global_variables_{_NOT_A_NAME.sub('_', name)}", value))
    return samples


def other_variable_samples(variables: Mapping[str, str], *, all_numbers: bool) -> list[Sample]:
    """`mysql_global_variables_info` of the variables that `variable_samples` leaves out, names in lower case.

    Args:
        variables: all of `SHOW GLOBAL VARIABLES`; those without a value are left out.
        all_numbers: whether every number has a metric of its own, not only the chosen ones.
    """
    samples: list[Sample] = []
    for name, text in variables.items():
        if not text or name in _NEVER_SHOWN or name.startswith(_NEVER_SHOWN_PREFIXES):
            continue
        if (all_numbers or name in _CHOSEN) and parse_number(text) is not None:
            continue
        value = text.encode()[:_LONGEST_VALUE].decode(errors="ignore")
        samples.append(Sample("mysql_global_variables_info", 1.0, (("value", value), ("variable", name))))
    return samples


# What kind of server a session talks to, what it may see there, and how to grant what it lacks.

_GLOBAL_GRANT = re.compile(r"GRANT (.+?) ON \*\.\* TO ", re.IGNORECASE | re.DOTALL)
_ANY_GRANT = re.compile(r"GRANT (.+?) ON (\S+) TO ", re.IGNORECASE | re.DOTALL)
_ALL = frozenset({"ALL", "ALL PRIVILEGES"})

REPLICATION = tuple(
    "seconds_behind_master slave_io_running slave_sql_running read_master_log_pos exec_master_log_pos relay_log_space"
    " last_io_errno last_sql_errno".split()
)
"""Columns of SHOW REPLICA STATUS under their older names, as mysqld_exporter has them."""
REPLICATION_LOST = "whether replicas run, and how far they are behind"
PROCESS_LOST = "who holds the connections: only this agent's own are visible"
TABLES_LOST = "table sizes: no table is visible"


class Server(NamedTuple):
    version: ServerVersion
    account: str
    """Who the server took us for, as `'user'@'host'`."""
    grants: Sequence[str]

    @property
    def has_lean_processlist(self) -> bool:
        """Whether performance_schema.processlist exists, which takes no global mutex (MySQL 8.0.22 and later)."""
        return not self.version.is_mariadb and self.version.numbers >= (8, 0, 22)

    @property
    def show_replicas(self) -> str:
        """Statement that shows replication; its wording depends on the server and its version."""
        if self.version.is_mariadb:
            return "SHOW ALL SLAVES STATUS"
        return "SHOW REPLICA STATUS" if self.version.numbers >= (8, 0, 22) else "SHOW SLAVE STATUS"

    @property
    def replication_privilege(self) -> str:
        return "SLAVE MONITOR" if self.version.is_mariadb and self.version.numbers >= (10, 5) else "REPLICATION CLIENT"

    def may(self, privilege: str) -> bool:
        """Whether the account holds a global privilege by its own grants; privileges of MySQL's roles do not show."""
        return any(privilege in held or held & _ALL for held in map(_global_privileges, self.grants))

    def may_select_somewhere(self) -> bool:
        for grant in self.grants:
            match = _ANY_GRANT.match(grant)
            held = _split_privileges(match[1]) if match else frozenset[str]()
            if "SELECT" in held or held & _ALL:
                return True
        return False


def account_of(current_user: str) -> str:
    """`'user'@'host'` from what CURRENT_USER() returns."""
    user, _, host = current_user.rpartition("@")
    return "@".join("'" + part.replace("'", "''") + "'" for part in (user, host))


def missing_process(server: Server, users: Sequence[str], own_user: str) -> MissingPrivilege | None:
    """What is lost for lack of PROCESS; None when it is not lacking.

    A role can bring PROCESS without a trace in SHOW GRANTS, so seeing another user's threads proves it too.
    """
    if server.may("PROCESS") or any(user != own_user for user in users):
        return None
    return MissingPrivilege(
        permission="PROCESS", lost=PROCESS_LOST, remedy=f"GRANT PROCESS ON *.* TO {server.account};"
    )


def missing_tables(server: Server, schemas: Sequence[str]) -> MissingPrivilege | None:
    """What is lost when no table is visible; None when grants let us see tables, so that there are none."""
    if server.may_select_somewhere():
        return None
    grants = " ".join(f"GRANT SELECT ON `{name}`.* TO {server.account};" for name in schemas or ("DATABASE",))
    return MissingPrivilege(permission="SELECT", lost=TABLES_LOST, remedy=grants)


def role_sample(variables: Mapping[str, str]) -> Sample:
    """`mysql_server_role_info`: writer or reader, and whose product the server is.

    An Aurora reader has innodb_read_only set, and aurora_server_id names the instance within its cluster.
    """
    read_only = any(variables.get(name, "").upper() in ("ON", "1") for name in ("innodb_read_only", "read_only"))
    if variables.get("aurora_version"):
        platform = "aurora"
    elif variables.get("basedir", "").startswith("/rdsdbbin"):
        platform = "rds"
    else:
        platform = "self_hosted"
    labels = (
        ("role", "reader" if read_only else "writer"),
        ("platform", platform),
        ("flavor", "mariadb" if ServerVersion(text=variables.get("version", "")).is_mariadb else "mysql"),
        ("aurora_server_id", variables.get("aurora_server_id", "")),
    )
    return Sample("mysql_server_role_info", 1.0, tuple(label for label in labels if label[1]))


def process_samples(rows: Sequence[Row]) -> list[Sample]:
    """Connections by user and by host, from rows of user, host and count."""
    by_user, by_host = Counter[str](), Counter[str]()
    for user, host, count in rows:
        by_user[user or "unknown"] += int(count or 0)
        by_host[host or "unknown"] += int(count or 0)
    return [
        Sample(f"mysql_info_schema_processlist_processes_by_{what}", number, ((label, name),))
        for what, label, counts in (("user", "mysql_user", by_user), ("host", "client_host", by_host))
        for name, number in counts.items()
    ]


def replication_samples(rows: Sequence[Mapping[str, str | None]]) -> list[Sample]:
    """State and lag of each source that the server replicates, under mysqld_exporter's names.

    MySQL 8.0.22 and later say source and replica where all others say master and slave.
    """
    samples: list[Sample] = []
    for row in rows:
        found = {name.replace("source", "master").replace("replica", "slave"): text for name, text in row.items()}
        labels = tuple(
            (label, text) for label in ("channel_name", "connection_name", "master_host") if (text := found.get(label))
        )
        for name in REPLICATION:
            text = found.get(name)
            value = {"yes": "1", "no": "0", "connecting": "0", "preparing": "0"}.get((text or "").lower(), text)
            with suppress(TypeError, ValueError):
                samples.append(Sample(f"mysql_slave_status_{name}", float(value or ""), labels))
    return samples


def table_samples(rows: Sequence[Row]) -> list[Sample]:
    """Rows and sizes of tables, from rows of schema, table, rows, data_length, index_length and data_free."""
    samples: list[Sample] = []
    for schema, table, count, *sizes in rows:
        labels = (("schema", schema or ""), ("table", table or ""))
        samples.append(Sample("mysql_info_schema_table_rows", float(count or 0), labels))
        for component, size in zip(("data_length", "index_length", "data_free"), sizes, strict=True):
            samples.append(
                Sample("mysql_info_schema_table_size", float(size or 0), (*labels, ("component", component)))
            )
    return samples


def _global_privileges(grant: str) -> frozenset[str]:
    match = _GLOBAL_GRANT.match(grant)
    return _split_privileges(match[1]) if match else frozenset()


def _split_privileges(text: str) -> frozenset[str]:
    return frozenset(part.strip().upper() for part in text.split(","))


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
        MySQLLogin.__post_init__(self)
        if self.discover is not None and (self.host != "127.0.0.1" or self.unix_socket or self.iam_region):
            raise ValueError("discover finds the servers; leave host, unix_socket and iam_region out")
        if self.max_tables < 1:
            raise ValueError("max_tables must be at least 1; `tables: false` leaves table sizes out")

    @property
    def address(self) -> str:
        return "" if self.discover is not None or self.unix_socket else address_of(self.host, self.port)


class MySQLCollector(Collector):
    def __init__(self, settings: MySQLSettings, iam_password: IamPassword | None = None) -> None:
        """Read the password; the session is opened by the first `collect`."""
        self._settings = settings
        self._session = MySQLSession(settings, self._on_connect, iam_password or open_iam_password(settings))
        self._server = Server(version=ServerVersion(text=""), account="", grants=())
        self._extra_slot = False
        self._missing: dict[str, MissingPrivilege] = {}
        self._show_status = SHOW_STATUS if settings.all else _only(SHOW_STATUS, STATUSES)
        names = (*VARIABLES, *TEXT_VARIABLES)
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
        return self._session.run(self._read)

    def missing_privileges(self) -> Sequence[MissingPrivilege]:
        return tuple(self._missing.values())

    def close(self) -> None:
        self._session.close()

    def _read(self) -> list[Sample]:
        samples = [Sample("mysql_up", 1.0), Sample("mysql_session_extra_slot", float(self._extra_slot))]
        samples += status_samples(self._session.query(self._show_status))
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
        named = tuple((name, variables.get(name, "")) for name in ("innodb_version", "version", "version_comment"))
        samples = [*variable_samples(variables), Sample("mysql_version_info", 1.0, named), role_sample(variables)]
        if level := variables.get("transaction_isolation") or variables.get("tx_isolation"):
            samples.append(Sample("mysql_transaction_isolation", 1.0, (("level", level),)))
        return samples

    def _other_variables(self) -> list[Sample]:
        rows = self._session.query(SHOW_VARIABLES)
        variables = {name.lower(): text for name, text in rows if name is not None and text}
        return other_variable_samples(variables, all_numbers=self._settings.all)

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
