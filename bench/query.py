"""Twelve panels over 1 h, 24 h and 7 d of 1,000 series: Loadwatch beside Prometheus and VictoriaMetrics.

All three get the same 121 million samples through remote write, one of each series a second for the newest day and each
15 s for the six before; each is killed and started again with them. Then all answer the same range queries over HTTP,
warm, in turn: to one user, who asks for one panel after another, and to eight at once. `python -m bench.query`
"""

import contextlib
import gzip
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse, RemoteDisconnected
from pathlib import Path
from typing import Any

import cramjam
import numpy as np
from loadwatch_backend.series.store.prometheus.wire import encode_series

from bench.import_result.measure import resident_bytes
from bench.machine import describe_machine, write_result

METRICS, INSTANCES = 125, 8
DAY = 86_400
SPARSE_DAYS, SPARSE_SECONDS = 6, 15
SLICE = 1_800
"""Seconds of one request where there is a sample each 15; where there is one each second, a fifteenth of it."""
ROUNDS = 5
USERS = 8
SETTLE_SECONDS = 150


@dataclass(frozen=True, slots=True)
class Range:
    """How far back the panels look, seconds between their points, and the windows that suit these."""

    name: str
    seconds: int
    step: int
    windows: tuple[str, str, str]


RANGES = (
    Range("1 h", 3_600, 5, ("1m", "30s", "5m")),
    Range("24 h", DAY, 120, ("5m", "4m", "30m")),
    Range("24 h off the minute", DAY, 144, ("5m", "150s", "30m")),
    Range("7 d", 7 * DAY, 900, ("15m", "1h", "1h")),
)
"""Steps as Grafana has them for 600 pixels; 24 hours also at a step that no rollup of whole minutes answers."""
_PANELS = (
    "rate(load_0[{0}])",
    "rate(load_2[{0}])",
    "rate(load_4[{1}])",
    "irate(load_6[{1}])",
    "increase(load_8[{0}])",
    "load_1",
    "load_3",
    "avg_over_time(load_5[{0}])",
    "max_over_time(load_7[{0}])",
    "sum by (instance) (rate(load_10[{0}]))",
    "load_9 / on (instance) load_11",
    "rate(load_12[{2}]) * 60",
)
"""Even numbers are counters, odd ones gauges; each panel gives eight series."""


def panels_of(span: Range) -> list[str]:
    """The expressions of a range."""
    return [text.format(*span.windows) for text in _PANELS]


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server that takes remote write and answers PromQL."""

    name: str
    command: list[str]
    write: str
    api: str
    ready: str
    data: str
    environment: dict[str, str]


def free_port() -> int:
    """A port that nothing listens on now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def servers(directory: Path) -> Iterator[tuple[Server, int]]:
    """The servers that are installed, each with its port."""
    port = free_port()
    data = directory / "loadwatch"
    yield (
        Server(
            name="Loadwatch",
            command=[str(Path(sys.executable).parent / "loadwatch"), "server"],
            write="/prometheus/api/v1/write",
            api="/prometheus/api/v1",
            ready="/-/ready",
            data=str(data),
            environment={"LOADWATCH_LISTEN": f"127.0.0.1:{port}", "LOADWATCH_DATA": str(data)},
        ),
        port,
    )
    if shutil.which("prometheus"):
        port = free_port()
        config = directory / "prometheus.yml"
        config.write_text("global: {}\n")
        yield (
            Server(
                name="Prometheus",
                command=[
                    "prometheus",
                    f"--config.file={config}",
                    f"--storage.tsdb.path={directory / 'prometheus'}",
                    f"--web.listen-address=127.0.0.1:{port}",
                    "--web.enable-remote-write-receiver",
                    "--log.level=error",
                ],
                write="/api/v1/write",
                api="/api/v1",
                ready="/-/ready",
                data=str(directory / "prometheus"),
                environment={},
            ),
            port,
        )
    if shutil.which("victoria-metrics"):
        port = free_port()
        yield (
            Server(
                name="VictoriaMetrics",
                command=[
                    "victoria-metrics",
                    f"-storageDataPath={directory / 'victoria'}",
                    f"-httpListenAddr=127.0.0.1:{port}",
                    "-loggerLevel=ERROR",
                    # Its cache of results would answer repeated queries without evaluating them.
                    "-search.disableCache",
                ],
                write="/api/v1/write",
                api="/api/v1",
                ready="/health",
                data=str(directory / "victoria"),
                environment={},
            ),
            port,
        )


