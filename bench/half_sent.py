"""2,000 connections with half-sent requests beside a sender, a probe and a page: `python -m bench.half_sent`, as root.

In a network namespace of its own: half of the connections come from one address, half from a thousand. Each holds half
a head or a head with half a body, and is opened anew `--pause` after the server ended it: it answers the half body of a
stranger with 401 and closes, so a short pause makes a flood of new connections of it. The server may open 20,000 files,
and then 1,024, which are fewer than there are connections.
"""

import argparse
import http.client
import json
import multiprocessing
import os
import resource
import selectors
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import cramjam
import numpy as np
from loadwatch_backend.series.store.remote_pb2 import Label, Sample, TimeSeries, WriteRequest

from bench.machine import describe_machine, write_result

LOADWATCH = Path(sys.executable).parent / "loadwatch"
INSIDE = "BENCH_HALF_SENT_INSIDE"
SERVER, SENDER, PERSON, STRANGER = "10.77.0.1", "10.77.0.2", "10.77.0.3", "10.77.1.1"
PORT = 8123
CONNECTIONS = 2_000
SERIES = 1_000
FILES = (20_000, 1_024)
PAUSE_SECONDS = 0.05


def _strangers() -> list[str]:
    many = [f"10.77.{2 + number // 250}.{1 + number % 250}" for number in range(CONNECTIONS // 2)]
    return [address for pair in zip([STRANGER] * len(many), many, strict=True) for address in pair]


def hold_half_sent(opened: Any, ended: Any, pause: float) -> None:
    """Keep a half-sent request open from each address until this process is ended."""
    head = f"POST /prometheus/api/v1/write HTTP/1.1\r\nhost: {SERVER}\r\n"
    halves = [head.encode(), f"{head}content-type: application/x-protobuf\r\ncontent-length: 9000\r\n\r\nhalf".encode()]
    waiting = selectors.DefaultSelector()
    closed = list(enumerate(_strangers()))
    while True:
        for number, address in closed:
            one = socket.socket()
            one.bind((address, 0))
            try:
                one.connect((SERVER, PORT))
                one.sendall(halves[number // 2 % 2])
            except OSError:
                pass  # shows as readable
            one.setblocking(False)
            waiting.register(one, selectors.EVENT_READ, (number, address))
            opened.value += 1
        closed.clear()
        for key, _ in waiting.select(1.0):
            waiting.unregister(key.fileobj)
            key.fileobj.close()  # type: ignore[union-attr] - all that is registered are sockets
            closed.append(key.data)
            ended.value += 1
        time.sleep(pause if closed else 0)


@contextmanager
def server(data: Path, files: int) -> Generator[str]:
    """A server with tokens that may open so many files; gives the agent's token and the admin's."""
    tokens = data / "tokens"
    make = [LOADWATCH, "token", "create", "--role", "admin", "--name", "all", "--token-file", tokens]
    token = subprocess.run(make, capture_output=True, text=True, check=True).stdout.strip()
    environment = {
        **os.environ,
        "LOADWATCH_LISTEN": f"0.0.0.0:{PORT}",
        "LOADWATCH_DATA": str(data / "data"),
        "LOADWATCH_TOKEN_FILE": str(tokens),
        "LOADWATCH_ALLOWED_HOSTS": SERVER,
    }
    with (data / f"log-{files}").open("wb") as log:
        process = subprocess.Popen(
            [LOADWATCH, "server"],
            env=environment,
            stdout=log,
            stderr=log,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)),
        )
        try:
            deadline = time.monotonic() + 120
            while get(PERSON, "/-/ready", "")[0] != 200:
                if time.monotonic() > deadline or process.poll() is not None:
                    raise RuntimeError((data / f"log-{files}").read_text())
                time.sleep(0.2)
            yield token
        finally:
            process.terminate()
            process.wait(60)


def get(source: str, path: str, token: str) -> tuple[int, float]:
    """Status (0 for none) and milliseconds of a request over a connection of its own."""
    begun = time.perf_counter()
    try:
        with closing(http.client.HTTPConnection(SERVER, PORT, timeout=10, source_address=(source, 0))) as connection:
            connection.request("GET", path, headers={"authorization": f"Bearer {token}"} if token else {})
            answer = connection.getresponse()
            answer.read()
            return answer.status, (time.perf_counter() - begun) * 1_000
    except OSError:
        return 0, (time.perf_counter() - begun) * 1_000


class Sender:
    """Sends 1,000 samples a request over one connection, as an agent does."""

    def __init__(self, token: str) -> None:
        self._token = token
        self._connection = http.client.HTTPConnection(SERVER, PORT, timeout=30, source_address=(SENDER, 0))
        self._time_ms = int(time.time() * 1_000) - 3_600_000

    def send(self) -> tuple[int, float]:
        """Status and milliseconds."""
        self._time_ms += 1_000
        request = WriteRequest(
            timeseries=[
                TimeSeries(
                    labels=[Label(name=b"__name__", value=b"m"), Label(name=b"i", value=str(number).encode())],
                    samples=[Sample(timestamp=self._time_ms, value=float(number))],
                )
                for number in range(SERIES)
            ]
        )
        body = bytes(cramjam.snappy.compress_raw(request.SerializeToString()))
        headers = {
            "authorization": f"Bearer {self._token}",
            "content-type": "application/x-protobuf",
            "content-encoding": "snappy",
        }
        begun = time.perf_counter()
        self._connection.request("POST", "/prometheus/api/v1/write", body, headers)
        answer = self._connection.getresponse()
        answer.read()
        return answer.status, (time.perf_counter() - begun) * 1_000


def measure(sender: Sender, token: str, seconds: float) -> dict[str, Any]:
    """What a sender, a probe and a page meet for so long; the page from an address that has not sent samples."""
    asked: dict[str, list[tuple[int, float]]] = {"ingest": [], "/-/healthy": [], "/": [], "/api/status": []}
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        asked["ingest"].append(sender.send())
        if len(asked["ingest"]) % 10 == 1:
            asked["/-/healthy"].append(get(SENDER, "/-/healthy", ""))
            asked["/"].append(get(PERSON, "/", ""))
            asked["/api/status"].append(get(PERSON, "/api/status", token))
        time.sleep(PAUSE_SECONDS)
    return {
        name: {
            "requests": len(found),
            "answered": sum(status in (200, 204) for status, _ in found),
            "p50_ms": round(float(np.percentile([ms for _, ms in found], 50)), 2),
            "p99_ms": round(float(np.percentile([ms for _, ms in found], 99)), 2),
        }
        for name, found in asked.items()
    }


def run(files: int, seconds: float, pause: float) -> dict[str, Any]:
    """Before and during, with a server that may open so many files."""
    with tempfile.TemporaryDirectory() as folder, server(Path(folder), files) as token:
        sender = Sender(token)
        measure(sender, token, 3)
        before = measure(sender, token, seconds)
        opened, ended = (multiprocessing.Value("i", 0) for _ in range(2))
        strangers = multiprocessing.Process(target=hold_half_sent, args=(opened, ended, pause), daemon=True)
        strangers.start()
        deadline = time.monotonic() + 30
        while opened.value < CONNECTIONS and time.monotonic() < deadline:
            time.sleep(0.1)
        during = measure(sender, token, seconds)
        strangers.terminate()
        strangers.join()
        ratio = during["ingest"]["p99_ms"] / before["ingest"]["p99_ms"]
        return {
            "files": files,
            "before": before,
            "during": during,
            "opened": opened.value,
            "ended_by_server": ended.value,
            "p99_ratio": round(ratio, 2),
        }


def main() -> int:
    """Run both and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=25, help="length of each measurement")
    parser.add_argument("--pause", type=float, default=0.02, help="seconds before closed connections are opened anew")
    options = parser.parse_args()
    if INSIDE not in os.environ:
        command = ["unshare", "--net", sys.executable, "-m", "bench.half_sent", *sys.argv[1:]]
        return subprocess.run(command, env={**os.environ, INSIDE: "1"}, check=False).returncode
    for command in ("ip link set lo up", "ip route add local 10.77.0.0/16 dev lo"):
        subprocess.run(command.split(), check=True)
    load = round(os.getloadavg()[0], 1)
    runs = [run(files, options.seconds, options.pause) for files in FILES]
    lines = [
        (__doc__ or "").split("\n\n", 1)[1].replace("\n", " ").strip(),
        "",
        f"A sender of {SERIES:,} samples a request over one connection; the probe from its address, the page from"
        f" another. {options.seconds:g} s each, a pause of {options.pause:g} s. The machine's load before was {load}.",
        "",
        "| files | | ingest p50, p99 ms | `/-/healthy` answered, p99 ms | page `/` | `/api/status` |",
        "| ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    for one in runs:
        for when in ("before", "during"):
            cells = [
                f"{of['answered']} of {of['requests']}, {of['p99_ms']}"
                for of in (one[when][name] for name in ("/-/healthy", "/", "/api/status"))
            ]
            ingest = one[when]["ingest"]
            lost = ingest["requests"] - ingest["answered"]
            lines.append(
                f"| {one['files']:,} | {when} | {ingest['p50_ms']}, {ingest['p99_ms']}"
                f"{f' ({lost} refused)' if lost else ''} | {' | '.join(cells)} |"
            )
    reached = all(one["p99_ratio"] < 2 for one in runs)
    ratios = " and ".join(f"{one['p99_ratio']}" for one in runs)
    ended = " and ".join(f"{one['ended_by_server']:,} of {one['opened']:,}" for one in runs)
    lines += ["", f"The server ended {ended} connections. Ingest p99 was {ratios} times that of before; goal below 2:"]
    lines[-1] += " reached." if reached else " not reached."
    write_result(
        "half-sent", "Half-sent requests", "\n".join(lines), {"machine": describe_machine(), "load": load, "runs": runs}
    )
    print(json.dumps(runs, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
