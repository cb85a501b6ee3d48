"""Prometheus' HTTP API on a real store."""

import asyncio
import re
from collections.abc import Generator
from types import SimpleNamespace
from typing import Any

import httpx
import numpy as np
import pytest
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.core.problems import error_document
from loadwatch_backend.core.services import find_service
from loadwatch_backend.series.promql.admission import Queries
from loadwatch_backend.series.promql.engine import Engine, EngineSettings
from loadwatch_backend.series.promql.http.endpoints import router, status_router
from loadwatch_backend.series.store.embedded.engine import open_embedded
from loadwatch_backend.series.store.embedded.settings import EmbeddedSettings
from loadwatch_backend.series.store.port import Batch, MetricMetadata, SampleStore

API = "/prometheus/api/v1"
START_S = 1_700_000_400
SERIES = (
    ({"__name__": "hits_total", "code": "200", "job": "a"}, [0.0, 10.0, 25.0, 25.5]),
    ({"__name__": "hits_total", "code": "500", "job": "a"}, [1.0, 1.0, 2.0, 2.0]),
    ({"__name__": "odd", "job": 'quote " and \n'}, [float("nan"), float("inf"), float("-inf"), 1e21]),
)


def _fill(store: SampleStore) -> None:
    ids = store.resolve([labels for labels, _ in SERIES])
    times = 1000 * (START_S + 15 * np.arange(4, dtype=np.int64))
    batch = Batch(
        series=np.repeat(ids, 4),
        timestamps=np.tile(times, len(SERIES)),
        values=np.concatenate([np.array(values) for _, values in SERIES]),
    )
    store.append(batch).result(timeout=120)
    store.put_metadata({"hits_total": MetricMetadata(type="counter", help="Hits", unit="")})


async def _problem(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ProblemError)
    document, _ = error_document(error, request.url.path)
    return JSONResponse(document, error.status)


