"""Remote-write ingest against Prometheus' and VictoriaMetrics' receivers, fed by one client: `python -m bench.ingest`.

Every server takes the same bodies over one connection and over eight, one after another on an otherwise idle machine,
repeated in turns: the same series in the same order in each, as agents send them, and for 1,000 samples also in another
order each time, as it is where a sender's queue cuts requests anywhere. Loadwatch answers after its commit to disk;
Prometheus after writing to its log without forcing it to disk.
"""

import argparse
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cramjam
import numpy as np
from loadwatch_backend.series.store.remote_pb2 import Label, Sample, TimeSeries, WriteRequest

from bench.machine import describe_machine, write_result

CONNECTIONS = (1, 8)
WARM_UP = 5
TAIL = 18
CLIENT = Path(__file__).resolve().parent / "ingest_client"
LOADWATCH = Path(sys.executable).parent / "loadwatch"


@dataclass(frozen=True, slots=True)
class Kind:
    """What one request holds: how many samples, and whether the order of its series is that of the one before."""

    samples: int
    steady: bool = True

    def __str__(self) -> str:
        return f"{self.samples:,}" + ("" if self.steady else ", other order")


KINDS = (Kind(1_000), Kind(1_000, steady=False), Kind(10_000))


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """One receiver: how to start it in a directory on a port, and where it takes samples and tells that it is up."""

    name: str
    command: Callable[[Path, int], Sequence[str]]
    environment: Callable[[Path, int], dict[str, str]]
    write: str
    ready: str


def _no_environment(_directory: Path, _port: int) -> dict[str, str]:
    return {}


def _prometheus(directory: Path, port: int) -> Sequence[str]:
    (directory / "prometheus.yml").write_text("")
    return (
        "prometheus",
        f"--config.file={directory / 'prometheus.yml'}",
        f"--storage.tsdb.path={directory / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--web.enable-remote-write-receiver",
        "--log.level=error",
    )


def _victoria_metrics(directory: Path, port: int) -> Sequence[str]:
    return (
        "victoria-metrics",
        f"-storageDataPath={directory / 'data'}",
        f"-httpListenAddr=127.0.0.1:{port}",
        "-loggerLevel=ERROR",
    )


SERVERS = (
    Server(
        name="loadwatch",
        command=lambda _directory, _port: (str(LOADWATCH), "server"),
        environment=lambda directory, port: {
            "LOADWATCH_DATA": str(directory / "data"),
            "LOADWATCH_LISTEN": f"127.0.0.1:{port}",
        },
        write="/prometheus/api/v1/write",
        ready="/-/ready",
    ),
    Server(
        name="prometheus",
        command=_prometheus,
        environment=_no_environment,
        write="/api/v1/write",
        ready="/-/ready",
    ),
    Server(
        name="victoria-metrics",
        command=_victoria_metrics,
        environment=_no_environment,
        write="/api/v1/write",
        ready="/health",
    ),
)


def make_bodies(path: Path, connection: int, kind: Kind, count: int, start_ms: int) -> int:
    """Write `count` bodies for one connection: its own series, one second between two bodies; returns bytes a body.

    A fifth of the series stays 0, as counters of errors do; the others rise by random steps.
    """
    samples = kind.samples
    series = [
        TimeSeries(
            labels=_labels(connection, number), samples=[Sample(value=0 if number % 5 == 0 else 1, timestamp=start_ms)]
        )
        for number in range(samples)
    ]
    template = np.frombuffer(WriteRequest(timeseries=series).SerializeToString(), np.uint8).copy()
    ends = np.cumsum([len(WriteRequest(timeseries=[one]).SerializeToString()) for one in series])
    changing = ends[np.arange(samples) % 5 != 0]
    random = np.random.default_rng(connection)
    values = random.integers(0, 10_000, len(changing)).astype(np.float64)
    total = 0
    with path.open("wb") as file:
        for second in range(count):
            values += random.integers(0, 50, len(changing)) * random.choice([1, 0.25])
            template[changing[:, None] - TAIL + 3 + np.arange(8)] = values.view(np.uint8).reshape(-1, 8)
            time_bytes = _varint(start_ms + second * 1000)
            for place, byte in enumerate(time_bytes):
                template[ends - 6 + place] = byte
            cut = 0 if kind.steady else int(ends[second * 37 % samples])
            body = bytes(cramjam.snappy.compress_raw(template[cut:].tobytes() + template[:cut].tobytes()))
            file.write(len(body).to_bytes(4, "little") + body)
            total += len(body)
    return total // count


def _labels(connection: int, number: int) -> list[Label]:
    labels = {
        "__name__": f"node_network_receive_bytes_total_{number % 40}",
        "connection": str(connection),
        "device": f"eth{number // 40}",
        "instance": f"server-{number % 8}.example.org:9100",
        "job": "node",
    }
    return [Label(name=name.encode(), value=value.encode()) for name, value in labels.items()]


def _varint(value: int) -> list[int]:
    return [((value >> (7 * place)) & 0x7F) | (0x80 if place < 5 else 0) for place in range(6)]


