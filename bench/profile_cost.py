"""What taking a profile costs the process that it is taken of: CPU time for each request, with a profile and without.

`python -m bench.profile_cost`. The measuring server under a steady load, alternately left alone and profiled as
the agent does; of each pair the order changes, so that a machine that drifts favours neither.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import urllib3
from loadwatch_collectors.sources.pprof import PprofSettings, ProfileTaker
from loadwatch_formats.profile_kinds import PROFILE_KINDS

from bench.machine import describe_machine, write_result
from collectors.tests.mariadb import running_mariadb
from collectors.tests.measuring_server import SOURCE, MeasuringServer, build, running

TICKS = os.sysconf("SC_CLK_TCK")
SECONDS = 5
PAIRS = 8
RATE, CLIENTS = 400, 20
GOAL = 0.01
_HTTP = urllib3.PoolManager()


def main() -> int:
    """Measures each kind after the other and writes the result."""
    folder = Path(tempfile.mkdtemp(prefix="lw-"))
    program, load = build(folder), folder / "measuring-load"
    subprocess.run(["go", "build", "-buildvcs=false", "-o", str(load), "./measuring-load"], cwd=SOURCE, check=True)
    with running_mariadb(folder) as database:
        database.run(
            "CREATE DATABASE shop",
            "CREATE USER application@'127.0.0.1'",
            "GRANT ALL ON shop.* TO application@'127.0.0.1'",
        )
        flags = ("-stage=channel", "-cpu-per-hit=300us", "-drop-share=1")
        with running(program, database, folder / "app.log", *flags) as app, _load(load, app, folder):
            time.sleep(3)
            found = {kind: [_pair(app, kind, turn % 2 == 1) for turn in range(PAIRS)] for kind in PROFILE_KINDS}
    rows = {kind: _row(pairs) for kind, pairs in found.items()}
    write_result("profile-cost", "What a profile costs its process", _text(rows), _result(rows))
    return 0


def _pair(app: MeasuringServer, kind: str, turned: bool) -> tuple[float, float]:
    """CPU milliseconds for each request: alone, and while a profile is taken again and again for as long."""
    both = [False, True] if not turned else [True, False]
    measured = {profiled: _window(app, kind if profiled else None) for profiled in both}
    return measured[False], measured[True]


def _window(app: MeasuringServer, kind: str | None) -> float:
    taker = ProfileTaker(PprofSettings(url=f"{app.url}/debug/pprof", seconds=SECONDS))
    cpu, requests, began = _cpu(app), _accepted(app), time.monotonic()
    if kind is not None:
        taker.take(kind, SECONDS)
    time.sleep(max(SECONDS - (time.monotonic() - began), 0))
    taker.close()
    return 1_000 * (_cpu(app) - cpu) / (_accepted(app) - requests)


def _cpu(app: MeasuringServer) -> float:
    """CPU seconds of all threads, finer than the ticks of `stat`."""
    threads = Path(f"/proc/{app.process.pid}/task")
    return sum(int((one / "schedstat").read_text("ascii").split()[0]) for one in threads.iterdir()) / 1e9


def _accepted(app: MeasuringServer) -> int:
    return int(_HTTP.request("GET", f"{app.url}/debug/dbstats").json()["ingest"]["accepted"])


@contextmanager
def _load(program: Path, app: MeasuringServer, folder: Path) -> Generator[None]:
    seconds = SECONDS * 2 * PAIRS * len(PROFILE_KINDS) + 600
    options = [f"-clients={CLIENTS}", f"-rate={RATE // CLIENTS}", f"-duration={seconds}s", "-output=/dev/null"]
    with (folder / "load.log").open("wb") as log:
        process = subprocess.Popen([str(program), *options, f"{app.url}/?name=a&value=1"], stdout=log, stderr=log)
    try:
        yield
    finally:
        process.terminate()
        process.wait(60)


def _row(pairs: Sequence[tuple[float, float]]) -> Mapping[str, float]:
    added = sorted(profiled / alone - 1 for alone, profiled in pairs)
    return {
        "alone_ms": statistics.median(alone for alone, _ in pairs),
        "profiled_ms": statistics.median(profiled for _, profiled in pairs),
        "added": statistics.median(added),
        "least": added[1],
        "most": added[-2],
    }


def _text(rows: Mapping[str, Mapping[str, float]]) -> str:
    lines = "\n".join(
        f"| {kind} | {row['alone_ms']:.3f} | {row['profiled_ms']:.3f} | {row['added']:+.1%} "
        f"| {row['least']:+.1%} to {row['most']:+.1%} |"
        for kind, row in rows.items()
    )
    cpu = rows["cpu"]["added"]
    return f"""
`python -m bench.profile_cost`: CPU time of the measuring server for each request, of {RATE} requests a second, over
{SECONDS} s left alone and {SECONDS} s with one profile of the kind, {PAIRS} times each in turn. The mutex and block
profiles are switched on all the time, as the guide says, so what they cost without anybody asking is on both sides.
Load average at the end {os.getloadavg()[0]:.1f}; the spread leaves out the least and the most.

| kind | alone, ms of CPU a request | with a profile | added, median | spread |
| --- | --- | --- | --- | --- |
{lines}

The goal is at most {GOAL:.0%} for a CPU profile while it lasts: {"reached" if cpu <= GOAL else "MISSED"}.
"""


def _result(rows: Mapping[str, Mapping[str, float]]) -> Mapping[str, object]:
    return {"machine": describe_machine(), "rate": RATE, "seconds": SECONDS, "pairs": PAIRS, "kinds": rows}


if __name__ == "__main__":
    sys.exit(main())
