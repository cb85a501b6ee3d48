import time
from contextlib import closing

import psycopg
import pytest
from loadwatch_collectors.errors import CollectorError, PrivilegeError
from loadwatch_collectors.sources.pgbouncer import PGBOUNCER, PgBouncerCollector, PgBouncerSettings

from collectors.tests.pgbouncer import running_pgbouncer
from collectors.tests.postgresql import running_postgresql
from tests.ports import free_port

POOL = (("database", "shop"), ("user", "app"))


def read(collector: PgBouncerCollector) -> dict[str, float]:
    """Each metric of which there is one series, as there is with one database and one user."""
    samples = collector.collect()
    found = {one.name: one.value for one in samples}
    assert len(found) == len(samples)
    return found


def read_until(collector: PgBouncerCollector, name: str, value: float) -> dict[str, float]:
    for _ in range(600):
        if (found := read(collector)).get(name) == value:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{name} never was {value:g}")


def test_clients_that_wait_for_a_pool_of_two() -> None:
    with running_pgbouncer(running_postgresql(), pool=2) as server, closing(server.collector()) as collector:
        with server.crowded(12):
            found = read_until(collector, "pgbouncer_pools_client_waiting_connections", 10)
            later = read(collector)
            labels = {one.name: one.labels for one in collector.collect()}
        after = read_until(collector, "pgbouncer_used_clients", 0)
    assert set(found) == {metric.name for metric in PGBOUNCER.metrics}
    assert found["pgbouncer_pools_client_active_connections"] == found["pgbouncer_pools_server_active_connections"] == 2
    assert later["pgbouncer_pools_client_maxwait_seconds"] > found["pgbouncer_pools_client_maxwait_seconds"] > 0
    assert found["pgbouncer_databases_pool_size"] == 2
    assert found["pgbouncer_config_max_client_connections"] == 100
    assert found["pgbouncer_used_clients"] == 12
    assert after["pgbouncer_stats_totals_client_wait_seconds_total"] > 0
    assert labels["pgbouncer_pools_client_waiting_connections"] == POOL
    assert dict(labels["pgbouncer_databases_pool_size"])["name"] == "shop"


def test_it_is_read_while_pgbouncer_takes_no_more_clients() -> None:
    with running_pgbouncer(running_postgresql(), clients=5) as server, server.crowded(5):
        with pytest.raises(psycopg.OperationalError, match="no more connections"):
            server.connect()
        with closing(server.collector()) as collector:
            assert read(collector)["pgbouncer_used_clients"] == 5


def test_who_may_not_read_the_console_is_told_what_to_set() -> None:
    with running_pgbouncer(running_postgresql()) as server, closing(server.collector("app")) as collector:
        with pytest.raises(PrivilegeError, match=rf"PgBouncer at .*:{server.port}: .*`stats_users = app` in pgbouncer"):
            collector.collect()


def test_no_pgbouncer_is_an_error_that_says_where() -> None:
    port = free_port()
    with closing(PgBouncerCollector(PgBouncerSettings(port=port, user="loadwatch"))) as collector:
        with pytest.raises(CollectorError, match=rf"PgBouncer at 127.0.0.1:{port}: .*refused"):
            collector.collect()
