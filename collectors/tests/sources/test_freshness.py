import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from loadwatch_collectors.collector import KEPT, Labels
from loadwatch_collectors.commands.check import check_collectors
from loadwatch_collectors.config import load_config
from loadwatch_collectors.errors import CollectorError, PrivilegeError
from loadwatch_collectors.settings_loader import parse_document
from loadwatch_collectors.sources.freshness import FreshnessCollector, FreshnessSettings, TableSettings, age_statement
from loadwatch_collectors.sources.registry import sources_by_name

from collectors.tests.mariadb import MariaDB, running_mariadb

AGE = "table_newest_row_age_seconds"
ORDERS = (("table", "orders"),)


@pytest.fixture(autouse=True)
def orders(mariadb: MariaDB) -> Iterator[None]:
    mariadb.run(
        "CREATE OR REPLACE TABLE shop.orders (id INT AUTO_INCREMENT PRIMARY KEY, made TIMESTAMP(6) NOT NULL, "
        "made_utc DATETIME(6), made_unix BIGINT, made_ms BIGINT, KEY (made))"
    )
    yield
    mariadb.run("SET GLOBAL time_zone = 'SYSTEM'")


def collect(mariadb: MariaDB, *tables: TableSettings, user: str = "application") -> dict[tuple[str, Labels], float]:
    settings = FreshnessSettings(port=mariadb.port, user=user, database="shop", tables=tables)
    collector = FreshnessCollector(settings)
    try:
        return {(sample.name, sample.labels): sample.value for sample in collector.collect()}
    finally:
        collector.close()


def insert(mariadb: MariaDB, seconds_ago: int) -> None:
    mariadb.run(
        "INSERT INTO shop.orders (made, made_utc, made_unix, made_ms) SELECT t, "
        f"UTC_TIMESTAMP(6) - INTERVAL {seconds_ago} SECOND, FLOOR(UNIX_TIMESTAMP(t)), FLOOR(UNIX_TIMESTAMP(t) * 1000) "
        f"FROM (SELECT NOW(6) - INTERVAL {seconds_ago} SECOND AS t) AS n"
    )


def test_rows_and_age_of_the_newest(mariadb: MariaDB) -> None:
    insert(mariadb, 500)
    insert(mariadb, 100)
    found = collect(mariadb, TableSettings(name="orders", time_column="made"))
    assert found["table_rows", ORDERS] == 2
    assert 100 <= found[AGE, ORDERS] < 160


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ("made", "timestamp"),
        ("made_utc", "utc_datetime"),
        ("made_unix", "unix_seconds"),
        ("made_ms", "unix_milliseconds"),
    ],
)
@pytest.mark.parametrize("zone", ["SYSTEM", "+09:00"])
def test_every_kind_of_time_in_every_time_zone(mariadb: MariaDB, column: str, kind: str, zone: str) -> None:
    mariadb.run(f"SET GLOBAL time_zone = '{zone}'")
    insert(mariadb, 100)
    found = collect(mariadb, TableSettings(name="orders", time_column=column, time_kind=kind))
    assert 99 <= found[AGE, ORDERS] < 160


def test_the_newest_row_by_its_key(mariadb: MariaDB) -> None:
    insert(mariadb, 10)
    insert(mariadb, 700)
    found = collect(mariadb, TableSettings(name="orders", time_column="made", key_column="id"))
    assert 700 <= found[AGE, ORDERS] < 760


def test_an_empty_table_has_no_age(mariadb: MariaDB) -> None:
    assert collect(mariadb, TableSettings(name="orders", time_column="made")) == {("table_rows", ORDERS): 0}


def test_an_estimate_comes_from_the_statistics(mariadb: MariaDB) -> None:
    mariadb.run("INSERT INTO shop.orders (made) SELECT NOW() FROM shop.seq_1_to_1000", "ANALYZE TABLE shop.orders")
    found = collect(
        mariadb,
        TableSettings(name="orders", count="estimate"),
        TableSettings(name="shop.goods", count="estimate"),
    )
    assert 500 <= found["table_rows", ORDERS] <= 1500
    assert ("table_rows", (("table", "shop.goods"),)) in found


def test_the_statement_uses_the_index(mariadb: MariaDB) -> None:
    mariadb.run("INSERT INTO shop.orders (made) SELECT NOW() FROM shop.seq_1_to_1000")
    for table in (
        TableSettings(name="shop.orders", time_column="made"),
        TableSettings(name="shop.orders", time_column="made_unix", key_column="id"),
    ):
        with mariadb.connect() as connection, connection.cursor() as cursor:
            cursor.execute("FLUSH STATUS")
            cursor.execute(age_statement(table))
            cursor.execute("SHOW STATUS LIKE 'Handler_read%'")
            assert sum(int(count) for _, count in cursor.fetchall()) < 5


