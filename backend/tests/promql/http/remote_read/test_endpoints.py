"""A real Prometheus reads our samples and answers queries from them as we do; what is no request is refused."""

import http.server
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cramjam
import numpy as np
import pytest
from loadwatch_backend.kit.clock import system_clock
from loadwatch_backend.promql.http.remote_read.messages import result_message, series_message
from loadwatch_backend.promql.http.remote_read.read_pb2 import ChunkedReadResponse, LabelMatcher, Query, ReadRequest
from loadwatch_backend.promql.http.remote_read.series import ReadSeries
from loadwatch_backend.store.port import STALE_NAN

from backend.tests.conftest import RunningServer, run_server
from backend.tests.promql.http.beside import HTTP, Rows, ask, run_prometheus
from backend.tests.promql.http.remote_read.decoding import decode, unframe

STEP_MS = 5_000
COUNT = 500
CONFIG = """\
global: {{evaluation_interval: 1h}}
remote_read:
  - url: {url}/api/v1/read
    read_recent: true
"""


def _rows(first_ms: int) -> Rows:
    """Odd times, so that no window of a query begins or ends at a sample: Prometheus 2 takes both its ends."""
    chance = np.random.default_rng(4)
    times = [first_ms + STEP_MS * place + int(chance.integers(1, 900)) for place in range(COUNT)]
    counter = np.cumsum(chance.integers(0, 50, COUNT)).astype(float)
    counter[300:] -= counter[300] - 1
    gauge = np.round(chance.normal(20, 5, COUNT), 2)
    gone = gauge.copy()
    gone[250:260] = STALE_NAN
    special = np.array([float("nan"), float("inf"), float("-inf"), -0.0, 5e-324, 1e300] * COUNT)[:COUNT]
    values = {
        ("hits_total", "a"): counter,
        ("hits_total", "b"): counter * 3,
        ("level", "a"): gauge,
        ("level", "東京"): gone,
        ("odd", ""): special,
    }
    return [
        (
            {"__name__": name, "job": "j"} | ({"shop": shop} if shop else {}),
            list(zip(times, values[name, shop].tolist(), strict=True)),
        )
        for name, shop in values
    ]


QUERIES = (
    "hits_total",
    "sum(rate(hits_total[1m]))",
    "sum by (shop) (increase(hits_total[5m]))",
    'level{shop!="a"}',
    'level{shop=~"a|b.*"} > 20',
    '{__name__=~"h.*|level", shop!~"a"}',
    'odd{shop=""}',
    "count_over_time(level[2m])",
    "max_over_time(rate(hits_total[1m])[299s:30s])",
    "absent(nothing)",
)


@pytest.fixture(scope="module")
def first_ms() -> int:
    return (system_clock() // 60_000 - 60) * 60_000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, first_ms: int) -> Iterator[RunningServer]:
    with run_server(tmp_path_factory.mktemp("read") / "data") as server:
        server.clock.now_ms = system_clock()
        server.write(*[(dict(labels), samples) for labels, samples in _rows(first_ms)])
        yield server


def _samples_of(stream: bytes) -> bytes:
    """The frames of one query as the message that who wants samples gets."""
    found: list[bytes] = []
    for message in unframe(stream):
        (one,) = ChunkedReadResponse.FromString(message).chunked_series
        samples = [sample for chunk in one.chunks for sample in decode(chunk.data)]
        assert [(decode(chunk.data)[0][0], decode(chunk.data)[-1][0]) for chunk in one.chunks] == [
            (chunk.min_time_ms, chunk.max_time_ms) for chunk in one.chunks
        ]
        series = ReadSeries(
            labels=tuple((label.name, label.value) for label in one.labels),
            timestamps=np.array([time for time, _ in samples], np.int64),
            values=np.array([word for _, word in samples], np.uint64).view(np.float64),
        )
        found.append(series_message(series))
    return bytes(cramjam.snappy.compress_raw(result_message(b"".join(found))))


@contextmanager
def relay(url: str) -> Generator[str]:
    """Asks for chunks where Prometheus asks for samples, as it did before 2.55, and gives it what is in them."""
    kinds: set[str | None] = set()

    class Relay(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["content-length"]))
            request = ReadRequest.FromString(bytes(cramjam.snappy.decompress_raw(content)))
            request.accepted_response_types[:] = [1]
            body = bytes(cramjam.snappy.compress_raw(request.SerializeToString()))
            answer = HTTP.request("POST", url + self.path, body=body)
            kinds.add(answer.headers["content-type"])
            samples = _samples_of(answer.data)
            self.send_response(answer.status)
            self.send_header("content-type", "application/x-protobuf")
            self.send_header("content-encoding", "snappy")
            self.send_header("content-length", str(len(samples)))
            self.end_headers()
            self.wfile.write(samples)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Relay)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/prometheus"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert kinds == {"application/x-streamed-protobuf; proto=prometheus.ChunkedReadResponse"}


