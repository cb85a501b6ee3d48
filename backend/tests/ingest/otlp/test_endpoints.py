"""The OTLP endpoint behind a minimal application; tests/test_otlp_senders.py has a real SDK."""

import asyncio
import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from google.protobuf import json_format
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.core.services import find_service
from loadwatch_backend.series.ingest.decode import IngestLimits
from loadwatch_backend.series.ingest.otlp.endpoints import router
from loadwatch_backend.series.ingest.otlp.names import Strategy
from loadwatch_backend.series.ingest.otlp.otlp_pb2 import ExportRequest, ExportResponse
from loadwatch_backend.series.ingest.otlp.service import OtlpService
from loadwatch_backend.series.ingest.otlp.translate import OtlpRules
from loadwatch_backend.series.ingest.service import IngestService
from loadwatch_backend.series.ingest.validate import Reason
from loadwatch_backend.series.store.embedded.engine import EmbeddedStore, open_embedded
from loadwatch_backend.series.store.embedded.settings import EmbeddedSettings
from loadwatch_backend.series.store.port import Matcher, MatchOperator

from backend.tests.ingest.writing import NOW_MS

PROTOBUF = {"content-type": "application/x-protobuf"}
JSON = {"content-type": "application/json"}


async def problem(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ProblemError)
    return JSONResponse(error.problem(request.url.path), error.status, error.headers())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    store = open_embedded(EmbeddedSettings(data_directory=tmp_path), lambda: NOW_MS)
    yield store
    store.close()


def app_on(store: EmbeddedStore, rules: OtlpRules | None = None, *, entries: int = 1_000_000) -> FastAPI:
    app = FastAPI()
    app.include_router(router)
    app.add_exception_handler(ProblemError, problem)
    ingest = IngestService(store, IngestLimits(entries=entries), lambda: NOW_MS)
    app.state.services = SimpleNamespace(ingest=ingest, otlp=OtlpService(ingest, store, rules or OtlpRules()))
    return app


@pytest.fixture
def app(store: EmbeddedStore) -> FastAPI:
    return app_on(store)


def post(app: FastAPI, content: bytes, headers: Mapping[str, str] = PROTOBUF) -> httpx.Response:
    async def send() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
            return await client.post("/prometheus/api/v1/otlp/v1/metrics", content=content, headers=dict(headers))

    return asyncio.run(send())


def number(value: float, at_ms: int = NOW_MS, start_ms: int = 0, **labels: str) -> dict[str, Any]:
    return {
        "attributes": [{"key": key, "value": {"stringValue": text}} for key, text in labels.items()],
        "startTimeUnixNano": str(start_ms * 1_000_000),
        "timeUnixNano": str(at_ms * 1_000_000),
        "asDouble": value,
    }


def document(*metrics: Mapping[str, Any]) -> dict[str, Any]:
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
    return {"resourceMetrics": [{"resource": resource, "scopeMetrics": [{"metrics": list(metrics)}]}]}


def message(*metrics: Mapping[str, Any]) -> bytes:
    return json_format.ParseDict(document(*metrics), ExportRequest()).SerializeToString()


def gauge(name: str, *points: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name, "gauge": {"dataPoints": list(points)}}


def delta(name: str, *points: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name, "sum": {"dataPoints": list(points), "isMonotonic": True, "aggregationTemporality": 1}}


def stored(store: EmbeddedStore, metric: str, **labels: str) -> list[tuple[int, float]]:
    matchers = [Matcher(name, MatchOperator.EQUAL, value) for name, value in {"__name__": metric, **labels}.items()]
    found = store.select(matchers, 0, NOW_MS + 10**9)
    return list(zip((found.timestamps - NOW_MS).tolist(), found.values.tolist(), strict=True))


def reasons(app: FastAPI) -> dict[Reason, int]:
    return dict(find_service(app, IngestService).counts.rejected_requests_total)


