"""Twenty clients ask for six hours of 500 series while samples go on arriving: Loadwatch beside Prometheus.

Both get the same 10.8 million samples. Then a writer sends a batch of 500 samples each 100 ms, first alone and then
while twenty clients ask range queries over the six hours as fast as they are answered. `python -m bench.query_storm`
"""

import json
import math
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import cramjam
import numpy as np
import numpy.typing as npt

from bench.machine import describe_machine, write_result
from bench.query import Server, field, labels_of, load, running, servers

SERIES = 500
SECONDS = 6 * 3_600
SLICE = 240
STEP = 15
CLIENTS = 20
QUIET_SECONDS, STORM_SECONDS = 15, 45
EVERY_SECONDS = 0.1
PANELS = ("load_0", "rate(load_0[1m])", "sum by (job) (rate(load_0[5m]))")
HEADERS = {
    "Content-Type": "application/x-protobuf",
    "Content-Encoding": "snappy",
    "X-Prometheus-Remote-Write-Version": "0.1.0",
}


def samples_of(times_ms: npt.NDArray[np.int64], values: npt.NDArray[np.float64]) -> bytes:
    """Sample messages of one series; present-day times are varints of six bytes."""
    rows = np.empty((len(times_ms), 18), np.uint8)
    rows[:, :3] = (0x12, 16, 0x09)
    rows[:, 3:11] = values.astype("<f8").view(np.uint8).reshape(-1, 8)
    rows[:, 11] = 0x10
    for place in range(6):
        more = 0x80 if place < 5 else 0
        rows[:, 12 + place] = (times_ms >> (7 * place) & 0x7F) | more
    return rows.tobytes()


def bodies(start_s: int, seconds: int, each: int) -> Iterator[bytes]:
    """Remote-write bodies in order of time, `each` seconds of all series in one."""
    names = [labels_of(0, instance) for instance in range(SERIES)]
    source = np.random.default_rng(20_261)
    level = np.zeros(SERIES)
    for first in range(0, seconds, each):
        times = 1000 * np.arange(start_s + first, start_s + min(first + each, seconds), dtype=np.int64)
        values = level[:, None] + np.cumsum(source.integers(0, 40, size=(SERIES, len(times))), axis=1)
        level = values[:, -1]
        yield bytes(
            cramjam.snappy.compress_raw(
                b"".join(
                    field(1, name + samples_of(times, row.astype(np.float64)))
                    for name, row in zip(names, values, strict=True)
                )
            )
        )


class Writer:
    """Sends one batch each 100 ms and notes how long its answers take; like an agent, it waits for each."""

    def __init__(self, server: Server, port: int) -> None:
        self._server, self._port = server, port
        self.failed = 0

    def run(self, seconds: float) -> list[float]:
        """Milliseconds of each batch."""
        connection = HTTPConnection("127.0.0.1", self._port, timeout=60)
        took: list[float] = []
        next_at = time.monotonic()
        end = next_at + seconds
        while next_at < end:
            time.sleep(max(0.0, next_at - time.monotonic()))
            body = next(bodies(int(time.time()), 1, 1))
            start = time.perf_counter()
            connection.request("POST", self._server.write, body, HEADERS)
            answer = connection.getresponse()
            answer.read()
            took.append((time.perf_counter() - start) * 1000)
            self.failed += answer.status >= 300
            # A batch that took long delays the next ones: they are sent at once and counted from then.
            next_at += EVERY_SECONDS
        return took


def storm(api: str, port: int, start_s: int, seconds: float) -> dict[str, Any]:
    """Ask from twenty connections at once; how many answers came, and of what status. Runs in its own process."""
    counts: dict[str, int] = {}
    took: list[float] = []
    lock = threading.Lock()
    end = time.monotonic() + seconds

    def client(number: int) -> None:
        connection = HTTPConnection("127.0.0.1", port, timeout=120)
        while time.monotonic() < end:
            query = urllib.parse.urlencode(
                {"query": PANELS[number % len(PANELS)], "start": start_s, "end": start_s + SECONDS - 1, "step": STEP}
            )
            begin = time.perf_counter()
            try:
                connection.request("GET", f"{api}/query_range?{query}")
                answer = connection.getresponse()
                status, size = str(answer.status), 0
                while piece := answer.read(1 << 18):
                    size += len(piece)
            except (OSError, HTTPException):
                connection.close()
                status, size = "broken off", 0
                time.sleep(0.1)
            with lock:
                counts[status] = counts.get(status, 0) + 1
                counts["bytes"] = counts.get("bytes", 0) + size
                if status == "200":
                    took.append(time.perf_counter() - begin)
            number += 1

    threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"counts": counts, "answer_seconds": took}


def memory(pid: int) -> dict[str, int]:
    """Resident memory of a process now and at its highest, in MiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    values = {line.split(":")[0]: int(line.split()[1]) for line in lines if line.startswith(("VmHWM", "VmRSS"))}
    return {"now": values["VmRSS"] // 1024, "peak": values["VmHWM"] // 1024}


class PageProbe:
    """Reads the page's headroom and a signal once a second, as an open page does."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._stop = threading.Event()
        self.took: list[float] = []
        self.failed = 0
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        url = f"http://127.0.0.1:{self._port}/api/headroom"
        while not self._stop.wait(1):
            start = time.perf_counter()
            try:
                with urllib.request.urlopen(url, timeout=60) as answer:
                    answer.read()
                self.took.append((time.perf_counter() - start) * 1000)
            except OSError:
                self.failed += 1

    def stop(self) -> None:
        """End it."""
        self._stop.set()
        self._thread.join()