class Client:
    """Asks the API behind a minimal application."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app

    @property
    def engine(self) -> Engine:
        """What answers."""
        return find_service(self._app, Engine)

    @engine.setter
    def engine(self, engine: Engine) -> None:
        self._app.state.services.engine = engine

    def memory_used(self) -> int:
        """By queries that have not given theirs back."""
        return find_service(self._app, Queries).api.memory.used_bytes

    def _ask(self, method: str, path: str, **content: Any) -> httpx.Response:
        async def send() -> httpx.Response:
            async with httpx.AsyncClient(transport=httpx.ASGITransport(self._app), base_url="http://test") as client:
                return await client.request(method, API + path, **content)

        return asyncio.run(send())

    def get(self, path: str, **parameters: Any) -> httpx.Response:
        return self._ask("GET", path, params=parameters)

    def post(self, path: str, **fields: Any) -> httpx.Response:
        return self._ask("POST", path, data=fields)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Generator[Client]:
    settings = EmbeddedSettings(data_directory=tmp_path_factory.mktemp("server"))
    store = open_embedded(settings, lambda: 1000 * (START_S + 60))
    app = FastAPI()
    for one in (router, status_router):
        app.include_router(one)
    app.add_exception_handler(ProblemError, _problem)
    queries = Queries(memory_bytes=256 << 20, at_once=2, wait_seconds=30)
    app.state.services = SimpleNamespace(engine=Engine(store), queries=queries)
    try:
        _fill(store)
        yield Client(app)
    finally:
        store.close()


def _get(client: Client, path: str, **parameters: Any) -> dict[str, Any]:
    answer = client.get(path, **parameters)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    document: dict[str, Any] = answer.json()
    assert document["status"] == "success"
    return document


def test_an_instant_vector(client: Client) -> None:
    document = _get(client, "/query", query="hits_total", time=START_S + 45)
    assert document["data"] == {
        "resultType": "vector",
        "result": [
            {"metric": SERIES[0][0], "value": [START_S + 45, "25.5"]},
            {"metric": SERIES[1][0], "value": [START_S + 45, "2"]},
        ],
    }


@pytest.mark.parametrize(
    ("query", "kind", "result"),
    [
        ("1 / 3", "scalar", [START_S + 45.5, "0.3333333333333333"]),
        ('"a \\" b"', "string", [START_S + 45.5, 'a " b']),
        ("missing", "vector", []),
        (
            'hits_total{code="200"}[31s]',
            "matrix",
            [{"metric": SERIES[0][0], "values": [[START_S + 15, "10"], [START_S + 30, "25"], [START_S + 45, "25.5"]]}],
        ),
    ],
)
def test_other_types(client: Client, query: str, kind: str, result: list[Any]) -> None:
    document = _get(client, "/query", query=query, time=START_S + 45.5)
    assert document["data"] == {"resultType": kind, "result": result}


def test_a_range_with_gaps_and_all_kinds_of_numbers(client: Client) -> None:
    document = _get(
        client, "/query_range", query="odd", start=START_S - 15, end=START_S + 45, step="15s", lookback_delta="10s"
    )
    assert document["data"] == {
        "resultType": "matrix",
        "result": [
            {
                "metric": SERIES[2][0],
                "values": [
                    [START_S, "NaN"],
                    [START_S + 15, "+Inf"],
                    [START_S + 30, "-Inf"],
                    [START_S + 45, "1e+21"],
                ],
            }
        ],
    }


def test_times_after_rfc_3339_and_steps_below_a_second(client: Client) -> None:
    document = _get(
        client, "/query_range", query="vector(1)", start="2023-11-14T22:20:00Z", end="2023-11-14T22:20:00.5Z", step=0.25
    )
    times = [time for time, _ in document["data"]["result"][0]["values"]]
    assert times == [START_S, START_S + 0.25, START_S + 0.5]


def test_a_form_says_the_same_as_the_address(client: Client) -> None:
    fields = {"query": "sum(rate(hits_total[1m]))", "start": START_S + 30, "end": START_S + 45, "step": 15}
    by_form = client.post("/query_range", **fields)
    assert by_form.status_code == 200
    assert by_form.json() == _get(client, "/query_range", **fields)


def test_a_limit_cuts_and_warns(client: Client) -> None:
    document = _get(client, "/query", query="hits_total", time=START_S + 45, limit=1)
    assert len(document["data"]["result"]) == 1
    assert document["warnings"] == ["results truncated due to limit"]


@pytest.mark.parametrize(
    ("path", "parameters", "status", "kind", "message"),
    [
        ("/query", {"query": "sum("}, 400, "bad_data", "unclosed left parenthesis"),
        ("/query", {}, 400, "bad_data", "no expression found"),
        ("/query", {"query": "x </ 1"}, 400, "bad_data", "the operator </ is not supported"),
        ("/query", {"query": "x", "time": "noon"}, 400, "bad_data", 'invalid parameter "time"'),
        ("/query", {"query": "x", "lookback_delta": "0"}, 400, "bad_data", "must be greater than zero"),
        (
            "/query",
            {"query": "hits_total + on (job) hits_total", "time": str(START_S + 45)},
            422,
            "execution",
            "found duplicate series for the match group",
        ),
        ("/query_range", {"query": "x", "start": "2", "end": "1", "step": "1"}, 400, "bad_data", "end timestamp"),
        ("/query_range", {"query": "x", "start": "1", "end": "2", "step": "0"}, 400, "bad_data", "zero or negative"),
        ("/query_range", {"query": "x", "start": "1", "end": "2"}, 400, "bad_data", 'invalid parameter "step"'),
        ("/query_range", {"query": "x", "start": "0", "end": "11001", "step": "1"}, 400, "bad_data", "11,000 points"),
        ("/query_range", {"query": "x[1m]", "start": "0", "end": "1", "step": "1"}, 400, "bad_data", "range vector"),
        ("/series", {}, 400, "bad_data", r"no match\[\] parameter"),
        ("/series", {"match[]": "rate(x[1m])"}, 400, "bad_data", "is not a series selector"),
    ],
)
def test_errors_have_prometheus_shape(
    client: Client, path: str, parameters: dict[str, str], status: int, kind: str, message: str
) -> None:
    answer = client.get(path, **parameters)
    assert answer.status_code == status
    assert sorted(answer.json()) == ["error", "errorType", "status"]
    assert answer.json()["status"] == "error"
    assert answer.json()["errorType"] == kind
    assert re.search(message, answer.json()["error"])


def test_series_labels_and_values(client: Client) -> None:
    match = {"match[]": ['hits_total{code="500"}', "odd"]}
    assert _get(client, "/series", **match)["data"] == [SERIES[1][0], SERIES[2][0]]
    assert _get(client, "/labels")["data"] == ["__name__", "code", "job"]
    assert _get(client, "/labels", **{"match[]": "odd"})["data"] == ["__name__", "job"]
    assert _get(client, "/label/code/values")["data"] == ["200", "500"]
    assert _get(client, "/label/code/values", **{"match[]": 'hits_total{code!="200"}'})["data"] == ["500"]
    assert _get(client, "/label/nothing/values")["data"] == []
    limited = _get(client, "/label/__name__/values", limit=1)
    assert limited["data"] == ["hits_total"]
    assert limited["warnings"] == ["results truncated due to limit"]


def test_metadata(client: Client) -> None:
    expected = {"hits_total": [{"type": "counter", "help": "Hits", "unit": ""}]}
    assert _get(client, "/metadata")["data"] == expected
    assert _get(client, "/metadata", metric="hits_total")["data"] == expected
    assert _get(client, "/metadata", metric="odd")["data"] == {}


def test_what_grafana_asks_first(client: Client) -> None:
    assert _get(client, "/status/buildinfo")["data"]["version"] == "3.0.0"


def test_a_form_is_bounded(client: Client) -> None:
    answer = client.post("/query", query="x" * (1 << 20))
    assert answer.status_code == 413
    assert answer.json()["status"] == "error"


@pytest.mark.parametrize("path", ["/query", "/query_range"])
def test_the_look_back_is_a_day_at_most(client: Client, path: str) -> None:
    asked = {"query": "hits_total", "time": START_S, "start": START_S, "end": START_S, "step": 1}
    assert client.get(path, **asked, lookback_delta="1d").status_code == 200
    answer = client.get(path, **asked, lookback_delta="86400.001")
    assert answer.status_code == 400
    assert answer.json()["errorType"] == "bad_data"
    assert "one day (1d) at most" in answer.json()["error"]


def test_an_answer_that_may_be_too_large_is_refused_before_it_begins(client: Client) -> None:
    engine = client.engine
    client.engine = Engine(engine.store, EngineSettings(answer_bytes=1_000))
    try:
        short = client.get("/query_range", query="hits_total", start=START_S, end=START_S + 5, step=1)
        long = client.get("/query_range", query="hits_total", start=START_S, end=START_S + 20, step=1)
    finally:
        client.engine = engine
    assert short.status_code == 200
    assert len(short.content) < 1_000
    assert long.status_code == 422
    assert "LOADWATCH_QUERY_MEMORY_BYTES" in long.json()["error"]


def test_a_long_answer_comes_in_pieces_and_is_the_same(client: Client) -> None:
    asked = {"query": "hits_total", "start": START_S, "end": START_S + 200, "lookback_delta": "1d"}
    whole = client.get("/query_range", **asked, step="0.1")
    assert "content-length" in whole.headers
    longer = client.get("/query_range", **asked | {"end": START_S + 1_000}, step="0.1")
    assert "content-length" not in longer.headers
    for expected, found in zip(whole.json()["data"]["result"], longer.json()["data"]["result"], strict=True):
        assert len(found["values"]) == 10_001
        assert found["values"][:2_001] == expected["values"]
    assert client.memory_used() == 0


def test_infos_stand_beside_the_data(client: Client) -> None:
    document = _get(client, "/query", query="quantile(7, rate(hits_total[1m]))", time=START_S + 45)
    assert document["warnings"] == ["PromQL warning: quantile value should be between 0 and 1, got 7 (1:10)"]
    assert "infos" not in document
    document = _get(client, "/query_range", query="sort(hits_total)", start=START_S, end=START_S + 45, step=15)
    assert document["warnings"][0].startswith("PromQL warning: sort is ineffective for range queries")
