"""What counting statements gets right, and what it costs the database: `python -m bench.statements`.

A real MariaDB with performance_schema, a Go program that sends a known number of statements as text and prepared, and
the collector `mysql_statements` in this process, once a second. The peer is the truth: the program knows what it sent.
The cost is CPU time of mariadbd: of the thread that serves the collector's session (by the kernel's own count, exact
whatever else the machine does), beside that of the whole server at the same work with and without the collector.
"""

import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from loadwatch_collectors.collector import KEPT, Sample
from loadwatch_collectors.sources.mysql_statements.collector import MySQLStatementsCollector, MySQLStatementsSettings
from loadwatch_formats.metrics.mysql_statements import CALLS, UNSEEN

from bench.machine import describe_machine, write_result
from collectors.tests.mariadb import MariaDB, running_mariadb

OPTIONS = ("--performance-schema=ON", "--performance-schema-consumer-events-statements-current=ON")
LOAD = Path(__file__).resolve().parents[1] / "examples" / "measuring-server"
TEXT = {"name": 20_000, "stock": 5_000, "id": 1_000, "id AS one": 101}
"""Calls by what is selected."""
KEPT_CALLS, MOMENT_CALLS = 5_000, 3_000
TURNS = 3
CALLS_OF_A_TURN = 200_000
CONNECTIONS = 2
DIGESTS = (50, 3_000)
GOAL = 0.001


def main() -> int:
    """Counts, measures, writes the result."""
    with tempfile.TemporaryDirectory(prefix="lw-st-") as name:
        program = Path(name) / "load"
        command = ["go", "build", "-buildvcs=false", "-o", str(program), "./statement-load"]
        subprocess.run(command, cwd=LOAD, check=True, timeout=600)
        with running_mariadb(Path(name) / "db", *OPTIONS) as mariadb:
            mariadb.run(
                "CREATE DATABASE shop",
                "CREATE TABLE shop.goods (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(191), stock INT)",
                "INSERT INTO shop.goods (name, stock) SELECT seq, seq FROM shop.seq_1_to_1000",
                "CREATE USER watcher@'127.0.0.1'",
                "GRANT SELECT ON performance_schema.* TO watcher@'127.0.0.1'",
                "CREATE USER app@'127.0.0.1'",
                "GRANT ALL ON shop.* TO app@'127.0.0.1'",
            )
            counted = count(mariadb, program)
            costs = [cost(mariadb, program, digests) for digests in DIGESTS]
    document = {"machine": describe_machine(), "counted": counted, "costs": costs}
    text = page(counted, costs)
    write_result("statements", "Counting statements", text, document)
    print(text)
    return 0


# Right ----------------------------------------------------------------------------------------------------


def count(mariadb: MariaDB, program: Path) -> dict[str, Any]:
    """Calls that were sent beside those that were counted."""
    rows: list[tuple[str, int, float]] = []
    with Watching(mariadb) as watching:
        for what, calls in TEXT.items():
            load(mariadb, program, f"SELECT {what} FROM goods WHERE id = ?", calls, text=True).wait()
            watching.settle()
            found = watching.calls(f"SELECT {what} FROM".replace("AS one", "AS `one`"))
            rows.append((f"text: SELECT {what} ...", calls, found))
        text_coverage = watching.coverage
        kept = load(
            mariadb, program, "SELECT stock + 1 FROM goods WHERE id = ?", KEPT_CALLS, "-keep", "-hold=15s", text=False
        )
        watching.settle()  # while it holds
        kept.wait()
        rows.append(("prepared once and kept", KEPT_CALLS, watching.calls("stock + ?", "stock + 1")))
        kept_coverage = watching.coverage
        before = watching.unseen
        load(mariadb, program, "SELECT stock + 2 AS two FROM goods WHERE id = ?", MOMENT_CALLS, text=False).wait()
        watching.settle()
        named = watching.calls("AS two")
        rows.append(("prepared for each call, in all", MOMENT_CALLS, named + watching.unseen - before))
        rows.append(("of these under their text", MOMENT_CALLS, named))
        moment_coverage = watching.coverage
        fault = watching.fault
    return {
        "rows": [list(row) for row in rows],
        "coverage": {"text": text_coverage, "kept": kept_coverage, "after_momentary": moment_coverage},
        "fault": fault,
    }


