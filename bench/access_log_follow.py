"""CPU that following an access log takes at 20,000 lines a second: `python -m bench.access_log_follow`."""

import multiprocessing
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from loadwatch_collectors.sources.access_log import AccessLogCollector, AccessLogSettings

from bench.machine import describe_machine, write_result

RATE = 20_000
SECONDS = 15
WARM_UP = 4
GOAL = 0.20
_PER_SECOND = 10
_DIFFERENT = 100_000
_COUNTED = "access_log_lines_total"


def main() -> int:
    """Follow a log of each format; 1 if a line was lost or counted twice."""
    rows = {name: _follow(name) for name in ("combined", "ltsv", "json")}
    write_result("access-log-follow", "What following an access log costs", _text(rows), _result(rows))
    print(_text(rows))
    return int(any(row["counted"] != row["written"] for row in rows.values()))


def _follow(name: str) -> Mapping[str, float]:
    with tempfile.TemporaryDirectory(prefix="lw-") as folder:
        log = Path(folder) / "access.log"
        log.touch()
        collector = AccessLogCollector(AccessLogSettings(path=str(log)))
        collector.set_pace(1.0, 1.0)
        collector.set_state_file(Path(folder) / "state.json")
        collector.collect()
        writer = multiprocessing.get_context("spawn").Process(target=_write, args=(str(log), name))
        writer.start()
        while not log.stat().st_size:
            time.sleep(0.01)
        _ticks(collector, WARM_UP)
        before, began, cpu = _counted(collector), time.monotonic(), _cpu()
        _ticks(collector, SECONDS)
        took, used = time.monotonic() - began, _cpu() - cpu
        rate = (_counted(collector) - before) / took
        writer.join()
        last = -1.0
        while (now := _counted(collector)) != last:
            last = now
        collector.close()
        with log.open("rb") as file:
            written = sum(1 for _ in file)
        return {"rate": rate, "share": used / took, "us_a_line": used / took / rate * 1e6} | {
            "counted": last,
            "written": float(written),
        }


def _ticks(collector: AccessLogCollector, seconds: int) -> None:
    """One reading a second, as an agent does."""
    due = time.monotonic()
    for _ in range(seconds):
        due += 1
        collector.collect()
        time.sleep(max(due - time.monotonic(), 0))


def _counted(collector: AccessLogCollector) -> float:
    """Lines that were read, of the newest reading."""
    return sum(
        sample.value
        for sample in collector.collect()
        if sample.name == _COUNTED and dict(sample.labels)["result"] == "counted"
    )


def _cpu() -> float:
    """CPU seconds of this process, user and system; the writer is another one."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _write(path: str, name: str) -> None:
    lines = _lines(name)
    each, at = RATE // _PER_SECOND, 0
    due = time.monotonic()
    with open(path, "ab", buffering=0) as log:
        for _ in range((WARM_UP + SECONDS + 2) * _PER_SECOND):
            log.write(b"".join(lines[at : at + each]))
            at = (at + each) % _DIFFERENT
            due += 1 / _PER_SECOND
            time.sleep(max(due - time.monotonic(), 0))


def _lines(name: str) -> Sequence[bytes]:
    """Requests of 32 routes, most with a number in their path, as a shop has them."""
    chance = random.Random(14)
    routes = [f"/api/v1/{word}" for word in ("orders", "users", "items", "carts", "posts", "tags", "files", "jobs")]
    made: list[bytes] = []
    for _ in range(_DIFFERENT):
        path = chance.choice(routes) + chance.choice(("", "/%d", "/%d", "/%d/notes", "/%d/lines"))
        path = path.replace("%d", str(chance.randrange(100_000))) + chance.choice(("", "?page=2&token=abc"))
        status = chance.choice((200, 200, 200, 200, 304, 404, 500))
        took = f"{chance.expovariate(20):.3f}"
        made.append(_line(name, path, status, took).encode() + b"\n")
    return made


def _line(name: str, path: str, status: int, took: str) -> str:
    if name == "ltsv":
        return f"time:24/Nov/2026:01:00:00 +0000\tmethod:GET\turi:{path}\tstatus:{status}\tsize:812\treqtime:{took}"
    if name == "json":
        at = '"time":"2026-11-24T01:00:00+00:00"'
        return f'{{{at},"method":"GET","uri":"{path}","status":{status},"body_bytes_sent":812,"request_time":{took}}}'
    at = "24/Nov/2026:01:00:00 +0000"
    return f'192.0.2.1 - - [{at}] "GET {path} HTTP/1.1" {status} 812 "-" "Mozilla/5.0 (X11; Linux x86_64)" {took}'


def _text(rows: Mapping[str, Mapping[str, float]]) -> str:
    lines = "\n".join(
        f"| {name} | {row['rate']:,.0f} | {row['share']:.1%} | {row['us_a_line']:.1f} "
        f"| {row['counted']:,.0f} of {row['written']:,.0f} |"
        for name, row in rows.items()
    )
    worst = max(row["share"] for row in rows.values())
    slowest = min(row["rate"] for row in rows.values())
    verdict = "reached" if worst <= GOAL and slowest >= 0.95 * RATE else "MISSED"
    return f"""
`python -m bench.access_log_follow`: the collector `access_log` reads once a second what another process appends,
{RATE:,} lines a second of 32 routes and 100,000 different lines, over {SECONDS} s after {WARM_UP} s. CPU time is user
and system of the process with the collector alone (getrusage). Load average at the end {os.getloadavg()[0]:.1f}.

| format | lines/s followed | share of a core | CPU µs a line | lines counted |
| --- | --- | --- | --- | --- |
{lines}

The goal is at most {GOAL:.0%} of a core: {verdict}. Each line is to be counted once.
"""


def _result(rows: Mapping[str, Mapping[str, float]]) -> Mapping[str, object]:
    return {"machine": describe_machine(), "rate": RATE, "seconds": SECONDS, "formats": rows}


if __name__ == "__main__":
    sys.exit(main())
