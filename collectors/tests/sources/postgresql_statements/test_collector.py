"""Against a real PostgreSQL with pg_stat_statements: scripted statements are counted exactly."""

import os
import signal
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from loadwatch_collectors.collector import KEPT, Sample
from loadwatch_collectors.errors import CollectorError, PrivilegeError
from loadwatch_collectors.sources.postgresql_statements import (
    POSTGRESQL_STATEMENTS,
    PostgreSQLStatementsCollector,
    PostgreSQLStatementsSettings,
)
from loadwatch_formats.metrics.postgresql_statements import CALLS, EXECUTED, EXPLAINED, FIELDS

from collectors.tests.postgresql import PostgreSQL, own_postgresql

PRELOAD = "shared_preload_libraries=pg_stat_statements"


@pytest.fixture(scope="module")
def counting() -> Iterator[PostgreSQL]:
    with own_postgresql(PRELOAD) as made:
        prepare(made)
        yield made


def prepare(server: PostgreSQL) -> None:
    server.run("CREATE EXTENSION pg_stat_statements")
    server.run("CREATE ROLE watcher LOGIN IN ROLE pg_read_all_stats")
    server.run("CREATE ROLE blind LOGIN")
    server.run("CREATE DATABASE shop")
    send(server, "CREATE TABLE goods (id int PRIMARY KEY, name text, stock int)")
    send(server, "INSERT INTO goods SELECT n, 'n' || n, n FROM generate_series(1, 3) n")


@contextmanager
def reading(server: PostgreSQL, user: str = "watcher", **options: Any) -> Generator[PostgreSQLStatementsCollector]:
    settings = PostgreSQLStatementsSettings(port=server.port, user=user, every=0.01, **options)
    made = PostgreSQLStatementsCollector(settings)
    try:
        yield made
    finally:
        made.close()


def send(server: PostgreSQL, *statements: str, values: Sequence[object] = ()) -> None:
    with server.connect(database="shop") as connection:
        for statement in statements:
            connection.execute(statement.encode(), tuple(values) or None)


def collect(collector: PostgreSQLStatementsCollector) -> list[Sample]:
    """One reading that is not the kept one."""
    while True:
        samples = list(collector.collect())
        if any(sample.timestamp_ms is None for sample in samples):
            return samples
        time.sleep(0.05)


def of(samples: list[Sample], part: str, metric: str = CALLS) -> float:
    return sum(
        one.value
        for one in samples
        if one.name == metric and one.timestamp_ms in (None, KEPT) and part in dict(one.labels)["query"]
    )


def value(samples: list[Sample], metric: str) -> float:
    return next(one.value for one in samples if one.name == metric and not one.labels)


def test_that_text_and_prepared_statements_are_counted_exactly(counting: PostgreSQL) -> None:
    send(counting, "SELECT name FROM goods WHERE id = 1")
    with reading(counting) as collector:
        assert of(collect(collector), "SELECT name") == 0, "what was before counting began is not counted"
        send(counting, *(f"SELECT name FROM goods WHERE id = {number}" for number in range(101)))
        send(counting, *(["SELECT id, name FROM goods"] * 5), *(["UPDATE goods SET stock = stock + 1"] * 7))
        for number in range(23):
            send(counting, "SELECT stock FROM goods WHERE id = %s", values=[number])
        samples = collect(collector)
        send(counting, *(f"SELECT name FROM goods WHERE id = {number}" for number in range(9)))
        later = collect(collector)
    assert of(samples, "SELECT name FROM goods WHERE id = ?") == 101
    assert of(samples, "SELECT id, name FROM", FIELDS["rows_sent"]) == 15
    assert of(samples, "UPDATE goods", FIELDS["rows_sent"]) == 21
    assert of(samples, "SELECT stock FROM goods WHERE id = ?") == 23
    assert of(samples, "SELECT name FROM goods", FIELDS["seconds"]) > 0
    assert of(later, "SELECT name FROM goods WHERE id = ?") == 110
    mine = next(one for one in samples if "SELECT name" in dict(one.labels).get("query", ""))
    assert dict(mine.labels)["datname"] == "shop"
    assert {one.name for one in samples} <= {metric.name for metric in POSTGRESQL_STATEMENTS.metrics}


