"""Twelve panels of eight series over seven days of 1,000 series: from all samples, and from one-minute rollups.

Samples are written straight into the store, an hour at a time as they are sealed, and both engines are asked in this
process: `python -m bench.rollups 15` (seconds between samples; 1 fills an hour with 3.6 million of them, so that fewer
series are made: those of the panels alone).
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, cast

import numpy as np
from loadwatch_backend.series.promql.engine import Engine, EngineSettings
from loadwatch_backend.series.store.embedded import rollups, sealed
from loadwatch_backend.series.store.embedded.arrow import Columns
from loadwatch_backend.series.store.embedded.block import build_block
from loadwatch_backend.series.store.embedded.database import Database
from loadwatch_backend.series.store.embedded.engine import open_embedded
from loadwatch_backend.series.store.embedded.rollups import of_block, pack
from loadwatch_backend.series.store.embedded.settings import DAY_MS, HOUR_MS, EmbeddedSettings
from loadwatch_backend.series.store.port import Reader

from bench.machine import describe_machine, write_result

DAYS, INSTANCES, ROUNDS = 7, 8, 3
START_MS = 1_750_000_000_000 // DAY_MS * DAY_MS
STEP_MS = 600_000
PANELS = (
    "rate(load_0[10m])",
    "rate(load_2[10m])",
    "rate(load_4[30m])",
    "increase(load_6[10m])",
    "increase(load_8[1h])",
    "load_1",
    "load_3",
    "avg_over_time(load_5[10m])",
    "max_over_time(load_7[10m])",
    "sum by (instance) (rate(load_10[10m]))",
    "load_9 / on (instance) load_11",
    "rate(load_12[1h]) * 60",
)


class AllSamples:
    """The store as one without rollups."""

    def __init__(self, store: Any) -> None:
        self.select = store.select


def make_hour(hour: int, series: int, second: int, source: np.random.Generator, totals: Any) -> Columns:
    """Samples of all series, counters of even metrics and gauges of two decimals of the others."""
    times = START_MS + hour * HOUR_MS + np.arange(0, HOUR_MS, second * 1_000)
    numbers = np.arange(series)
    counters = (numbers // INSTANCES) % 2 == 0
    grown = totals[:, None] + np.cumsum(source.integers(0, 40 * second, (series, len(times))), axis=1)
    totals[:] = grown[:, -1]
    levels = np.round(50 + source.normal(0, 5, (series, len(times))), 2)
    values = np.where(counters[:, None], grown, levels).astype(np.float64)
    ids = np.repeat(numbers.astype(np.uint32), len(times))
    return Columns(series=ids, timestamps=np.tile(times, series), values=values.ravel())


def fill(directory: Path, series: int, second: int) -> dict[str, float]:
    """Seven days of samples; what it took, and what rollups took of it."""
    database = Database(EmbeddedSettings(data_directory=directory))
    source, totals = np.random.default_rng(7), np.zeros(series, np.int64)
    labels = [
        (number, ("__name__", f"load_{number // INSTANCES}", "instance", f"host-{number % INSTANCES}"))
        for number in range(series)
    ]
    empty = np.empty(0, np.uint32), np.empty(0, np.int64), np.empty(0)
    database.commit(*empty, labels, {})
    spent, rolling = 0.0, 0.0
    for hour in range(DAYS * 24):
        columns = make_hour(hour, series, second, source, totals)
        begin = time.perf_counter()
        with database.reading() as cursor:
            sealed.put(cursor, columns, newer=True)
        spent += time.perf_counter() - begin
        if hour % 24 == 0:
            block = build_block(columns.series, columns.timestamps, columns.values)
            begin = time.perf_counter()
            pack(of_block(block), plain=True)
            rolling += (time.perf_counter() - begin) * 24
    begin = time.perf_counter()
    for piece in database.run(rollups.pieces_to_join, START_MS + DAYS * DAY_MS):
        database.run(rollups.join, piece)
    joining = time.perf_counter() - begin
    with database.reading() as cursor:
        raw, rows = cursor.execute("SELECT sum(octet_length(data) + 50), sum(samples) FROM segments").fetchall()[0]
        rolled, minutes = cursor.execute(
            "SELECT sum(octet_length(data) + octet_length(rest) + 60), sum(minutes) FROM rollups"
        ).fetchall()[0]
    database.checkpoint()
    database.close()
    return {
        "samples": rows,
        "seconds to seal": spent,
        "of that rollups, about": rolling,
        "seconds to join days": joining,
        "bytes a sample": raw / rows,
        "bytes of rollups a sample": rolled / rows,
        "bytes of rollups a minute": rolled / minutes,
    }


def time_panels(engine: Engine) -> list[float]:
    """Milliseconds of each panel, the median."""
    found: list[float] = []
    for text in PANELS:
        spent: list[float] = []
        for _ in range(ROUNDS):
            begin = time.perf_counter()
            engine.range(text, START_MS + STEP_MS, START_MS + DAYS * DAY_MS - STEP_MS, STEP_MS)
            spent.append((time.perf_counter() - begin) * 1_000)
        found.append(statistics.median(spent))
    return found


def main(second: int) -> None:
    """Fill, ask, and write the result."""
    series = 1_000 if second >= 10 else 14 * INSTANCES
    with tempfile.TemporaryDirectory() as directory:
        facts = fill(Path(directory), series, second)
        settings = EmbeddedSettings(data_directory=Path(directory), retention_ms=60 * DAY_MS)
        store = open_embedded(settings, lambda: START_MS + DAYS * DAY_MS)
        try:
            # The newest samples are loaded meanwhile.
            time.sleep(5)
            limits = EngineSettings(timeout_seconds=600)
            raw = time_panels(Engine(cast("Reader", AllSamples(store)), limits))
            rolled = time_panels(Engine(store, limits))
        finally:
            store.close()
    lines = [f"- {name}: {value:,.3f}" for name, value in facts.items()]
    lines += ["", "| panel, step 10 m | all samples, ms | rollups, ms |", "| --- | --- | --- |"]
    lines += [f"| `{text}` | {one:.0f} | {two:.0f} |" for text, one, two in zip(PANELS, raw, rolled, strict=True)]
    lines.append(f"| all twelve | {sum(raw):.0f} | {sum(rolled):.0f} |")
    write_result(
        f"rollups-{second}s",
        f"Rollups: {series} series, a sample each {second} s, {DAYS} days",
        "\n".join(lines),
        {"machine": describe_machine(), "facts": facts, "raw_ms": raw, "rollups_ms": rolled},
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
