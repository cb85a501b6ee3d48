import http.server
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import urllib3
from loadwatch_collectors.sources.exposition import ExpositionParser

from examples.demo.load import LANES, SLICE_SECONDS, LoadCounters, LoadGenerator, LoadPage, slice_seconds
from examples.demo.stages import STAGES, Load
from tests.ports import free_port

LOAD = Load(workers=4, rate_per_worker=10)


@pytest.fixture
def answering() -> Iterator[tuple[str, list[str]]]:
    """A server that answers "ok", and the paths that it was asked for."""
    paths: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            paths.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/?name=x", paths
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_page_shows_each_outcome_from_the_start() -> None:
    counters = LoadCounters()
    counters.begin("naive-1", LOAD)
    counters.add("naive-1", {"ok": 3})
    counters.add("naive-1", {"ok": 4, "timeout": 1})
    with LoadPage(counters) as page:
        text = urllib3.request("GET", page.url, retries=False, timeout=60).data.decode()
    samples = {(s.name, s.labels): s.value for s in ExpositionParser().parse(text, openmetrics=False).samples}
    requests = {
        dict(labels)["outcome"]: v for (name, labels), v in samples.items() if name == "loadtest_requests_total"
    }
    assert requests["ok"] == 7
    assert requests["timeout"] == 1
    assert requests["reset"] == 0
    assert samples["loadtest_target_rate", (("run", "naive-1"),)] == 40
    assert samples["loadtest_active_users", (("run", "naive-1"),)] == 4


def test_each_lane_keeps_its_own_second() -> None:
    for lane in range(LANES):
        elapsed = 0.0
        for late in (0.1, 0.7, 2.9, 0.0):
            length = slice_seconds(elapsed, lane)
            assert 1.0 < length <= SLICE_SECONDS + 1.0
            elapsed += length
            assert elapsed % SLICE_SECONDS == pytest.approx(lane * SLICE_SECONDS / LANES)
            elapsed += late


def test_rates_go_away_with_the_load() -> None:
    counters = LoadCounters()
    counters.begin("a-1", LOAD)
    counters.end()
    assert "loadtest_target_rate" not in counters.exposition()
    assert 'loadtest_requests_total{run="a-1",outcome="ok"} 0' in counters.exposition()


def test_every_request_is_counted_also_those_of_the_slice_that_is_cut_off(
    answering: tuple[str, list[str]], tmp_path: Path
) -> None:
    url, paths = answering
    counters = LoadCounters()
    with LoadGenerator(url=url, run="x-1", load=LOAD, counters=counters, folder=tmp_path) as load:
        deadline = time.monotonic() + 120
        while len(paths) < 20 and time.monotonic() < deadline:
            time.sleep(0.05)
            load.check()
    assert counters.by_outcome("x-1") == {"ok": len(paths)}


def test_nobody_listening_shows_as_refused(tmp_path: Path) -> None:
    counters = LoadCounters()
    url = f"http://127.0.0.1:{free_port()}/"
    with LoadGenerator(url=url, run="x-1", load=LOAD, counters=counters, folder=tmp_path) as load:
        deadline = time.monotonic() + 120
        while not counters.by_outcome("x-1") and time.monotonic() < deadline:
            time.sleep(0.05)
            load.check()
    assert set(counters.by_outcome("x-1")) == {"refused"}


def test_the_workers_of_every_stage_divide_among_the_lanes() -> None:
    assert [stage.name for stage in STAGES if stage.load.workers % LANES] == []