def test_200_means_stored(app: FastAPI, store: EmbeddedStore) -> None:
    answer = post(app, message(gauge("room.level", number(1.5))))
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-type"] == "application/x-protobuf"
    assert stored(store, "room_level", job="shop") == [(0, 1.5)]
    # The second time its series is known.
    assert post(app, message(gauge("room.level", number(2.5, NOW_MS + 1000)))).status_code == 200
    assert stored(store, "room_level") == [(0, 1.5), (1000, 2.5)]
    assert store.metadata()["room_level"].type == "gauge"


def test_json_and_gzip_are_read(app: FastAPI, store: EmbeddedStore) -> None:
    body = json.dumps(document(gauge("a", number(1)), {"name": "b", "unheard": [1]})).encode()
    answer = post(app, body, JSON)
    assert (answer.status_code, answer.json()) == (200, {})
    assert post(app, gzip.compress(message(gauge("c", number(3)))), {**PROTOBUF, "content-encoding": "gzip"})
    assert (stored(store, "a"), stored(store, "c")) == ([(0, 1.0)], [(0, 3.0)])


def test_what_is_refused_is_counted_in_points(app: FastAPI, store: EmbeddedStore) -> None:
    point = {"timeUnixNano": str((NOW_MS + 10**9) * 1_000_000), "count": "1", "bucketCounts": ["1"]}
    far = {"name": "h", "histogram": {"dataPoints": [point], "aggregationTemporality": 2}}
    body = message(gauge("good", number(1)), far, gauge("", number(2), number(3)))
    partial = ExportResponse.FromString(post(app, body).content).partial_success
    assert partial.rejected_data_points == 3
    assert "nothing is left of the metric name ''" in partial.error_message
    assert "ahead of the server's clock" in partial.error_message
    assert stored(store, "good") == [(0, 1.0)]
    counts = find_service(app, IngestService).counts.rejected_samples_total
    assert counts == {Reason.TOO_FAR_AHEAD: 2, Reason.UNTRANSLATABLE: 2}


def test_names_in_utf8_are_stored_where_the_strategy_says_so(store: EmbeddedStore) -> None:
    app = app_on(store, OtlpRules(strategy=Strategy.NOTHING))
    answer = post(app, message(gauge("room.level", number(1.5, NOW_MS, 0, **{"room.name": "居間"}))))
    assert (answer.status_code, answer.content) == (200, b"")
    assert stored(store, "room.level", **{"room.name": "居間"}) == [(0, 1.5)]


@pytest.mark.parametrize(
    ("content", "headers"),
    [
        (b"\xff", PROTOBUF),
        (b"{", JSON),
        (b"[]", JSON),
        (b'{"resourceMetrics": 5}', JSON),
        (b"[" * 100_000, JSON),
        (b"not gzip", {**PROTOBUF, "content-encoding": "gzip"}),
        (gzip.compress(b"x" * 1000, mtime=0)[:-12], {**PROTOBUF, "content-encoding": "gzip"}),
        (gzip.compress(b"", mtime=0) * 20, {**PROTOBUF, "content-encoding": "gzip"}),
    ],
)
def test_garbage_is_refused(app: FastAPI, content: bytes, headers: Mapping[str, str]) -> None:
    answer = post(app, content, headers)
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed-write")
    assert reasons(app) == {Reason.MALFORMED: 1}


def test_a_bomb_is_refused_before_it_is_unpacked(app: FastAPI) -> None:
    answer = post(app, gzip.compress(bytes(64 << 20), 1), {**PROTOBUF, "content-encoding": "gzip"})
    assert (answer.status_code, answer.json()["code"]) == (413, "write-too-large")


def nested() -> bytes:
    """Five thousand empty values in a list in a list in a map, as an attribute of a resource."""
    content = b"\x0a\x00" * 5000
    for tag in (0x2A, 0x0A, 0x2A, 0x12, 0x0A, 0x32, 0x12, 0x0A, 0x0A, 0x0A):
        size = len(content)
        content = bytes([tag, size & 0x7F | 0x80, (size >> 7) & 0x7F | 0x80, size >> 14]) + content
    return content