def free_port() -> int:
    """A TCP port that is free now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def running(server: Server, directory: Path) -> Generator[tuple[str, int]]:
    """Start a server with empty data; gives its address and process id, and stops it at the end."""
    port = free_port()
    environment = {**os.environ, **server.environment(directory, port)}
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen(server.command(directory, port), env=environment, stdout=log, stderr=log)
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_ready(address + server.ready, process, directory / "log")
        yield address, process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def _wait_ready(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"{process.args} ended with {process.returncode}: {log.read_text()[-2000:]}")
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
    raise RuntimeError(f"{url} did not answer in a minute")


def measure(server: Server, client: Path, bodies: Sequence[Path], samples: int, seconds: float) -> dict[str, Any]:
    """One run of one server with empty data."""
    with tempfile.TemporaryDirectory(prefix="bench-ingest-") as name, running(server, Path(name)) as (address, pid):
        before = _cpu_seconds(pid)
        command = [client, "-url", address + server.write, "-seconds", str(seconds), "-skip", str(WARM_UP), *bodies]
        done = subprocess.run(command, capture_output=True, check=True, text=True)
        result = json.loads(done.stdout)
        result["server_cpu_seconds"] = round(_cpu_seconds(pid) - before, 2)
        result["samples_per_second"] = round(result["requests"] * samples / result["seconds"])
    if result["failed"]:
        raise RuntimeError(f"{server.name} refused {result['failed']} requests: {result['failure']}")
    return result


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    """Run all and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=8, help="length of one run")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="", help="measure this server only and write no result")
    parser.add_argument("--connections", type=int, nargs="*", default=CONNECTIONS)
    options = parser.parse_args()
    load = os.getloadavg()[2]
    servers = [server for server in SERVERS if not options.only or server.name == options.only]
    cells: list[Cell] = []
    with tempfile.TemporaryDirectory(prefix="bench-ingest-bodies-") as name:
        client = Path(name) / "ingest_client"
        subprocess.run(["go", "build", "-o", client, "."], cwd=CLIENT, check=True)
        for kind in KINDS:
            cells += _measure_kind(kind, servers, client, Path(name), options)
    if not options.only:
        _write(cells, load)
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The runs of all servers with one kind of request and so many connections."""

    kind: Kind
    connections: int
    runs: dict[str, list[dict[str, Any]]]

    def median(self, server: str, key: str) -> float:
        """Of the repeats."""
        return float(statistics.median(run[key] for run in self.runs[server]))


def _measure_kind(
    kind: Kind, servers: Sequence[Server], client: Path, directory: Path, options: argparse.Namespace
) -> list[Cell]:
    """All servers in turns with one kind of request."""
    count = WARM_UP + int(options.seconds * 600_000 / kind.samples)
    start_ms = int(time.time() * 1000) - count * 1000 - 1000
    bodies = [directory / str(connection) for connection in range(max(options.connections))]
    for connection, path in enumerate(bodies):
        make_bodies(path, connection, kind, count, start_ms)
    cells: list[Cell] = []
    for connections in options.connections:
        cell = Cell(kind=kind, connections=connections, runs={server.name: [] for server in servers})
        for repeat in range(options.repeats):
            for server in servers:
                run = measure(server, client, bodies[:connections], kind.samples, options.seconds)
                cell.runs[server.name].append(run)
                print(
                    f"{kind} a request, {connections} connections, {server.name} #{repeat + 1}: {json.dumps(run)}",
                    flush=True,
                )
        cells.append(cell)
    return cells


def _write(cells: Sequence[Cell], load: float) -> None:
    lines = [
        "Each connection has its own series, bodies are encoded beforehand; medians of the repeats. Loadwatch answers"
        ' when the samples are on disk. "Other order": the series of a request do not come in the order of the one'
        f" before. The machine's load before the first run was {load:.1f}; compare within the table.",
        "",
        "| samples a request | connections | server | samples/s | of Prometheus | p50 ms | p99 ms | CPU s (client) |",
        "| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    ratios: dict[str, float] = {}
    for cell in cells:
        peer = cell.median("prometheus", "samples_per_second")
        for name in cell.runs:
            rate = cell.median(name, "samples_per_second")
            if name == "loadwatch":
                ratios[f"{cell.kind}; {cell.connections}"] = round(rate / peer, 2)
            lines.append(
                f"| {cell.kind} | {cell.connections} | {name} | {rate:,.0f} | {rate / peer:.2f} |"
                f" {cell.median(name, 'p50_ms'):.1f} | {cell.median(name, 'p99_ms'):.1f} |"
                f" {cell.median(name, 'server_cpu_seconds'):.1f} ({cell.median(name, 'client_cpu_seconds'):.1f}) |"
            )
    lines += ["", "Goal: above Prometheus in each."]
    result = {
        "machine": describe_machine(),
        "goal_ratio": 1.0,
        "load_before": round(load, 1),
        "ratio": ratios,
        "runs": {f"{cell.kind}; {cell.connections}": cell.runs for cell in cells},
    }
    write_result("ingest", "Remote-write ingest", "\n".join(lines), result)


if __name__ == "__main__":
    sys.exit(main())
