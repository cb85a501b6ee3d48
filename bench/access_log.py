"""A gigabyte of access log to a table by route: `loadwatch digest access` beside GoAccess, and beside exact figures.

`python -m bench.access_log [BYTES] [--alone]`. alp is not in Debian, so its place is taken by GoAccess, which is.
"""

import json
import math
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.import_result.measure import Measured, measure
from bench.machine import describe_machine, write_result

BYTES = 1_000_000_000
HOSTILE_PATHS = 10_000_000
BATCH = 100_000
MEGABYTE = 1_000_000
SHARES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}
GOACCESS_FORMAT = "time:[%d:%t %^]\thost:%h\t%^\tmethod:%m\turi:%U\tstatus:%s\tsize:%b\treferer:%R\tua:%u\treqtime:%T"
AGENT = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36"
# What is asked for, how often, and the median of its log-normal duration in seconds with its spread.
ROUTES: Sequence[tuple[str, str, float, float, float]] = (
    ("/", "/", 0.10, 0.180, 0.9),
    ("/login", "/login", 0.05, 0.030, 0.5),
    ("/posts?max_created_at={time}", "/posts", 0.15, 0.120, 0.8),
    ("/posts/{id}", "/posts/:id", 0.20, 0.045, 0.7),
    ("/image/{id}.jpg", "/image/:id.jpg", 0.30, 0.004, 1.2),
    ("/@{name}", "/@:slug", 0.10, 0.210, 0.6),
    ("/orders/{uuid}", "/orders/:uuid", 0.05, 0.900, 1.5),
    ("/css/style.css", "/css/style.css", 0.05, 0.0005, 1.0),
)
ALP = (
    "alp, by its documents (it is no package of Debian, so no figure of it stands above): it keeps the "
    "duration and the size of every request in memory, 8 bytes each, so that its percentiles are exact and its "
    "memory grows with the log; 3.6 million requests are 29 MB of durations alone, a hundred times as many 2.9 "
    "GB, where the memory here stays as it is. It stops at 5,000 different URIs (`--limit`), unless `-m` puts "
    "them together: routes do not name themselves. A least duration of 0 is overwritten by the next one. It reads "
    "LTSV, JSON and what a regular expression matches; ours reads these formats and Envoy's and ALB's lines, and "
    "none by an expression of the user. Its `--filters`, `--pos` and `--dump` have no counterpart on this command "
    "line; `alp diff` is `--base`."
)
"""Beside whose figures ours cannot be measured."""
STATUSES, STATUS_SHARES = ("200", "304", "404", "500"), (0.80, 0.15, 0.04, 0.01)


