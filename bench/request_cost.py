"""What a request costs, as Loadwatch finds it, beside what was planted: `python -m bench request-cost`.

A real MariaDB counts statements, the collector `mysql_statements` reads them each second, an application of its own
process counts its requests on /metrics, and an agent sends both to a server. The peer is the application itself: it
knows how often each of its routes asks.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pymysql

from bench.machine import describe_machine, write_result
from collectors.tests.mariadb import running_mariadb
from tests.ports import free_port

ROOT = Path(__file__).resolve().parent.parent
LOADWATCH = ROOT / ".venv" / "bin" / "loadwatch"
SECONDS, REQUESTS, MOST_SECONDS = 90, 2_500, 400
"""A run lasts so long and has so many requests, however busy the machine is; but no longer than the last."""
CLIENTS = 4
FACTORS: Mapping[str, Sequence[tuple[str, int]]] = {
    "/one": (("one", 1),),
    "/five": (("five", 5),),
    "/hundred": (("list", 1), ("row", 100)),
}
"""Calls of each statement by route; all routes ask for the session, too."""
SEEDED = (8, 10, 12, 15, 20, 25, 30, 40, 60, 80)
MIXED: Mapping[str, Sequence[tuple[str, int]]] = {
    **{f"/seeded/{place}": ((f"seeded{place}", times),) for place, times in enumerate(SEEDED)},
    **{f"/clean/{place}": ((f"clean{place}", 1 + place % 3),) for place in range(10)},
}
GOAL = 0.05


def main() -> int:
    """Plants, drives, asks, compares; writes the result."""
    if sys.argv[1:2] == ["app"]:
        serve(int(sys.argv[2]), int(sys.argv[3]))
        return 0
    with tempfile.TemporaryDirectory(prefix="lw-cost-") as name:
        options = ("--performance-schema=ON", "--performance-schema-consumer-events-statements-current=ON")
        with running_mariadb(Path(name) / "db", *options) as mariadb:
            mariadb.run(
                "CREATE DATABASE shop",
                "CREATE TABLE shop.goods (id INT PRIMARY KEY, name VARCHAR(40))",
                *(f"INSERT INTO shop.goods VALUES ({number}, 'n{number}')" for number in range(200)),
            )
            measured = drive(Path(name), mariadb.port)
    factors, mixed = measured["factors"], measured["mixed"]
    rows = [row for row in compare(factors, FACTORS) if row[1] != "session"]
    worst = max((abs(found / planted - 1) if found else 1.0 for _, _, planted, found in rows), default=1.0)
    found = {route["route"] for route in mixed["routes"] if any(one["repeated"] for one in route["statements"])}
    right = sum(1 for route in found if route.startswith("/seeded/"))
    accused = len(found) - right
    lines = "\n".join(
        f"| {route} | {statement} | {planted} | {'cannot tell' if told is None else f'{told:.2f}'} |"
        for route, statement, planted, told in rows
    )
    text = f"""Two runs of {CLIENTS} clients, each of {SECONDS} s and {REQUESTS:,} requests at the least with a mix by chance, MariaDB 10.11 with performance_schema, everything on these cores, beside other work. All routes share one statement for the session; each figure is of one run.

| route | statement | planted calls a request | found |
| --- | --- | ---: | ---: |
{lines}

