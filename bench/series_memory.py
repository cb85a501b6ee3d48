"""Memory of a server by its active series, and how fast its samples move to an engine: `python -m bench.series_memory`.

Loadwatch's own store, Prometheus and VictoriaMetrics, each alone with empty data, are sent a sample of each series for
each of some seconds. Then Loadwatch's store, of the most series, is migrated to a VictoriaMetrics.
"""

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cramjam
import numpy as np
import urllib3
from loadwatch_backend.series.store.prometheus.wire import encode_labels, encode_series

from bench.import_result.measure import resident_bytes
from bench.ingest import SERVERS, Server, running
from bench.machine import describe_machine, write_result
from tests.serving import LOADWATCH

SERIES = (10_000, 100_000)
SECONDS = 60
SETTLE_SECONDS = 20
REQUEST_SERIES = 10_000
MEBIBYTE = 1 << 20
HEADERS = {
    "Content-Type": "application/x-protobuf",
    "Content-Encoding": "snappy",
    "X-Prometheus-Remote-Write-Version": "0.1.0",
}
_SENT = re.compile(r"([\d,]+) of them now, ([\d,]+) a second")


def main() -> None:
    """Measure everything and write the result."""
    result: dict[str, Any] = {"machine": describe_machine(), "load_average": os.getloadavg()[0], "resident": {}}
    for count in SERIES:
        for server in SERVERS:
            with tempfile.TemporaryDirectory(prefix="bench-memory-") as name:
                figures = _measure(server, Path(name), count)
                if server.name == "loadwatch" and count == SERIES[-1]:
                    result["migration"] = _migrate(Path(name))
            result["resident"].setdefault(server.name, {})[str(count)] = figures
            print(server.name, count, figures, flush=True)
    text = _text(result)
    write_result("series-memory", "Memory by active series, and moving to an engine", text, result)
    print(text)


def _measure(server: Server, directory: Path, count: int) -> dict[str, float]:
    """Resident MiB with nothing, and with so many series once nothing comes any more."""
    with running(server, directory) as (address, pid):
        time.sleep(5)
        idle = resident_bytes(pid)
        for body in _bodies(count):
            answer = urllib3.request("POST", address + server.write, body=body, headers=HEADERS, timeout=300)
            assert answer.status < 300, (server.name, answer.status, answer.data[:300])
        time.sleep(SETTLE_SECONDS)
        return {"idle": round(idle / MEBIBYTE, 1), "with": round(resident_bytes(pid) / MEBIBYTE, 1)}


def _bodies(count: int) -> Iterator[bytes]:
    """Second by second: a gauge and counters by route and instance, with as many labels as such series have."""
    heads = [
        encode_labels(
            {
                "__name__": f"http_requests_{number % 20}_total",
                "job": "shop",
                "instance": f"web-{number % 50:02d}.example.internal:9100",
                "route": f"/api/v1/resources/{number // 1000}",
                "code": str(200 + number // 20 % 5),
                "n": str(number),
            }
        )
        for number in range(count)
    ]
    first_ms = int(time.time() * 1000) - SECONDS * 1000
    steps = np.random.default_rng(1).integers(0, 40, count)
    for second in range(SECONDS):
        times = np.full(count, first_ms + second * 1000, np.int64)
        values = (steps * second).astype(np.float64)
        for begin in range(0, count, REQUEST_SERIES):
            part = slice(begin, begin + REQUEST_SERIES)
            some = heads[part]
            message = b"".join(encode_series(some, [1] * len(some), times[part], values[part]))
            yield bytes(cramjam.snappy.compress_raw(message))


def _migrate(directory: Path) -> dict[str, Any]:
    """Samples a second of `loadwatch store migrate`, as it says them, and seconds until all was compared."""
    engine = next(server for server in SERVERS if server.name == "victoria-metrics")
    target = directory / "engine"
    target.mkdir()
    with running(engine, target) as (address, _):
        command = [str(LOADWATCH), "store", "migrate", "--data", str(directory / "data"), "--to", address]
        begun = time.monotonic()
        sent = subprocess.run([*command, "--no-verify"], capture_output=True, text=True, check=True)
        between = time.monotonic()
        time.sleep(SETTLE_SECONDS)
        verifying = time.monotonic()
        verified = subprocess.run([*command, "--verify"], capture_output=True, text=True, check=False)
        ended = time.monotonic()
    match = _SENT.search(sent.stderr)
    assert match is not None, sent.stderr
    samples, rate = (int(text.replace(",", "")) for text in match.groups())
    return {
        "samples": samples,
        "samples_per_second": rate,
        "seconds": round(between - begun, 1),
        "verified": verified.returncode == 0,
        "verify_seconds": round(ended - verifying, 1),
    }


def _text(result: dict[str, Any]) -> str:
    resident = result["resident"]
    lines = ["| resident MiB | idle | " + " | ".join(f"{count:,} series" for count in SERIES) + " | kB a series |"]
    lines.append("| --- | ---: | " + "---: | " * len(SERIES) + "---: |")
    for name, figures in resident.items():
        few, many = (figures[str(count)]["with"] for count in (SERIES[0], SERIES[-1]))
        each = (many - few) * MEBIBYTE / 1000 / (SERIES[-1] - SERIES[0])
        cells = [f"{figures[str(count)]['with']:.0f}" for count in SERIES]
        lines.append(f"| {name} | {figures[str(SERIES[0])]['idle']:.0f} | {' | '.join(cells)} | {each:.1f} |")
    most = str(SERIES[-1])
    ratio = resident["loadwatch"][most]["with"] / resident["prometheus"][most]["with"]
    moved = result["migration"]
    return f"""
{SECONDS} samples of each series, a second apart, sent as fast as they are taken; resident memory {SETTLE_SECONDS} s
later. "kB a series" is by the two last columns, with their {SECONDS} samples. Loadwatch keeps the newest samples in
memory, up to a third of LOADWATCH_STORE_MEMORY_BYTES (256 MiB); its idle figure has the default rules, the others'
has none. At
{SERIES[-1]:,} series Loadwatch takes {ratio:.2f} of Prometheus. Load average {result["load_average"]:.1f} at the start.

{chr(10).join(lines)}

`loadwatch store migrate` then sent the {moved["samples"]:,} samples of the {SERIES[-1]:,} series to VictoriaMetrics at
{moved["samples_per_second"]:,} a second ({moved["seconds"]} s with its start) and compared them, each one, in
{moved["verify_seconds"]} s: {"all were there" if moved["verified"] else "NOT all were there"}.
"""


if __name__ == "__main__":
    main()