@contextmanager
def directly(url: str) -> Generator[str]:
    yield f"{url}/prometheus"


@pytest.mark.parametrize("way", [directly, relay], ids=["samples", "streamed chunks"])
def test_a_prometheus_reads_here_and_answers_the_same(
    server: RunningServer, first_ms: int, tmp_path: Path, way: Any
) -> None:
    grid = {"start": first_ms / 1000 + 60, "end": first_ms / 1000 + STEP_MS * COUNT / 1000, "step": 30}
    with way(server.url) as address, run_prometheus(tmp_path, CONFIG.format(url=address)) as prometheus:
        for query in QUERIES:
            theirs = ask(prometheus, "query_range", query=query, **grid)
            ours = ask(f"{server.url}/prometheus", "query_range", query=query, **grid)
            assert theirs == ours, query
            assert ours["data"]["result"], query
        raw = {"query": '{job="j"}[2h]', "time": grid["end"]}
        theirs = ask(prometheus, "query", **raw)["data"]["result"]
        ours = ask(f"{server.url}/prometheus", "query", **raw)["data"]["result"]
        assert sorted(map(str, theirs)) == sorted(map(str, ours))
        assert sorted(len(one["values"]) for one in ours) == [COUNT - 10, *[COUNT] * 4]


# What is refused ----------------------------------------------------------------------------------------------------


def _post(server: RunningServer, content: bytes) -> tuple[int, str]:
    answer = HTTP.request("POST", f"{server.url}/prometheus/api/v1/read", body=content)
    return answer.status, answer.json()["error"] if answer.status != 200 else ""


def _packed(request: ReadRequest) -> bytes:
    return bytes(cramjam.snappy.compress_raw(request.SerializeToString()))


def test_what_is_no_request_is_refused(server: RunningServer) -> None:
    name = LabelMatcher(type=0, name="__name__", value="level")
    cases: list[tuple[bytes, int, str]] = [
        (b"", 400, "snappy"),
        (b"garbage", 400, "snappy"),
        (b"\xff\xff\xff\xff\x0f", 413, "after decompression"),
        (b"x" * (1 << 20) + b"x", 413, ""),
        (bytes(cramjam.snappy.compress_raw(b"\x0a\x0a")), 400, "prometheus.ReadRequest"),
        (_packed(ReadRequest(accepted_response_types=[7, 9])), 400, "requested response types: [7, 9]"),
        (_packed(ReadRequest(queries=[Query()] * 101)), 400, "101 queries"),
        (_packed(ReadRequest(queries=[Query(matchers=[name] * 101)])), 400, "101 matchers"),
        (_packed(ReadRequest(queries=[Query(matchers=[LabelMatcher(type=4)])])), 400, "matcher type 4"),
        (
            _packed(
                ReadRequest(
                    queries=[Query(end_timestamp_ms=2**62, matchers=[LabelMatcher(type=2, name="job", value="(")])]
                )
            ),
            400,
            "regular expression",
        ),
    ]
    for content, status, text in cases:
        found, error = _post(server, content)
        assert (found, text in error) == (status, True), (content[:50], found, error)


@pytest.mark.parametrize(("types", "empty"), [([0], b"\x0a\x00"), ([1, 0], b""), ([9, 1], b"")])
def test_an_answer_without_series(server: RunningServer, types: list[int], empty: bytes) -> None:
    nothing = Query(start_timestamp_ms=0, end_timestamp_ms=2**62, matchers=[LabelMatcher(name="job", value="none")])
    for queries, expected in (([], b""), ([nothing], empty)):
        body = _packed(ReadRequest(queries=queries, accepted_response_types=types))
        answer = HTTP.request("POST", f"{server.url}/prometheus/api/v1/read", body=body)
        assert answer.status == 200
        if types == [0]:
            assert answer.headers["content-encoding"] == "snappy"
            assert bytes(cramjam.snappy.decompress_raw(answer.data)) == expected
        else:
            assert answer.headers["content-type"].startswith("application/x-streamed-protobuf")
            assert answer.data == expected