@contextlib.contextmanager
def running(server: Server, port: int, log: Path, *, end: signal.Signals = signal.SIGTERM) -> Generator[int]:
    """Run a server until the block ends; yields its process id. It is ended by a signal."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            server.command, env=os.environ | server.environment, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            deadline = time.monotonic() + 300
            while not _is_ready(port, server.ready):
                if time.monotonic() > deadline or process.poll() is not None:
                    raise RuntimeError(f"{server.name} did not start: {log.read_text()[-2000:]}")
                time.sleep(0.1)
            yield process.pid
        finally:
            process.send_signal(end)
            process.wait(timeout=60)


def _is_ready(port: int, path: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=2) as answer:
            return answer.status == 200
    except OSError:
        return False


def field(number: int, content: bytes) -> bytes:
    """A length-delimited field of protobuf."""
    return bytes([number << 3 | 2]) + varint(len(content)) + content


def varint(value: int) -> bytes:
    """A number as protobuf writes it."""
    result = bytearray()
    while value > 0x7F:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    result.append(value)
    return bytes(result)


def labels_of(metric: int, instance: int) -> bytes:
    """The labels of one series, encoded."""
    pairs = (("__name__", f"load_{metric}"), ("instance", f"host-{instance}"), ("job", "bench"))
    return b"".join(field(1, field(1, name.encode()) + field(2, value.encode())) for name, value in pairs)


def payloads(end_s: int, directory: Path) -> list[Path]:
    """Files of remote-write bodies in order of time, each of 24,000 samples, behind its length."""
    heads = [labels_of(metric, instance) for metric in range(METRICS) for instance in range(INSTANCES)]
    source, totals = np.random.default_rng(20_260), np.zeros(len(heads))
    counters = (np.arange(len(heads)) // INSTANCES) % 2 == 0
    files: list[Path] = []
    for day in range(SPARSE_DAYS + 1):
        each = SPARSE_SECONDS if day < SPARSE_DAYS else 1
        span = SLICE * each // SPARSE_SECONDS
        files.append(directory / f"day-{day}")
        with files[-1].open("wb") as file:
            first_s = end_s - (SPARSE_DAYS + 1 - day) * DAY
            for begin in range(first_s, first_s + DAY, span):
                times = np.arange(begin, begin + span, each, dtype=np.int64) * 1_000
                grown = totals[:, None] + np.cumsum(source.integers(0, 40 * each, (len(heads), len(times))), axis=1)
                # A restart every eleven hours or so.
                totals = grown[:, -1] * (source.random(len(heads)) > span / 40_000)
                levels = np.round(500 + source.normal(0, 5, grown.shape), 2)
                values = np.where(counters[:, None], grown, levels)
                for part in range(0, len(heads), 200):
                    some, count = heads[part : part + 200], len(times)
                    message = b"".join(
                        encode_series(
                            some, [count] * len(some), np.tile(times, len(some)), values[part : part + 200].ravel()
                        )
                    )
                    body = bytes(cramjam.snappy.compress_raw(message))
                    file.write(len(body).to_bytes(4, "little") + body)
    return files


def bodies_of(files: Iterable[Path]) -> Iterator[bytes]:
    """What `payloads` wrote."""
    for path in files:
        with path.open("rb") as file:
            while size := file.read(4):
                yield file.read(int.from_bytes(size, "little"))


def load(server: Server, port: int, bodies: Iterable[bytes]) -> None:
    """Send all samples."""
    connection = HTTPConnection("127.0.0.1", port, timeout=600)
    headers = {
        "Content-Type": "application/x-protobuf",
        "Content-Encoding": "snappy",
        "X-Prometheus-Remote-Write-Version": "0.1.0",
    }
    for body in bodies:
        connection.request("POST", server.write, body, headers)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{server.name} refused samples: {answer.status} {text[:500]!r}")


class Client:
    """One kept connection, as a browser has it."""

    def __init__(self, server: Server, port: int, end_s: int, span: Range) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=600)
        self._panels = panels_of(span)
        self._paths = [
            f"{server.api}/query_range?"
            + urllib.parse.urlencode(
                {
                    "query": text,
                    "start": end_s - span.seconds,
                    "end": end_s - span.step,
                    "step": span.step,
                    "nocache": 1,
                }
            )
            for text in self._panels
        ]

    def ask(self, panel: int) -> bytes:
        """The body of one answer."""
        try:
            answer = self._answer(panel)
        except RemoteDisconnected:
            # Closed because it was idle while others were asked.
            self._connection.close()
            answer = self._answer(panel)
        body = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{self._panels[panel]}: {answer.status} {body[:500]!r}")
        return gzip.decompress(body) if answer.headers.get("Content-Encoding") == "gzip" else body

    def _answer(self, panel: int) -> HTTPResponse:
        self._connection.request("GET", self._paths[panel], headers={"Accept-Encoding": "gzip"})
        return self._connection.getresponse()

    def time_all(self) -> list[float]:
        """Milliseconds of each panel, one after another."""
        each: list[float] = []
        for panel in range(len(self._panels)):
            begin = time.perf_counter()
            self.ask(panel)
            each.append(1000 * (time.perf_counter() - begin))
        return each


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _check(name: str, body: bytes, reference: bytes) -> None:
    """Eight series, and a median near that of the first server: a fast wrong answer is none.

    The three engines treat the ends of a range each in its own way, so single values differ a little.
    """
    ours, theirs = (json.loads(text)["data"]["result"] for text in (body, reference))
    if not len(ours) == len(theirs) == INSTANCES:
        raise RuntimeError(f"{name}: {len(ours)} series instead of {INSTANCES}")
    middle, expected = (
        statistics.median(float(value) for one in result for _, value in one["values"]) for result in (ours, theirs)
    )
    if abs(middle - expected) > 0.03 * abs(expected):
        raise RuntimeError(f"{name}: the median is {middle} instead of {expected}")


@dataclass(slots=True, kw_only=True)
class Loaded:
    """A server with all samples: where it is, and what it took to get there."""

    server: Server
    port: int
    pid: int
    load_seconds: float
    start_seconds: float = 0.0
    disk_bytes: int = 0


def measure(directory: Path, say: Callable[[str], None]) -> dict[str, Any]:
    """Load, kill, start and ask all servers; the rounds of all take turns."""
    end_s = int(time.time()) // 60 * 60
    files = payloads(end_s, directory)
    say(f"{sum(path.stat().st_size for path in files) / 2**20:.0f} MiB of requests")
    with contextlib.ExitStack() as stack:
        loaded: list[Loaded] = []
        for server, port in servers(directory):
            log = directory / f"{server.name}.log"
            with running(server, port, log, end=signal.SIGKILL) as pid:
                begin = time.perf_counter()
                load(server, port, bodies_of(files))
                one = Loaded(server=server, port=port, pid=pid, load_seconds=time.perf_counter() - begin)
                # What is sealed, compacted or merged in the background is, before the next server is loaded.
                time.sleep(SETTLE_SECONDS)
            begin = time.perf_counter()
            one.pid = stack.enter_context(running(server, port, log))
            Client(server, port, end_s, RANGES[0]).ask(0)
            one.start_seconds = time.perf_counter() - begin
            one.disk_bytes = sum(path.stat().st_size for path in Path(server.data).rglob("*") if path.is_file())
            say(f"{server.name}: {one}")
            loaded.append(one)
        for path in files:
            path.unlink()
        time.sleep(30)
        return {
            "servers": {
                one.server.name: {
                    "load_seconds": round(one.load_seconds, 1),
                    "start_seconds": round(one.start_seconds, 2),
                    "disk_mib": round(one.disk_bytes / 2**20, 1),
                    "resident_mib": round(resident_bytes(one.pid) / 2**20, 1),
                }
                for one in loaded
            },
            "ranges": {span.name: measure_range(span, loaded, end_s, say) for span in RANGES},
        }


def measure_range(span: Range, loaded: list[Loaded], end_s: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Warm up, hold the answers against each other, then ask in turn."""
    users = {one.server.name: [Client(one.server, one.port, end_s, span) for _ in range(USERS)] for one in loaded}
    reference = users[loaded[0].server.name][0]
    for panel, text in enumerate(panels_of(span)):
        expected = reference.ask(panel)
        for name, clients in users.items():
            _check(f"{name}: {text} over {span.name}", clients[0].ask(panel), expected)
    panels: dict[str, list[list[float]]] = {name: [] for name in users}
    together: dict[str, list[float]] = {name: [] for name in users}
    cpu = dict.fromkeys(users, 0.0)
    for _ in range(ROUNDS):
        for one in loaded:
            name = one.server.name
            before = _cpu_seconds(one.pid)
            panels[name].append(users[name][0].time_all())
            cpu[name] += _cpu_seconds(one.pid) - before
            together[name].append(_all_at_once(users[name]))
    found = {
        name: {
            "one_ms": round(statistics.median(map(sum, rounds)), 1),
            "one_best_ms": round(min(map(sum, rounds)), 1),
            "eight_ms": round(statistics.median(together[name]), 1),
            "cpu_ms": round(cpu[name] / ROUNDS * 1000, 1),
            "panels_ms": [round(statistics.median(each), 2) for each in zip(*rounds, strict=True)],
        }
        for name, rounds in panels.items()
    }
    say(f"{span.name}: {found}")
    return found


