import socket
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from loadwatch_collectors.collector import KEPT, Sample
from loadwatch_collectors.errors import CollectorError, PrivilegeError
from loadwatch_collectors.sources.probe import PROBE, ProbeCollector, ProbeSettings
from loadwatch_collectors.transport.mysql_session import MySQLLogin

from collectors.tests import measuring_server
from collectors.tests.mariadb import MariaDB
from collectors.tests.servers import answer_always, read_request, response, tcp_server
from tests.ports import free_port


@pytest.fixture
def login(mariadb: MariaDB) -> MySQLLogin:
    return MySQLLogin(port=mariadb.port, user="application", database="shop", deadline=120)


@pytest.fixture
def marks(mariadb: MariaDB) -> str:
    """An empty table for marks, which nothing but the test fills."""
    mariadb.run("CREATE OR REPLACE TABLE shop.marks (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(100), KEY (name))")
    return "marks"


def values(samples: Sequence[Sample]) -> dict[str, float]:
    found = {sample.name: sample.value for sample in samples if not sample.labels}
    found |= {f"{sample.name} {sample.labels[0][1]}": sample.value for sample in samples if sample.labels}
    return found


def rows(mariadb: MariaDB, statement: str) -> int:
    with mariadb.connect() as connection, connection.cursor() as cursor:
        cursor.execute(statement)
        row = cursor.fetchone()
        assert row is not None
        return int(row[0])


def test_the_lag_of_a_bulk_insert(
    mariadb: MariaDB, measuring_server_program: Path, tmp_path: Path, login: MySQLLogin
) -> None:
    flags = ("-stage=bulk", "-flush-interval=300ms")
    with measuring_server.running(measuring_server_program, mariadb, tmp_path / "log", *flags) as server:
        collector = ProbeCollector(ProbeSettings(url=server.url, mysql=login, wait=60))
        found = values(collector.collect())
        collector.close()
    assert found["probe_success"] == 1
    assert 0 < found["probe_http_duration_seconds"] < found["probe_ingest_lag_seconds"]
    assert (found["probe_requests_total"], found["probe_failures_total request"]) == (1, 0)
    assert {name.split()[0] for name in found} <= {metric.name for metric in PROBE.metrics}


def test_a_backlog_is_seen_while_it_grows(mariadb: MariaDB, login: MySQLLogin, marks: str) -> None:
    requests: list[bytes] = []

    def take(connection: socket.socket) -> None:
        while request := read_request(connection):
            requests.append(request)
            connection.sendall(response(b"ok"))

    with tcp_server(take) as port:
        settings = ProbeSettings(url=f"http://127.0.0.1:{port}/app/", mysql=login, table=marks, wait=0.02)
        collector = ProbeCollector(settings)
        first = values(collector.collect())
        time.sleep(0.1)
        second = values(collector.collect())
        assert len(requests) == 1
        assert second["probe_ingest_lag_seconds"] > first["probe_ingest_lag_seconds"] + 0.1
        assert (first["probe_success"], second["probe_success"]) == (1, 1)
        assert second["probe_http_duration_seconds"] == first["probe_http_duration_seconds"]
        target = requests[0].split()[1].decode()
        assert target.startswith("/app/?name=loadwatch-probe-")
        assert target.endswith("&value=probe")
        marker = target.removeprefix("/app/?name=").removesuffix("&value=probe")
        mariadb.run(f"INSERT INTO shop.{marks} (name) VALUES ('{marker}')")
        assert values(collector.collect())["probe_ingest_lag_seconds"] > second["probe_ingest_lag_seconds"]
        collector.collect()
        assert len(requests) == 2
        assert requests[1] != requests[0]
        collector.close()


def test_a_row_that_never_comes_is_lost(login: MySQLLogin, marks: str) -> None:
    with tcp_server(answer_always(response(b"ok"))) as port:
        settings = ProbeSettings(url=f"http://127.0.0.1:{port}/", mysql=login, table=marks, wait=0.01, give_up=2)
        collector = ProbeCollector(settings)
        collector.collect()
        time.sleep(2.1)
        found = values(collector.collect())
        assert (found["probe_success"], found["probe_failures_total lost"]) == (0, 1)
        again = values(collector.collect())
        assert again["probe_success"] == 1
        assert again["probe_ingest_lag_seconds"] < found["probe_ingest_lag_seconds"]
        collector.close()


