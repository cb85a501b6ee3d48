"""Real senders push what they scrape to a real server: a Prometheus and a vmagent, both from Debian's packages."""

import http.server
import json
import shutil
import subprocess
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import urllib3
from loadwatch_backend.series.store.embedded.engine import open_embedded
from loadwatch_backend.series.store.embedded.settings import EmbeddedSettings
from loadwatch_backend.series.store.port import STALE_NAN_BITS, Labels, Matcher, MatchOperator

from backend.tests.ingest.writing import HEADERS, body, series
from tests.serving import RealServer, free_port, wait_until_answers

PAGE = """\
# HELP orders_total Orders "taken" so far.
# TYPE orders_total counter
orders_total{path="/a\\\\b\\"c\\nd",shop="東京"} %d
# TYPE level gauge
level{kind="zero"} 0
level{kind="small"} 4.9406564584124654e-324
level{kind="large"} -1.7976931348623157e+308
level{kind="infinite"} +Inf
level{kind="nan"} NaN
# TYPE answer_seconds histogram
answer_seconds_bucket{le="0.1"} 3
answer_seconds_bucket{le="+Inf"} 5
answer_seconds_sum 1.25
answer_seconds_count 5
"""

PROMETHEUS_CONFIG = """\
global: {{scrape_interval: 2s, scrape_timeout: 2s, external_labels: {{sender: prometheus}}}}
scrape_configs:
  - job_name: page
    static_configs: [{{targets: ["127.0.0.1:{page}"], labels: {{zone: a}}}}]
remote_write:
  - url: {url}/prometheus/api/v1/write
    queue_config: {{batch_send_deadline: 200ms}}
    metadata_config: {{send_interval: 1s}}
"""
VMAGENT_CONFIG = """\
global: {{scrape_interval: 2s, scrape_timeout: 2s, external_labels: {{sender: vmagent}}}}
scrape_configs:
  - job_name: page
    static_configs: [{{targets: ["127.0.0.1:{page}"], labels: {{zone: a}}}}]
"""


class Page(http.server.BaseHTTPRequestHandler):
    """A counter that rises by one at each scrape, and values that are easy to get wrong."""

    scrapes = 0

    def do_GET(self) -> None:
        type(self).scrapes += 1
        content = (PAGE % self.scrapes).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def scraped_page() -> Generator[http.server.ThreadingHTTPServer]:
    handler = type("OnePage", (Page,), {"scrapes": 0})
    page = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=page.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield page
    finally:
        page.shutdown()
        page.server_close()
        thread.join()


def prometheus(directory: Path, page: int, url: str, port: int) -> Sequence[str]:
    config = directory / "prometheus.yml"
    config.write_text(PROMETHEUS_CONFIG.format(page=page, url=url))
    return (
        "prometheus",
        "--enable-feature=agent",
        f"--config.file={config}",
        f"--storage.agent.path={directory / 'wal'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--log.level=warn",
    )


def vmagent(directory: Path, page: int, url: str, port: int) -> Sequence[str]:
    config = directory / "vmagent.yml"
    config.write_text(VMAGENT_CONFIG.format(page=page))
    return (
        "vmagent",
        f"-promscrape.config={config}",
        f"-remoteWrite.url={url}/prometheus/api/v1/write",
        f"-remoteWrite.tmpDataPath={directory / 'queue'}",
        "-remoteWrite.flushInterval=200ms",
        f"-httpListenAddr=127.0.0.1:{port}",
        "-loggerLevel=WARN",
    )


SENDERS = {"prometheus": (prometheus, "/-/ready"), "vmagent": (vmagent, "/health")}


@contextmanager
def sending(name: str, directory: Path, page: int, url: str) -> Generator[None]:
    command, ready = SENDERS[name]
    assert shutil.which(name), f"{name} is missing; scripts/apt-install.sh installs it"
    port = free_port()
    with (directory / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(command(directory, page, url, port), stdout=log, stderr=log)
    try:
        wait_until_answers(f"http://127.0.0.1:{port}{ready}", process)
        yield
    finally:
        process.terminate()
        process.wait(120)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RealServer]:
    server = RealServer(tmp_path)
    server.start()
    yield server
    if server.process is not None:
        server.kill()


def wait_for(what: str, condition: Callable[[], bool], seconds: float = 180) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen within {seconds} s"
        time.sleep(0.1)


def query(server: RealServer, expression: str) -> list[Any]:
    address = f"{server.url}/prometheus/api/v1/query?" + urllib.parse.urlencode({"query": expression})
    with urllib.request.urlopen(address, timeout=60) as answer:
        return json.load(answer)["data"]["result"]


Stored = dict[str, tuple[Labels, list[float], list[int]]]
"""By `name/kind` or `name/le`: labels, values, and the bits of the values."""


def read(data: Path, sender: str) -> Stored:
    store = open_embedded(EmbeddedSettings(data_directory=data), lambda: 0)
    try:
        found = store.select([Matcher("sender", MatchOperator.EQUAL, sender)], 0, 2**43)
        metadata = store.metadata()
    finally:
        store.close()
    assert metadata.get("orders_total") is None or metadata["orders_total"].type == "counter"
    stored: Stored = {}
    for labels, start, end in zip(found.labels, found.offsets[:-1].tolist(), found.offsets[1:].tolist(), strict=True):
        key = "/".join(filter(None, (labels["__name__"], labels.get("kind"), labels.get("le"))))
        values = found.values[start:end]
        stored[key] = (labels, values.tolist(), values.view("u8").tolist())
    return stored