| what | measured | goal | |
| --- | ---: | ---: | --- |
| largest distance from what was planted | {worst:.1%} | {GOAL:.0%} | {"reached" if worst <= GOAL else "missed"} |
| share of all database time that routes explain | {factors["explained_share"]:.0%} | | |
| N+1 found, of 10 seeded routes (8 to 80 calls) | {right} | 10 | {"reached" if right == 10 else "missed"} |
| of 10 clean routes accused | {accused} | 0 | {"reached" if accused == 0 else "missed"} |
"""  # noqa: E501 - rows of a table
    document: dict[str, Any] = {
        "machine": describe_machine(),
        "planted": [list(row) for row in rows],
        "worst": round(worst, 4),
        "explained_share": round(factors["explained_share"], 4),
        "n_plus_one_found": right,
        "clean_accused": accused,
        "seeded": [list(row) for row in compare(mixed, MIXED) if row[0].startswith("/seeded/")],
        "missed": sorted(route for route in MIXED if route.startswith("/seeded/") and route not in found),
        "requests": {one["route"]: one["requests"] for one in [*factors["routes"], *mixed["routes"]]},
    }
    write_result("request-cost", "What a request costs", text, document)
    print(text)
    return 0


def compare(cost: Any, planted: Mapping[str, Sequence[tuple[str, int]]]) -> list[tuple[str, str, int, float | None]]:
    """Route, statement, calls that were planted, and those that were found."""
    texts = {one["id"]: one["text"] for one in cost["statements"]}
    told = {
        (route["route"], name): share["calls"]["value"]
        for route in cost["routes"]
        for share in route["statements"]
        for name in [_name_in(texts.get(share["statement"], ""))]
    }
    return [(route, name, times, told.get((route, name))) for route, asks in planted.items() for name, times in asks]


def _name_in(text: str) -> str:
    return text.rpartition(" AS ")[2].split()[0].strip("`").lower() if " AS " in text else text


def drive(folder: Path, database: int) -> dict[str, Any]:
    """One run for each set of routes; what the server says of them."""
    port, app_port = free_port(), free_port()
    url = f"http://127.0.0.1:{port}"
    environment = {
        **os.environ,
        "LOADWATCH_LISTEN": f"127.0.0.1:{port}",
        "LOADWATCH_DATA": str(folder / "data"),
        "LOADWATCH_OWN_METRICS_SECONDS": "0",
    }
    (folder / "loadwatch.yml").write_text(
        f"server: {{url: {url}}}\nspool: {{directory: {folder}/spool}}\ntargets:\n"
        f"  - {{job: app, prometheus: {{url: 'http://127.0.0.1:{app_port}/metrics'}}}}\n"
        f"  - {{job: mysql, mysql_statements: {{host: 127.0.0.1, port: {database}, user: root, tls: 'off'}}}}\n"
    )
    started = [subprocess.Popen([LOADWATCH, "server"], env=environment)]
    try:
        started.append(
            subprocess.Popen(
                [sys.executable, "-m", "bench.request_cost", "app", str(app_port), str(database)], cwd=ROOT
            )
        )
        until(f"{url}/api/status")
        until(f"http://127.0.0.1:{app_port}/metrics")
        started.append(subprocess.Popen([LOADWATCH, "agent", "--config", folder / "loadwatch.yml"], env=environment))
        time.sleep(25)
        return {name: one_run(url, app_port, routes) for name, routes in (("factors", FACTORS), ("mixed", MIXED))}
    finally:
        for process in reversed(started):
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(30)


def one_run(url: str, app_port: int, routes: Mapping[str, object]) -> Any:
    """Drives the routes by chance, and asks for the cost of that run."""
    run = ask(f"{url}/api/runs", {"name": "request-cost", "tool": "other"})["id"]
    done = Done(start=time.monotonic())
    threads = [threading.Thread(target=client, args=(app_port, list(routes), done, seed)) for seed in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ask(f"{url}/api/runs/{run}/finish", {"ended_ms": int(time.time() * 1_000), "exit_code": 0})
    time.sleep(25)
    return ask(f"{url}/api/runs/{run}/cost?window=whole")


class Done:
    """How many requests a run has had; tells its end."""

    def __init__(self, start: float) -> None:
        self._start, self._lock, self._requests = start, threading.Lock(), 0

    def one_more(self) -> bool:
        """Counts a request that begins; False where none shall."""
        passed = time.monotonic() - self._start
        with self._lock:
            if passed > MOST_SECONDS or (passed > SECONDS and self._requests >= REQUESTS):
                return False
            self._requests += 1
            return True


def client(port: int, routes: Sequence[str], done: Done, seed: int) -> None:
    """Requests one after another, pauses between them that change with the time."""
    draw = random.Random(seed)
    while done.one_more():
        with urlopen(f"http://127.0.0.1:{port}{draw.choice(routes)}", timeout=120) as answer:
            answer.read()
        time.sleep(draw.expovariate(1 / 0.03))


def ask(url: str, body: object = None) -> Any:
    """JSON of the server."""
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(url, data, {"Content-Type": "application/json"}), timeout=300) as answer:
        return json.loads(answer.read())


def until(url: str) -> None:
    """Waits until somebody answers."""
    deadline = time.monotonic() + 120
    while True:
        try:
            with urlopen(url, timeout=5):
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def serve(port: int, database: int) -> None:
    """The application: routes that ask as often as they were planted, and count their requests."""
    held = threading.local()
    counted: Counter[str] = Counter()
    lock = threading.Lock()
    asks = {**FACTORS, **MIXED}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if self.path == "/metrics":
                with lock:
                    lines = [
                        f'http_requests_total{{route="{route}",method="GET",code="200"}} {count}'
                        for route, count in counted.items()
                    ]
                self._answer(("# TYPE http_requests_total counter\n" + "\n".join(lines) + "\n").encode())
                return
            self._ask(self.path)
            self._answer(b"ok")
            with lock:
                counted[self.path] += 1

        def _ask(self, route: str) -> None:
            if not hasattr(held, "connection"):
                held.connection = pymysql.connect(
                    host="127.0.0.1", port=database, user="root", database="shop", autocommit=True
                )
            with held.connection.cursor() as cursor:
                cursor.execute("SELECT 1 AS session")
                for name, times in asks[route]:
                    for number in range(times):
                        cursor.execute(f"SELECT name AS {name} FROM goods WHERE id = {number}")

        def _answer(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Type", "text/plain")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    with lock:
        counted.update(dict.fromkeys(asks, 0))
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    sys.exit(main())
