import pytest
from loadwatch_collectors.collector import Sample
from loadwatch_collectors.sources.mysql.collector import (
    Server,
    account_of,
    missing_process,
    missing_tables,
    process_samples,
    replication_samples,
    role_sample,
    table_samples,
)
from loadwatch_collectors.transport.mysql_session import ServerVersion

ALL = "GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION"
PROCESS = "GRANT REPLICATION CLIENT, PROCESS ON *.* TO `w`@`%`"
USAGE = "GRANT USAGE ON *.* TO `w`@`%`"
ON_SHOP = "GRANT SELECT, INSERT ON `shop`.* TO `w`@`%`"


def server(*grants: str, version: str = "8.0.36") -> Server:
    return Server(version=ServerVersion(text=version), account="'w'@'%'", grants=grants)


@pytest.mark.parametrize(
    ("text", "version", "mariadb", "lean"),
    [
        ("8.0.36", (8, 0, 36), False, True),
        ("8.0.21-log", (8, 0, 21), False, False),
        ("5.7.44-rds.20240408", (5, 7, 44), False, False),
        ("10.11.19-MariaDB-0+deb12u1", (10, 11, 19), True, False),
        ("5.5.5-10.6.1-MariaDB", (10, 6, 1), True, False),
        ("strange", (0, 0, 0), False, False),
    ],
)
def test_versions(text: str, version: tuple[int, int, int], mariadb: bool, lean: bool) -> None:
    found = server(version=text)
    assert (found.version.numbers, found.version.is_mariadb, found.has_lean_processlist) == (version, mariadb, lean)


def test_grants_are_understood() -> None:
    assert server(ALL).may("PROCESS")
    assert server(USAGE, PROCESS).may("PROCESS")
    assert not server(USAGE, ON_SHOP).may("PROCESS")
    assert not server("GRANT PROCESS ON `shop`.* TO `w`@`%`").may("PROCESS")
    assert server(ON_SHOP).may_select_somewhere()
    assert not server(PROCESS).may_select_somewhere()


def test_missing_process_names_the_grant() -> None:
    missing = missing_process(server(USAGE), ["w"], "w")
    assert missing is not None
    assert missing.remedy == "GRANT PROCESS ON *.* TO 'w'@'%';"
    assert missing_process(server(USAGE), ["w", "redash"], "w") is None  # a role brings it
    assert missing_process(server(PROCESS), [], "w") is None


def test_missing_tables_names_the_databases() -> None:
    missing = missing_tables(server(PROCESS), ["shop", "stock"])
    assert missing is not None
    assert missing.remedy == "GRANT SELECT ON `shop`.* TO 'w'@'%'; GRANT SELECT ON `stock`.* TO 'w'@'%';"
    assert missing_tables(server(ON_SHOP), []) is None


def test_accounts_are_quoted() -> None:
    assert account_of("o'hara@10.0.%") == "'o''hara'@'10.0.%'"


def test_roles() -> None:
    aurora = {"aurora_version": "3.05.2", "aurora_server_id": "db-2", "innodb_read_only": "ON", "version": "8.0.32"}
    assert role_sample(aurora) == Sample(
        "mysql_server_role_info",
        1,
        (("role", "reader"), ("platform", "aurora"), ("flavor", "mysql"), ("aurora_server_id", "db-2")),
    )
    rds = {"basedir": "/rdsdbbin/mariadb-10.11/", "read_only": "OFF", "version": "10.11.6-MariaDB-log"}
    assert role_sample(rds).labels == (("role", "writer"), ("platform", "rds"), ("flavor", "mariadb"))


def test_connections_are_summed_by_user_and_by_host() -> None:
    samples = process_samples(
        [("app", "10.0.0.1", "30"), ("app", "10.0.0.2", "5"), ("redash", "10.0.0.1", "2"), ("", None, "1")]
    )
    assert {(s.labels[0], s.value) for s in samples} == {
        (("mysql_user", "app"), 35),
        (("mysql_user", "redash"), 2),
        (("mysql_user", "unknown"), 1),
        (("client_host", "10.0.0.1"), 32),
        (("client_host", "10.0.0.2"), 5),
        (("client_host", "unknown"), 1),
    }


def test_table_sizes() -> None:
    samples = table_samples([("shop", "hits", "10", "16384", None, "0")])
    assert [(s.name, s.value, s.labels[2:]) for s in samples] == [
        ("mysql_info_schema_table_rows", 10, ()),
        ("mysql_info_schema_table_size", 16384, (("component", "data_length"),)),
        ("mysql_info_schema_table_size", 0, (("component", "index_length"),)),
        ("mysql_info_schema_table_size", 0, (("component", "data_free"),)),
    ]


MYSQL_84 = {
    "replica_io_state": "Waiting for source to send event",
    "source_host": "10.0.0.7",
    "source_port": "3306",
    "replica_io_running": "Yes",
    "replica_sql_running": "No",
    "last_sql_errno": "1062",
    "seconds_behind_source": None,
    "read_source_log_pos": "1234",
    "channel_name": "",
}
MARIADB_11 = {
    "connection_name": "eu",
    "master_host": "10.0.0.7",
    "slave_io_running": "Connecting",
    "slave_sql_running": "Yes",
    "seconds_behind_master": "12",
}


def test_replication_has_the_same_names_whoever_says_it() -> None:
    assert replication_samples([MYSQL_84, MARIADB_11]) == [
        Sample("mysql_slave_status_slave_io_running", 1.0, (labels := (("master_host", "10.0.0.7"),))),
        Sample("mysql_slave_status_slave_sql_running", 0.0, labels),
        Sample("mysql_slave_status_read_master_log_pos", 1234.0, labels),
        Sample("mysql_slave_status_last_sql_errno", 1062.0, labels),
        Sample("mysql_slave_status_seconds_behind_master", 12.0, (eu := (("connection_name", "eu"), *labels))),
        Sample("mysql_slave_status_slave_io_running", 0.0, eu),
        Sample("mysql_slave_status_slave_sql_running", 1.0, eu),
    ]


@pytest.mark.parametrize(
    ("version", "show", "privilege"),
    [
        ("8.4.3", "SHOW REPLICA STATUS", "REPLICATION CLIENT"),
        ("8.0.21", "SHOW SLAVE STATUS", "REPLICATION CLIENT"),
        ("5.7.44-log", "SHOW SLAVE STATUS", "REPLICATION CLIENT"),
        ("11.8.2-MariaDB", "SHOW ALL SLAVES STATUS", "SLAVE MONITOR"),
        ("5.5.5-10.4.34-MariaDB", "SHOW ALL SLAVES STATUS", "REPLICATION CLIENT"),
    ],
)
def test_the_words_of_each_version(version: str, show: str, privilege: str) -> None:
    made = server(version=version)
    assert (made.show_replicas, made.replication_privilege) == (show, privilege)
