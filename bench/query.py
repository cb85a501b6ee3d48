"""Twelve panels of eight series over one hour of 1,000 series at 1 s: Loadwatch beside Prometheus and VictoriaMetrics.

All three get the same samples through remote write and answer the same range queries over HTTP, warm and one after
another, in the same run. `python -m bench.query`
"""

import contextlib
import json
import os
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import cramjam
import numpy as np
import numpy.typing as npt

from bench.machine import describe_machine, write_result

METRICS, INSTANCES = 125, 8
SECONDS, SLICE = 3_600, 120
STEP = 6
ROUNDS = 15
ENCODINGS = ("identity", "gzip")
PANELS = (
    "rate(load_0[1m])",
    "rate(load_2[1m])",
    "rate(load_4[30s])",
    "irate(load_6[30s])",
    "increase(load_8[1m])",
    "load_1",
    "load_3",
    "avg_over_time(load_5[1m])",
    "max_over_time(load_7[1m])",
    "sum by (instance) (rate(load_10[1m]))",
    "load_9 / on (instance) load_11",
    "rate(load_12[5m]) * 60",
)
"""Even numbers are counters, odd ones gauges; each panel gives eight series."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server that takes remote write and answers PromQL."""

    name: str
    command: list[str]
    write: str
    api: str
    ready: str
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
                environment={},
            ),
            port,
        )


@contextlib.contextmanager
def running(server: Server, port: int, log: Path) -> Generator[int]:
    """Run a server until the block ends; yields its process id."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            server.command, env=os.environ | server.environment, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            deadline = time.monotonic() + 60
            while not _is_ready(port, server.ready):
                if time.monotonic() > deadline or process.poll() is not None:
                    raise RuntimeError(f"{server.name} did not start: {log.read_text()[-2000:]}")
                time.sleep(0.1)
            yield process.pid
        finally:
            process.terminate()
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


def _samples(times_ms: list[int], values: list[float]) -> bytes:
    parts: list[bytes] = []
    for at, value in zip(times_ms, values, strict=True):
        parts.append(field(2, b"\x09" + struct.pack("<d", value) + b"\x10" + varint(at)))
    return b"".join(parts)


def make_values() -> npt.NDArray[np.float64]:
    """Values [metrics, instances, seconds]: counters with rare resets, and gauges."""
    source = np.random.default_rng(20_260)
    values = np.empty((METRICS, INSTANCES, SECONDS))
    for metric in range(METRICS):
        if metric % 2:
            values[metric] = np.cumsum(source.normal(size=(INSTANCES, SECONDS)), axis=1) + 500
        else:
            counters = np.cumsum(source.integers(0, 40, size=(INSTANCES, SECONDS)), axis=1).astype(np.float64)
            counters[:, SECONDS // 2 :] -= counters[:, SECONDS // 2, None]
            values[metric] = counters
    return values


def payloads(values: npt.NDArray[np.float64], start_ms: int) -> Iterator[bytes]:
    """Remote-write bodies in order of time, 24,000 samples each."""
    names = [[labels_of(metric, instance) for instance in range(INSTANCES)] for metric in range(METRICS)]
    for first in range(0, SECONDS, SLICE):
        times = [start_ms + 1000 * second for second in range(first, first + SLICE)]
        for block in range(0, METRICS, 25):
            series = [
                field(
                    1,
                    names[metric][instance] + _samples(times, values[metric, instance, first : first + SLICE].tolist()),
                )
                for metric in range(block, block + 25)
                for instance in range(INSTANCES)
            ]
            yield bytes(cramjam.snappy.compress_raw(b"".join(series)))


def load(server: Server, port: int, bodies: Iterable[bytes]) -> None:
    """Send all samples."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
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

    def __init__(self, server: Server, port: int, start_s: int, encoding: str) -> None:
        self._encoding = encoding
        self._connection = HTTPConnection("127.0.0.1", port, timeout=60)
        self._paths = [
            f"{server.api}/query_range?"
            + urllib.parse.urlencode(
                {"query": text, "start": start_s, "end": start_s + SECONDS - STEP, "step": STEP, "nocache": 1}
            )
            for text in PANELS
        ]

    def ask(self, panel: int) -> bytes:
        """The body of one answer."""
        self._connection.request("GET", self._paths[panel], headers={"Accept-Encoding": self._encoding})
        answer = self._connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{PANELS[panel]}: {answer.status} {body[:500]!r}")
        return body

    def time_all(self) -> tuple[float, list[float]]:
        """Milliseconds of all panels together, and of each."""
        each: list[float] = []
        for panel in range(len(PANELS)):
            begin = time.perf_counter()
            self.ask(panel)
            each.append(1000 * (time.perf_counter() - begin))
        return sum(each), each


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


