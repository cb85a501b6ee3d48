import json

import pytest
from loadwatch_collectors.connect.find import Seeming, by_answer, by_greeting, by_program, needs_asking

POOL = {"MaxOpenConnections": 8, "OpenConnections": 8, "InUse": 8, "Idle": 0, "WaitCount": 3, "WaitDuration": 5}
METRICS = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n\r\n# HELP a b\n# TYPE up gauge\nup 1\n"


def answer(document: object, status: str = "200 OK") -> bytes:
    return f"HTTP/1.0 {status}\r\nContent-Type: application/json\r\n\r\n{json.dumps(document)}".encode()


def test_a_name_tells_databases_and_spares_them_a_question() -> None:
    assert by_program("mariadbd") == Seeming(kind="mysql", told="program")
    assert by_program("postgres") == Seeming(kind="postgresql", told="program")
    assert by_program("measuring-serve") is None
    assert not needs_asking("mariadbd")
    assert not needs_asking("systemd-resolve")
    assert needs_asking("measuring-serve")


def test_a_greeting_tells_mysql_and_ssh() -> None:
    # The first bytes of MariaDB 10.11, and of a server that is full.
    assert by_greeting(b"\x5a\x00\x00\x00\x0a5.5.5-10.11.6-MariaDB\x00") == Seeming(kind="mysql", told="greeting")
    assert by_greeting(b"\x17\x00\x00\x00\xff\x10\x04Too many connections") == Seeming(kind="mysql", told="greeting")
    assert by_greeting(b"SSH-2.0-OpenSSH_9.2p1\r\n") == Seeming(kind="ssh", told="greeting")
    assert by_greeting(b"220 mail.example ESMTP\r\n") is None


@pytest.mark.parametrize("document", [POOL, {"pools": {"main": POOL}, "accepted": 7}])
def test_a_pool_in_the_answer_tells_dbstats(document: object) -> None:
    assert by_answer("/debug/dbstats", answer(document)) == Seeming(
        kind="dbstats", told="answer", path="/debug/dbstats"
    )


def test_a_page_of_metrics_tells_what_it_writes_that_other_sources_would_too() -> None:
    assert by_answer("/metrics", METRICS) == Seeming(kind="metrics", told="answer", path="/metrics")
    seen = by_answer("/metrics", METRICS + b'process_open_fds 7\ngo_sql_max_open_connections{db_name="a"} 8\n')
    assert seen is not None
    assert seen.gives == {"process", "dbstats"}


def test_a_page_of_stub_status_tells_nginx() -> None:
    page = b"Active connections: 1 \nserver accepts handled requests\n 9 9 9 \nReading: 0 Writing: 1 Waiting: 0 \n"
    said = b"HTTP/1.1 200 OK\r\nServer: nginx\r\n\r\n" + page
    for path in ("/stub_status", "/nginx_status"):
        assert by_answer(path, said) == Seeming(kind="nginx", told="answer", path=path)
    assert by_answer("/metrics", said) == Seeming(kind="http", told="answer", path="/metrics")


@pytest.mark.parametrize(
    "said",
    [
        answer({"error": "no such page"}, "404 Not Found"),
        answer(POOL, "401 Unauthorized"),
        answer({"hello": 1}),
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<pre># TYPE a gauge\n</pre>",
        b"HTTP/1.1 200 OK\r\n\r\n" + b"[" * 100_000,
    ],
)
def test_anything_else_in_http_is_an_http_server(said: bytes) -> None:
    for path in ("/debug/dbstats", "/metrics"):
        assert by_answer(path, said) == Seeming(kind="http", told="answer", path=path)


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (b"-ERR wrong number of arguments for 'get' command\r\n", "redis"),
        (b"-NOAUTH Authentication required.\r\n", "redis"),
        (b"ERROR\r\n", "memcached"),
        (b"\x15\x03\x01\x00\x02\x02\x16", "tls"),
        (b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n", "tls"),
    ],
)
def test_other_protocols_are_told_by_how_they_refuse(said: bytes, kind: str) -> None:
    seen = by_answer("/metrics", said)
    assert seen is not None
    assert seen.kind == kind


@pytest.mark.parametrize("said", [b"", b"\x00\x01", b"what?\r\n"])
def test_what_nobody_knows_stays_unknown(said: bytes) -> None:
    assert by_answer("/metrics", said) is None
