"""The write endpoint behind a minimal application; tests/test_remote_write_senders.py has real senders."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.core.services import find_service
from loadwatch_backend.series.ingest.decode import IngestLimits, WriteColumns
from loadwatch_backend.series.ingest.endpoints import router
from loadwatch_backend.series.ingest.remote_v2_pb2 import Request as Request2
from loadwatch_backend.series.ingest.remote_v2_pb2 import Sample as Sample2
from loadwatch_backend.series.ingest.remote_v2_pb2 import TimeSeries as TimeSeries2
from loadwatch_backend.series.ingest.senders import Sender
from loadwatch_backend.series.ingest.service import IngestService, Push
from loadwatch_backend.series.ingest.validate import Reason
from loadwatch_backend.series.store.embedded.engine import EmbeddedStore, open_embedded
from loadwatch_backend.series.store.embedded.settings import EmbeddedSettings
from loadwatch_backend.series.store.port import Matcher, MatchOperator

from backend.tests.ingest.writing import HEADERS, NOW_MS, body, compress, series

METRIC = [Matcher("__name__", MatchOperator.EQUAL, "m")]
GOOD = series({"__name__": "m"}, (NOW_MS, 1.0))


async def problem(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ProblemError)
    return JSONResponse(error.problem(request.url.path), error.status, error.headers())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    store = open_embedded(EmbeddedSettings(data_directory=tmp_path), lambda: NOW_MS)
    yield store
    store.close()


@pytest.fixture
def app(store: EmbeddedStore) -> FastAPI:
    app = FastAPI()
    app.include_router(router)
    app.add_exception_handler(ProblemError, problem)
    app.state.services = SimpleNamespace(
        ingest=IngestService(store, IngestLimits(body_bytes=300_000, new_series=20_000), lambda: NOW_MS)
    )
    return app


def post(app: FastAPI, content: bytes | AsyncIterator[bytes], headers: Mapping[str, str] = HEADERS) -> httpx.Response:
    async def send() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
            return await client.post("/prometheus/api/v1/write", content=content, headers=dict(headers))

    return asyncio.run(send())


def reasons(app: FastAPI) -> dict[Reason, int]:
    return dict(find_service(app, IngestService).counts.rejected_requests_total)


def test_204_means_stored(app: FastAPI, store: EmbeddedStore) -> None:
    answer = post(app, body(GOOD))
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["x-loadwatch-time"] == str(find_service(app, IngestService).clock())
    assert store.select(METRIC, 0, NOW_MS).values.tolist() == [1.0]


NAMES = ("my.metric", "日本.総数", "9 lives", "a-b")
LABELS = ("service.name", "label with space", "ラベル")


@pytest.mark.parametrize("version", [1, 2])
def test_names_are_utf8(app: FastAPI, store: EmbeddedStore, version: int) -> None:
    """Prometheus 3 sends them."""
    for name in NAMES:
        labels = {"__name__": name, **dict.fromkeys(LABELS, "x")}
        if version == 1:
            answer = post(app, body(series(labels, (NOW_MS, 1.0))))
        else:
            symbols = ["", *(text for pair in labels.items() for text in pair)]
            rows = [TimeSeries2(labels_refs=range(1, len(symbols)), samples=[Sample2(timestamp=NOW_MS, value=1.0)])]
            message = Request2(symbols=[text.encode() for text in symbols], timeseries=rows)
            answer = post(app, compress(message.SerializeToString()), SECOND)
        assert answer.status_code == 204
    for name in NAMES:
        found = store.select([Matcher("__name__", MatchOperator.EQUAL, name)], NOW_MS - 1, NOW_MS + 1)
        assert [dict(labels) for labels in found.labels] == [{"__name__": name, **dict.fromkeys(LABELS, "x")}]


def test_a_large_request_is_stored(app: FastAPI, store: EmbeddedStore) -> None:
    content = body(*(series({"__name__": "m", "i": f"{n * 7919:x}"}, (NOW_MS, n + 0.1)) for n in range(12_000)))
    assert len(content) > 96 * 1024
    assert post(app, content).status_code == 204
    assert store.statistics().series == 12_000


def test_an_empty_request_is_fine(app: FastAPI) -> None:
    assert post(app, body()).status_code == 204


def test_refused_samples_are_named_and_the_others_stored(app: FastAPI, store: EmbeddedStore) -> None:
    answer = post(app, body(GOOD, series({"x": "y"}, (NOW_MS, 1.0))))
    assert answer.status_code == 400
    assert answer.json()["code"] == "samples-rejected"
    assert (answer.json()["rejected"], answer.json()["stored"]) == (1, 1)
    assert "no metric name in {x='y'}" in answer.json()["detail"]
    assert store.select(METRIC, 0, NOW_MS).values.tolist() == [1.0]


@pytest.mark.parametrize("content", [b"", b"\x0a", b"garbage that is not snappy", b"\xff" * 1000])
def test_garbage_is_refused(app: FastAPI, content: bytes) -> None:
    answer = post(app, content)
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed-write")
    assert reasons(app) == {Reason.MALFORMED: 1}


@pytest.mark.parametrize(
    ("headers", "text", "reason"),
    [
        ({"content-type": "application/x-protobuf;proto=io.prometheus.write.v3.Request"}, "v2", Reason.CONTENT_TYPE),
        ({"content-type": "application/json"}, "application/x-protobuf", Reason.CONTENT_TYPE),
        ({"content-type": ""}, "application/x-protobuf", Reason.CONTENT_TYPE),
        ({"content-encoding": "zstd"}, "forcePromProto", Reason.ENCODING),
        ({"content-encoding": ""}, "snappy", Reason.ENCODING),
    ],
)
def test_other_protocols_are_told_what_to_set(app: FastAPI, headers: dict[str, str], text: str, reason: Reason) -> None:
    answer = post(app, body(GOOD), {**HEADERS, **headers})
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported-write")
    assert text in answer.json()["detail"]
    assert reasons(app) == {reason: 1}


def test_the_version_one_message_may_be_named(app: FastAPI) -> None:
    headers = {**HEADERS, "content-type": "application/x-protobuf;proto=prometheus.WriteRequest"}
    assert post(app, body(GOOD), headers).status_code == 204


def test_a_body_without_announced_length_is_bounded(app: FastAPI) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 10_000_000:
            sent += 10_000
            yield b"x" * 10_000

    answer = post(app, endless())
    assert answer.status_code == 413
    assert "send fewer samples per request" in answer.json()["detail"]
    assert reasons(app) == {Reason.TOO_LARGE: 1}


def test_a_full_queue_asks_the_sender_to_come_back(tmp_path: Path) -> None:
    store = open_embedded(EmbeddedSettings(data_directory=tmp_path, queue_samples=1), lambda: NOW_MS)
    app = FastAPI()
    app.include_router(router)
    app.state.services = SimpleNamespace(ingest=IngestService(store, IngestLimits(), lambda: NOW_MS))
    entered, leave = threading.Event(), threading.Event()

    def hold(_newest: int, _committed: int) -> None:
        entered.set()
        leave.wait(120)

    stop = store.on_commit(hold)
    try:
        find_service(app, IngestService).push(body(GOOD))
        assert entered.wait(120)
        find_service(app, IngestService).push(body(GOOD))
        answer = post(app, body(GOOD))
        to_prometheus = post(app, body(GOOD), {**HEADERS, "user-agent": "Prometheus/2.42.0"})
    finally:
        leave.set()
        stop()
        store.close()
    assert (answer.status_code, answer.json()["status"], answer.json()["code"]) == (429, 429, "store-busy")
    assert int(answer.headers["retry-after"]) > 0
    assert answer.headers["content-type"] == "application/problem+json"
    # It drops what is answered with 429, unless it is told otherwise.
    assert (to_prometheus.status_code, to_prometheus.json()["status"]) == (503, 503)
    assert int(to_prometheus.headers["retry-after"]) > 0
    assert reasons(app) == {Reason.BUSY: 2}


def thread_of_push(app: FastAPI, content: bytes, monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """Threads in which something of this body was decoded to its end."""
    service = find_service(app, IngestService)
    threads: set[int] = set()
    append = service._append  # pyright: ignore[reportPrivateUsage] - watched, not replaced

    def note(columns: WriteColumns, known: dict[bytes, int], sender: Sender) -> Push:
        threads.add(threading.get_ident())
        return append(columns, known, sender)

    monkeypatch.setattr(service, "_append", note)
    post(app, content)
    return threads


def test_both_sizes_and_the_entries_decide_what_runs_on_the_event_loop(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = threading.get_ident()
    assert thread_of_push(app, body(GOOD), monkeypatch) == {mine}
    many_bytes = compress(b"\x22" + b"\x80\x80\x40" + bytes(1 << 20))
    many_entries = compress(b"\x1a\x00" * 20_000)
    for content in (many_bytes, many_entries):
        assert len(content) < 96 * 1024
        threads = thread_of_push(app, content, monkeypatch)
        assert threads
        assert mine not in threads


def test_more_bodies_at_once_than_may_be_held_are_told_to_come_back(app: FastAPI) -> None:
    service = find_service(app, IngestService)
    service.limits = replace(service.limits, held_bytes=1000)
    with service.hold() as more:
        more(990)
        answer = post(app, body(GOOD))
        assert (answer.status_code, answer.json()["code"]) == (429, "store-busy")
        assert int(answer.headers["retry-after"]) > 0
    assert post(app, body(GOOD)).status_code == 204
    assert reasons(app) == {Reason.BUSY: 1}


def test_a_label_of_a_megabyte_is_refused(app: FastAPI, store: EmbeddedStore) -> None:
    answer = post(app, body(GOOD, series({"__name__": "m", "long": "x" * (1 << 20)}, (NOW_MS, 1.0))))
    assert answer.status_code == 400
    assert "bytes; at most" in answer.json()["detail"]
    assert store.statistics().series == 1


SECOND = {**HEADERS, "content-type": "application/x-protobuf;proto=io.prometheus.write.v2.Request"}
WRITTEN = tuple(f"x-prometheus-remote-write-{kind}-written" for kind in ("samples", "histograms", "exemplars"))


def test_the_second_version_is_told_how_much_was_written(app: FastAPI, store: EmbeddedStore) -> None:
    golden = Request2.FromString((Path(__file__).parent / "golden" / "write_v2.binpb").read_bytes())
    answer = post(app, compress(golden.SerializeToString()), SECOND)
    # Its native histogram is not stored, and a sender that counts is told so.
    assert (answer.status_code, answer.json()["code"]) == (400, "samples-rejected")
    assert "native histograms are not stored" in answer.json()["detail"]
    assert [answer.headers[name] for name in WRITTEN] == ["5", "0", "0"]
    assert store.statistics().samples_appended_total == 5
    assert store.metadata()["answer_seconds"].unit == "seconds"

    del golden.timeseries[-1]
    answer = post(app, compress(golden.SerializeToString()), SECOND)
    assert answer.status_code == 204
    assert [answer.headers[name] for name in WRITTEN] == ["5", "0", "0"]
    assert store.statistics().samples_appended_total == 10
    assert store.statistics().series == 4


def test_references_that_lead_nowhere_refuse_their_series_alone(app: FastAPI, store: EmbeddedStore) -> None:
    rows = [Sample2(timestamp=NOW_MS, value=3.0)]
    bad = [TimeSeries2(labels_refs=refs, samples=rows) for refs in ([1, 2, 3], [1, 99], [1, 2])]
    message = Request2(symbols=[b"", b"__name__", b"m"], timeseries=bad)
    answer = post(app, compress(message.SerializeToString()), SECOND)
    assert answer.status_code == 400
    assert "3 label references" in answer.json()["detail"]
    assert "symbol 99, and the request has 3" in answer.json()["detail"]
    assert answer.headers[WRITTEN[0]] == "1"
    assert store.select(METRIC, 0, NOW_MS).values.tolist() == [3.0]


def test_a_first_version_body_that_says_it_is_the_second_stores_nothing(app: FastAPI, store: EmbeddedStore) -> None:
    answer = post(app, body(GOOD), SECOND)
    assert (answer.status_code, answer.headers[WRITTEN[0]]) == (204, "0")
    assert store.statistics().series == 0


def test_a_sender_that_leaves_in_the_middle_is_counted_and_nothing_is_stored(
    app: FastAPI, store: EmbeddedStore
) -> None:
    whole = body(GOOD)
    messages = [{"type": "http.request", "body": whole[:5], "more_body": True}, {"type": "http.disconnect"}]
    answers: list[int] = []

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        answers.append(message.get("status", 0))

    headers = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
    scope: dict[str, Any] = {
        "type": "http",
        "method": "POST",
        "path": "/prometheus/api/v1/write",
        "raw_path": b"",
        "headers": headers,
    }
    scope |= {"query_string": b"", "client": ("10.0.0.1", 1), "app": app, "root_path": ""}
    asyncio.run(app(scope, receive, send))
    assert answers[0] == 400
    assert reasons(app) == {Reason.BROKEN_OFF: 1}
    assert store.newest_ms() is None