def test_a_request_that_is_refused_is_a_result(login: MySQLLogin, marks: str) -> None:
    collector = ProbeCollector(ProbeSettings(url=f"http://127.0.0.1:{free_port()}/", mysql=login, table=marks))
    found = values(collector.collect())
    assert found["probe_success"] == 0
    assert found["probe_failures_total request"] == 1
    assert [name for name in found if name.startswith("probe_error_info") and "connection refused" in name]
    assert "probe_ingest_lag_seconds" not in found
    found = values(collector.collect())
    assert (found["probe_requests_total"], found["probe_failures_total request"]) == (2, 2)
    collector.close()


def test_between_two_requests_the_last_result_is_kept(login: MySQLLogin, marks: str) -> None:
    requests: list[bytes] = []

    def store(connection: socket.socket) -> None:
        while request := read_request(connection):
            requests.append(request)
            connection.sendall(response(b"ok"))

    with tcp_server(store) as port:
        settings = ProbeSettings(
            url=f"http://127.0.0.1:{port}/?m={{marker}}", mysql=login, every=3600, query="SELECT {marker}"
        )
        collector = ProbeCollector(settings)
        collector.collect()
        kept = [sample for sample in collector.collect() if sample.name == "probe_ingest_lag_seconds"]
        collector.close()
    assert len(requests) == 1
    assert requests[0].startswith(b"GET /?m=loadwatch-probe-")
    assert [sample.timestamp_ms for sample in kept] == [KEPT]


def test_rows_are_cleaned_up_if_that_is_wanted(
    mariadb: MariaDB, measuring_server_program: Path, tmp_path: Path, login: MySQLLogin
) -> None:
    marked = "SELECT COUNT(*) FROM shop.hits WHERE name LIKE 'loadwatch-probe-%'"
    with measuring_server.running(measuring_server_program, mariadb, tmp_path / "log") as server:
        mariadb.run("DELETE FROM shop.hits")
        keeping = ProbeCollector(ProbeSettings(url=server.url, mysql=login, wait=60))
        keeping.collect()
        keeping.close()
        assert rows(mariadb, marked) == 1
        cleaning = ProbeCollector(ProbeSettings(url=server.url, mysql=login, wait=60, cleanup=True))
        cleaning.collect()
        assert not cleaning.missing_privileges()
        cleaning.close()
        assert rows(mariadb, marked) == 1


def test_cleaning_up_without_the_permission(mariadb: MariaDB, password_file: str, marks: str) -> None:
    watcher = MySQLLogin(port=mariadb.port, user="watcher", password_file=password_file, database="shop")
    with tcp_server(answer_always(response(b"ok"))) as port:
        settings = ProbeSettings(
            url=f"http://127.0.0.1:{port}/",
            mysql=watcher,
            query="SELECT {marker}",
            cleanup=True,
            delete=f"DELETE FROM {marks} WHERE name = {{marker}}",
        )
        collector = ProbeCollector(settings)
        assert values(collector.collect())["probe_success"] == 1
        assert values(collector.collect())["probe_success"] == 1
        missing = collector.missing_privileges()
        collector.close()
    assert [item.permission for item in missing] == ["DELETE"]
    assert "DELETE command denied" in missing[0].lost


def test_no_request_is_sent_while_the_database_cannot_be_read() -> None:
    requests: list[bytes] = []
    with tcp_server(lambda connection: requests.append(read_request(connection))) as port:
        settings = ProbeSettings(url=f"http://127.0.0.1:{port}/", mysql=MySQLLogin(port=free_port(), user="w"))
        collector = ProbeCollector(settings)
        with pytest.raises(CollectorError, match="connection refused"):
            collector.collect()
        collector.close()
    assert not requests


def test_a_table_that_may_not_be_read_is_named(mariadb: MariaDB) -> None:
    with tcp_server(answer_always(response(b"ok"))) as port:
        login = MySQLLogin(port=mariadb.port, user="blind")
        collector = ProbeCollector(ProbeSettings(url=f"http://127.0.0.1:{port}/", mysql=login, table="shop.goods"))
        with pytest.raises(PrivilegeError, match=r"SELECT command denied to user 'blind'.*goods"):
            collector.collect()
        collector.close()


@pytest.mark.parametrize(
    ("query", "delete", "cleanup", "wait", "says"),
    [
        ("SELECT 1", "", False, 0.5, "query must contain"),
        ("", "DELETE FROM x", True, 0.5, "would delete every row"),
        ("SELECT {marker}", "", True, 0.5, "needs `delete`"),
        ("", "", False, 9.0, r"less than mysql\.deadline"),
    ],
)
def test_settings_are_checked(query: str, delete: str, cleanup: bool, wait: float, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        ProbeSettings(
            url="http://x/", mysql=MySQLLogin(user="w"), query=query, delete=delete, cleanup=cleanup, wait=wait
        )
