"""Forecasts of real systems from runs at up to 60 % of their limit: `python -m bench.forecast.real [SECONDS]`.

Ten configurations of the measuring server with a real MariaDB and an agent: five runs each at 20 to 60 % of what the
configuration should do, whose requests come by chance (a Poisson process), then one with more clients than it can
serve, which tells the truth. Everything goes to loopback and ends by itself.
"""

import csv
import json
import random
import statistics
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import urllib3

from bench.machine import describe_machine, write_result
from examples.rig.application import build_application, running_application
from examples.rig.database import MONITOR_USER, running_database
from examples.rig.loadwatch import WatchedApp, agent_config, running_agent, running_server, write_secret
from examples.rig.processes import free_port

SECONDS = 30
SHARES = (0.2, 0.3, 0.4, 0.5, 0.6)
MAX_CONNECTIONS = 40
OWN_CONNECTIONS = 3
"""Of the agent, which the application cannot have."""
THREADS = 150
GOOD = 0.15
"""How far off a forecast may be."""
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """A measuring server: `limit` connections (0: as many as the database gives), each held for `delay_ms` and more."""

    limit: int
    delay_ms: int

    @property
    def name(self) -> str:
        """Its scenario."""
        return f"{f'pool-{self.limit}' if self.limit else 'unlimited'}-{self.delay_ms}ms"

    @property
    def resource(self) -> str:
        """What has to run out first."""
        return "pool_connections" if self.limit else "db_connections"

    @property
    def expected(self) -> float:
        """About how many requests per second it should do."""
        return 1_000 * (self.limit or MAX_CONNECTIONS - OWN_CONNECTIONS) / (self.delay_ms + 5)


CONFIGURATIONS = (
    Configuration(limit=3, delay_ms=100),
    Configuration(limit=4, delay_ms=150),
    Configuration(limit=6, delay_ms=100),
    Configuration(limit=8, delay_ms=200),
    Configuration(limit=10, delay_ms=120),
    Configuration(limit=12, delay_ms=250),
    Configuration(limit=16, delay_ms=180),
    Configuration(limit=20, delay_ms=300),
    Configuration(limit=0, delay_ms=300),
    Configuration(limit=0, delay_ms=450),
)


def main(arguments: Sequence[str]) -> int:
    """Plays all configurations, and writes the result."""
    seconds = int(arguments[0]) if arguments else SECONDS
    build_application()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lw-forecast-")))
        database = stack.enter_context(running_database(folder, max_connections=MAX_CONNECTIONS))
        server = stack.enter_context(running_server(folder, listen=f"127.0.0.1:{free_port()}"))
        port = free_port()
        app = WatchedApp(instance="bench-app", port=port, probe=False)
        secret = write_secret(folder / "password", database.passwords[MONITOR_USER])
        config = agent_config(
            server_url=server.url, spool=folder / "spool", apps=[app], database=database, secret=secret
        )
        stack.enter_context(running_agent(folder, config))
        rows: list[Row] = []
        for one in CONFIGURATIONS:
            flags = [f"-max-open={one.limit}", f"-max-idle={one.limit or 2}", f"-db-delay={one.delay_ms}ms"]
            with running_application(folder, name=one.name, flags=flags, port=port, database=database):
                rows.append(_play(one, f"http://127.0.0.1:{port}/?name=bench&value=1", server.url, seconds))
            print(json.dumps(rows[-1]), flush=True)
    _report(rows, seconds)
    return 0


def _play(one: Configuration, url: str, server: str, seconds: int) -> Row:
    time.sleep(3)
    for share in SHARES:
        _import(server, one, share, _poisson(url, share * one.expected, seconds))
    said = _ask(f"{server}/api/forecasts?scenario={one.name}")["now"]
    _import(server, one, 9.0, _closed(url, 2 * round(one.limit or MAX_CONNECTIONS), seconds))
    scored = _ask(f"{server}/api/forecasts?scenario={one.name}")
    first = next((resource for resource in said["resources"] if resource["law"]), None)
    truth = next(
        (r["law"]["reached"] for r in scored["now"]["resources"] if r["resource"] == one.resource and r["law"]), None
    )
    scores = [score for past in scored["past"] for score in past["scores"] if score["key"].startswith(one.resource)]
    truth = scores[0]["truth"] if scores and scores[0]["truth"] else truth
    law = None if first is None else first["law"]
    return {
        "configuration": one.name,
        "expected": one.resource,
        "said": None if first is None else first["resource"],
        "rate": None if law is None else round(law["rate"], 1),
        "low": None if law is None else round(law["low"], 1),
        "high": None if law is None else round(law["high"], 1),
        "truth": None if truth is None else round(truth, 1),
        "error": None if law is None or not truth else round(law["rate"] / truth - 1, 4),
        "score": scores[0]["result"] if scores else None,
        "refused": {r["resource"]: r["refused"] for r in said["resources"] if r["refused"]},
        "sentence": said["sentence"]["en"],
    }


