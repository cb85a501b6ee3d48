"""Against a real PostgreSQL: plans of statements, without values and without an execution."""

import time
from collections.abc import Iterator

import pytest
from loadwatch_collectors.collector import Sample
from loadwatch_collectors.sources.postgresql_statements import PostgreSQLStatementsCollector
from loadwatch_formats.statements.plans import POSTGRESQL_PLAN, NoPlan, Plan, read_plan

from collectors.tests.postgresql import PostgreSQL, own_postgresql
from collectors.tests.sources.postgresql_statements.test_collector import PRELOAD, collect, of, prepare, reading, send

SECRET = "s3cr3t-of-somebody"


@pytest.fixture(scope="module")
def explaining() -> Iterator[PostgreSQL]:
    with own_postgresql(PRELOAD) as made:
        prepare(made)
        send(
            made,
            "INSERT INTO goods SELECT n, 'n' || n, n FROM generate_series(4, 3000) n",
            "CREATE TABLE private (id int PRIMARY KEY, word text)",
            "GRANT SELECT ON goods TO watcher",
            "ANALYZE",
        )
        yield made


def plan_of(
    collector: PostgreSQLStatementsCollector, server: PostgreSQL, statement: str, part: str
) -> tuple[Plan, Sample]:
    """What is known of a statement once it has been looked at; it is sent again as long as that takes."""
    until = time.monotonic() + 90
    while time.monotonic() < until:
        send(server, statement)
        samples = collect(collector)
        ids = {dict(one.labels)["queryid"] for one in samples if part in dict(one.labels).get("query", "")}
        for sample in samples:
            labels = dict(sample.labels)
            if sample.name == POSTGRESQL_PLAN and labels["queryid"] in ids:
                plan = read_plan(labels["plan"], labels["reason"])
                assert plan is not None
                return plan, sample
        time.sleep(0.2)
    raise AssertionError(f"{part} was never looked at")


def test_that_a_plan_tells_a_scan_from_an_index_and_holds_no_value(explaining: PostgreSQL) -> None:
    with reading(explaining, plans=True) as collector:
        collect(collector)
        scan, sample = plan_of(collector, explaining, f"SELECT id FROM goods WHERE name = '{SECRET}'", "SELECT id")
        index, _ = plan_of(collector, explaining, "SELECT stock FROM goods WHERE id = 77", "SELECT stock")
        everything = [*collect(collector), sample]
    assert [(step.table, step.access, step.key) for step in scan.steps] == [("goods", "Seq Scan", None)]
    assert [(step.table, step.access, step.key) for step in index.steps] == [("goods", "Index Scan", "goods_pkey")]
    assert SECRET not in repr(everything)


def test_that_a_table_that_may_not_be_read_is_said_with_its_grant(explaining: PostgreSQL) -> None:
    with reading(explaining, plans=True) as collector:
        collect(collector)
        plan, _ = plan_of(collector, explaining, "SELECT word FROM private WHERE id = 1", "SELECT word")
        missing = collector.missing_privileges()
    assert plan.reason is NoPlan.NOT_PERMITTED
    assert [one.remedy for one in missing] == ["GRANT pg_read_all_data TO watcher;"]


def test_that_only_statements_that_read_are_explained_and_none_is_executed(explaining: PostgreSQL) -> None:
    asked = "SELECT count(*) FROM goods WHERE stock > 5"
    with reading(explaining, plans=True) as collector:
        before = of(collect(collector), "SELECT count")
        plan_of(collector, explaining, asked, "SELECT count")
        update, _ = plan_of(collector, explaining, "UPDATE goods SET stock = 7 WHERE id = 3", "UPDATE goods")
        with explaining.connect(database="shop") as connection:
            scans = "SELECT sum(calls) FROM pg_stat_statements WHERE query LIKE %s"
        with explaining.connect() as connection:
            ((executed,),) = connection.execute(scans.encode(), ["SELECT count(*) FROM goods%"]).fetchall()
        counted = of(collect(collector), "SELECT count")
    assert update.reason is NoPlan.CHANGES_ROWS
    assert counted - before == executed
