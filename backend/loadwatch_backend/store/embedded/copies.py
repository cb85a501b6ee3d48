"""Samples out of the store hour by hour and into a new one, as Parquet files of one hour each.

An hour that nothing was added to has the same tag as before, so that who has a copy of it needs no other. Each hour is
read in a transaction of its own: commits, sealing and retention go on between two of them, and nobody who reads slowly
holds back the store. What was on disk when the first hour was asked for is in the copies, and perhaps younger samples.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np

from loadwatch_backend.store.embedded import sealed
from loadwatch_backend.store.embedded.arrow import sample_stream
from loadwatch_backend.store.embedded.block import LATEST_MS, TIME_BITS, TIME_MASK, build_block
from loadwatch_backend.store.embedded.database import Database
from loadwatch_backend.store.embedded.disk_errors import disk_errors
from loadwatch_backend.store.embedded.sealed import PIECE_ROWS
from loadwatch_backend.store.embedded.settings import DAY_MS, HOUR_MS, EmbeddedSettings
from loadwatch_backend.store.errors import CopyDamagedError
from loadwatch_backend.store.port import CopiedHour

_COPY_ROWS = "INSERT INTO copying SELECT * FROM incoming"
_COPYING = "CREATE OR REPLACE TEMP TABLE copying (series_id UINTEGER, ts BIGINT, value DOUBLE)"
# A stale marker in the place of another NaN has the same hash: the one change that a tag does not show.
_TAG = "SELECT count(*), bit_xor(hash(series_id, ts, value)), sum(hash(series_id, ts, value)) FROM copying"
_COPY = "COPY (SELECT * FROM copying ORDER BY series_id, ts) TO '{path}' (FORMAT parquet, COMPRESSION zstd)"
_COPY_SERIES = (
    "COPY (SELECT DISTINCT id, labels FROM series ORDER BY id) TO '{path}' (FORMAT parquet, COMPRESSION zstd)"
)
_COPY_METADATA = "COPY (SELECT * FROM metadata ORDER BY metric) TO '{path}' (FORMAT parquet, COMPRESSION zstd)"
_TAKE_SERIES = "INSERT INTO series SELECT id, labels, NULL, NULL FROM read_parquet('{path}')"
_TAKE_METADATA = "INSERT INTO metadata SELECT metric, type, help, unit FROM read_parquet('{path}')"
_HOUR = "read_parquet('{path}')"
# Series that were forgotten while they were copied: their samples had come of age.
_ORPHANS = "series_id NOT IN (SELECT id FROM series)"
_COUNT_ORPHANS = f"SELECT sum(samples) FROM segments WHERE {_ORPHANS}"
_DROP_ORPHANS = f"DELETE FROM {{table}} WHERE {_ORPHANS}"
_WHOLE_FROM = "(SELECT max(first_ms) FROM whole)"
_ROLLUP_DAYS = f"SELECT DISTINCT day FROM rollups WHERE day::BIGINT * {DAY_MS} < {_WHOLE_FROM} ORDER BY day"
_ROLLUP_HASH = "hash(series_id, first_ms, last_ms, samples, minutes, data, rest)"
_ROLLUP_TAG = f"SELECT count(*), bit_xor({_ROLLUP_HASH}), sum({_ROLLUP_HASH}) FROM rollups WHERE day = {{day}}"
_COPY_ROLLUPS = """
COPY (SELECT * FROM rollups WHERE day = {day} ORDER BY series_id, first_ms) TO '{path}'
(FORMAT parquet, COMPRESSION zstd)
"""
_COPY_WHOLE = "COPY (SELECT * FROM whole ORDER BY first_ms) TO '{path}' (FORMAT parquet, COMPRESSION zstd)"
_TAKE_WHOLE = "INSERT INTO whole SELECT first_ms, last_ms FROM read_parquet('{path}')"
_TAKE_ROLLUPS = (
    "DELETE FROM rollups WHERE day IN (SELECT day FROM read_parquet('{path}'))",
    "INSERT INTO rollups SELECT series_id, day, first_ms, last_ms, samples, minutes, data, rest"
    " FROM read_parquet('{path}')",
    # What came for the last of those days after it was copied.
    f"INSERT INTO unrolled SELECT DISTINCT hour FROM segments WHERE hour // {DAY_MS // HOUR_MS} IN"
    f" (SELECT day FROM read_parquet('{{path}}')) AND hour::BIGINT * {HOUR_MS} >= {_WHOLE_FROM}",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenIn:
    """What a new store holds of what it was given."""

    rows: int
    expired_rows: int


def hours_of(database: Database) -> list[int]:
    """The first millisecond of each hour that has samples, in rising order."""
    with disk_errors():
        return database.hours()


def copy_hour(database: Database, start_ms: int, target: Path, known_tag: str) -> CopiedHour | None:
    """Write an hour's samples into a new file, unless its tag is the known one; None when there are none any more."""
    with disk_errors(), database.reading() as cursor:
        cursor.execute(_COPYING)
        for ids in _series_of(database, cursor, start_ms):
            columns = database.slice_all(cursor, start_ms, start_ms + HOUR_MS - 1, ids)
            block = build_block(columns.series, columns.timestamps, columns.values)
            del columns
            series = block.series[(block.keys >> TIME_BITS).view(np.int64)]
            incoming = sample_stream(series, (block.keys & TIME_MASK).view(np.int64), block.values)
            cursor.execute(_COPY_ROWS)
            del incoming
        found = cursor.execute(_TAG).fetchone()
        tag, count = "", 0
        if found is not None and found[0]:
            count, mixed, total = (int(part) for part in found)
            tag = f"{count}-{mixed:x}-{total:x}"
            if tag != known_tag:
                cursor.execute(_COPY.format(path=_quoted(target)))
        cursor.execute("DROP TABLE copying")
    return CopiedHour(tag=tag, rows=count, written=tag != known_tag) if count else None