class Watching:
    """The collector, read each second by a thread of its own."""

    def __init__(self, mariadb: MariaDB) -> None:
        """The session is made by the first reading."""
        self._collector = MySQLStatementsCollector(
            MySQLStatementsSettings(port=mariadb.port, user="watcher", tls="off")
        )
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._first = threading.Event()
        self._samples: list[Sample] = []
        self.readings = 0

    def __enter__(self) -> "Watching":
        """After the first reading."""
        self._thread.start()
        assert self._first.wait(60)
        return self

    def __exit__(self, *_: object) -> None:
        """Ends the session."""
        self._stop.set()
        self._thread.join(60)
        self._collector.close()

    def _run(self) -> None:
        while True:
            samples = list(self._collector.collect())
            self.readings += any(sample.timestamp_ms is None for sample in samples)
            self._samples = samples
            self._first.set()
            if self._stop.wait(1.0):
                return

    def settle(self) -> None:
        """Until there was a reading that began after now, and one that told how many there were."""
        wanted = self.readings + 2
        until = time.monotonic() + 6
        while self.readings < wanted or time.monotonic() < until:
            time.sleep(0.1)

    def calls(self, *parts: str) -> float:
        """Of the statements whose text holds one of the parts, whatever quotes and spaces are in it."""
        wanted = [_plain(part) for part in parts]
        return sum(
            sample.value
            for sample in self._samples
            if sample.name == CALLS
            and sample.timestamp_ms in (None, KEPT)
            and any(part in _plain(dict(sample.labels)["digest_text"]) for part in wanted)
        )

    @property
    def unseen(self) -> float:
        """Executions of prepared statements without a text."""
        return sum(
            sample.value
            for sample in self._samples
            if sample.name == CALLS and sample.timestamp_ms in (None, KEPT) and dict(sample.labels)["digest"] == UNSEEN
        )

    @property
    def coverage(self) -> float | None:
        """Of the last minute."""
        return next((one.value for one in self._samples if one.name == "mysql_statements_coverage_ratio"), None)

    @property
    def fault(self) -> str:
        """What the collector says of itself."""
        found = self._collector.fault()
        return "" if found is None else found.text


def _plain(text: str) -> str:
    return "".join(text.lower().replace("`", "").split())


def load(mariadb: MariaDB, program: Path, query: str, calls: int, *flags: str, text: bool) -> "subprocess.Popen[bytes]":
    """The Go program at work."""
    dsn = f"app@tcp(127.0.0.1:{mariadb.port})/shop" + ("?interpolateParams=true" if text else "")
    return subprocess.Popen([program, f"-dsn={dsn}", f"-query={query}", f"-calls={calls}", *flags])


# Cost ----------------------------------------------------------------------------------------------------


def cost(mariadb: MariaDB, program: Path, digests: int) -> dict[str, Any]:
    """CPU seconds of mariadbd for the same work, turn about without and with the collector."""
    mariadb.run("TRUNCATE performance_schema.events_statements_summary_by_digest")
    with mariadb.connect() as connection, connection.cursor() as cursor:
        for number in range(digests):
            cursor.execute(f"SELECT {number} AS column_{number}")
    without: list[float] = []
    along: list[float] = []
    direct = busy = seconds = 0.0
    readings = 0
    for _ in range(TURNS):
        without.append(_turn(mariadb, program))
        with Watching(mariadb) as watching:
            watching.settle()  # the first readings are of the whole table, as one each minute is
            with _thread_cpu(mariadb) as used:
                began, already = time.monotonic(), watching.readings
                along.append(_turn(mariadb, program))
                seconds += time.monotonic() - began
                readings += watching.readings - already
        direct += used[0]
        busy += along[-1]
    return {
        "digests": digests,
        "turns": TURNS,
        "calls_of_a_turn": CALLS_OF_A_TURN,
        "cpu_without": [round(one, 3) for one in without],
        "cpu_with": [round(one, 3) for one in along],
        "seconds_with": round(seconds, 1),
        "readings": readings,
        "cpu_of_the_session": round(direct, 6),
        "ratio": round(direct / busy, 6),
        "cpu_of_a_reading": round(direct / max(readings, 1), 6),
    }