# Load -----------------------------------------------------------------------------------------------------------------

Record = tuple[int, int, int]
"""Start and length in ns, and the status; 0 for no answer."""


def _request(pool: urllib3.PoolManager, url: str) -> Record:
    begun, clock = time.time_ns(), time.monotonic_ns()
    try:
        status = pool.request("GET", url).status
    except urllib3.exceptions.HTTPError:
        status = 0
    return begun, time.monotonic_ns() - clock, status


def _poisson(url: str, rate: float, seconds: int) -> list[Record]:
    """Requests that come independently of each other."""
    lot, found = random.Random(round(rate * 1_000)), list[Record]()
    with (
        urllib3.PoolManager(maxsize=THREADS, retries=False, timeout=10.0) as pool,
        ThreadPoolExecutor(THREADS) as threads,
    ):
        begun = at = time.monotonic()
        asked: list[Any] = []
        while at < begun + seconds:
            time.sleep(max(at - time.monotonic(), 0))
            asked.append(threads.submit(_request, pool, url))
            at += lot.expovariate(rate)
        found += [one.result() for one in asked]
    return found


def _closed(url: str, clients: int, seconds: int) -> list[Record]:
    """As many requests as `clients` can get answered, each one after the other."""
    found: list[Record] = []
    end = time.monotonic() + seconds
    with urllib3.PoolManager(maxsize=clients, retries=False, timeout=10.0) as pool:

        def ask() -> None:
            while time.monotonic() < end:
                found.append(_request(pool, url))

        threads = [threading.Thread(target=ask) for _ in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return found


# Loadwatch ------------------------------------------------------------------------------------------------------------


def _import(server: str, one: Configuration, share: float, records: list[Record]) -> None:
    """As vegeta would have written it; after the agent has sent all samples of that time."""
    time.sleep(4)
    text = StringIO()
    lines = csv.writer(text, lineterminator="\n")
    for place, (begun, length, status) in enumerate(sorted(records)):
        error = "" if status == 200 else f"{status} refused"
        lines.writerow([begun, status, length, 0, 0, error, "", "load", place, "GET", "http://127.0.0.1/", ""])
    facts = {"scenario": one.name, "name": f"{share:.0%}", "parameter": f"load={share}", "filename": "load.csv"}
    job = _ask(f"{server}/api/imports?{urllib.parse.urlencode(facts)}", text.getvalue().encode())
    while job["state"] == "reading":
        time.sleep(0.2)
        job = _ask(f"{server}/api/imports/{job['id']}")
    if job["state"] != "done":
        raise SystemExit(f"the import of {one.name} ended as {job}")


def _ask(address: str, content: bytes | None = None) -> Any:
    headers = {"Content-Type": "application/octet-stream"} if content is not None else {}
    with urllib.request.urlopen(urllib.request.Request(address, content, headers), timeout=120) as answer:
        return json.load(answer)


# Report ---------------------------------------------------------------------------------------------------------------


def _report(rows: Sequence[Row], seconds: int) -> None:
    right = [row for row in rows if row["said"] == row["expected"]]
    near = [row for row in right if row["error"] is not None and abs(row["error"]) <= GOOD]
    known = [row for row in rows if row["error"] is not None]
    held = [row for row in known if row["low"] <= row["truth"] <= row["high"]]
    result = {
        "machine": describe_machine(),
        "seconds": seconds,
        "right": len(right),
        "right_and_near": len(near),
        "held": len(held),
        "bias": round(statistics.median(row["error"] for row in known), 4) if known else None,
        "rows": list(rows),
    }
    lines = "\n".join(
        f"| {row['configuration']} | {row['said'] or 'no number'} | {_number(row['rate'])} "
        f"({_number(row['low'])} to {_number(row['high'])}) | {_number(row['truth'])} | "
        f"{'–' if row['error'] is None else format(row['error'], '+.0%')} |"
        for row in rows
    )
    errors = "\n".join(f"- {row['configuration']}: {row['sentence']}" for row in rows if row not in near) or "None."
    text = f"""
Ten configurations of the measuring server with a real MariaDB, an agent at 1 s, and requests that come by chance: five
runs of {seconds} s at 20 to 60 % of what the configuration should do, then the forecast, then one with twice as many
clients as connections, which tells the truth. The right resource, and its rate within {GOOD:.0%}: **{len(near)} of
{len(rows)}** (goal: 8). The right resource: {len(right)}. The 90 % interval holds the truth in {len(held)} of
{len(known)}. `pool-6-100ms` is a pool of 6 connections, each statement 100 ms long; of `unlimited` the database's
{MAX_CONNECTIONS} connections run out.

| configuration | runs out first | forecast, requests/s | measured | error |
| --- | --- | ---: | ---: | ---: |
{lines}

What was said where it was wrong:

{errors}
"""
    write_result("forecast-real", "Forecasts of real systems from runs at up to 60 % of their limit", text, result)
    print(text)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
