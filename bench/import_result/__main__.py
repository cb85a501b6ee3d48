"""A vegeta CSV of 9,000,000 requests to a finished run, beside polars alone and the reports of JMeter and Gatling.

`python -m bench.import_result [REQUESTS] [--alone]`; the peers come from PyPI and Maven Central.
"""

import json
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.import_result import peers, results
from bench.import_result.measure import Measured, measure
from bench.machine import describe_machine, write_result

REQUESTS = 9_000_000
REPEATS = 3
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MEGABYTE = 1_000_000


def main(arguments: Sequence[str]) -> int:
    """Runs everything and writes the result."""
    numbers = [int(argument) for argument in arguments if argument.isdecimal()]
    requests = numbers[0] if numbers else REQUESTS
    scratch = Path(tempfile.mkdtemp(prefix="loadwatch-bench-"))
    try:
        load = os.getloadavg()[0]
        rows = [_loadwatch(scratch, requests)]
        if "--alone" not in arguments:
            rows += [_polars(scratch), _jmeter(scratch, requests), _gatling(scratch, requests)]
        _write(rows, requests, load)
        return 0 if all(row["status"] == 0 for row in rows) else 1
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _loadwatch(scratch: Path, requests: int) -> dict[str, Any]:
    source = scratch / "vegeta.csv"
    _made("vegeta's CSV", lambda: results.write_vegeta(source, requests))
    runs: list[Measured] = []
    for _ in range(REPEATS):
        shutil.rmtree(scratch / "run", ignore_errors=True)
        (scratch / "run").mkdir()
        command = [sys.executable, "-m", "bench.import_result.with_loadwatch", str(source), str(scratch / "run")]
        paths = os.pathsep.join((str(ROOT), str(ROOT / "backend")))
        runs.append(_run("loadwatch", command, scratch, os.environ | {"PYTHONPATH": paths}))
    said = [json.loads(run.output.splitlines()[-1]) for run in runs]
    row = _row("Loadwatch", "exact per second and endpoint; keeps every request", runs, source)
    row["seconds"] = sorted(word["import_seconds"] for word in said)
    row["figures_whole_seconds"] = statistics.median(word["figures_whole_seconds"] for word in said)
    row["figures_minute_seconds"] = statistics.median(word["figures_minute_seconds"] for word in said)
    row["records_bytes"] = said[-1]["records_bytes"]
    return row


def _polars(scratch: Path) -> dict[str, Any]:
    python, version = peers.polars(scratch / "polars")
    command = [str(python), str(HERE / "with_polars.py"), str(scratch / "vegeta.csv"), str(scratch / "polars.npz")]
    runs = [_run("polars", command, scratch) for _ in range(REPEATS)]
    row = _row(f"polars {version} alone", "exact per second; keeps nothing", runs, scratch / "vegeta.csv")
    row["agrees"] = _agree(scratch)
    (scratch / "vegeta.csv").unlink()
    return row


def _agree(scratch: Path) -> bool:
    """Whether polars and Loadwatch came to the same percentile in every second: two ways to one figure."""
    with np.load(scratch / "run" / "seconds.npz") as ours, np.load(scratch / "polars.npz") as theirs:
        same = bool((ours["outcomes"].sum(axis=1) == theirs["requests"]).all())
        return same and bool(np.allclose(ours["latency"] * 1e9, theirs["latency"], rtol=0, atol=0.5))


def _jmeter(scratch: Path, requests: int) -> dict[str, Any]:
    source = scratch / "results.jtl"
    _made("JMeter's JTL", lambda: results.write_jtl(source, requests))
    command = peers.jmeter(scratch / "jmeter", source, scratch / "dashboard")
    run = _run("jmeter", command, scratch)
    title = f"JMeter {peers.JMETER_VERSION}, HTML dashboard"
    row = _row(title, "percentiles of the last 20,000; a point a minute", [run], source)
    row["status"] = row["status"] or int(not (scratch / "dashboard" / "index.html").is_file())
    source.unlink()
    return row


def _gatling(scratch: Path, requests: int) -> dict[str, Any]:
    folder = scratch / "gatling-results" / "load"
    folder.mkdir(parents=True)
    source = folder / "simulation.log"
    _made("Gatling's log", lambda: results.write_gatling(source, requests))
    run = _run("gatling", peers.gatling(scratch / "gatling", folder), scratch)
    title = f"Gatling {results.GATLING_VERSION}, report"
    row = _row(title, "in whole milliseconds; at most 1,000 points in time", [run], source)
    row["status"] = row["status"] or int(not (folder / "index.html").is_file())
    return row


def _made(what: str, write: Callable[[], None]) -> None:
    print(f"writing {what}", flush=True)
    write()


def _run(name: str, command: Sequence[str], scratch: Path, env: dict[str, str] | None = None) -> Measured:
    print(f"running {name}", flush=True)
    run = measure(command, scratch / f"{name}.log", env)
    print(f"  {run.seconds:.1f} s, {run.peak_bytes / MEGABYTE:.0f} MB, status {run.status}", flush=True)
    if run.status:
        print(run.output[-2_000:])
    return run


def _row(name: str, gives: str, runs: Sequence[Measured], source: Path) -> dict[str, Any]:
    return {
        "name": name,
        "gives": gives,
        "file_bytes": source.stat().st_size,
        "seconds": sorted(run.seconds for run in runs),
        "cpu_seconds": statistics.median(run.cpu_seconds for run in runs),
        "peak_bytes": max(run.peak_bytes for run in runs),
        "status": max(abs(run.status) for run in runs),
    }


def _write(rows: list[dict[str, Any]], requests: int, load: float) -> None:
    ours = rows[0]
    lines = [
        f"{requests:,} requests at 30,000 a second, from file to finished figures. Loadwatch: the file is read in "
        "a process of its own, the records are on disk as Parquet, result and per-second series beside them; start of "
        f"the process included. Median of the repeats (range); peak memory of all processes together. The machine's "
        f"load before was {load:.1f}: compare within the table.",
        "",
        "| | file MB | seconds | CPU seconds | peak MB | percentiles |",
        "| --- | ---: | ---: | ---: | ---: | --- |",
    ]
    for row in rows:
        low, high = row["seconds"][0], row["seconds"][-1]
        span = f" ({low:.1f} to {high:.1f})" if len(row["seconds"]) > 1 else ""
        failed = "" if row["status"] == 0 else " (failed)"
        seconds = f"{statistics.median(row['seconds']):.1f}{span}"
        sizes = [f"{row[name] / MEGABYTE:.0f}" for name in ("file_bytes", "peak_bytes")]
        cpu = f"{row['cpu_seconds']:.1f}"
        lines.append(f"| {row['name']}{failed} | {sizes[0]} | {seconds} | {cpu} | {sizes[1]} | {row['gives']} |")
    lines += [
        "",
        f"The records take {ours['records_bytes'] / MEGABYTE:.0f} MB. Exact figures of the whole run, as for a "
        f"steady window set by hand: {ours['figures_whole_seconds'] * 1000:.0f} ms; of one minute of it: "
        f"{ours['figures_minute_seconds'] * 1000:.0f} ms.",
    ]
    if any(row.get("agrees") for row in rows):
        lines.append("polars and Loadwatch agree on every percentile of every second.")
    lines += ["", f"Java ran with {peers.JAVA_MEMORY}. Goal: under 10 s and under 1 GB at 9,000,000 requests."]
    result = {"machine": describe_machine(), "requests": requests, "load_before": load, "rows": rows}
    write_result("import-result", "Import of a large result", "\n".join(lines), result)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