@pytest.mark.parametrize("content", [b"\x0a\x00" * 5000, nested()], ids=["resources", "values within values"])
def test_whatever_is_repeated_is_counted_before_objects_are_made_of_it(store: EmbeddedStore, content: bytes) -> None:
    answer = post(app_on(store, entries=4000), content)
    assert (answer.status_code, answer.json()["code"]) == (413, "write-too-large")
    assert "send fewer samples per request" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("headers", "reason"),
    [({"content-type": "text/plain"}, Reason.CONTENT_TYPE), ({"content-encoding": "zstd"}, Reason.ENCODING)],
)
def test_other_forms_are_told_what_to_set(app: FastAPI, headers: Mapping[str, str], reason: Reason) -> None:
    answer = post(app, b"", {**PROTOBUF, **headers})
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported-write")
    assert "OTEL_EXPORTER_OTLP" in answer.json()["detail"]
    assert reasons(app) == {reason: 1}


def deltas(*rows: Sequence[float]) -> bytes:
    points = [number(value, NOW_MS + int(at), NOW_MS + int(at) - 1000) for at, value in rows]
    return message(delta("orders", *points))


def test_deltas_are_added_up_from_where_they_began(app: FastAPI, store: EmbeddedStore) -> None:
    assert post(app, deltas((0, 5))).content == b""
    assert post(app, deltas((1000, 2), (2000, 3))).content == b""
    assert stored(store, "orders_total") == [(-1000, 0.0), (0, 5.0), (1000, 7.0), (2000, 10.0)]
    assert store.metadata()["orders_total"].type == "counter"


def test_deltas_that_are_sent_again_are_not_counted_again(app: FastAPI, store: EmbeddedStore) -> None:
    for _ in range(3):
        assert post(app, deltas((0, 5), (1000, 2))).content == b""
    assert stored(store, "orders_total")[-1] == (1000, 7.0)


def test_a_server_that_starts_again_goes_on_from_the_disk(store: EmbeddedStore) -> None:
    post(app_on(store), deltas((0, 5)))
    again = app_on(store)
    post(again, deltas((0, 5)))
    post(again, deltas((1000, 2)))
    assert stored(store, "orders_total") == [(-1000, 0.0), (0, 5.0), (1000, 7.0)]


def test_a_delta_that_comes_too_late_is_told(app: FastAPI, store: EmbeddedStore) -> None:
    post(app, deltas((0, 5), (2000, 2)))
    partial = ExportResponse.FromString(post(app, deltas((1000, 9))).content).partial_success
    assert partial.rejected_data_points == 1
    assert "came after later ones" in partial.error_message
    assert stored(store, "orders_total")[-1] == (2000, 7.0)


def test_two_deltas_with_the_same_labels_in_one_request_both_count(app: FastAPI, store: EmbeddedStore) -> None:
    post(app, message(delta("orders", number(1), number(2))))
    post(app, deltas((1000, 4)))
    assert stored(store, "orders_total") == [(0, 3.0), (1000, 7.0)]


def test_a_delta_that_was_refused_is_not_in_the_sum(app: FastAPI, store: EmbeddedStore) -> None:
    post(app, deltas((0, 5)))
    partial = ExportResponse.FromString(post(app, deltas((10**9, 100))).content).partial_success
    assert partial.rejected_data_points == 1
    post(app, deltas((1000, 2)))
    assert stored(store, "orders_total")[-1] == (1000, 7.0)


def test_histograms_of_deltas_are_added_bucket_by_bucket(app: FastAPI, store: EmbeddedStore) -> None:
    for at, counts in ((0, ["1", "2"]), (1000, ["3", "0"])):
        point = {
            "timeUnixNano": str((NOW_MS + at) * 1_000_000),
            "count": "3",
            "sum": 1.5,
            "bucketCounts": counts,
            "explicitBounds": [1],
        }
        post(app, message({"name": "h", "histogram": {"dataPoints": [point], "aggregationTemporality": 1}}))
    assert stored(store, "h_bucket", le="1") == [(0, 1.0), (1000, 4.0)]
    assert stored(store, "h_bucket", le="+Inf") == [(0, 3.0), (1000, 6.0)]
    assert stored(store, "h_sum") == [(0, 1.5), (1000, 3.0)]


