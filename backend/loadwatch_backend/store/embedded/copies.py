"""Samples out of the store hour by hour and into a new one, as Parquet files of one hour each.

An hour that nothing was added to has the same tag as before, so that who has a copy of it needs no other. Each hour is
read in a transaction of its own: commits, sealing and retention go on between two of them, and nobody who reads slowly
holds back the store. What was on disk when the first hour was asked for is in the copies, and perhaps younger samples.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from loadwatch_backend.store.embedded.database import Database
from loadwatch_backend.store.embedded.disk_errors import disk_errors
from loadwatch_backend.store.embedded.settings import HOUR_MS, EmbeddedSettings
from loadwatch_backend.store.errors import CopyDamagedError
from loadwatch_backend.store.port import CopiedHour

_HOURS = f"""
SELECT DISTINCT ts // {HOUR_MS} AS hour FROM sorted UNION SELECT DISTINCT ts // {HOUR_MS} FROM hot ORDER BY hour
"""
_HOT_ROWS = "SELECT count(*) FROM hot WHERE ts BETWEEN {first} AND {last}"
_SEALED = "SELECT series_id, ts, value FROM sorted WHERE ts BETWEEN {first} AND {last}"
_WITH_HOT = f"""
WITH newest AS (
    SELECT series_id, ts, arg_max(value, rowid) AS value FROM hot WHERE ts BETWEEN {{first}} AND {{last}}
    GROUP BY series_id, ts
)
SELECT series_id, ts, value FROM newest UNION ALL
SELECT series_id, ts, value FROM ({_SEALED}) AS old ANTI JOIN newest USING (series_id, ts)
"""
# A stale marker in the place of another NaN has the same hash: the one change that a tag does not show.
_TAG = "SELECT count(*), bit_xor(hash(series_id, ts, value)), sum(hash(series_id, ts, value)) FROM ({rows})"
_COPY = "COPY ({rows} ORDER BY series_id, ts) TO '{path}' (FORMAT parquet, COMPRESSION zstd)"
_COPY_SERIES = "COPY (SELECT id, labels FROM series ORDER BY id) TO '{path}' (FORMAT parquet, COMPRESSION zstd)"
_COPY_METADATA = "COPY (SELECT * FROM metadata ORDER BY metric) TO '{path}' (FORMAT parquet, COMPRESSION zstd)"
_TAKE_SERIES = "INSERT INTO series SELECT id, labels, NULL, NULL FROM read_parquet('{path}')"
_TAKE_METADATA = "INSERT INTO metadata SELECT metric, type, help, unit FROM read_parquet('{path}')"
_TAKE_HOUR = "INSERT INTO sorted SELECT series_id, ts, value FROM read_parquet('{path}')"
_TAKE_SPANS = """
UPDATE series SET first_ms = span.first_ms, last_ms = span.last_ms
FROM (SELECT series_id, min(ts) AS first_ms, max(ts) AS last_ms FROM sorted GROUP BY series_id) AS span
WHERE series.id = span.series_id
"""
# Series that were forgotten while they were copied: their samples had come of age.
_DROP_ORPHANS = "DELETE FROM sorted WHERE series_id NOT IN (SELECT id FROM series)"


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenIn:
    """What a new store holds of what it was given."""

    rows: int
    expired_rows: int


def hours_of(database: Database) -> list[int]:
    """The first millisecond of each hour that has samples, in rising order."""
    with disk_errors(), database.reading() as cursor:
        return [int(row[0]) * HOUR_MS for row in cursor.execute(_HOURS).fetchall()]


def copy_hour(database: Database, start_ms: int, target: Path, known_tag: str) -> CopiedHour | None:
    """Write an hour's samples into a new file, unless its tag is the known one; None when there are none any more."""
    span = {"first": start_ms, "last": start_ms + HOUR_MS - 1}
    with disk_errors(), database.reading() as cursor:
        hot = cursor.execute(_HOT_ROWS.format(**span)).fetchone()
        rows = (_WITH_HOT if hot and hot[0] else _SEALED).format(**span)
        found = cursor.execute(_TAG.format(rows=rows)).fetchone()
        if found is None or not found[0]:
            return None
        count, mixed, total = (int(part) for part in found)
        tag = f"{count}-{mixed:x}-{total:x}"
        if tag != known_tag:
            cursor.execute(_COPY.format(rows=rows, path=_quoted(target)))
    return CopiedHour(tag=tag, rows=count, written=tag != known_tag)


def copy_names(database: Database, series: Path, metadata: Path) -> None:
    """Write what the series are called, and what is known of the metrics, into two new files."""
    with disk_errors(), database.reading() as cursor:
        cursor.execute(_COPY_SERIES.format(path=_quoted(series)))
        cursor.execute(_COPY_METADATA.format(path=_quoted(metadata)))


def take_in(directory: Path, series: Path, metadata: Path, hours: Sequence[Path]) -> TakenIn:
    """Make the store of a data directory, which has none yet, from copies; the caller holds the directory's lock.

    Raises:
        CopyDamagedError: a file is none of ours; names it.
        DataDirectoryError: the directory cannot be written.
    """
    database = Database(EmbeddedSettings(data_directory=directory))
    try:
        for statement, paths in ((_TAKE_SERIES, [series]), (_TAKE_METADATA, [metadata]), (_TAKE_HOUR, hours)):
            for path in paths:
                _take(database, statement, path)
        with database.reading() as cursor:
            expired = cursor.execute(_DROP_ORPHANS).fetchone()
            cursor.execute(_TAKE_SPANS)
            row = cursor.execute("SELECT count(*) FROM sorted").fetchone()
        database.checkpoint()
    finally:
        database.close()
    return TakenIn(rows=int(row[0]) if row else 0, expired_rows=int(expired[0]) if expired else 0)


def _take(database: Database, statement: str, path: Path) -> None:
    try:
        with database.reading() as cursor:
            cursor.execute(statement.format(path=_quoted(path)))
    except duckdb.IOException as error:
        if "No space left" in str(error):
            raise OSError(28, "No space left on device") from error
        raise CopyDamagedError(f"{path} cannot be read: {str(error).partition(chr(10))[0]}") from error
    except duckdb.Error as error:
        raise CopyDamagedError(f"{path} cannot be read: {str(error).partition(chr(10))[0]}") from error


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
