"""What each kind of data takes on disk, and what memory the server takes: `python -m bench.size_on_disk`.

A real server on data of its own: samples, a result of a load test, alerts with their deliveries, audited requests.
The agent's spool and the sealed samples are measured through their own classes.
"""

import json
import math
import os
import random
import sqlite3
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import cramjam
import numpy as np
from loadwatch_backend.series.store.embedded.engine import EmbeddedStore, open_embedded
from loadwatch_backend.series.store.embedded.settings import EmbeddedSettings
from loadwatch_backend.series.store.port import Batch
from loadwatch_backend.series.store.remote_pb2 import Label, Sample, TimeSeries, WriteRequest
from loadwatch_collectors.pipeline.spool import Spool
from loadwatch_collectors.series import SampleRow, Series

from bench.import_result.measure import TreeMemory, resident_bytes
from bench.machine import describe_machine, write_result
from tests.serving import RealServer

SERIES, HOURS = 200, 3
ALERTS, REQUESTS, RUN_REQUESTS = 1_000, 1_000, 1_000_000
SPOOL_TICKS = 600
MANY_SERIES = (10_000, 100_000)
_CHUNK_SECONDS = 300
MEBIBYTE = 1 << 20


def main() -> None:
    """Measure everything and write the result."""
    result: dict[str, Any] = {"machine": describe_machine(), "load_average": os.getloadavg()[0]}
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        result["samples"] = {kind: _samples(scratch / kind, make) for kind, make in _KINDS.items()}
        result["spool_bytes_per_sample"] = _spool(scratch / "spool")
        result["server"] = _server(scratch / "server")
    write_result("size-on-disk", "Size on disk and memory", _table(result), result)
    print(_table(result))


# Samples --------------------------------------------------------------------------------------------------------------


