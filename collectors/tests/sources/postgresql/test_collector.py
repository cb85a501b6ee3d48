"""Against real PostgreSQL servers."""

import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import psycopg
import pytest
from loadwatch_collectors.collector import Collector
from loadwatch_collectors.config import load_config
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.settings_loader import parse_document
from loadwatch_collectors.sources.postgresql import (
    MOST_APPLICATIONS,
    OTHER,
    POSTGRESQL,
    PostgreSQLCollector,
    PostgreSQLSettings,
)
from loadwatch_collectors.sources.registry import sources_by_name
from loadwatch_collectors.transport.postgresql_session import PostgreSQLSession

from collectors.tests.postgresql import PostgreSQL, own_postgresql, own_replica

Figures = dict[tuple[str, frozenset[str]], float]
"""By name and the labels' values that are not empty."""
SLOTS = 27


@pytest.fixture(scope="module")
def server() -> Iterator[PostgreSQL]:
    with own_postgresql("max_connections=30", "shared_preload_libraries=pg_stat_statements") as made:
        made.run("CREATE ROLE watcher LOGIN PASSWORD 'secret' IN ROLE pg_monitor")
        made.run("CREATE ROLE blind LOGIN")
        made.run("CREATE ROLE late LOGIN IN ROLE pg_monitor")
        made.run("CREATE ROLE ordinary LOGIN")
        made.run("CREATE DATABASE shop OWNER ordinary")
        with made.connect("ordinary", "shop") as session:
            session.execute("CREATE TABLE goods AS SELECT n AS id, 0 AS stock FROM generate_series(1, 200) n")
            session.execute("SELECT pg_stat_force_next_flush()")
            session.execute("ANALYZE goods")
        yield made


@contextmanager
def reading(server: PostgreSQL, user: str = "watcher", **options: Any) -> Generator[PostgreSQLCollector]:
    made = PostgreSQLCollector(PostgreSQLSettings(port=server.port, user=user, **options))
    try:
        yield made
    finally:
        made.close()


def figures(collector: Collector) -> Figures:
    found: Figures = {}
    for sample in collector.collect():
        key = (sample.name, frozenset(value for _, value in sample.labels if value))
        assert key not in found, f"{sample} is there twice"
        found[key] = sample.value
    return found


def of(found: Figures, name: str, *values: str) -> float:
    """The sum of the series that have all these values."""
    return sum(value for (metric, labels), value in found.items() if metric == name and labels.issuperset(values))


