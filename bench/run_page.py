"""A result of 9,000,000 requests through `loadwatch import` to a run page: how long, how much memory, how fast to open.

`python -m bench.run_page [REQUESTS]`. Everything is real: the command uploads over HTTP to a server process, whose
tree of processes is measured; then the page's own questions are asked over HTTP.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import urllib3

from bench.import_result.measure import TreeMemory
from bench.import_result.results import write_vegeta
from bench.machine import describe_machine, write_result
from tests.serving import free_port

REQUESTS = 9_000_000
RUNS = 4
ROUNDS = 15
MEGABYTE = 1_000_000
LOADWATCH = Path(sys.executable).with_name("loadwatch")


def main(arguments: Sequence[str]) -> int:
    """Runs everything and writes the result."""
    requests = int(arguments[0]) if arguments else REQUESTS
    with tempfile.TemporaryDirectory(prefix="loadwatch-bench-") as name:
        folder = Path(name)
        source = folder / "vegeta.csv"
        print("writing vegeta's CSV", flush=True)
        write_vegeta(source, requests)
        url = f"http://127.0.0.1:{free_port()}"
        environment = {"LOADWATCH_DATA": str(folder / "data"), "LOADWATCH_LISTEN": url.removeprefix("http://")}
        with subprocess.Popen([LOADWATCH, "server"], env=environment, stderr=subprocess.DEVNULL) as server:
            try:
                _wait_ready(url)
                _measure(url, server.pid, source, requests)
            finally:
                server.terminate()
                server.wait(60)
    return 0


def _wait_ready(url: str) -> None:
    for _ in range(300):
        try:
            if urllib3.request("GET", f"{url}/-/ready", retries=False).status == 200:
                return
        except urllib3.exceptions.HTTPError:
            pass
        time.sleep(0.1)
    raise SystemExit("the server did not start")


def _measure(url: str, server: int, source: Path, requests: int) -> None:
    seconds: list[float] = []
    runs: list[str] = []
    with TreeMemory(server) as memory:
        for number in range(RUNS):
            began = time.perf_counter()
            command = [LOADWATCH, "import", source, "--scenario", "big", "--commit", f"c{number}", "--server", url]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            runs.append(done.stdout.strip())
            # Until the page could be read, not only until the command ended.
            assert urllib3.request("GET", f"{url}/api/runs/{runs[-1]}").json()["requests"] == requests
            seconds.append(time.perf_counter() - began)
            print(f"  imported in {seconds[-1]:.1f} s", flush=True)
    paths = {
        "run page, the run": [f"/api/runs/{runs[0]}"],
        "run page, all its questions": [
            f"/api/runs/{runs[0]}",
            f"/api/runs/{runs[0]}/seconds",
            f"/api/runs/{runs[0]}/review",
            f"/api/runs/{runs[0]}/snapshots",
        ],
        "report, HTML": [f"/api/runs/{runs[0]}/report"],
        "figures of a window of one minute": [f"/api/runs/{runs[0]}/figures?from_seconds=60&to_seconds=120"],
        "comparison of four": ["/api/compare?" + "&".join(f"run={run}" for run in runs)],
        "list of runs": ["/api/runs"],
    }
    pool = urllib3.PoolManager()
    times = {name: _time(lambda asked=asked: _ask(pool, url, asked)) for name, asked in paths.items()}
    _write(requests, source.stat().st_size, seconds, memory.peak_bytes, times)


def _ask(pool: urllib3.PoolManager, url: str, paths: Sequence[str]) -> None:
    for path in paths:
        answer = pool.request("GET", url + path)
        assert answer.status == 200, (path, answer.data[:300])


def _time(work: Callable[[], None]) -> list[float]:
    """The first time, then `ROUNDS` more."""
    times: list[float] = []
    for _ in range(ROUNDS + 1):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return times


def _write(requests: int, size: int, seconds: list[float], peak: int, times: dict[str, list[float]]) -> None:
    lines = [
        f"`loadwatch import` of {requests:,} requests ({size / MEGABYTE:.0f} MB of vegeta's CSV) over HTTP to a server "
        f"process: **{statistics.median(seconds):.1f} s** until the finished run can be read ({min(seconds):.1f} to "
        f"{max(seconds):.1f} in {len(seconds)} imports), peak memory of the server and all its processes "
        f"**{peak / MEGABYTE:.0f} MB**. Goal: under 10 s and 1 GB.",
        "",
        f"Then over HTTP, on one connection; the first time, and the median and worst of {ROUNDS} more:",
        "",
        "| question | first, ms | median, ms | worst, ms | goal, ms |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    goals = {"run page, all its questions": "300", "comparison of four": "1,000"}
    for name, found in times.items():
        first, rest = found[0] * 1_000, [one * 1_000 for one in found[1:]]
        lines.append(
            f"| {name} | {first:.0f} | {statistics.median(rest):.0f} | {max(rest):.0f} | {goals.get(name, '')} |"
        )
    result = {
        "machine": describe_machine(),
        "requests": requests,
        "import_seconds": seconds,
        "peak_bytes": peak,
        "question_seconds": times,
    }
    write_result("run-page", "A run of 9,000,000 requests, from file to page", "\n".join(lines), result)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
