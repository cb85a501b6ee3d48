"""An import takes the place of what was streamed of the same run, for every format that can be followed."""

import csv
import gzip
import io
import json
import time
import zipfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from loadwatch_backend.evidence.records.files import RunFiles
from loadwatch_backend.evidence.records.result_file import load
from loadwatch_backend.runs.registry.publish import COUNTED, series_of
from loadwatch_collectors.pipeline.sender import HEADERS, compress, encode_rows
from loadwatch_collectors.runs.live_seconds import LiveSeconds
from loadwatch_collectors.runs.streams import FORMATS, AnyReader
from loadwatch_collectors.series import SampleRow

from backend.tests.conftest import RunningServer, run_server
from backend.tests.runs.sending import imported

FIXTURES = Path(__file__).parents[1] / "backend" / "tests" / "importers" / "fixtures"
_PIECE = 50_000


def unpacked(name: str) -> bytes:
    path = FIXTURES / name
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def vegeta_json() -> bytes:
    """The recorded attack as `vegeta encode --to json` writes it."""
    lines: list[str] = []
    for row in csv.reader(io.StringIO(unpacked("vegeta/pool-waits/vegeta.csv.gz").decode())):
        seconds, nanoseconds = divmod(int(row[0]), 1_000_000_000)
        stamp = f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{nanoseconds:09d}Z"
        numbers = {"code": int(row[1]), "latency": int(row[2]), "bytes_out": int(row[3]), "bytes_in": int(row[4])}
        names = {"attack": row[7], "seq": int(row[8]), "error": row[5], "method": row[9], "url": row[10]}
        lines.append(json.dumps({**names, "timestamp": stamp, **numbers, "body": "", "headers": {}}))
    return ("\n".join(lines) + "\n").encode()


def locust(folder: str) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for path in sorted((FIXTURES / "locust" / folder).glob("run*")):
            archive.write(path, path.name)
    return target.getvalue()


CASES = {
    "vegeta-csv": lambda: [unpacked("vegeta/pool-waits/vegeta.csv.gz")] * 2,
    "vegeta-json": lambda: [vegeta_json()] * 2,
    "vegeta-gob": lambda: [unpacked("vegeta/pool-waits/vegeta.gob.gz")] * 2,
    "k6-json": lambda: [unpacked("k6/run.json.gz")] * 2,
    "locust-history": lambda: [unpacked("locust/full/run_stats_history.csv"), locust("full")],
    "locust-history with its report": lambda: [unpacked("locust/whole/run_stats_history.csv"), locust("whole")],
    "locust-history without --csv-full-history": lambda: [
        unpacked("locust/plain/run_stats_history.csv"),
        locust("plain"),
    ],
    "jmeter-jtl": lambda: [unpacked("jmeter/default.jtl.gz")] * 2,
    "gatling-text": lambda: [unpacked("gatling/text.log.gz")] * 2,
    "gatling-binary": lambda: [unpacked("gatling/binary.log.gz")] * 2,
}
"""What grows while the tool runs, and what is imported at its end."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with run_server(tmp_path_factory.mktemp("data")) as running:
        yield running


def stream(run: str, content: bytes) -> list[SampleRow]:
    """The samples of `loadwatch run` while the file grows."""
    reader, seconds = AnyReader(), LiveSeconds(run, target_rate=25.0)
    rows: list[SampleRow] = []
    for at in range(0, len(content), _PIECE):
        seconds.add(reader.feed(content[at : at + _PIECE]))
        rows += seconds.publish(0)
    return [*rows, *seconds.finish()]


def write(server: RunningServer, rows: Sequence[SampleRow]) -> None:
    """As the agent's sender does it: one request has rows in rising time."""
    server.clock.now_ms = rows[-1].timestamp_ms + 10_000
    falls = [at for at in range(1, len(rows)) if rows[at].timestamp_ms <= rows[at - 1].timestamp_ms]
    for begin, end in pairwise([0, *falls, len(rows)]):
        body = compress(encode_rows(rows[begin:end]))
        for wait in (*[1.0] * 60, 0.0):
            answer = server.client.post("/prometheus/api/v1/write", content=body, headers=HEADERS)
            if answer.status_code < 300:
                break
            # A slow disk: the agent sends again, too.
            assert answer.status_code in (429, 503), answer.text
            assert wait, answer.text
            time.sleep(wait)


def ask(server: RunningServer, expression: str) -> list[dict[str, Any]]:
    at = {"query": expression, "time": server.clock.now_ms / 1000}
    return server.client.get("/prometheus/api/v1/query", params=at).json()["data"]["result"]


def samples(server: RunningServer, run: str) -> dict[tuple[str, ...], dict[float, float]]:
    """All samples of a run's load by their time; stale markers are none."""
    found: dict[tuple[str, ...], dict[float, float]] = {}
    for metric in COUNTED:
        for item in ask(server, f'{metric}{{run="{run}"}}[1h]'):
            labels = {name: value for name, value in item["metric"].items() if name not in ("__name__", "run")}
            found[metric, *labels.values()] = {time: float(value) for time, value in item["values"]}
    return found


def counted(server: RunningServer, run: str) -> dict[str, int]:
    """Requests by outcome over the whole window."""
    sums = ask(server, f'sum by (outcome) (last_over_time(loadtest_requests_total{{run="{run}"}}[1h]))')
    return {item["metric"]["outcome"]: int(item["value"][1]) for item in sums if item["value"][1] != "0"}


@pytest.mark.parametrize("case", CASES)
def test_each_request_is_counted_once(server: RunningServer, case: str) -> None:
    growing, result = CASES[case]()
    begun = server.client.post("/api/runs", json={"started_ms": 1_795_000_000_000}).json()["id"]
    write(server, stream(begun, growing))
    streamed = counted(server, begun)
    assert streamed
    run = imported(server, result, run=begun)
    now = counted(server, begun)
    assert sum(now.values()) == run["requests"]
    if "without" not in case:
        assert now == run["outcomes"]
    if "locust" not in case:
        assert streamed == now, "an outcome has one name, live and later"
    # Nothing tells that anything was streamed: the samples are those of the result and no others.
    told = load(RunFiles(server.data / "runs" / begun)).seconds
    assert told is not None
    assert samples(server, begun) == {
        (labels["__name__"], *(value for name, value in labels.items() if name not in ("__name__", "run"))): {
            time / 1000: value for time, value in zip(times.tolist()[:-1], values.tolist()[:-1], strict=True)
        }
        for labels, times, values in series_of(begun, told, None)
        if labels["__name__"] in COUNTED
    }


def test_every_format_that_is_followed_is_here() -> None:
    assert {case.partition(" ")[0] for case in CASES} == {one.name for one in FORMATS}
