import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.sources import nginx
from loadwatch_collectors.sources.nginx import NGINX, STATUS, NginxCollector, NginxSettings, find_master, find_workers

from collectors.tests.nginx_server import running_nginx, write_connections
from collectors.tests.servers import answer_always, response, tcp_server

PROC = Path("/proc")


def read(collector: NginxCollector) -> dict[str, float]:
    return {sample.name: sample.value for sample in collector.collect()}


def refused(values: dict[str, float]) -> float:
    return values["nginx_connections_accepted"] - values["nginx_connections_handled"]


def wait_until(holds: Callable[[], bool]) -> None:
    for _ in range(600):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come")


def test_what_the_page_says_has_the_names_of_the_exporter(tmp_path: Path) -> None:
    with running_nginx(tmp_path / "nginx", workers=2, connections=64) as server:
        collector = NginxCollector(NginxSettings(url=server.url))
        first, second = read(collector), read(collector)
        collector.close()
    assert set(first) == {metric.name for metric in NGINX.metrics}
    assert second["nginx_http_requests_total"] == first["nginx_http_requests_total"] + 1
    assert second["nginx_connections_accepted"] == first["nginx_connections_accepted"]
    assert first["nginx_connections_limit"] == 2 * 64


def test_it_is_read_while_nginx_has_no_connection_left(tmp_path: Path) -> None:
    with running_nginx(tmp_path / "nginx", connections=16) as server:
        collector = NginxCollector(NginxSettings(url=server.url))
        before = read(collector)
        with server.flooded():
            wait_until(lambda: refused(read(collector)) > 20)
            full = read(collector)
        wait_until(lambda: read(collector)["nginx_connections_active"] <= 2)
        collector.close()
        assert "worker_connections are not enough" in (server.folder / "error.log").read_text()
    assert refused(before) == 0
    assert full["nginx_connections_active"] > 0.8 * full["nginx_connections_limit"]
    assert full["nginx_connections_reading"] > 10


def test_the_limit_is_that_of_the_workers_that_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nginx, "_RESCAN_SECONDS", 0.0)
    with running_nginx(tmp_path / "nginx", connections=64) as server:
        collector = NginxCollector(NginxSettings(url=server.url))
        assert read(collector)["nginx_connections_limit"] == 64
        write_connections(server.folder, 128)
        assert read(collector)["nginx_connections_limit"] == 64
        master = server.process.pid
        assert find_master(PROC, server.port) == master
        old = find_workers(PROC, master)
        os.kill(master, signal.SIGHUP)
        wait_until(lambda: bool(workers := find_workers(PROC, master)) and set(workers).isdisjoint(old))
        wait_until(lambda: read(collector)["nginx_connections_limit"] == 128)
        collector.close()


@pytest.mark.parametrize(
    ("configuration", "expected"),
    [
        ("events { }", 512),
        ('events { # worker_connections 1;\n use "epoll"; worker_connections 9; }', 9),
        ("http { worker_connections 5; } events { include more.conf; }", 33),
        ("include nginx.conf;", 512),
        ("events { worker_connections many; } } ; include;", 512),
    ],
)
def test_configurations(configuration: str, expected: int, tmp_path: Path) -> None:
    master = tmp_path / "7"
    (master / "root" / "etc" / "nginx").mkdir(parents=True)
    (master / "cmdline").write_text("nginx: master process /usr/sbin/nginx -g daemon off;\0")
    (master / "root" / "etc" / "nginx" / "nginx.conf").write_text(configuration)
    (master / "root" / "etc" / "nginx" / "more.conf").write_text("worker_connections 33;")
    assert nginx.read_connections(tmp_path, 7) == expected


def test_of_a_container_whose_files_are_hidden_there_is_no_limit(tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "cmdline").write_text("nginx: master process nginx\0")
    (tmp_path / "7" / "status").write_text("Name:\tnginx\nNSpid:\t7\t1\n")
    assert nginx.read_connections(tmp_path, 7) is None


def test_tengine_has_a_further_number() -> None:
    head = "Active connections: 2 \nserver accepts handled requests request_time\n 3 3 4 9\n"
    text = f"{head}Reading: 0 Writing: 1 Waiting: 1 \n"
    found = STATUS.match(text)
    assert found is not None
    assert found.groups() == ("2", "3", "3", "4", "0", "1", "1")


def test_another_page_is_an_error_that_says_what_to_do() -> None:
    with tcp_server(answer_always(response(b"<html>"))) as port:
        collector = NginxCollector(NginxSettings(url=f"http://127.0.0.1:{port}/stub_status"))
        with pytest.raises(CollectorError, match=r"no page of stub_status .*location with `stub_status;`"):
            collector.collect()
        collector.close()