def wait_until(holds: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < give_up
        time.sleep(0.05)


def fault_of(collector: Collector) -> str:
    fault = collector.fault()
    return fault.text if fault is not None else ""


def own_sessions(server: PostgreSQL) -> list[int]:
    with server.connect() as session:
        rows = session.execute("SELECT pid FROM pg_stat_activity WHERE application_name = 'loadwatch'").fetchall()
    return [row[0] for row in rows]


def test_figures_under_load(server: PostgreSQL) -> None:
    with reading(server, database="shop") as collector, ExitStack() as stack:
        before = figures(collector)
        sessions = [stack.enter_context(server.connect("ordinary", "shop")) for _ in range(5)]
        for number, session in enumerate(sessions):
            session.execute("SET application_name = 'shop-web'")
            for _ in range(20):
                session.execute("UPDATE goods SET stock = stock + 1 WHERE id = %s", [number])
        sessions[0].execute("BEGIN")
        idle = ("shop-web", "idle", "Client", "ClientRead")
        wait_until(lambda: of(figures(collector), "pg_stat_activity_count", *idle) == 4)
        found = figures(collector)
        assert of(found, "pg_stat_activity_count", "shop-web", "ordinary", "client backend") == 5
        assert of(found, "pg_stat_activity_count", "shop-web", "idle in transaction") == 1
        assert of(found, "pg_stat_activity_max_tx_duration", "shop-web") > 0
        assert of(found, "pg_stat_database_numbackends", "shop") == 5
        assert of(found, "pg_stat_activity_count", "loadwatch") == 0
        stack.close()
        wait_until(lambda: of(figures(collector), "pg_stat_database_numbackends") == 0)
        name = "pg_stat_database_xact_commit"
        wait_until(lambda: of(figures(collector), name, "shop") - of(before, name, "shop") >= 100)
        after = figures(collector)
        name = "pg_stat_database_tup_updated"
        assert of(after, name, "shop") - of(before, name, "shop") >= 80
        assert of(after, "pg_stat_database_blks_hit", "shop") > of(before, "pg_stat_database_blks_hit", "shop")
        assert of(after, "pg_stat_wal_bytes_total") > of(before, "pg_stat_wal_bytes_total") > 0
    assert of(found, "pg_up") == 1
    assert of(found, "pg_settings_max_connections") == 30
    assert of(found, "pg_settings_superuser_reserved_connections") == 3
    assert of(found, "pg_settings_shared_buffers_bytes") == 128 * 2**20
    assert of(found, "pg_settings_checkpoint_timeout_seconds") == 300
    assert of(found, "pg_settings_pg_stat_statements_max") == 0, "what has its default is left out"
    assert of(found, "pg_static") == 1
    assert 0 < time.time() - of(found, "pg_postmaster_start_time_seconds") < 600
    assert of(found, "pg_stat_user_tables_n_live_tup", "shop", "public", "goods") == 200
    assert of(found, "pg_database_size_bytes", "shop") > 0
    assert 0 < of(found, "pg_database_wraparound_age_datfrozenxid_seconds", "shop") < 10_000
    assert of(found, "pg_wal_size_bytes") >= 2**24
    assert ("pg_replication_is_replica", frozenset[str]()) in found
    assert ("pg_stat_bgwriter_checkpoints_req_total", frozenset[str]()) in found
    told = {metric.name for metric in POSTGRESQL.metrics}
    assert {name for name, _ in found if not name.startswith("pg_settings_")} <= told


def test_a_kept_session_sees_a_full_server_and_a_late_one_says_that_it_is_full(server: PostgreSQL) -> None:
    with reading(server) as collector, reading(server, "late") as late, ExitStack() as stack:
        figures(collector)
        sessions = 0

        def is_full() -> bool:
            nonlocal sessions
            try:
                stack.enter_context(server.connect("ordinary"))
            except psycopg.OperationalError:
                return sessions == SLOTS - 1
            sessions += 1
            return False

        wait_until(is_full)  # one that is on its way out leaves its slot, too
        for refused in (1, 2, 3):
            found = figures(collector)
            assert of(found, "pg_up") == 1
            assert of(found, "pg_stat_database_numbackends") == of(found, "pg_stat_activity_count") == SLOTS - 1
            blocked = figures(late)
            assert of(blocked, "pg_up") == 1
            assert of(blocked, "pg_refused_logins_total", "slots") == refused
            assert {name for name, _ in blocked} == {"pg_up", "pg_refused_logins_total"}
        assert "GRANT pg_use_reserved_connections TO late" in fault_of(late)
        stack.close()
        wait_until(lambda: ("pg_settings_max_connections", frozenset[str]()) in figures(late))
        assert fault_of(late) == ""


def test_a_reading_that_is_late_keeps_its_session(server: PostgreSQL) -> None:
    session = PostgreSQLSession(PostgreSQLSettings(port=server.port, user="watcher", deadline=1.0))
    try:
        before = session.run(lambda: session.query("SELECT pg_backend_pid()"))
        with pytest.raises(CollectorError, match="no complete answer within 1 s"):
            session.run(lambda: [session.query("SELECT pg_sleep(0.6)") for _ in range(3)])
        assert session.run(lambda: session.query("SELECT pg_backend_pid()")) == before
    finally:
        session.close()


def test_sessions_that_wait_for_a_lock_and_who_holds_it(server: PostgreSQL) -> None:
    update = "UPDATE goods SET stock = 0 WHERE id = 1"
    with reading(server) as collector, ExitStack() as stack:
        holder, *waiters = [stack.enter_context(server.connect("ordinary", "shop")) for _ in range(4)]
        holder.execute("SET application_name = 'report'")
        holder.execute("BEGIN")
        holder.execute(update)
        threads = [threading.Thread(target=waiter.execute, args=(update,)) for waiter in waiters]
        for thread in threads:
            thread.start()
        wait_until(lambda: of(figures(collector), "pg_blocked_sessions", "shop") == 3)
        found = figures(collector)
        assert of(found, "pg_blocked_max_seconds", "shop") > 0
        assert of(found, "pg_blocking_sessions") == of(found, "pg_blocking_sessions", "report", "ordinary") == 1
        assert of(found, "pg_blocking_sessions", "idle in transaction") == 1
        assert of(found, "pg_locks_count", "shop", "rowexclusivelock") >= 4
        assert of(found, "pg_stat_activity_count", "active", "Lock") == 3
        holder.execute("ROLLBACK")
        for thread in threads:
            thread.join()
        found = figures(collector)
    assert of(found, "pg_blocked_sessions") == of(found, "pg_blocking_sessions") == 0


def test_a_role_that_may_not_see_others_counts_them_and_the_remedy_works(server: PostgreSQL) -> None:
    with reading(server, "blind") as collector, server.connect("ordinary", "shop"):
        found = figures(collector)
        assert of(found, "pg_stat_database_numbackends", "shop") == 1
        assert of(found, "pg_stat_activity_count", "shop", "ordinary") == 1
        assert of(found, "pg_stat_activity_count", "idle") == 0
        (missing,) = collector.missing_privileges()
        assert fault_of(collector) == ""
    assert missing.remedy == "GRANT pg_monitor TO blind;"
    server.run(missing.remedy)
    with reading(server, "blind") as collector, server.connect("ordinary", "shop"):
        assert of(figures(collector), "pg_stat_activity_count", "idle") == 1
        assert not collector.missing_privileges()
    server.run("REVOKE pg_monitor FROM blind")


def test_names_of_applications_are_bounded(server: PostgreSQL) -> None:
    with reading(server) as collector, server.connect("ordinary") as session:
        names: set[str] = set()
        for number in range(MOST_APPLICATIONS + 20):
            session.execute(f"SET application_name = 'worker-{number}'".encode())
            found = [sample for sample in collector.collect() if sample.name == "pg_stat_activity_count"]
            names |= {dict(sample.labels)["application_name"] for sample in found}
    assert OTHER in names
    assert len(names) == MOST_APPLICATIONS + 1


def test_a_wrong_password_and_an_unknown_database_say_what_to_do(server: PostgreSQL, tmp_path: Any) -> None:
    rules = server.folder / "data" / "pg_hba.conf"
    before = rules.read_text("utf-8")
    (tmp_path / "password").write_text("wrong")
    rules.write_text(f"host all watcher 127.0.0.1/32 scram-sha-256\n{before}", "utf-8")
    server.run("SELECT pg_reload_conf()")
    try:
        with reading(server, password_file=str(tmp_path / "password")) as collector:
            wait_until(lambda: of(figures(collector), "pg_refused_logins_total", "account") >= 1)
            assert of(figures(collector), "pg_up") == 0
            assert "password authentication failed" in fault_of(collector)
            assert f"127.0.0.1:{server.port}" in fault_of(collector)
            assert "check user, password and database" in fault_of(collector)
            (tmp_path / "password").write_text("secret")
        with reading(server, password_file=str(tmp_path / "password")) as collector:
            assert of(figures(collector), "pg_up") == 1
    finally:
        rules.write_text(before, "utf-8")
        server.run("SELECT pg_reload_conf()")
    with reading(server, database="nowhere") as collector:
        assert of(figures(collector), "pg_refused_logins_total", "account") == 1


def test_a_server_that_is_killed_and_comes_back() -> None:
    with own_postgresql() as own, reading(own, "app") as collector:
        started = of(figures(collector), "pg_postmaster_start_time_seconds")
        assert own.process is not None
        own.process.send_signal(signal.SIGQUIT)  # it ends without a checkpoint
        own.process.wait(60)
        found = figures(collector)
        assert of(found, "pg_up") == 0
        assert ("pg_up", frozenset[str]()) in found
        assert "Connection refused" in fault_of(collector)
        own.start()
        found = figures(collector)
        assert of(found, "pg_up") == 1
        assert of(found, "pg_postmaster_start_time_seconds") > started
        assert fault_of(collector) == ""


def test_a_replica_and_its_lag() -> None:
    with own_postgresql() as own, own_replica(own) as replica:
        with reading(own, "app") as first, reading(replica, "app") as second:
            wait_until(lambda: ("pg_replication_lag_seconds", frozenset[str]()) in figures(second))
            assert of(figures(second), "pg_replication_is_replica") == 1
            assert of(figures(first), "pg_replication_is_replica") == 0
            behind = ("pg_stat_replication_pg_wal_lsn_diff", frozenset({"walreceiver", "127.0.0.1", "streaming"}))
            wait_until(lambda: behind in figures(first))


def test_collectors_of_one_login_share_a_session(server: PostgreSQL) -> None:
    text = f"targets:\n  - job: db\n    postgresql: {{port: {server.port}, user: watcher, database: shop}}\n"
    whole = parse_document(text + "    postgresql_statements: {every: 0.01s}\n", "loadwatch.yml")
    one, other = (collector.build() for collector in load_config(whole, sources_by_name()).collectors)
    try:
        assert of(figures(one), "pg_up") == 1
        with pytest.raises(CollectorError, match="database shop lacks the view: CREATE EXTENSION"):
            other.collect()
        sessions = own_sessions(server)
        assert len(sessions) == 1
        with server.connect(database="shop") as session:
            session.execute("CREATE EXTENSION pg_stat_statements")
        wait_until(lambda: counts(other))
        with ExitStack() as stack:
            for collector in (one, other, one, other):
                thread = threading.Thread(target=counts, args=(collector, 20))
                stack.callback(thread.join)
                thread.start()
        one.close()
        assert counts(other)
        assert own_sessions(server) == sessions
    finally:
        one.close()
        other.close()
    wait_until(lambda: not own_sessions(server))


def counts(collector: Collector, times: int = 1) -> bool:
    try:
        samples = [sample for _ in range(times) for sample in collector.collect()]
    except CollectorError:
        return False
    return any(sample.name.startswith("pg_statements") for sample in samples)