def measure(server: Server, port: int, directory: Path, start_s: int) -> dict[str, Any]:
    """One server, from empty to stopped under the storm."""
    with running(server, port, directory / f"{server.name}.log") as pid:
        load(server, port, bodies(start_s, SECONDS, SLICE))
        time.sleep(3)
        result: dict[str, Any] = {"memory_loaded_mib": memory(pid), "load": round(os.getloadavg()[0], 1)}
        writer = Writer(server, port)
        quiet = writer.run(QUIET_SECONDS)
        probe = PageProbe(port) if server.name == "Loadwatch" else None
        asking = subprocess.Popen(
            [sys.executable, "-m", "bench.query_storm", "--storm", server.api, str(port), str(start_s)],
            stdout=subprocess.PIPE,
        )
        try:
            stormy = writer.run(STORM_SECONDS)
            if probe is not None:
                probe.stop()
                result["page_ms"] = figures(probe.took) | {"failed": probe.failed}
            result["memory_mib"] = memory(pid)
            # The storm lasts a little longer than the writer, so that the server is asked to stop under load.
            stopped = time.perf_counter()
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
            while Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z":
                if time.perf_counter() - stopped > 60:
                    break
                time.sleep(0.02)
            result["stop_seconds"] = round(time.perf_counter() - stopped, 2)
            asked = json.loads(asking.communicate(timeout=180)[0])
        finally:
            asking.kill()
    seconds = asked["answer_seconds"]
    return result | {
        "quiet_ms": figures(quiet),
        "storm_ms": figures(stormy),
        "writes_failed": writer.failed,
        "asked": asked["counts"],
        "answers_per_second": round(len(seconds) / STORM_SECONDS, 2),
        "answer_seconds_p50": round(statistics.median(seconds), 2) if seconds else None,
    }


def figures(took: list[float]) -> dict[str, float]:
    """Quantiles by nearest rank."""
    ordered = sorted(took)
    if not ordered:
        return {"count": 0}
    p50, p99 = (ordered[max(0, math.ceil(q * len(ordered)) - 1)] for q in (0.5, 0.99))
    return {"count": len(ordered), "p50": round(p50, 1), "p99": round(p99, 1), "max": round(ordered[-1], 1)}


def _statuses(one: dict[str, Any]) -> str:
    counts: dict[str, int] = one["asked"]
    return ", ".join(f"{status}: {count}" for status, count in sorted(counts.items()) if status != "bytes")


def _page_times(one: dict[str, Any]) -> str:
    found: dict[str, float] = one.get("page_ms", {})
    return f"{found['p50']} / {found['p99']}" if found.get("count") else "–"


def page(results: dict[str, dict[str, Any]]) -> str:
    """The table."""
    names = list(results)
    rows: list[tuple[str, Callable[[dict[str, Any]], object]]] = [
        ("ingest, nobody asks: p50 / p99 ms", lambda one: f"{one['quiet_ms']['p50']} / {one['quiet_ms']['p99']}"),
        (
            f"ingest, {CLIENTS} clients ask: p50 / p99 / longest ms",
            lambda one: f"{one['storm_ms']['p50']} / {one['storm_ms']['p99']} / {one['storm_ms']['max']}",
        ),
        ("batches refused", lambda one: one["writes_failed"]),
        ("answers a second", lambda one: one["answers_per_second"]),
        ("median answer, s", lambda one: one["answer_seconds_p50"]),
        ("answers by status", _statuses),
        ("resident after loading, MiB", lambda one: one["memory_loaded_mib"]["now"]),
        ("resident at its highest, MiB", lambda one: one["memory_mib"]["peak"]),
        ("end after SIGTERM under load, s", lambda one: one["stop_seconds"]),
        ("the page's headroom meanwhile: p50 / p99 ms", _page_times),
    ]
    lines = ["| | " + " | ".join(names) + " |", "| --- |" + " --- |" * len(names)]
    lines += [f"| {title} | " + " | ".join(str(read(results[name])) for name in names) + " |" for title, read in rows]
    load = max(one["load"] for one in results.values())
    return (
        f"{SERIES} series at 1 s over six hours ({SERIES * SECONDS / 1e6:.1f} million samples) in both. A writer sends"
        f" {SERIES} samples each {EVERY_SECONDS * 1000:.0f} ms, {QUIET_SECONDS} s alone and {STORM_SECONDS} s while"
        f" {CLIENTS} clients ask for all series over all six hours at a step of {STEP} s, as fast as they are answered:"
        f" {', '.join(f'`{panel}`' for panel in PANELS)}. Clients, writer and"
        f" server share the machine, whose load before was up to {load}.\n\n"
    ) + "\n".join(lines)


def main() -> None:
    """Measure all servers and write the result."""
    if len(sys.argv) > 1 and sys.argv[1] == "--storm":
        api, port, start_s = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
        print(json.dumps(storm(api, port, start_s, STORM_SECONDS + 3)))
        return
    results: dict[str, dict[str, Any]] = {}
    for name in ("Loadwatch", "Prometheus"):
        directory = Path(tempfile.mkdtemp(prefix="query-storm-"))
        try:
            for server, port in servers(directory):
                if server.name == name:
                    results[name] = measure(server, port, directory, int(time.time()) - SECONDS - 60)
                    print(name, json.dumps(results[name]), flush=True)
        finally:
            shutil.rmtree(directory, ignore_errors=True)
    result = {"machine": describe_machine(), "results": results}
    if "--no-result" not in sys.argv:
        write_result("query-storm", "Twenty clients ask while samples arrive", page(results), result)


if __name__ == "__main__":
    main()