def _counters(seconds: int, series: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    steps = np.random.default_rng(1).integers(0, 40, (seconds, series))
    return np.cumsum(steps, axis=0).astype(np.float64)


def _gauges(seconds: int, series: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.round(np.random.default_rng(2).normal(50, 10, (seconds, series)), 2)


def _constants(seconds: int, series: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.broadcast_to(np.arange(series, dtype=np.float64), (seconds, series))


def _random(seconds: int, series: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.random.default_rng(3).random((seconds, series))


_KINDS = {
    "counters": _counters,
    "gauges of two decimals": _gauges,
    "values by chance": _random,
    "limits that never change": _constants,
}


def _samples(directory: Path, make: Callable[[int, int], np.ndarray[Any, np.dtype[np.float64]]]) -> dict[str, float]:
    """Bytes per sample at 1 s: as they arrive with the log, and once their hours are sealed."""
    seconds = HOURS * 3_600
    first = int(time.time() * 1_000) // 3_600_000 * 3_600_000 - (HOURS + 2) * 3_600_000
    values = make(seconds, SERIES)
    settings = EmbeddedSettings(data_directory=directory)
    store = open_embedded(settings, lambda: first)
    ids = store.resolve([{"__name__": "m", "i": str(number)} for number in range(SERIES)])
    for begin in range(0, seconds, _CHUNK_SECONDS):
        part = values[begin : begin + _CHUNK_SECONDS]
        times = first + 1_000 * np.arange(begin, begin + len(part), dtype=np.int64)
        _append(store, np.tile(ids, len(part)), np.repeat(times, SERIES), part.ravel())
    arriving = store.statistics().database_bytes
    store.seal(first + (HOURS + 1) * 3_600_000)
    store.close()
    # What a seal leaves free within the file is used again by the next hours: a copy without it is what stays.
    sealed = _compact(directory / "samples.duckdb")
    count = seconds * SERIES
    return {"arriving": arriving / count, "sealed": sealed / count}


def _append(store: EmbeddedStore, ids: Any, times: Any, values: Any) -> None:
    store.append(Batch(series=ids, timestamps=times, values=np.ascontiguousarray(values))).result(120)


def _compact(path: Path) -> int:
    import duckdb

    target = path.with_name("compact.duckdb")
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{path}' AS old (READ_ONLY)")
        connection.execute(f"ATTACH '{target}' AS new")
        connection.execute("COPY FROM DATABASE old TO new")
    return target.stat().st_size


def _spool(directory: Path) -> float:
    """Bytes per sample of an agent with 500 series, a tick each second."""
    series = [Series(json.dumps({"__name__": "node_metric", "job": "shop", "n": n}).encode()) for n in range(500)]
    spool = Spool(directory, max_bytes=1 << 30, max_age_seconds=3_600)
    chance = random.Random(3)
    now_ms = int(time.time() * 1_000)
    for tick in range(SPOOL_TICKS):
        spool.append([SampleRow(now_ms + tick * 1_000, series, [round(chance.gauss(50, 10), 2) for _ in series])])
    spool.close()
    return sum(path.stat().st_size for path in directory.rglob("*")) / (SPOOL_TICKS * len(series))


# A server -------------------------------------------------------------------------------------------------------------


class _Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        del format, args


@contextmanager
def _receiver() -> Generator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()


RULES = """
groups:
  - name: size
    rules:
      - alert: PoolIsFull
        expr: pool_used / pool_limit > 0.9
        labels: {severity: warning}
        annotations: {summary: "Pool {{ $labels.i }} of {{ $labels.job }} is full", description: "{{ $value }}"}
"""


def _server(directory: Path) -> dict[str, float]:
    directory.mkdir()
    with _receiver() as port:
        (directory / "rules.yml").write_text(RULES)
        (directory / "notify.yml").write_text(
            "route: {receiver: hook, group_by: ['...'], group_wait: 0s, group_interval: 1s, repeat_interval: 1h}\n"
            f"receivers: [{{name: hook, webhook_configs: [{{url: 'http://127.0.0.1:{port}/'}}]}}]\n"
        )
        environment = {
            "LOADWATCH_RULES": str(directory / "rules.yml"),
            "LOADWATCH_NOTIFICATIONS": str(directory / "notify.yml"),
            "LOADWATCH_NOTIFY_NETWORKS": "127.0.0.0/8",
            "LOADWATCH_STORE_SERIES_LIMIT": str(10 * max(MANY_SERIES)),
        }
        server = RealServer(directory, environment, installed=True)
        server.start()
        try:
            return _measure(server)
        finally:
            server.stop()


def _measure(server: RealServer) -> dict[str, float]:
    assert server.process is not None
    pid = server.process.pid
    database = server.data / "loadwatch.sqlite"
    found: dict[str, float] = {"idle_bytes": resident_bytes(pid), "empty_database_bytes": _used(database)}
    before = _used(database)
    for _ in range(REQUESTS):
        _ask(server, "POST", "/api/rules/reload")
    found["audited_request_bytes"] = (_used(database) - before) / REQUESTS
    before = _used(database)
    for firing in (True, False):
        _alert(server, firing=firing)
    found["alert_with_two_deliveries_bytes"] = (_used(database) - before) / ALERTS
    found["before_import_bytes"] = resident_bytes(pid)
    source = server.directory / "result.csv"
    source.write_text(_vegeta(RUN_REQUESTS))
    with TreeMemory(pid) as watch:
        run = _import(server, source)
    found["import_peak_bytes"] = watch.peak_bytes
    files = server.data / "runs" / run
    found["run_million_bytes"] = sum(path.stat().st_size for path in files.iterdir())
    found["run_source_bytes"] = source.stat().st_size
    for series in MANY_SERIES:
        for begin in range(0, series, 20_000):
            _write(server, [{"__name__": "many", "i": f"{n}"} for n in range(begin, min(begin + 20_000, series))], 1.0)
        found[f"series_{series}_bytes"] = resident_bytes(pid)
    return found


def _alert(server: RealServer, *, firing: bool) -> None:
    """All alerts fire, or all end, and each message of it is delivered."""
    wanted = ALERTS if firing else 2 * ALERTS
    deadline = time.monotonic() + 900
    while _delivered(server.data / "loadwatch.sqlite") < wanted:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{_delivered(server.data / 'loadwatch.sqlite')} of {wanted} messages were delivered")
        pools = [{"job": "shop", "instance": "db-1:3306", "i": str(n)} for n in range(ALERTS)]
        _write(server, [{"__name__": "pool_used", **pool} for pool in pools], 95.0 if firing else 10.0)
        _write(server, [{"__name__": "pool_limit", **pool} for pool in pools], 100.0)
        time.sleep(1)


def _delivered(database: Path) -> int:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        return int(connection.execute("SELECT count(*) FROM notify_deliveries WHERE state = 'delivered'").fetchone()[0])


def _used(database: Path) -> int:
    """Bytes of all pages that hold something."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        size, pages, free = (
            int(connection.execute(f"PRAGMA {name}").fetchone()[0])
            for name in ("page_size", "page_count", "freelist_count")
        )
    return size * (pages - free)


def _vegeta(requests: int) -> str:
    chance = random.Random(4)
    start = (time.time_ns() // 10**9 - requests // 1_000 - 60) * 10**9
    lines: list[str] = []
    for number in range(requests):
        latency = int(math.exp(chance.gauss(16.5, 0.6)))
        url = f"http://shop.test/{('cart', 'pay', 'item')[number % 3]}"
        lines.append(f"{start + number * 10**6},200,{latency},100,{number % 977},,,load,{number},GET,{url},\n")
    return "".join(lines)


def _import(server: RealServer, source: Path) -> str:
    with source.open("rb") as body:
        job = _ask(server, "POST", "/api/imports?filename=result.csv", body.read())
    while job["state"] == "reading":
        time.sleep(0.1)
        job = _ask(server, "GET", f"/api/imports/{job['id']}")
    if job["state"] != "done":
        raise RuntimeError(str(job))
    return str(job["run"])


def _write(server: RealServer, series: list[dict[str, str]], value: float) -> None:
    now_ms = int(time.time() * 1_000)
    request = WriteRequest(
        timeseries=[
            TimeSeries(
                labels=[Label(name=name.encode(), value=text.encode()) for name, text in sorted(labels.items())],
                samples=[Sample(timestamp=now_ms, value=value)],
            )
            for labels in series
        ]
    )
    body = bytes(cramjam.snappy.compress_raw(request.SerializeToString()))
    headers = {"content-type": "application/x-protobuf", "content-encoding": "snappy"}
    _ask(server, "POST", "/prometheus/api/v1/write", body, headers)


def _ask(server: RealServer, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> Any:
    request = urllib.request.Request(server.url + path, body or None, headers or {}, method=method)
    with urllib.request.urlopen(request, timeout=300) as answer:
        content = answer.read()
    return json.loads(content) if content else None


# The result -----------------------------------------------------------------------------------------------------------


def _table(result: dict[str, Any]) -> str:
    server = result["server"]
    rows = [
        (
            "a sample at 1 s as it arrives, until its hour is sealed",
            _each([one["arriving"] for one in result["samples"].values()]),
        ),
        *(
            (f"a sample at 1 s once its hour is sealed: {kind}", f"{one['sealed']:.1f} bytes")
            for kind, one in result["samples"].items()
        ),
        ("a sample in the agent's spool", f"{result['spool_bytes_per_sample']:.1f} bytes"),
        (f"a run's files, {RUN_REQUESTS:,} requests", f"{server['run_million_bytes'] / MEBIBYTE:.1f} MiB"),
        (
            "an alert that fires and ends, with two deliveries",
            f"{server['alert_with_two_deliveries_bytes'] / 1024:.1f} KiB",
        ),
        ("an audited request", f"{server['audited_request_bytes']:.0f} bytes"),
        ("the database of a new server", f"{server['empty_database_bytes'] / 1024:.0f} KiB"),
    ]
    source = server["run_source_bytes"] / MEBIBYTE
    memory = [
        ("idle, with the default rules", server["idle_bytes"]),
        (f"with {ALERTS:,} alerts and their series", server["before_import_bytes"]),
        (
            f"the same while {RUN_REQUESTS:,} requests ({source:.0f} MiB) are imported, with its process",
            server["import_peak_bytes"],
        ),
        *((f"then with {series:,} series more", server[f"series_{series}_bytes"]) for series in MANY_SERIES),
    ]
    disk = "\n".join(f"| {what} | {size} |" for what, size in rows)
    ram = "\n".join(f"| {what} | {size / MEBIBYTE:.0f} MiB |" for what, size in memory)
    return (
        f"| on disk | size |\n| --- | --- |\n{disk}\n\n| memory of the server | resident |\n| --- | --- |\n{ram}\n\n"
        f"{SERIES} series for {HOURS} hours; load average {result['load_average']:.1f} at the start."
    )


def _each(sizes: list[float]) -> str:
    return f"{min(sizes):.1f} to {max(sizes):.1f} bytes"


if __name__ == "__main__":
    main()
