import json
import re
import socket
import threading
import time
from itertools import takewhile

import pytest
from loadwatch_collectors.config import AgentConfig, load_config
from loadwatch_collectors.pipeline import profiles
from loadwatch_collectors.pipeline.profiles import ProfileOrders, parse_orders
from loadwatch_collectors.settings_loader import parse_document
from loadwatch_collectors.sources.registry import sources_by_name
from structlog.testing import capture_logs

from collectors.tests.servers import read_request, response, tcp_server

ORDER = {"id": 7, "job": "shop", "instance": "web-1", "kind": "cpu", "seconds": 10}


def config(server: str, block: str = "pprof: {url: 'http://127.0.0.1:1/debug/pprof'}") -> AgentConfig:
    text = f"server: {{url: '{server}'}}\ntargets: [{{job: shop, instance: web-1, {block}}}]\n"
    return load_config(parse_document(text, "loadwatch.yml"), sources_by_name())


def test_orders_are_read_and_kinds_of_later_versions_left_out() -> None:
    later = {**ORDER, "kind": "threads", "more": [1]}
    [order] = parse_orders(json.dumps({"orders": [later, ORDER], "more": 1}).encode())
    assert (order.id, order.kind, order.seconds) == ("7", "cpu", 10)
    assert parse_orders(b'{"orders": []}') == []


@pytest.mark.parametrize("answer", [b"", b"<html>", b"[]", b'{"orders": [{}]}', b'{"orders": 7}', b"[" * 100_000])
def test_what_is_no_list_of_orders_is_an_error(answer: bytes) -> None:
    with pytest.raises(ValueError, match=r"orders|Expecting"):
        parse_orders(answer)


def test_a_server_of_before_is_told_once_and_left_alone() -> None:
    asked: list[bytes] = []
    known = threading.Event()

    def talk(connection: socket.socket) -> None:
        while request := read_request(connection):
            asked.append(request)
            connection.sendall(response(b"{}", status="404 Not Found"))
            known.set()

    with tcp_server(talk) as port, capture_logs() as logs:
        orders = ProfileOrders(config(f"http://127.0.0.1:{port}"))
        orders.start()
        assert known.wait(60)
        for _ in range(600):
            if logs:
                break
            time.sleep(0.1)
        orders.stop()
    assert asked[0].startswith(b"GET /api/profiles/orders?job=shop HTTP/1.1\r\n")
    assert ["before profiles" in one["reason"] for one in logs] == [True]


def test_a_server_that_is_started_anew_is_offered_the_same_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profiles, "_WAITS", (0.0, 0.0, 0.0, 0.0))
    offered: list[bytes] = []
    taken = threading.Event()

    def talk(connection: socket.socket) -> None:
        stream = connection.makefile("rb")
        while request := b"".join(takewhile(b"\r\n".__ne__, stream)):
            stream.read(int((re.findall(rb"(?i)content-length: (\d+)", request) or [0])[0]))
            status, body = "200 OK", b"{}"
            if request.startswith(b"GET"):
                body = json.dumps({"orders": [] if offered else [ORDER]}).encode()
            elif b"/begin" not in request:
                offered.append(request)
                status = "200 OK" if len(offered) == 5 else "503 Service Unavailable"
            connection.sendall(response(body, status=status))
            if len(offered) == 5:
                taken.set()

    with tcp_server(talk) as port:
        orders = ProfileOrders(config(f"http://127.0.0.1:{port}"))
        orders.start()
        assert taken.wait(60)
        orders.stop()
    assert all(b"/orders/7/failure" in request for request in offered)


def test_without_processes_or_with_another_receiver_nothing_is_asked() -> None:
    with capture_logs() as logs:
        for given in (config("http://127.0.0.1:1", "host: {}"), config("http://127.0.0.1:1/api/v1/push")):
            orders = ProfileOrders(given)
            orders.start()
            orders.stop()
    assert [one["log_level"] for one in logs] == ["warning"]
    assert "not Loadwatch" in logs[0]["event"]