def _turn(mariadb: MariaDB, program: Path) -> float:
    before = _server_cpu(mariadb)
    started = [
        load(mariadb, program, "SELECT name FROM goods WHERE id = ?", CALLS_OF_A_TURN // CONNECTIONS, text=True)
        for _ in range(CONNECTIONS)
    ]
    for one in started:
        assert one.wait(600) == 0
    return _server_cpu(mariadb) - before


def _server_cpu(mariadb: MariaDB) -> float:
    """Of all threads, those that ended too, seconds."""
    assert mariadb.process is not None
    text = Path(f"/proc/{mariadb.process.pid}/stat").read_text(encoding="ascii")
    fields = text.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


@contextmanager
def _thread_cpu(mariadb: MariaDB) -> Generator[list[float]]:
    """What the thread of the collector's session uses meanwhile, seconds, by the scheduler's nanoseconds."""
    assert mariadb.process is not None
    with mariadb.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT thread_os_id FROM performance_schema.threads WHERE processlist_user = 'watcher'")
        ((thread,),) = cursor.fetchall()
    path = Path(f"/proc/{mariadb.process.pid}/task/{thread}/schedstat")
    used = [0.0]
    before = int(path.read_text(encoding="ascii").split()[0])
    yield used
    used[0] = (int(path.read_text(encoding="ascii").split()[0]) - before) / 1e9


# Said ----------------------------------------------------------------------------------------------------


def page(counted: dict[str, Any], costs: Sequence[dict[str, Any]]) -> str:
    """The tables."""
    lines = "\n".join(f"| {name} | {sent:,} | {found:,.0f} |" for name, sent, found in counted["rows"])
    coverage = counted["coverage"]
    cost_lines = "\n".join(
        f"| {one['digests']:,} | {statistics.median(one['cpu_without']):.2f} s"
        f" | {statistics.median(one['cpu_with']):.2f} s | {one['readings'] / one['seconds_with']:.2f}"
        f" | {one['cpu_of_a_reading'] * 1e3:.2f} ms | {one['ratio']:.3%}"
        f" | {'reached' if one['ratio'] <= GOAL else 'missed'} |"
        for one in costs
    )
    return f"""MariaDB 10.11 with performance_schema, go-sql-driver, the collector once a second; the machine was busy with other work, so that CPU time counts here and the clock does not.

| what was sent | calls | counted |
| --- | ---: | ---: |
{lines}

Coverage of the last minute, as the collector said it: {coverage["text"]:.1%} after the statements sent as text, {coverage["kept"]:.1%} after the kept ones, {coverage["after_momentary"]:.1%} after those that were prepared for each call; then it said: "{counted["fault"][:120]} ...".

{CALLS_OF_A_TURN:,} calls by {CONNECTIONS} connections, {TURNS} turns each without and with the collector in alternation. CPU of mariadbd for a turn are medians, and their noise is larger than what is sought; the collector's share is the CPU time of the one thread that serves its session (/proc/PID/task/TID/schedstat), against all of mariadbd in the same turns. Goal: {GOAL:.1%}.

| digests in the table | CPU of a turn without | with | readings a second | CPU of a reading | share of the database's CPU | |
| ---: | ---: | ---: | ---: | ---: | ---: | --- |
{cost_lines}
"""  # noqa: E501 - rows of a table


if __name__ == "__main__":
    sys.exit(main())