def test_counts_are_kept_until_they_are_due(mariadb: MariaDB) -> None:
    tables = (TableSettings(name="orders", time_column="made"),)
    settings = FreshnessSettings(
        port=mariadb.port, user="application", database="shop", tables=tables, count_every=3600
    )
    collector = FreshnessCollector(settings)
    collector.collect()
    insert(mariadb, 5)
    second = {sample.name: sample for sample in collector.collect()}
    collector.close()
    assert (second["table_rows"].value, second["table_rows"].timestamp_ms) == (0, KEPT)
    assert second[AGE].timestamp_ms is None


def test_a_missing_table_is_named(mariadb: MariaDB) -> None:
    with pytest.raises(CollectorError, match=r"Table 'shop\.none' doesn't exist"):
        collect(mariadb, TableSettings(name="none"))
    with pytest.raises(CollectorError, match="there is no table none that application may see"):
        collect(mariadb, TableSettings(name="none", count="estimate"))
    with pytest.raises(CollectorError, match="Unknown column 'nope'"):
        collect(mariadb, TableSettings(name="orders", time_column="nope"))


def test_a_table_that_may_not_be_read_is_named(mariadb: MariaDB) -> None:
    settings = FreshnessSettings(port=mariadb.port, user="blind", tables=(TableSettings(name="shop.orders"),))
    collector = FreshnessCollector(settings)
    with pytest.raises(PrivilegeError, match=r"SELECT command denied to user 'blind'.*orders"):
        collector.collect()
    collector.close()


def test_a_count_that_takes_too_long_costs_one_tick(mariadb: MariaDB) -> None:
    mariadb.run("CREATE OR REPLACE VIEW shop.slow AS SELECT a.seq FROM shop.seq_1_to_100000 a, shop.seq_1_to_100000 b")
    insert(mariadb, 5)
    tables = (TableSettings(name="orders", time_column="made", count="none"), TableSettings(name="slow"))
    settings = FreshnessSettings(
        port=mariadb.port, user="application", database="shop", tables=tables, count_every=3600, deadline=8
    )
    collector = FreshnessCollector(settings)
    with pytest.raises(CollectorError, match="max_statement_time exceeded"):
        collector.collect()
    start = time.monotonic()
    assert [sample.name for sample in collector.collect()] == [AGE]
    assert time.monotonic() >= start
    collector.close()


def test_names_are_quoted() -> None:
    table = TableSettings(name="a b.c-d", time_column="e f")
    assert "`e f`" in age_statement(table)
    assert "`a b`.`c-d`" in age_statement(table)


@pytest.mark.parametrize(
    ("name", "kind", "count", "says"),
    [
        ("a.b.c", "timestamp", "exact", "not a table"),
        ("a`b", "timestamp", "exact", "not a table"),
        ("a", "iso", "exact", "time_kind must be"),
        ("a", "timestamp", "roughly", "count must be"),
        ("a", "timestamp", "none", "nothing is to be read"),
    ],
)
def test_table_settings_are_checked(name: str, kind: str, count: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        TableSettings(name=name, time_kind=kind, count=count)


def test_settings_are_checked() -> None:
    with pytest.raises(ValueError, match="tables is empty"):
        FreshnessSettings(user="w", tables=())
    with pytest.raises(ValueError, match="there twice"):
        FreshnessSettings(user="w", tables=(TableSettings(name="a"), TableSettings(name="a")))


BOTH = """
targets:
  - job: db
    mysql: {{user: application, port: {port}}}
    freshness: {{user: application, tables: [{{name: shop.orders, time_column: made}}]}}
"""


def test_of_two_servers_that_of_the_same_target_is_read(mariadb: MariaDB, tmp_path: Path) -> None:
    insert(mariadb, 10)
    with running_mariadb(tmp_path) as second:
        second.run(
            "CREATE DATABASE shop",
            "CREATE TABLE shop.orders (made TIMESTAMP(6) NOT NULL, KEY (made))",
            "CREATE USER application@'127.0.0.1'",
            "GRANT ALL ON shop.* TO application@'127.0.0.1'",
            "INSERT INTO shop.orders VALUES (NOW(6)), (NOW(6)), (NOW(6))",
        )
        for server, rows in ((mariadb, 1), (second, 3)):
            config = load_config(parse_document(BOTH.format(port=server.port), "loadwatch.yml"), sources_by_name())
            report = check_collectors(config.collectors)[1]
            assert report.error is None
            assert report.shown['table_rows{table="shop.orders"}'] == rows
            assert report.notes == [
                "takes port from `mysql` of the same target (loadwatch.yml:4)",
                f"reads MySQL at 127.0.0.1:{server.port}",
            ]