def _all_at_once(clients: list[Client]) -> float:
    """Milliseconds until each of several users has all panels, the median of the users."""

    def spend(client: Client) -> float:
        return sum(client.time_all())

    with ThreadPoolExecutor(len(clients)) as pool:
        return statistics.median(pool.map(spend, clients))


def ratio_of(results: dict[str, Any], figure: str = "one_ms") -> float | None:
    """Ours over Prometheus'."""
    peer = results.get("Prometheus", {}).get(figure)
    return round(results["Loadwatch"][figure] / peer, 2) if peer else None


def tables(results: dict[str, Any]) -> str:
    """All figures as Markdown."""
    lines = ["| | " + " | ".join(results["servers"]) + " | of Prometheus |"]
    lines.append("| --- |" + " ---: |" * (len(results["servers"]) + 1))
    for name, found in results["ranges"].items():
        for figure, text in (
            ("one_ms", "ms for one user"),
            ("one_best_ms", "ms, the best round"),
            ("eight_ms", "ms for each of eight"),
            ("cpu_ms", "CPU ms a round"),
        ):
            cells = " | ".join(f"{one[figure]:,.0f}" for one in found.values())
            lines.append(f"| {name}: {text} | {cells} | {ratio_of(found, figure)} |")
    for figure, text in (
        ("start_seconds", "start after kill -9 until it answers, s"),
        ("load_seconds", "to send all samples over one connection, s"),
        ("disk_mib", "data directory, MiB"),
        ("resident_mib", "resident memory then, MiB"),
    ):
        cells = " | ".join(f"{one[figure]:,}" for one in results["servers"].values())
        lines.append(f"| {text} | {cells} | {ratio_of(results['servers'], figure)} |")
    for span in RANGES:
        found = results["ranges"][span.name]
        lines += ["", f"| {span.name}, step {span.step} s (median ms) | {' | '.join(found)} |"]
        lines.append("| --- |" + " ---: |" * len(found))
        for panel, text in enumerate(panels_of(span)):
            lines.append(f"| `{text}` | " + " | ".join(str(one["panels_ms"][panel]) for one in found.values()) + " |")
    return "\n".join(lines)


def main() -> None:
    """Measure and write the result."""
    busy = round(os.getloadavg()[0], 1)
    with tempfile.TemporaryDirectory(prefix="bench-query-") as directory:
        results = measure(Path(directory), lambda text: print(text, flush=True))
    text = f"""
Twelve range queries of eight series each over HTTP, gzip, on kept connections, warm, the median of {ROUNDS} rounds in
turn; steps as Grafana rounds them for 600 pixels, and 24 hours also at 144 s, where Loadwatch reads all samples. 121
million samples of {METRICS * INSTANCES:,} series: one a second for a day, one in {SPARSE_SECONDS} s for the
{SPARSE_DAYS} days before. VictoriaMetrics without its cache of results. "Start" is with all of them, after kill -9
{SETTLE_SECONDS} s after the last, until the first panel is there. Goals: below Prometheus in each range, 7 d below 300
ms for one user, a start below 5 s. The machine's load was {busy} when it began.

{tables(results)}"""
    print(text)
    write_result(
        "query",
        "Twelve panels over an hour, a day and a week",
        text,
        {"machine": describe_machine(), "load": busy, **results},
    )


if __name__ == "__main__":
    main()
