"""Measures the time from a sample's own timestamp to the frame in which the page has drawn it.

Starts `loadwatch up` with its own data on a free port (an agent at a 1 s interval that watches this host), opens the
live page in Chromium, and looks at a chart in every frame for a minute.
Usage: python -m bench.freshness [SECONDS]
"""

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.machine import describe_machine, write_result
from bench.start_up.__main__ import free_port, is_ready

ROOT = Path(__file__).resolve().parents[2]
LOADWATCH = Path(sys.executable).with_name("loadwatch")
START_SECONDS = 60
DEFAULT_SECONDS = 60
GOAL_MEDIAN_SECONDS = 1.0
GOAL_WORST_SECONDS = 2.0


def watch_page(address: str, seconds: int) -> Sequence[float]:
    """Delays in seconds, one for each new sample that was drawn."""
    seen = subprocess.run(
        ["node", str(ROOT / "bench/freshness/watch-page.mjs"), f"http://{address}", str(seconds)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [one / 1000 for one in json.loads(seen.stdout)["delays_ms"]]


def measure(seconds: int) -> Sequence[float]:
    """Starts the system, watches its page, and ends it."""
    with tempfile.TemporaryDirectory(prefix="loadwatch-freshness-") as folder:
        address = f"127.0.0.1:{free_port()}"
        settings = os.environ | {"LOADWATCH_DATA": f"{folder}/data", "LOADWATCH_LISTEN": address}
        log = Path(folder) / "log"
        with log.open("wb") as output:
            process = subprocess.Popen([str(LOADWATCH), "up"], env=settings, stdout=output, stderr=subprocess.STDOUT)
            try:
                deadline = time.monotonic() + START_SECONDS
                while not is_ready(address):
                    if process.poll() is not None or time.monotonic() > deadline:
                        raise RuntimeError(f"loadwatch up did not come up:\n{log.read_text()[-4000:]}")
                    time.sleep(0.1)
                return watch_page(address, seconds)
            finally:
                process.send_signal(signal.SIGINT)
                process.wait(timeout=30)


def main(arguments: Sequence[str]) -> int:
    """Measures and writes the result."""
    seconds = int(arguments[0]) if arguments else DEFAULT_SECONDS
    delays = sorted(measure(seconds))
    if len(delays) < seconds / 4:
        print(f"only {len(delays)} samples were seen in {seconds} s; nothing is written")
        return 1
    median, worst = statistics.median(delays), delays[-1]
    p95 = delays[int(0.95 * (len(delays) - 1))]
    load = os.getloadavg()[0]
    text = f"""
From the timestamp of a sample (agent at a 1 s interval, this host) to the frame in which the live page (last 5 minutes,
1440 px) has drawn it, {seconds} s long: {len(delays)} samples came into sight. Load average at the end: {load:.1f}.

| | seconds | goal |
| --- | --- | --- |
| median | {median:.2f} | {GOAL_MEDIAN_SECONDS:.0f} |
| 95th percentile | {p95:.2f} | |
| worst | {worst:.2f} | {GOAL_WORST_SECONDS:.0f} |
"""
    result = {
        "machine": describe_machine(),
        "load_average": round(load, 1),
        "seconds": seconds,
        "samples": len(delays),
        "median_seconds": round(median, 3),
        "p95_seconds": round(p95, 3),
        "worst_seconds": round(worst, 3),
    }
    write_result("freshness", "From sample taken to drawn", text, result)
    print(f"median {median:.2f} s, 95th percentile {p95:.2f} s, worst {worst:.2f} s of {len(delays)} samples")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