def test_that_values_are_masked_where_the_server_leaves_them(counting: PostgreSQL) -> None:
    with reading(counting) as collector:
        collect(collector)
        send(counting, "CREATE ROLE someone PASSWORD 'hidden value'", "DROP ROLE someone")
        samples = collect(collector)
    assert of(samples, "CREATE ROLE someone PASSWORD ?") == 1
    assert not any("hidden" in str(one.labels) for one in samples)


def test_that_the_time_is_that_of_the_server(counting: PostgreSQL) -> None:
    with reading(counting) as collector:
        collect(collector)
        send(counting, "SELECT pg_sleep(0.25)")
        assert of(collect(collector), "pg_sleep", FIELDS["seconds"]) >= 0.25


def test_that_a_reset_and_a_restart_lose_nothing() -> None:
    with own_postgresql(PRELOAD) as own:
        prepare(own)
        with reading(own) as collector:
            collect(collector)
            send(own, *(["SELECT name FROM goods"] * 30))
            assert of(collect(collector), "SELECT name") == 30
            own.run("SELECT pg_stat_statements_reset()")
            send(own, *(["SELECT name FROM goods"] * 31))
            samples = collect(collector)
            assert of(samples, "SELECT name") == 61
            assert value(samples, "pg_statements_resets_total") == 1
            own.stop()
            with pytest.raises(CollectorError):
                collect(collector)
            own.start()
            send(own, *(["SELECT name FROM goods"] * 12))
            assert of(collect(collector), "SELECT name") == 73


def test_that_a_full_table_is_noticed() -> None:
    with own_postgresql(PRELOAD, "pg_stat_statements.max=100") as small:
        prepare(small)
        with reading(small) as collector:
            collect(collector)
            send(small, *("SELECT " + ", ".join("1" * many) for many in range(1, 300)))
            samples = collect(collector)
            fault = collector.fault()
        assert value(samples, "pg_statements_evicted_total") > 0
        assert fault is not None
        assert "pg_stat_statements.max" in fault.text


def test_that_sessions_that_are_not_counted_are_told_by_their_transactions(counting: PostgreSQL) -> None:
    with reading(counting) as collector:
        before = collect(collector)
        send(counting, "SET pg_stat_statements.track = 'none'", *(["SELECT 1"] * 2_000))
        give_up = time.monotonic() + 60
        while value(samples := collect(collector), EXECUTED) < 2_000:  # sessions tell their transactions when they end
            assert time.monotonic() < give_up, samples
            time.sleep(0.1)
        fault = collector.fault()
    assert value(before, EXECUTED) == 0
    assert value(samples, EXPLAINED) < 1_500
    assert fault is not None
    assert "track = none" in fault.text


def test_that_a_role_without_rights_is_told_the_grant(counting: PostgreSQL) -> None:
    with reading(counting, user="blind") as collector:
        collect(collector)
        send(counting, *(["SELECT name FROM goods"] * 30))
        samples = collect(collector)
        assert of(samples, "SELECT name") == 0
        assert of(samples, "(all other statements)") >= 30
        (missing,) = collector.missing_privileges()
    assert missing.remedy == "GRANT pg_read_all_stats TO blind;"


def test_that_a_server_that_counts_nothing_says_which_line_to_set(counting: PostgreSQL) -> None:
    with own_postgresql() as silent, reading(silent, user="app") as collector:
        with pytest.raises(CollectorError, match="shared_preload_libraries = 'pg_stat_statements'"):
            collector.collect()
    with reading(counting, database="shop") as collector:
        with pytest.raises(CollectorError, match="the database shop lacks the view: CREATE EXTENSION"):
            collector.collect()
    with reading(counting, user="nobody") as collector, pytest.raises((PrivilegeError, CollectorError), match="nobody"):
        collector.collect()


def test_that_a_server_that_hangs_costs_no_more_than_the_deadline() -> None:
    with own_postgresql(PRELOAD) as own:
        prepare(own)
        with reading(own, deadline=1.0) as collector:
            collect(collector)
            assert own.process is not None
            with own.connect() as connection:
                found = connection.execute(
                    "SELECT pid FROM pg_stat_activity WHERE application_name = 'loadwatch'"
                ).fetchone()
            assert found is not None
            stopped = found[0]
            os.kill(stopped, signal.SIGSTOP)
            try:
                with pytest.raises(CollectorError, match="no complete answer within 1 s"):
                    collect(collector)
            finally:
                os.kill(stopped, signal.SIGCONT)
            send(own, "SELECT name FROM goods")
            assert of(collect(collector), "SELECT name") == 1