def measure(directory: Path, say: Callable[[str], None]) -> dict[str, dict[str, Any]]:
    """Start, load and ask all servers; the rounds of all take turns. Results by encoding and server."""
    start_s = (int(time.time()) - SECONDS) // 60 * 60
    bodies = list(payloads(make_values(), 1000 * start_s))
    say(f"{len(bodies)} requests, {sum(map(len, bodies)) / 2**20:.1f} MiB compressed")
    with contextlib.ExitStack() as stack:
        ports: dict[str, tuple[Server, int]] = {}
        pids: dict[str, int] = {}
        for server, port in servers(directory):
            pids[server.name] = stack.enter_context(running(server, port, directory / f"{server.name}.log"))
            begin = time.perf_counter()
            load(server, port, bodies)
            say(f"{server.name}: loaded in {time.perf_counter() - begin:.1f} s")
            ports[server.name] = (server, port)
        time.sleep(3)
        return {
            encoding: measure_encoding(
                {name: Client(*at, start_s, encoding) for name, at in ports.items()}, pids, check=encoding == "identity"
            )
            for encoding in ENCODINGS
        }


def measure_encoding(clients: dict[str, Client], pids: dict[str, int], *, check: bool) -> dict[str, Any]:
    """Warm up, then ask in turn."""
    reference = next(iter(clients.values()))
    for panel in range(len(PANELS)):
        expected = reference.ask(panel)
        for name, client in clients.items():
            body = client.ask(panel)
            if check:
                _check(f"{name}: {PANELS[panel]}", body, expected)
    totals: dict[str, list[float]] = {name: [] for name in clients}
    panels: dict[str, list[list[float]]] = {name: [] for name in clients}
    cpu = dict.fromkeys(clients, 0.0)
    for _ in range(ROUNDS):
        for name, client in clients.items():
            before = _cpu_seconds(pids[name])
            total, each = client.time_all()
            cpu[name] += _cpu_seconds(pids[name]) - before
            totals[name].append(total)
            panels[name].append(each)
    return {
        name: {
            "median_ms": round(statistics.median(values), 1),
            "best_ms": round(min(values), 1),
            "worst_ms": round(max(values), 1),
            "cpu_ms": round(cpu[name] / ROUNDS * 1000, 1),
            "panels_ms": [round(statistics.median(each), 2) for each in zip(*panels[name], strict=True)],
        }
        for name, values in totals.items()
    }


def ratio_of(results: dict[str, Any]) -> float | None:
    """Our median over Prometheus'."""
    peer = results.get("Prometheus", {}).get("median_ms")
    return round(results["Loadwatch"]["median_ms"] / peer, 2) if peer else None


def tables(results: dict[str, Any]) -> str:
    """One encoding's results as Markdown."""
    names = list(results)
    rows = "\n".join(
        f"| {name} | {one['median_ms']} | {one['best_ms']} | {one['worst_ms']} | {one['cpu_ms']} |"
        for name, one in results.items()
    )
    details = "\n".join(
        f"| `{text}` | " + " | ".join(str(results[name]["panels_ms"][panel]) for name in names) + " |"
        for panel, text in enumerate(PANELS)
    )
    return f"""| server | median | best | worst | CPU |
| --- | --- | --- | --- | --- |
{rows}

| panel (median ms) | {" | ".join(names)} |
| --- |{" --- |" * len(names)}
{details}
"""


def main() -> None:
    """Measure and write the result."""
    busy = round(os.getloadavg()[0], 1)
    with tempfile.TemporaryDirectory() as directory:
        results = measure(Path(directory), lambda text: print(text, flush=True))
    ratios = {encoding: ratio_of(one) for encoding, one in results.items()}
    text = f"""
Twelve range queries of eight series each, 600 steps of {STEP} s over one hour of {METRICS * INSTANCES:,} series at
1 s, over HTTP on one kept connection, one after another, warm; {ROUNDS} rounds in turn. Milliseconds for all twelve;
CPU is the server's own, each round. The goal is at most twice Prometheus:
**{ratios["identity"]} times** without compression, **{ratios["gzip"]} times** with gzip, as browsers ask.
The machine's load was {busy} when it began; compare within a table, and look at the best rounds, too.

## Without compression

{tables(results["identity"])}
## With gzip

{tables(results["gzip"])}"""
    print(text)
    result = {
        "machine": describe_machine(),
        "load": busy,
        "goal": "at most 2 times Prometheus",
        "ratios": ratios,
        "results": results,
    }
    write_result("query", "Twelve panels over one hour", text, result)


if __name__ == "__main__":
    main()