def exponential(at: int, scale: int, offset: int, counts: Sequence[int]) -> bytes:
    point = {
        "startTimeUnixNano": str((NOW_MS + at - 1000) * 1_000_000),
        "timeUnixNano": str((NOW_MS + at) * 1_000_000),
        "count": str(sum(counts)),
        "sum": 1.5,
        "scale": scale,
        "positive": {"offset": offset, "bucketCounts": [str(count) for count in counts]},
    }
    return message({"name": "e", "exponentialHistogram": {"dataPoints": [point], "aggregationTemporality": 1}})


def test_exponential_deltas_are_added_where_either_has_a_bound(store: EmbeddedStore) -> None:
    requests = [exponential(0, 0, 0, [1, 2]), exponential(1000, 0, 2, [4]), exponential(2000, 1, 0, [8])]
    for content in requests:
        # Each is sent twice, to a server that starts again: only the disk knows what was before.
        for _ in range(2):
            assert post(app_on(store), content).content == b""
    assert stored(store, "e_count") == [(-1000, 0.0), (0, 3.0), (1000, 7.0), (2000, 15.0)]
    assert stored(store, "e_bucket", le="+Inf") == stored(store, "e_count")
    assert stored(store, "e_bucket", le="1") == [(-1000, 0.0), (0, 0.0), (1000, 0.0), (2000, 0.0)]
    assert stored(store, "e_bucket", le="2") == [(-1000, 0.0), (0, 1.0), (1000, 1.0), (2000, 9.0)]
    assert stored(store, "e_bucket", le="4") == [(-1000, 0.0), (0, 3.0), (1000, 3.0), (2000, 11.0)]
    # What is new has what it would have had at the time before.
    assert stored(store, "e_bucket", le="8") == [(0, 3.0), (1000, 7.0), (2000, 15.0)]
    assert stored(store, "e_bucket", le="1.4142135623730951") == [(1000, 0.0), (2000, 8.0)]


def test_an_exponential_delta_that_comes_again_beside_a_new_one_counts_once(app: FastAPI, store: EmbeddedStore) -> None:
    first, second = (ExportRequest.FromString(exponential(at, 0, 0, [1, 2])) for at in (0, 1000))
    post(app, first.SerializeToString())
    first.MergeFrom(second)
    assert post(app, first.SerializeToString()).content == b""
    assert stored(store, "e_bucket", le="4") == [(-1000, 0.0), (0, 3.0), (1000, 6.0)]


def test_exponential_deltas_cannot_make_rows_without_end(store: EmbeddedStore) -> None:
    request = ExportRequest.FromString(exponential(0, 2, 0, [1] * 100))
    for at in range(1, 60):
        request.MergeFrom(ExportRequest.FromString(exponential(at, 2, 0, [1])))
    assert post(app_on(store, entries=9_000), request.SerializeToString()).status_code == 413
    assert store.statistics().series == 0
    assert post(app_on(store), request.SerializeToString()).content == b""
    assert stored(store, "e_count")[-1] == (59, 159.0)


def test_exponential_deltas_of_one_time_in_one_request_all_count(app: FastAPI, store: EmbeddedStore) -> None:
    request = ExportRequest.FromString(exponential(0, 0, 0, [1, 2]))
    points = request.resource_metrics[0].scope_metrics[0].metrics[0].exponential_histogram.data_points
    points.add().CopyFrom(points[0])
    assert post(app, request.SerializeToString()).content == b""
    assert stored(store, "e_bucket", le="4") == [(-1000, 0.0), (0, 6.0)]
    assert stored(store, "e_count")[-1] == (0, 6.0)
