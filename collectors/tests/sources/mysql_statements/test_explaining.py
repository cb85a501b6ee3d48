"""Against a real MariaDB: plans of statements, and nothing of their values."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from loadwatch_collectors.collector import KEPT, Sample
from loadwatch_collectors.sources.mysql_statements.collector import MySQLStatementsCollector
from loadwatch_collectors.sources.mysql_statements.explaining import steps_of
from loadwatch_formats.statements.plans import MYSQL_PLAN, NoPlan, Plan, Step, read_plan

from collectors.tests.mariadb import MariaDB
from collectors.tests.sources.mysql_statements.test_collector import WITH_TEXTS, collect, reading, send, server

HISTORY = "--performance-schema-consumer-events-statements-history=ON"
SECRET = "s3cr3t-of-somebody"


@pytest.fixture(scope="module")
def explaining() -> Iterator[MariaDB]:
    with server(*WITH_TEXTS, HISTORY) as made:
        made.run(
            "CREATE TABLE shop.private (id INT PRIMARY KEY, word VARCHAR(64))",
            "CREATE VIEW shop.seen AS SELECT word FROM shop.private",
            "GRANT SELECT ON shop.goods TO watcher@'127.0.0.1'",
            "GRANT SELECT ON shop.seen TO watcher@'127.0.0.1'",
            "INSERT INTO shop.goods (name, stock) SELECT seq, seq FROM shop.seq_1_to_500",
        )
        yield made


def plan_of(collector: MySQLStatementsCollector, mariadb: MariaDB, statement: str, part: str) -> tuple[Plan, Sample]:
    """What is known of a statement once it has been looked at; it is sent again as long as that takes.

    Without a `part`: of one of which no execution was seen.
    """
    with mariadb.connect(database="shop") as connection, connection.cursor() as cursor:
        until = time.monotonic() + 90
        while time.monotonic() < until:
            cursor.execute(statement)
            for sample in collect(collector):
                labels = dict(sample.labels)
                if sample.name == MYSQL_PLAN and (part in labels["example"] if part else not labels["example"]):
                    plan = read_plan(labels["plan"], labels["reason"])
                    assert plan is not None
                    return plan, sample
            time.sleep(0.2)
    raise AssertionError(f"{part} was never looked at")


def rows(mariadb: MariaDB, question: str) -> tuple[tuple[int, ...], ...]:
    with mariadb.connect(database="shop") as connection, connection.cursor() as cursor:
        cursor.execute(question)
        return tuple(cursor.fetchall())


def test_that_a_plan_tells_a_scan_from_an_index_and_holds_no_value(explaining: MariaDB) -> None:
    with reading(explaining, plans=True) as collector:
        collect(collector)
        scan, sample = plan_of(
            collector, explaining, f"SELECT id /* {SECRET} */ FROM goods WHERE name = '{SECRET}'", "FROM goods WHERE"
        )
        index, _ = plan_of(collector, explaining, "SELECT stock FROM goods WHERE id = 77", "WHERE id = ?")
        everything = [*collect(collector), sample]
    assert [(step.table, step.access, step.key) for step in scan.steps] == [("goods", "ALL", None)]
    assert scan.steps[0].rows is not None
    assert scan.steps[0].rows > 100
    assert [(step.table, step.access, step.key) for step in index.steps] == [("goods", "const", "PRIMARY")]
    assert SECRET not in repr(everything)
    assert "WHERE id = 77" not in repr(everything)


def test_that_a_table_that_may_not_be_read_is_said_with_its_grant(explaining: MariaDB) -> None:
    with reading(explaining, plans=True) as collector:
        collect(collector)
        table, _ = plan_of(collector, explaining, "SELECT word FROM private WHERE id = 1", "FROM private")
        view, _ = plan_of(collector, explaining, "SELECT COUNT(*) FROM seen", "FROM seen")
        missing = collector.missing_privileges()
    assert table.reason is view.reason is NoPlan.NOT_PERMITTED
    assert [one.remedy for one in missing] == ["GRANT SELECT ON `shop`.* TO 'watcher'@'127.0.0.1';"]


def test_that_nothing_but_whole_statements_that_read_is_explained(explaining: MariaDB) -> None:
    with reading(explaining, plans=True) as collector:
        collect(collector)
        update, _ = plan_of(collector, explaining, "UPDATE goods SET stock = 1 WHERE id = 3", "UPDATE goods")
        explaining.run("TRUNCATE performance_schema.events_statements_summary_by_digest")
        cut, _ = plan_of(collector, explaining, f"SELECT id FROM goods WHERE name = '{SECRET * 200}'", "")
    assert update.reason is NoPlan.CHANGES_ROWS
    assert cut.reason is NoPlan.NO_EXAMPLE


def test_that_a_function_of_the_application_changes_nothing_while_it_is_explained(explaining: MariaDB) -> None:
    explaining.run(
        "SET GLOBAL log_bin_trust_function_creators = ON",
        "CREATE TABLE shop.calls (n INT) ENGINE=InnoDB",
        "CREATE FUNCTION shop.counted() RETURNS INT DETERMINISTIC MODIFIES SQL DATA "
        "BEGIN INSERT INTO shop.calls VALUES (1); RETURN 2; END",
        "GRANT EXECUTE ON FUNCTION shop.counted TO watcher@'127.0.0.1'",
    )
    asked = "SELECT name FROM goods WHERE id = counted()"
    send(explaining, asked)
    ((calls_of_one,),) = rows(explaining, "SELECT COUNT(*) FROM calls")
    with reading(explaining, plans=True) as collector:
        collect(collector)
        plan, _ = plan_of(collector, explaining, asked, "counted")
    ((calls,),) = rows(explaining, "SELECT COUNT(*) FROM calls")
    ((sent,),) = rows(
        explaining,
        "SELECT COUNT_STAR FROM performance_schema.events_statements_summary_by_digest "
        "WHERE DIGEST_TEXT LIKE 'SELECT NAME FROM `goods` WHERE ID = `counted`%'",
    )
    assert plan.reason is NoPlan.REFUSED, "MariaDB evaluates the function, which may not write"
    assert calls == calls_of_one * sent, "those of the executions alone"


def test_that_the_slow_log_gives_executions_too(tmp_path: Path) -> None:
    log = tmp_path / "slow.log"
    with server("--slow-query-log=ON", "--long-query-time=0", f"--slow-query-log-file={log}") as mariadb:
        mariadb.run("GRANT SELECT ON shop.* TO watcher@'127.0.0.1'")
        with reading(mariadb, plans=True, slow_log=str(log)) as collector:
            collect(collector)
            plan, sample = plan_of(collector, mariadb, f"SELECT id FROM goods WHERE name = '{SECRET}'", "FROM goods")
    assert [(step.table, step.access) for step in plan.steps] == [("goods", "ALL")]
    assert SECRET not in repr(sample)


def test_that_without_plans_nothing_is_explained(explaining: MariaDB) -> None:
    with reading(explaining) as collector:
        collect(collector)
        send(explaining, *["SELECT id FROM goods"] * 5)
        samples = [*collect(collector), *collect(collector)]
    assert not [one for one in samples if one.name == MYSQL_PLAN and one.timestamp_ms in (None, KEPT)]


def test_lines_of_mysql_with_two_columns_more() -> None:
    row = ("1", "SIMPLE", "goods", None, "ref", "by_name", "by_name", "767", "const", "12", "100.00", "Using where")
    assert steps_of([row]) == [Step(table="goods", access="ref", key="by_name", rows=12.0, extra="Using where")]
    assert steps_of([("what", "is", "this")]) == []
