"""What kind of server a session talks to, what it may see there, and how to grant what it lacks."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from loadwatch_collectors.collector import MissingPrivilege, Sample
from loadwatch_collectors.transport.mysql_session import Row, ServerVersion

_GLOBAL_GRANT = re.compile(r"GRANT (.+?) ON \*\.\* TO ", re.IGNORECASE | re.DOTALL)
_ANY_GRANT = re.compile(r"GRANT (.+?) ON (\S+) TO ", re.IGNORECASE | re.DOTALL)
_ALL = frozenset({"ALL", "ALL PRIVILEGES"})

REPLICATION = (
    "seconds_behind_master",
    "slave_io_running",
    "slave_sql_running",
    "read_master_log_pos",
    "exec_master_log_pos",
    "relay_log_space",
    "last_io_errno",
    "last_sql_errno",
)
"""Columns of SHOW REPLICA STATUS under their older names, as mysqld_exporter has them."""
REPLICATION_LOST = "whether replicas run, and how far they are behind"
PROCESS_LOST = "who holds the connections: only this agent's own are visible"
TABLES_LOST = "table sizes: no table is visible"


class Server(NamedTuple):
    """A server as a fresh session finds it."""

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
        """The statement that shows replication, whose words servers have changed."""
        if self.version.is_mariadb:
            return "SHOW ALL SLAVES STATUS"
        return "SHOW REPLICA STATUS" if self.version.numbers >= (8, 0, 22) else "SHOW SLAVE STATUS"

    @property
    def replication_privilege(self) -> str:
        """What `show_replicas` needs."""
        return "SLAVE MONITOR" if self.version.is_mariadb and self.version.numbers >= (10, 5) else "REPLICATION CLIENT"

    def may(self, privilege: str) -> bool:
        """Whether the account holds a global privilege by its own grants; privileges of MySQL's roles do not show."""
        return any(privilege in held or held & _ALL for held in map(_global_privileges, self.grants))

    def may_select_somewhere(self) -> bool:
        """Whether any grant lets the account read tables."""
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


def version_sample(variables: Mapping[str, str]) -> Sample:
    """`mysql_version_info` as the exporter has it."""
    labels = tuple((name, variables.get(name, "")) for name in ("innodb_version", "version", "version_comment"))
    return Sample("mysql_version_info", 1.0, labels)


def isolation_samples(variables: Mapping[str, str]) -> list[Sample]:
    """`mysql_transaction_isolation` as the exporter has it."""
    level = variables.get("transaction_isolation") or variables.get("tx_isolation")
    return [Sample("mysql_transaction_isolation", 1.0, (("level", level),))] if level else []


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
    by_user: dict[str, int] = {}
    by_host: dict[str, int] = {}
    for user, host, count in rows:
        number = int(count or 0)
        by_user[user or "unknown"] = by_user.get(user or "unknown", 0) + number
        by_host[host or "unknown"] = by_host.get(host or "unknown", 0) + number
    return [
        *(
            Sample("mysql_info_schema_processlist_processes_by_user", number, (("mysql_user", user),))
            for user, number in by_user.items()
        ),
        *(
            Sample("mysql_info_schema_processlist_processes_by_host", number, (("client_host", host),))
            for host, number in by_host.items()
        ),
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