def _series_of(database: Database, cursor: duckdb.DuckDBPyConnection, start_ms: int) -> list[str]:
    """Conditions on the series of an hour, each for so many rows as are brought into memory."""
    found: list[str] = []
    low, high, rows = 0, 0, 0
    for series_id, count in database.rows_by_series(cursor, start_ms):
        if rows and rows + count > PIECE_ROWS:
            found.append(f"series_id BETWEEN {low} AND {high}")
            rows = 0
        low = low if rows else series_id
        high, rows = series_id, rows + count
    if rows:
        found.append(f"series_id BETWEEN {low} AND {high}")
    return found


def rollup_days(database: Database) -> list[int]:
    """The first millisecond of each day that has rollups and not all samples, in rising order."""
    with disk_errors(), database.reading() as cursor:
        return [day * DAY_MS for (day,) in cursor.execute(_ROLLUP_DAYS).fetchall()]


def copy_rollups(database: Database, start_ms: int, target: Path, known_tag: str) -> CopiedHour | None:
    """Write the rollups of a day into a new file, unless their tag is the known one; None when there are none."""
    day = start_ms // DAY_MS
    with disk_errors(), database.reading() as cursor:
        found = cursor.execute(_ROLLUP_TAG.format(day=day)).fetchone()
        if found is None or not found[0]:
            return None
        count, mixed, total = (int(part) for part in found)
        tag = f"{count}-{mixed:x}-{total:x}"
        if tag != known_tag:
            cursor.execute(_COPY_ROLLUPS.format(day=day, path=_quoted(target)))
    return CopiedHour(tag=tag, rows=count, written=tag != known_tag)


def copy_whole(database: Database, target: Path) -> None:
    """Write the spans of time in which no sample was deleted for its age into a new file."""
    with disk_errors(), database.reading() as cursor:
        cursor.execute(_COPY_WHOLE.format(path=_quoted(target)))


def copy_names(database: Database, series: Path, metadata: Path) -> None:
    """Write what the series are called, and what is known of the metrics, into two new files."""
    with disk_errors(), database.reading() as cursor:
        cursor.execute(_COPY_SERIES.format(path=_quoted(series)))
        cursor.execute(_COPY_METADATA.format(path=_quoted(metadata)))


def take_in(
    directory: Path,
    series: Path,
    metadata: Path,
    hours: Sequence[Path],
    days: Sequence[Path] = (),
    whole: Path | None = None,
) -> TakenIn:
    """Make the store of a data directory, which has none yet, from copies; the caller holds the directory's lock.

    Rollups are made of the samples, but those of the given `days`.

    Raises:
        CopyDamagedError: a file is none of ours; names it.
        DataDirectoryError: the directory cannot be written.
    """
    database = Database(EmbeddedSettings(data_directory=directory))
    try:
        for statement, path in ((_TAKE_SERIES, series), (_TAKE_METADATA, metadata)):
            with _taking(path), database.reading() as cursor:
                cursor.execute(statement.format(path=_quoted(path)))
        for path in hours:
            with _taking(path), database.reading() as cursor:
                source = _HOUR.format(path=_quoted(path))
                for piece in sealed.pieces(cursor, source, LATEST_MS + 1):
                    sealed.take(cursor, source, piece, newer=True)
        if whole is not None:
            with _taking(whole), database.reading() as cursor:
                cursor.execute("DELETE FROM whole")
                cursor.execute(_TAKE_WHOLE.format(path=_quoted(whole)))
        for path in days:
            with _taking(path), database.reading() as cursor:
                for statement in _TAKE_ROLLUPS:
                    cursor.execute(statement.format(path=_quoted(path)))
        with database.reading() as cursor:
            expired = cursor.execute(_COUNT_ORPHANS).fetchone()
            for table in ("segments", "rollups"):
                cursor.execute(_DROP_ORPHANS.format(table=table))
            row = cursor.execute("SELECT sum(samples) FROM segments").fetchone()
        database.checkpoint()
    finally:
        database.close()
    return TakenIn(rows=int(row[0] or 0) if row else 0, expired_rows=int(expired[0] or 0) if expired else 0)


@contextmanager
def _taking(path: Path) -> Generator[None]:
    try:
        yield
    except duckdb.IOException as error:
        if "No space left" in str(error):
            raise OSError(28, "No space left on device") from error
        raise CopyDamagedError(f"{path} cannot be read: {str(error).partition(chr(10))[0]}") from error
    except duckdb.Error as error:
        raise CopyDamagedError(f"{path} cannot be read: {str(error).partition(chr(10))[0]}") from error


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