def main(arguments: Sequence[str]) -> int:
    """Runs everything and writes the result."""
    numbers = [int(argument) for argument in arguments if argument.isdecimal()]
    scratch = Path(tempfile.mkdtemp(prefix="loadwatch-bench-"))
    try:
        load = os.getloadavg()[0]
        log = scratch / "access.log"
        print("writing the log", flush=True)
        truth, lines = write_log(log, numbers[0] if numbers else BYTES)
        ours = _run("loadwatch", [*_digest(), str(log)], scratch)
        rows = [_row("loadwatch digest access", "exact counts and sums; percentiles", ours, log)]
        errors = compare(truth, json.loads(ours.output))
        if "--alone" not in arguments:
            rows += _goaccess(log, scratch)
        log.unlink()
        hostile = scratch / "hostile.log"
        print("writing a log of distinct paths", flush=True)
        write_hostile(hostile, HOSTILE_PATHS * (numbers[0] if numbers else BYTES) // BYTES)
        worst = _run("loadwatch, distinct paths", [*_digest(), str(hostile)], scratch)
        rows.append(_row("the same, each path distinct", "bounded routes", worst, hostile))
        _write(rows, lines, errors, json.loads(worst.output), load)
        return 0 if all(row["status"] == 0 for row in rows) else 1
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def write_log(path: Path, size: int) -> tuple[dict[str, np.ndarray[Any, np.dtype[np.int32]]], int]:
    """LTSV of about so many bytes; returns the milliseconds of each route, as they were written, and the lines."""
    dice = np.random.default_rng(14)
    written, lines = 0, 0
    kept: dict[str, list[np.ndarray[Any, np.dtype[np.int32]]]] = {name: [] for _, name, *_ in ROUTES}
    weights = np.array([share for _, _, share, _, _ in ROUTES])
    with path.open("w", encoding="ascii", newline="\n") as target:
        while written < size:
            chosen = dice.choice(len(ROUTES), BATCH, p=weights)
            took = np.empty(BATCH, dtype=np.int32)
            for at, (_, name, _, median, spread) in enumerate(ROUTES):
                mine = chosen == at
                values = dice.lognormal(math.log(median), spread, int(mine.sum())) * 1000
                took[mine] = np.clip(values, 0, 60_000).round()
                kept[name].append(took[mine])
            text = "".join(_lines(lines, chosen, took, dice))
            target.write(text)
            written += len(text)
            lines += BATCH
    return {name: np.concatenate(parts) for name, parts in kept.items()}, lines


def _lines(
    first: int,
    chosen: np.ndarray[Any, np.dtype[np.int64]],
    took: np.ndarray[Any, np.dtype[np.int32]],
    dice: np.random.Generator,
) -> Iterator[str]:
    numbers = dice.integers(0, 1 << 62, BATCH).tolist()
    statuses = dice.choice(STATUSES, BATCH, p=STATUS_SHARES).tolist()
    sizes = dice.integers(100, 50_000, BATCH).tolist()
    for at, (route, milliseconds, number, status, size) in enumerate(
        zip(chosen.tolist(), took.tolist(), numbers, statuses, sizes, strict=True)
    ):
        second = (first + at) // 20_000
        path = ROUTES[int(route)][0]
        if "{" in path:
            path = path.format(
                id=number % 10_000,
                time=number % 100_000,
                name=f"user-{number % 2_000:x}",
                uuid=f"{number % (1 << 32):08x}-1c2d-4e3f-8a9b-{number >> 16:012x}"[:36],
            )
        yield (
            f"time:[23/Nov/2026:{10 + second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d} +0900]\t"
            f"host:192.0.2.{number % 250}\treq:GET {path} HTTP/1.1\tmethod:GET\turi:{path}\tstatus:{status}\t"
            f"size:{size}\treferer:https://shop.example/\tua:{AGENT}\t"
            f"reqtime:{milliseconds // 1000}.{milliseconds % 1000:03d}\n"
        )


def write_hostile(path: Path, paths: int) -> None:
    """A line for each of so many paths, no two of which are the same, and now and then one that matters."""
    with path.open("w", encoding="ascii", newline="\n") as target:
        for begun in range(0, paths, BATCH):
            target.writelines(
                f"method:GET\turi:/{_word(at * 7_919)}/{_word(at)}\tstatus:200\tsize:1\treqtime:0.001\n"
                + ("method:GET\turi:/login\tstatus:200\tsize:1\treqtime:0.002\n" if at % 10 == 0 else "")
                for at in range(begun, min(begun + BATCH, paths))
            )


def _word(number: int) -> str:
    return "".join(chr(103 + int(digit)) for digit in str(number))


def compare(truth: Mapping[str, np.ndarray[Any, np.dtype[np.int32]]], document: Mapping[str, Any]) -> dict[str, float]:
    """The largest relative error of each figure over all routes; counts that differ are an error of 1."""
    found = {route["route"]: route for route in document["routes"]}
    worst = {name: 0.0 for name in ("count", "sum", "min", "max", *SHARES)}
    if found.keys() != truth.keys():
        print(f"routes differ: {sorted(found.keys() ^ truth.keys())}")
        return dict.fromkeys(worst, 1.0)
    for route, values in truth.items():
        ordered = np.sort(values)
        exact = {
            "count": float(len(ordered)),
            "sum": float(ordered.sum(dtype=np.int64)) / 1000,
            "min": float(ordered[0]) / 1000,
            "max": float(ordered[-1]) / 1000,
            **{name: float(ordered[math.ceil(share * len(ordered)) - 1]) / 1000 for name, share in SHARES.items()},
        }
        for name, value in exact.items():
            error = abs(found[route][name] - value) / value if value else abs(found[route][name])
            worst[name] = max(worst[name], error)
    return worst


def _digest() -> list[str]:
    return [str(Path(sys.executable).parent / "loadwatch"), "digest", "access", "--json"]


def _goaccess(log: Path, scratch: Path) -> list[dict[str, Any]]:
    program = shutil.which("goaccess")
    if program is None:
        print("GoAccess is not installed: apt-get install goaccess")
        return []
    command = [
        *(program, str(log), "--no-global-config", "--log-format", GOACCESS_FORMAT, "--date-format", "%d/%b/%Y"),
        *("--time-format", "%H:%M:%S", "-o", str(scratch / "goaccess.json"), "--no-progress"),
    ]
    run = _run("goaccess", command, scratch)
    row = _row("GoAccess", "average and maximum; each path apart, no percentiles", run, log)
    try:
        general = json.loads((scratch / "goaccess.json").read_text(encoding="utf-8", errors="replace"))["general"]
        row["valid"], row["failed"] = general["valid_requests"], general["failed_requests"]
        row["paths"] = general["unique_files"]
        print(f"  {row['valid']} requests, {row['failed']} lines not understood")
    except (OSError, ValueError, KeyError) as error:
        print(f"  no result: {error}")
        row["status"] = row["status"] or 1
    return [row]


def _run(name: str, command: Sequence[str], scratch: Path) -> Measured:
    print(f"running {name}", flush=True)
    run = measure(command, scratch / "output.log", timeout=3_600)
    print(
        f"  {run.seconds:.1f} s, {run.cpu_seconds:.1f} CPU s, {run.peak_bytes / MEGABYTE:.0f} MB, status {run.status}",
        flush=True,
    )
    if run.status:
        print(run.output[-2_000:])
    return run


def _row(name: str, gives: str, run: Measured, log: Path) -> dict[str, Any]:
    return {
        "name": name,
        "gives": gives,
        "file_bytes": log.stat().st_size,
        "seconds": run.seconds,
        "cpu_seconds": run.cpu_seconds,
        "peak_bytes": run.peak_bytes,
        "status": abs(run.status),
    }


def _write(
    rows: list[dict[str, Any]], lines: int, errors: Mapping[str, float], worst: Mapping[str, Any], load: float
) -> None:
    text = [
        f"{lines:,} lines of LTSV with {len(ROUTES)} routes, from file to finished figures, start of the process "
        f"included. The load of the machine was {load:.1f} before: CPU seconds (user and system, all processes) are "
        "what compares. Peak memory is that of all processes together.",
        "",
        "| | file MB | seconds | CPU seconds | peak MB | gives |",
        "| --- | ---: | ---: | ---: | ---: | --- |",
    ]
    for row in rows:
        failed = "" if row["status"] == 0 else " (failed)"
        text.append(
            f"| {row['name']}{failed} | {row['file_bytes'] / MEGABYTE:.0f} | {row['seconds']:.1f} | "
            f"{row['cpu_seconds']:.1f} | {row['peak_bytes'] / MEGABYTE:.0f} | {row['gives']} |"
        )
    largest = ", ".join(f"{name} {error:.2%}" for name, error in errors.items())
    other = worst["lines"]["other_routes"]
    text += [
        "",
        f"Largest error over all routes against the exact figures (nearest rank over all values): {largest}.",
        "",
        f"Of {worst['lines']['read']:,} requests to distinct paths, with every eleventh to `/login`: "
        f"{len(worst['routes'])} routes, {other:,} requests in `other`; `/login` "
        + ("kept its name." if any(one["route"] == "/login" for one in worst["routes"]) else "lost its name."),
        "",
        ALP,
        "",
        "Goal: 1 GB under 30 s and under 300 MB on two free cores, percentiles within 1 %.",
    ]
    result = {"machine": describe_machine(), "lines": lines, "load_before": load, "rows": rows, "errors": dict(errors)}
    write_result("access-log", "Access logs on the command line", "\n".join(text), result)
    print("\n".join(text))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