@pytest.mark.parametrize("sender", list(SENDERS))
def test_a_real_sender_is_understood(server: RealServer, tmp_path: Path, sender: str) -> None:
    with scraped_page() as page:
        port = int(page.server_address[1])
        with sending(sender, tmp_path, port, server.url):
            wait_for("the fifth sample", lambda: bool(query(server, f'orders_total{{sender="{sender}"}} >= 5')))
            page.shutdown()
            page.server_close()
            wait_for("a failed scrape", lambda: bool(query(server, f'up{{sender="{sender}"}} == 0')))
    assert server.stop() == 0
    stored = read(server.data, sender)

    labels, values, bits = stored["orders_total"]
    assert labels == {
        "__name__": "orders_total",
        "instance": f"127.0.0.1:{port}",
        "job": "page",
        "path": '/a\\b"c\nd',
        "sender": sender,
        "shop": "東京",
        "zone": "a",
    }
    # Every scrape once, in order, then the stale marker.
    assert values[:-1] == [float(n) for n in range(int(values[0]), int(values[0]) + len(values) - 1)]
    assert len(values) >= 5
    assert bits[-1] == STALE_NAN_BITS
    expected = {
        "level/zero": 0.0,
        "level/small": 5e-324,
        "level/large": -1.7976931348623157e308,
        "level/infinite": float("inf"),
        "answer_seconds_bucket/0.1": 3.0,
        "answer_seconds_bucket/+Inf": 5.0,
        "answer_seconds_sum": 1.25,
    }
    for key, value in expected.items():
        assert set(stored[key][1][:-1]) == {value}, key
        assert stored[key][2][-1] == STALE_NAN_BITS, key
    plain_nan = set(stored["level/nan"][2][:-1])
    assert STALE_NAN_BITS not in plain_nan
    assert plain_nan <= {0x7FF8000000000001, 0x7FF8000000000000}
    assert stored["up"][1][0] == 1
    assert stored["up"][1][-1] == 0


def test_metadata_of_prometheus_arrives(server: RealServer, tmp_path: Path) -> None:
    with scraped_page() as page, sending("prometheus", tmp_path, int(page.server_address[1]), server.url):

        def metadata() -> dict[str, Any]:
            with urllib.request.urlopen(f"{server.url}/prometheus/api/v1/metadata", timeout=60) as answer:
                return json.load(answer)["data"]

        wait_for("metadata", lambda: "orders_total" in metadata())
        assert metadata()["orders_total"] == [{"type": "counter", "help": 'Orders "taken" so far.', "unit": ""}]


def test_a_sender_of_a_later_version_is_told_what_to_change(server: RealServer) -> None:
    answer = urllib3.request(
        "POST",
        f"{server.url}/prometheus/api/v1/write",
        body=body(series({"__name__": "m"}, (int(time.time() * 1000), 1.0))),
        headers={
            **HEADERS,
            "content-type": "application/x-protobuf;proto=io.prometheus.write.v3.Request",
            "x-prometheus-remote-write-version": "3.0.0",
        },
        timeout=60,
        retries=False,
    )
    assert answer.status == 415
    assert "io.prometheus.write.v2.Request" in answer.json()["detail"]
    assert query(server, "m") == []


def test_bad_bodies_leave_the_server_well(server: RealServer) -> None:
    now = int(time.time() * 1000)
    year = 365 * 86_400_000
    write = f"{server.url}/prometheus/api/v1/write"
    good = {"__name__": "fine"}
    cases = [
        (b"garbage", 400, "snappy"),
        (b"\xff\xff\xff\xff\x0f", 413, "after decompression"),
        (body(series({"__name__": "m", "long": "x" * (1 << 20)}, (now, 1.0))), 400, "1048576 bytes"),
        (body(*(series({"__name__": "m", "i": str(n)}, (now, 1.0)) for n in range(100_000))), 400, "100000 new series"),
        (body(series({"__name__": "m"}, (now + year, 1.0)), series(good, (now - 2, 1.0))), 400, "ahead"),
        (body(series({"__name__": "m"}, (now - year, 1.0)), series(good, (now - 1, 1.0))), 400, "older than"),
        (body(series([("__name__", b"m\xff")], (now, 1.0))), 400, "UTF-8"),
    ]
    for content, status, text in cases:
        answer = urllib3.request("POST", write, body=content, headers=HEADERS, timeout=60, retries=False)
        assert (answer.status, text in answer.json()["detail"]) == (status, True), answer.data[:500]
    special = [(now - 3, float("nan")), (now - 2, float("inf")), (now - 1, float("-inf"))]
    answer = urllib3.request(
        "POST", write, body=body(series(good, *special)), headers=HEADERS, timeout=60, retries=False
    )
    assert answer.status == 204
    assert [sample["value"][1] for sample in query(server, "fine")] == ["-Inf"]
    assert query(server, "m") == []
    metrics = urllib3.request("GET", f"{server.url}/metrics", timeout=60).data.decode()
    for reason in (
        "malformed",
        "too_large",
        "label_too_long",
        "new_series_limit",
        "too_far_ahead",
        "too_old",
        "invalid_utf8",
    ):
        assert f'reason="{reason}"' in metrics, reason
