"""What sealed hours take on disk, and how long eight series of them take to read, in each format that was thought of.

`python -m bench.sealed_formats`: the same samples in DuckDB's table of doubles, in its lists of whole numbers, in
Parquet with the encodings it has for such columns, and in segments of our own in a table of DuckDB. Read without a
server, from a warm page cache. See docs/decisions/0131-sealed-hours-in-segments.md.
"""

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import duckdb
import numpy as np
import numpy.typing as npt
from loadwatch_backend.series.store.embedded.arrow import fetch_columns
from loadwatch_backend.series.store.embedded.codec import decode, encode

from bench.machine import describe_machine, write_result

SERIES, HOURS, READ, ROUNDS = 1_000, 6, 8, 7
HOUR_S, FIRST_MS = 3_600, 1_750_000_000_000 // 3_600_000 * 3_600_000
Values = npt.NDArray[np.float64]
_HEAD = (
    "| format | samples | bytes a sample | to write an hour | to read eight series |\n| --- | --- | --- | --- | --- |\n"
)
# They ship no types.
pa: Any = import_module("pyarrow")
pq: Any = import_module("pyarrow.parquet")
_SPLIT = {"series_id": "DELTA_BINARY_PACKED", "ts": "DELTA_BINARY_PACKED", "value": "BYTE_STREAM_SPLIT"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One way: `write` puts all hours into a folder; `read` gives the samples of some series, as numpy columns."""

    name: str
    write: Callable[[Path, list[Values]], None]
    read: Callable[[Path, int, int], int]


def make(kind: str) -> list[Values]:
    """Hour by hour, a row for each series."""
    chance = np.random.default_rng(1)
    seconds = HOURS * HOUR_S
    if kind == "counters":
        every = np.cumsum(chance.integers(0, 40, (SERIES, seconds)), axis=1).astype(np.float64)
    elif kind == "gauges of two decimals":
        every = np.round(chance.normal(50, 10, (SERIES, seconds)), 2)
    else:
        every = chance.random((SERIES, seconds))
    return [np.ascontiguousarray(every[:, hour * HOUR_S : (hour + 1) * HOUR_S]) for hour in range(HOURS)]


def times_of(hour: int) -> npt.NDArray[np.int64]:
    """The times of one series."""
    return FIRST_MS + 1_000 * np.arange(hour * HOUR_S, (hour + 1) * HOUR_S, dtype=np.int64)


def table_of(hour: int, values: Values) -> Any:
    """An hour as rows by series and time."""
    return pa.table(
        {
            "series_id": np.repeat(np.arange(SERIES, dtype=np.uint32), HOUR_S),
            "ts": np.tile(times_of(hour), SERIES),
            "value": values.ravel(),
        }
    )


def write_rows(folder: Path, hours: list[Values]) -> None:
    """A row for each sample, sorted by series and time within an hour."""
    with duckdb.connect(str(folder / "rows.duckdb")) as connection:
        connection.execute("CREATE TABLE rows (series_id UINTEGER, ts BIGINT, value DOUBLE)")
        for hour, values in enumerate(hours):
            incoming = table_of(hour, values)
            connection.execute("INSERT INTO rows SELECT * FROM incoming")
            del incoming
        connection.execute("CHECKPOINT")


def read_rows(folder: Path, low: int, high: int) -> int:
    """How many samples the series have."""
    with duckdb.connect(str(folder / "rows.duckdb"), read_only=True) as connection:
        statement = "SELECT * FROM rows WHERE series_id BETWEEN ? AND ?"
        return len(fetch_columns(connection.execute(statement, [low, high])).timestamps)


def write_lists(folder: Path, hours: list[Values]) -> None:
    """Differences of whole numbers of a hundredth, as they would be if all values were such; a row for each series."""
    with duckdb.connect(str(folder / "lists.duckdb")) as connection:
        connection.execute("CREATE TABLE lists (series_id UINTEGER, hour INTEGER, step INTEGER, numbers BIGINT[])")
        for hour, values in enumerate(hours):
            numbers = np.rint(values * 100).astype(np.int64)
            if (numbers / 100 != values).any():
                numbers = values.view(np.int64)
            elif (numbers % 100 == 0).all():
                numbers = np.diff(numbers // 100, axis=1, prepend=0)
            lists = pa.ListArray.from_arrays(np.arange(SERIES + 1, dtype=np.int32) * HOUR_S, numbers.ravel())
            incoming = pa.table({"series_id": np.arange(SERIES, dtype=np.uint32), "numbers": lists})
            connection.execute("INSERT INTO lists SELECT series_id, ?, 1000, numbers FROM incoming", [hour])
            del incoming
        connection.execute("CHECKPOINT")


def read_lists(folder: Path, low: int, high: int) -> int:
    """How many samples the series have."""
    with duckdb.connect(str(folder / "lists.duckdb"), read_only=True) as connection:
        statement = "SELECT hour, numbers FROM lists WHERE series_id BETWEEN ? AND ?"
        lists = cast(Any, connection.execute(statement, [low, high])).to_arrow_table()["numbers"]
    numbers: npt.NDArray[np.int64] = np.concatenate([chunk.flatten().to_numpy() for chunk in lists.chunks])
    return len(np.cumsum(numbers) / 100)


def write_parquet(folder: Path, hours: list[Values]) -> None:
    """A file for each hour."""
    for hour, values in enumerate(hours):
        pq.write_table(
            table_of(hour, values),
            folder / f"{hour}.parquet",
            compression="zstd",
            use_dictionary=False,
            column_encoding=_SPLIT,
            row_group_size=122_880,
        )


def read_parquet(folder: Path, low: int, high: int) -> int:
    """How many samples the series have."""
    with duckdb.connect() as connection:
        statement = "SELECT * FROM read_parquet(?) WHERE series_id BETWEEN ? AND ?"
        files = str(folder / "*.parquet")
        return len(fetch_columns(connection.execute(statement, [files, low, high])).timestamps)


def write_segments(folder: Path, hours: list[Values]) -> None:
    """As the server stores sealed hours."""
    with duckdb.connect(str(folder / "segments.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE segments (series_id UINTEGER, hour INTEGER, first_ms BIGINT, last_ms BIGINT,"
            " samples UINTEGER, data BLOB USING COMPRESSION uncompressed)"
        )
        for hour, values in enumerate(hours):
            times = times_of(hour)
            blobs = [encode(np.array([0, HOUR_S]), times, row)[0] for row in values]
            incoming = pa.table({"series_id": np.arange(SERIES, dtype=np.uint32), "data": pa.array(blobs, pa.binary())})
            connection.execute(
                "INSERT INTO segments SELECT series_id, ?, ?, ?, ?, data FROM incoming",
                [hour, int(times[0]), int(times[-1]), HOUR_S],
            )
            del incoming
        connection.execute("CHECKPOINT")


def read_segments(folder: Path, low: int, high: int) -> int:
    """How many samples the series have."""
    with duckdb.connect(str(folder / "segments.duckdb"), read_only=True) as connection:
        found = connection.execute(
            "SELECT first_ms, samples, data FROM segments WHERE series_id BETWEEN ? AND ?", [low, high]
        ).fetchall()
    counts = np.array([row[1] for row in found], np.int64)
    times, _ = decode([row[2] for row in found], counts, np.array([row[0] for row in found], np.int64))
    return len(times)


FORMATS = (
    Format(name="DuckDB, a row for each sample", write=write_rows, read=read_rows),
    Format(name="DuckDB, lists of whole numbers", write=write_lists, read=read_lists),
    Format(name="Parquet, delta and byte stream split, zstd", write=write_parquet, read=read_parquet),
    Format(name="segments of our own in DuckDB", write=write_segments, read=read_segments),
)


def main() -> None:
    """Measure and write the result."""
    kinds = ("counters", "gauges of two decimals", "random values")
    rows: list[dict[str, Any]] = []
    for kind in kinds:
        hours = make(kind)
        for one in FORMATS:
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                begin = time.perf_counter()
                one.write(folder, hours)
                written = time.perf_counter() - begin
                size = sum(path.stat().st_size for path in folder.iterdir()) / (SERIES * HOURS * HOUR_S)
                reads: list[float] = []
                count = 0
                for _ in range(ROUNDS):
                    begin = time.perf_counter()
                    count = one.read(folder, 400, 400 + READ - 1)
                    reads.append(time.perf_counter() - begin)
                assert count == READ * HOURS * HOUR_S
            rows.append(
                {
                    "kind": kind,
                    "format": one.name,
                    "bytes": size,
                    "write_hour_s": written / HOURS,
                    "read_ms": 1_000 * statistics.median(reads),
                }
            )
            print(rows[-1], flush=True)
    result = {"machine": describe_machine(), "load_average": os.getloadavg()[0], "rows": rows}
    lines = [
        f"| {row['format']} | {row['kind']} | {row['bytes']:.2f} | {row['write_hour_s']:.1f} s |"
        f" {row['read_ms']:.0f} ms |"
        for row in rows
    ]
    note = (
        f"{SERIES} series at 1 s, {HOURS} hours; the median of {ROUNDS} reads; load average {os.getloadavg()[0]:.1f}."
    )
    write_result("sealed-formats", "Formats of sealed hours", _HEAD + "\n".join(lines) + "\n\n" + note, result)


if __name__ == "__main__":
    main()
