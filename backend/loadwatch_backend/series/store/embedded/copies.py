"""Samples out of the store hour by hour and into a new one, as Parquet files of one hour each.

Each hour is read in a transaction of its own: commits, sealing and retention go on between two of them, and nobody who
reads slowly holds back the store. What was on disk when the first hour was asked for is in the copies, and perhaps
younger samples.
"""

import threading
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import numpy as np
from loadwatch_formats.backups import DAY, HOUR, METADATA, SAMPLES, SERIES, WHOLE

from loadwatch_backend.series.store.embedded import sealed
from loadwatch_backend.series.store.embedded.arrow import sample_stream
from loadwatch_backend.series.store.embedded.block import LATEST_MS, TIME_BITS, TIME_MASK, build_block
from loadwatch_backend.series.store.embedded.damage import disk_errors, reason_of
from loadwatch_backend.series.store.embedded.database import Database
from loadwatch_backend.series.store.embedded.sealed import PIECE_ROWS
from loadwatch_backend.series.store.embedded.settings import DAY_MS, HOUR_MS, EmbeddedSettings
from loadwatch_backend.series.store.errors import CopyDamagedError

_WHOLE_FROM = "(SELECT max(first_ms) FROM whole)"
_ROLLUP_DAYS = f"SELECT DISTINCT day FROM rollups WHERE day::BIGINT * {DAY_MS} < {_WHOLE_FROM} ORDER BY day"
# Names after the samples: no series of theirs is missing.
_REST = {
    WHOLE: "SELECT * FROM whole ORDER BY first_ms",
    SERIES: "SELECT DISTINCT id, labels FROM series ORDER BY id",
    METADATA: "SELECT * FROM metadata ORDER BY metric",
}
_TAKE = {
    SERIES: ("INSERT INTO series SELECT id, labels, NULL, NULL FROM {file}",),
    METADATA: ("INSERT INTO metadata SELECT metric, type, help, unit FROM {file}",),
    WHOLE: ("DELETE FROM whole", "INSERT INTO whole SELECT first_ms, last_ms FROM {file}"),
}
_TAKE_ROLLUPS = (
    "DELETE FROM rollups WHERE day IN (SELECT day FROM {file})",
    "INSERT INTO rollups SELECT series_id, day, first_ms, last_ms, samples, minutes, data, rest FROM {file}",
    # What came for the last of those days after it was copied.
    f"INSERT INTO unrolled SELECT DISTINCT hour FROM segments WHERE hour // {DAY_MS // HOUR_MS} IN"
    f" (SELECT day FROM {{file}}) AND hour::BIGINT * {HOUR_MS} >= {_WHOLE_FROM}",
)
# In memory at once, however many backups are made.
_ONE_HOUR = threading.Lock()
# Series that were forgotten while they were copied: their samples had come of age.
_ORPHANS = "series_id NOT IN (SELECT id FROM series)"


def copy_samples(database: Database, target: Path) -> Iterator[tuple[str, int]]:
    (target / SAMPLES).mkdir(exist_ok=True)
    with disk_errors():
        hours = sorted(database.rows_by_hour())
    for start_ms in hours:
        name = f"{SAMPLES}{datetime.fromtimestamp(start_ms / 1000, UTC):%Y%m%dT%H}Z.parquet"
        with _ONE_HOUR, disk_errors(), database.reading() as cursor:
            rows = _copy_hour(database, cursor, start_ms, target / name)
        if rows:
            yield name, rows
    # Of days that have not all samples any more: of others, rollups are made again.
    with disk_errors(), database.reading() as cursor:
        days = [int(day) for (day,) in cursor.execute(_ROLLUP_DAYS).fetchall()]
    rest = {
        f"{SAMPLES}rollups-{datetime.fromtimestamp(day * DAY_MS / 1000, UTC):%Y%m%d}.parquet": (
            f"SELECT * FROM rollups WHERE day = {day} ORDER BY series_id, first_ms"
        )
        for day in days
    }
    for name, query in (rest | _REST).items():
        with disk_errors(), database.reading() as cursor:
            _copy(cursor, query, target / name)
        yield name, 0


def _copy_hour(database: Database, cursor: duckdb.DuckDBPyConnection, start_ms: int, target: Path) -> int:
    cursor.execute("CREATE TEMP TABLE copying (series_id UINTEGER, ts BIGINT, value DOUBLE)")
    # So many series at once as their rows are brought into memory.
    total, pieces = 0, dict[int, list[int]]()
    for series_id, count in database.rows_by_series(cursor, start_ms):
        pieces.setdefault(total // PIECE_ROWS, []).append(series_id)
        total += count
    for ids in pieces.values():
        condition = f"series_id BETWEEN {ids[0]} AND {ids[-1]}"
        columns = database.slice_all(cursor, start_ms, start_ms + HOUR_MS - 1, condition)
        block = build_block(columns.series, columns.timestamps, columns.values)
        del columns
        series = block.series[(block.keys >> TIME_BITS).view(np.int64)]
        incoming = sample_stream(series, (block.keys & TIME_MASK).view(np.int64), block.values)
        cursor.execute("INSERT INTO copying SELECT * FROM incoming")
        del incoming
    rows = _count(cursor, "SELECT count(*) FROM copying")
    if rows:
        _copy(cursor, "SELECT * FROM copying ORDER BY series_id, ts", target)
    return rows


def _copy(cursor: duckdb.DuckDBPyConnection, query: str, target: Path) -> None:
    cursor.execute(f"COPY ({query}) TO {_quoted(target)} (FORMAT parquet, COMPRESSION zstd)")


def take_in(directory: Path, backup: Path, names: Collection[str]) -> tuple[int, int]:
    """Make the store of a data directory, which has none yet, from files of a backup; the caller holds its lock.

    Rollups are made of the samples, but those of days that have a file. Returns how many samples there are, and how
    many were left out because their series were forgotten.

    Raises:
        CopyDamagedError: a file is none of ours; names it.
        DataDirectoryError: the directory cannot be written.
    """
    database = Database(EmbeddedSettings(data_directory=directory))
    try:
        hours, days = sorted(filter(HOUR.fullmatch, names)), filter(DAY.fullmatch, names)
        for name in (one for one in (SERIES, METADATA, *hours, WHOLE, *days) if one in names):
            file = f"read_parquet({_quoted(backup / name)})"
            try:
                with database.reading() as cursor:
                    for piece in sealed.pieces(cursor, file, LATEST_MS + 1) if HOUR.fullmatch(name) else ():
                        sealed.take(cursor, file, piece, newer=True)
                    for statement in () if HOUR.fullmatch(name) else _TAKE.get(name, _TAKE_ROLLUPS):
                        cursor.execute(statement.format(file=file))
            except duckdb.Error as error:
                raise CopyDamagedError(f"{backup / name} was not taken in: {reason_of(error)}") from error
        with database.reading() as cursor:
            expired = _count(cursor, f"SELECT coalesce(sum(samples), 0) FROM segments WHERE {_ORPHANS}")
            for table in ("segments", "rollups"):
                cursor.execute(f"DELETE FROM {table} WHERE {_ORPHANS}")
            rows = _count(cursor, "SELECT coalesce(sum(samples), 0) FROM segments")
        database.checkpoint()
    finally:
        database.close()
    return rows, expired


def _count(cursor: duckdb.DuckDBPyConnection, query: str) -> int:
    row = cursor.execute(query).fetchone()
    return int(row[0]) if row else 0


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
