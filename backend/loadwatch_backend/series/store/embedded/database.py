"""The DuckDB file: the statements of the embedded engine, but those of sealed samples, which are in `sealed`.

`hot` takes samples in order of arrival; `segments` has those of sealed hours. A row of `hot` is newer than a sample of
`segments`, and that is newer than a row of `sorted`, which is what an earlier version sealed and is not converted yet.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar

import duckdb
import numpy as np

from loadwatch_backend.core.cancellation import Cancellation
from loadwatch_backend.series.store.embedded import damage, opening, rollups, sealed
from loadwatch_backend.series.store.embedded.arrow import Columns, fetch_columns, joined, sample_stream
from loadwatch_backend.series.store.embedded.block import F64, I64, LATEST_MS, U32
from loadwatch_backend.series.store.embedded.sealed import Piece
from loadwatch_backend.series.store.embedded.series_index import FlatLabels
from loadwatch_backend.series.store.embedded.settings import HOUR_MS, EmbeddedSettings
from loadwatch_backend.series.store.levels import Span
from loadwatch_backend.series.store.port import MetricMetadata

_APPEND = "INSERT INTO hot SELECT * FROM incoming"
_ADD_SERIES = "INSERT INTO series SELECT unnest(?::UINTEGER[]), unnest(?::VARCHAR[][]), NULL, NULL"
_PUT_METADATA = "INSERT OR REPLACE INTO metadata VALUES (?, ?, ?, ?)"
# Earlier versions wrote a series again after a commit that failed and was on disk all the same.
_SERIES = "SELECT id, labels, first_ms, last_ms FROM series WHERE id BETWEEN ? AND ? ORDER BY id"
_HIGHEST = "SELECT max(id) FROM series"
_SERIES_IDS = "SELECT id FROM series"
_HOT_SPANS = "SELECT series_id, min(ts) AS first_ms, max(ts) AS last_ms FROM hot GROUP BY series_id"
_SELECT = "SELECT series_id, ts, value FROM {table} WHERE {ids} AND ts BETWEEN ? AND ? LIMIT ?"
_SLICE = "SELECT series_id, ts, value FROM {table} WHERE ts BETWEEN ? AND ?"
_SPANS = {
    "hot": "SELECT min(ts), max(ts) FROM hot",
    "segments": "SELECT min(first_ms), max(last_ms) FROM segments",
    "sorted": "SELECT min(ts), max(ts) FROM sorted",
}
_OLDEST = {
    "hot": "SELECT min(ts) FROM hot WHERE ts >= ?",
    "segments": "SELECT min(last_ms) FROM segments WHERE last_ms >= ?",
    "sorted": "SELECT min(ts) FROM sorted WHERE ts >= ?",
}
_OLDEST_ROLLUP = "SELECT min(last_ms) FROM rollups"
_HOURS = {
    "hot": f"SELECT ts // {HOUR_MS} AS hour, count(*) FROM hot GROUP BY hour",
    "segments": "SELECT hour, sum(samples) FROM segments GROUP BY hour",
    "sorted": f"SELECT ts // {HOUR_MS} AS hour, count(*) FROM sorted GROUP BY hour",
}
_HOT_HOURS = f"SELECT DISTINCT ts // {HOUR_MS} FROM hot WHERE ts BETWEEN ? AND ?"
_COUNT_SEALED = "SELECT sum(samples) FROM segments WHERE hour BETWEEN ? AND ? AND last_ms >= ? AND first_ms <= ?"
_ROWS_BY_SERIES = """
SELECT series_id, sum(samples) FROM (
    SELECT series_id, samples FROM segments WHERE hour = ?
    UNION ALL SELECT series_id, 1 FROM hot WHERE ts BETWEEN ? AND ? {old}
) GROUP BY series_id ORDER BY series_id
"""
_AND_OLD = "UNION ALL SELECT series_id, 1 FROM sorted WHERE ts BETWEEN ? AND ?"
_COUNT = "SELECT count(*) FROM {table} WHERE ts BETWEEN ? AND ?"
_HOT_ROWS = "SELECT count(*), min(ts) FROM hot"
_DELETE_OLD = "DELETE FROM {table} WHERE ts < ?{pins}"
_KEEP_PIN = " AND NOT ts BETWEEN ? AND ?"
_ROLLED_SERIES = """
SELECT series_id FROM rollups
UNION SELECT series_id FROM segments WHERE hour IN (SELECT hour FROM unrolled)
"""
_FORGET_ROLLUPS = "DELETE FROM rollups WHERE series_id IN (SELECT unnest(?::UINTEGER[]))"
_FORGET_SERIES = "DELETE FROM series WHERE id IN (SELECT unnest(?::UINTEGER[]))"
_METADATA = "SELECT metric, type, help, unit FROM metadata"
_READ_AT_START = ("series", "metadata")
_SLICE_BYTES = 8 << 20
_SLICE_SERIES = 16_384
_CLOSE_SECONDS = 10.0
_CLOSE_PAUSE_SECONDS = 0.01
_NEVER = Cancellation()
Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


class StoredSeries(NamedTuple):
    """One series as it is on disk; the span is None when no sample of it is left."""

    id: int
    labels: FlatLabels
    first_ms: int | None
    last_ms: int | None


class Database:
    """One connection that writes, used by the writer thread; cursors of it for all that reads or maintains."""

    def __init__(self, settings: EmbeddedSettings) -> None:
        self._path: Path = settings.data_directory / opening.FILE
        self._config: opening.Config = {
            "memory_limit": f"{settings.database_bytes >> 20}MiB",
            "threads": str(settings.database_threads),
            "temp_directory": str(settings.data_directory / "spill"),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            # Replaying the log of a killed server must not read a damaged block.
            "checkpoint_threshold": "1TiB",
        }
        self._lock = threading.Lock()
        opening.create(self._path, self._config)
        opening.keep_log(self._path)
        self._old_rows = False
        self._emptied_ms = 0
        """Retention has nothing left to delete before this time, but for pinned spans; 0 at the start."""
        self.whole_spans: list[Span] = []
        """Spans of time in which no sample was deleted for its age."""
        self._checkpoint_threshold = "64MiB"
        self._connection = self._open()
        self.file = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        """Our own descriptor; closing it before DuckDB's would release DuckDB's lock on the file."""

    def _open(self) -> duckdb.DuckDBPyConnection:
        connection = opening.connect(self._path, self._config)
        connection.execute(f"SET checkpoint_threshold = '{self._checkpoint_threshold}'")
        self._old_rows = opening.has_old_rows(connection)
        self.whole_spans = rollups.whole_spans(connection)
        return connection

    def reopen(self) -> None:
        """Close and open again: what DuckDB asks for after an error that invalidated the database."""
        with self._lock:
            self._close()
            self._connection = self._open()

    def close(self) -> None:
        with self._lock:
            self._close()
        os.close(self.file)

    def _close(self) -> None:
        """DuckDB refuses to close what a cursor reads: those at work come to their end, new ones wait for the lock."""
        deadline = time.monotonic() + _CLOSE_SECONDS
        while True:
            try:
                self._connection.close()
            except duckdb.ResourceInUseException:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_CLOSE_PAUSE_SECONDS)
            else:
                return

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """A connection of its own for one reader; close it after use."""
        with self._lock:
            return self._connection.cursor()

    def commit(
        self,
        series: U32,
        timestamps: I64,
        values: F64,
        new_series: Sequence[tuple[int, FlatLabels]],
        metadata: Mapping[str, MetricMetadata],
    ) -> None:
        """Write all of it in one transaction; on disk when this returns, and not at all when it raises."""
        connection = self._connection
        if not new_series and not metadata:
            # One statement is its own transaction, at less than half the cost of an explicit one.
            _append(connection, series, timestamps, values)
            return
        connection.begin()
        try:
            if new_series:
                connection.execute(
                    _ADD_SERIES, [[series_id for series_id, _ in new_series], [list(flat) for _, flat in new_series]]
                )
            if metadata:
                rows = [[metric, entry.type, entry.help, entry.unit] for metric, entry in metadata.items()]
                connection.executemany(_PUT_METADATA, rows)
            if len(series):
                _append(connection, series, timestamps, values)
            connection.commit()
        except BaseException:
            with suppress(duckdb.Error):
                connection.rollback()
            raise

    def checkpoint(self) -> bool:
        """Fold the log into the file; False when a transaction under way forbids it for now."""
        try:
            self._connection.execute("CHECKPOINT")
        except duckdb.TransactionException:
            return False
        return True

    def hold_log(self) -> None:
        """Do not fold the log into the file by itself any more: what it would be joined with cannot be read."""
        self._checkpoint_threshold = "1TiB"
        with self.reading() as cursor:
            cursor.execute("SET checkpoint_threshold = '1TiB'")

    def _hot_spans(self) -> tuple[dict[int, list[int]], Sequence[int]]:
        """Spans of unsealed samples by series, and the span to assume for all other series."""
        try:
            with self.reading() as cursor:
                return {one: span for one, *span in cursor.execute(_HOT_SPANS).fetchall()}, ()
        except duckdb.Error as error:
            if not damage.is_damage(error):
                raise
            # Any series may have some: a query of that time fails then, and does not answer without them.
            with self.reading() as cursor:
                return {}, damage.bounds(cursor, "hot") or ()

    def series(self) -> Generator[StoredSeries]:
        """All series with the span of their samples, by id; read some at a time, however long their labels are."""
        hot, others = self._hot_spans()
        with self.reading() as cursor:
            highest = (cursor.execute(_HIGHEST).fetchone() or (None,))[0] or 0
            first_id, count = 0, 64
            while first_id <= highest:
                rows = cursor.execute(_SERIES, [first_id, first_id + count - 1]).fetchall()
                size = 0
                for series_id, group in groupby(rows, itemgetter(0)):
                    same = list(group)
                    labels = same[0][1]
                    size += sum(map(len, labels))
                    times = [time for row in (*[row[2:] for row in same], hot.get(series_id, others)) for time in row]
                    known = [time for time in times if time is not None]
                    span = min(known, default=None), max(known, default=None)
                    yield StoredSeries(series_id, tuple(map(sys.intern, labels)), *span)
                first_id += count
                count = max(count // 2, 1) if size > _SLICE_BYTES else min(count * 2, _SLICE_SERIES)

    def series_ids(self) -> set[int]:
        with self.reading() as cursor:
            return {series_id for (series_id,) in cursor.execute(_SERIES_IDS).fetchall()}

    def metadata(self) -> dict[str, MetricMetadata]:
        with self.reading() as cursor:
            rows = cursor.execute(_METADATA).fetchall()
        return {metric: MetricMetadata(type=kind, help=text, unit=unit) for metric, kind, text, unit in rows}

    def select(self, ids: U32, start_ms: int, end_ms: int, most_rows: int, cancellation: Cancellation) -> list[Columns]:
        """Samples of the rising `ids`, older ones of a time before newer ones; at most `most_rows` that are not sealed.

        Those that are have some beside them that lie outside of the span.

        Raises:
            duckdb.InterruptException, CancelledError: it was cancelled.
            DamagedSegmentError: what is sealed cannot be read.
        """
        condition = id_condition(ids)

        def rows(table: str) -> Columns:
            statement = _SELECT.format(table=table, ids=condition)
            return fetch_columns(cursor.execute(statement, [start_ms, end_ms, most_rows]))

        with self.reading() as cursor, cancellation.interrupting(cursor.interrupt):
            old = [rows("sorted")] if self._old_rows else []
            return [*old, sealed.read_rows(cursor, condition, start_ms, end_ms, cancellation), rows("hot")]

    def slice_all(self, cursor: duckdb.DuckDBPyConnection, start_ms: int, end_ms: int, ids: str) -> Columns:
        """All samples of a span, of the series that a condition names; older ones of a time before newer ones."""
        hot = self.slice_hot(cursor, start_ms, end_ms, ids)
        return joined([self.slice_sealed(cursor, start_ms, end_ms, ids), hot])

    @staticmethod
    def slice_hot(cursor: duckdb.DuckDBPyConnection, start_ms: int, end_ms: int, ids: str = "true") -> Columns:
        """As `slice_all`, of those in order of arrival."""
        return fetch_columns(cursor.execute(f"{_SLICE.format(table='hot')} AND {ids}", [start_ms, end_ms]))

    def slice_sealed(self, cursor: duckdb.DuckDBPyConnection, start_ms: int, end_ms: int, ids: str = "true") -> Columns:
        parts = [sealed.read(cursor, ids, start_ms, end_ms, _NEVER)]
        if self._old_rows:
            statement = f"{_SLICE.format(table='sorted')} AND {ids}"
            parts.insert(0, fetch_columns(cursor.execute(statement, [start_ms, end_ms])))
        return joined(parts)

    def rows_by_series(self, cursor: duckdb.DuckDBPyConnection, start_ms: int) -> list[tuple[int, int]]:
        """How many rows each series has at most in the hour that begins then, by rising id."""
        bounds = [start_ms, start_ms + HOUR_MS - 1] * (2 if self._old_rows else 1)
        statement = _ROWS_BY_SERIES.format(old=_AND_OLD if self._old_rows else "")
        found = cursor.execute(statement, [start_ms // HOUR_MS, *bounds]).fetchall()
        return [(series_id, int(count)) for series_id, count in found]

    def sealed_rows(self, start_ms: int, end_ms: int) -> int:
        """How many sealed samples have to be looked at for those of a span."""
        found = _number(self, _COUNT_SEALED, [start_ms // HOUR_MS, end_ms // HOUR_MS, start_ms, end_ms]) or 0
        if self._old_rows:
            found += _number(self, _COUNT.format(table="sorted"), [start_ms, end_ms]) or 0
        return found

    def span_ms(self) -> tuple[int | None, int | None]:
        with self.reading() as cursor:
            spans = [cursor.execute(_SPANS[table]).fetchone() or (None, None) for table in self.tables()]
        firsts = [first for first, _ in spans if first is not None]
        lasts = [last for _, last in spans if last is not None]
        return min(firsts, default=None), max(lasts, default=None)

    def rows_by_hour(self) -> dict[int, int]:
        """How many rows the hours have that have any, by their first millisecond."""
        found: dict[int, int] = {}
        with self.reading() as cursor:
            for table in self.tables():
                for hour, rows in cursor.execute(_HOURS[table]).fetchall():
                    found[hour * HOUR_MS] = found.get(hour * HOUR_MS, 0) + int(rows)
        return found

    def tables(self) -> tuple[str, ...]:
        """Those that hold samples, the newest first."""
        return ("hot", "segments", "sorted") if self._old_rows else ("hot", "segments")

    def hot_rows(self) -> tuple[int, int | None]:
        """How many rows are in order of arrival, and the oldest time among them."""
        with self.reading() as cursor:
            row = cursor.execute(_HOT_ROWS).fetchone()
        return (row[0], row[1]) if row else (0, None)

    def pieces_to_convert(self) -> list[Piece]:
        return self.run(sealed.pieces, "sorted", LATEST_MS + 1)[::-1] if self._old_rows else []

    def delete_before(self, cutoff_ms: int, pinned: Sequence[Span], rollups_ms: int) -> int:
        """Delete samples before a time, except those within the pinned (start, end) spans; returns how many.

        Sealed ones are kept until all of their hour are old. Rollups go before another time, which is no later.
        """
        spans = sealed.merged(pinned)
        arguments = [cutoff_ms, *(edge for span in spans for edge in span)]
        with self.reading() as cursor:
            newest = [(cursor.execute(_SPANS[table]).fetchone() or (None, None))[1] for table in self.tables()]
            deleted = sealed.delete_before(cursor, cutoff_ms, spans)
            for table in ("hot", "sorted") if self._old_rows else ("hot",):
                statement = _DELETE_OLD.format(table=table, pins=_KEEP_PIN * len(spans))
                row = cursor.execute(statement, arguments).fetchone()
                deleted += int(row[0]) if row else 0
            # Of times for which there were no samples yet nothing was deleted, whatever the clock says.
            there = min(cutoff_ms, max([0, *(edge + 1 for edge in newest if edge is not None)]))
            if deleted:
                rollups.keep_whole(cursor, there, spans)
            self._emptied_ms = cutoff_ms
            rollups.forget_before(cursor, rollups_ms)
            whole = rollups.whole_spans(cursor)
        self.whole_spans = whole
        return deleted

    def oldest_kept(self) -> tuple[int, int]:
        """The time from which retention may have samples to delete, and the end of the oldest rollup."""
        with self.reading() as cursor:
            row = cursor.execute(_OLDEST_ROLLUP).fetchone()
            # Pinned ones may be older: they stay.
            firsts = [
                (cursor.execute(_OLDEST[table], [self._emptied_ms]).fetchone() or (None,))[0] for table in self.tables()
            ]
        samples = min((first for first in firsts if first is not None), default=LATEST_MS)
        return max(samples, self._emptied_ms), LATEST_MS if row is None or row[0] is None else int(row[0])

    def unsettled_hours(self, cursor: duckdb.DuckDBPyConnection, start_ms: int, end_ms: int) -> list[int]:
        """Hours in a span, rising, that rollups do not cover in full: they are new or not rolled up yet."""
        hours = {hour for (hour,) in cursor.execute(_HOT_HOURS, [start_ms, end_ms]).fetchall()}
        hours.update(rollups.unrolled_hours(cursor))
        if self._old_rows:
            row = cursor.execute(_SPANS["sorted"]).fetchone()
            if row is not None and row[0] is not None:
                hours.update(range(row[0] // HOUR_MS, row[1] // HOUR_MS + 1))
        return sorted(hour for hour in hours if start_ms // HOUR_MS <= hour <= end_ms // HOUR_MS)

    def rolled_series(self) -> set[int]:
        with self.reading() as cursor:
            return {one for (one,) in cursor.execute(_ROLLED_SERIES).fetchall()}

    def dead_bytes(self) -> tuple[int, int]:
        """Bytes of the file that hold nothing, and those that hold something, as of the last checkpoint."""
        with self.reading() as cursor:
            row = cursor.execute("SELECT block_size, used_blocks, free_blocks FROM pragma_database_size()").fetchone()
        size, used, free = row if row else (0, 0, 0)
        return size * free, size * used

    def nbytes(self) -> int:
        return (self._path.stat().st_size if self._path.exists() else 0) + self.log_bytes()

    def log_bytes(self) -> int:
        path = self._path.with_name(self._path.name + ".wal")
        return path.stat().st_size if path.exists() else 0

    def total_blocks(self) -> int:
        """How many blocks the file has, as DuckDB knows; a file that was cut off has fewer."""
        return _number(self, "SELECT total_blocks FROM pragma_database_size()", []) or 0

    def unreadable_table(self) -> str | None:
        for table in (*_READ_AT_START, *self.tables()):
            try:
                _number(self, f"SELECT sum(hash({table})) > 0 FROM {table}", [])
            except duckdb.Error:
                return table
        return None

    def forget_series(self, ids: Sequence[int]) -> None:
        """Delete series of which no sample is left, with their rollups."""
        self._connection.execute(_FORGET_ROLLUPS, [list(ids)])
        self._connection.execute(_FORGET_SERIES, [list(ids)])

    def run(
        self,
        job: Callable[Concatenate[duckdb.DuckDBPyConnection, Arguments], Answer],
        *arguments: Arguments.args,
        **options: Arguments.kwargs,
    ) -> Answer:
        """A job of `sealed` or `rollups` as one transaction.

        Runs beside commits: rows that arrive meanwhile are not in its snapshot and stay in `hot`.
        """
        with self.reading() as cursor:
            return job(cursor, *arguments, **options)

    @contextmanager
    def reading(self) -> Generator[duckdb.DuckDBPyConnection]:
        """A cursor inside one transaction: all its statements see one state of the tables."""
        cursor = self.cursor()
        try:
            cursor.begin()
            yield cursor
            cursor.commit()
        finally:
            # Closing a cursor rolls back what is not committed.
            cursor.close()


def _append(connection: duckdb.DuckDBPyConnection, series: U32, timestamps: I64, values: F64) -> None:
    # DuckDB finds it by its name in this frame; registering it would cost as much as the insert itself. Arrays are
    # read in two thirds of the time that a stream takes, and NaN in them as NULL, which a stale marker is not.
    if np.isnan(values).any():
        incoming = sample_stream(series, timestamps, values)
    else:
        incoming = {"series_id": series, "ts": timestamps, "value": values}
    connection.execute(_APPEND)
    del incoming


def id_condition(ids: U32) -> str:
    low, high = int(ids[0]), int(ids[-1])
    between = f"series_id BETWEEN {low} AND {high}"
    if high - low + 1 == len(ids):
        return between
    return f"{between} AND series_id IN ({', '.join(map(str, ids.tolist()))})"


def _number(database: Database, statement: str, arguments: list[int]) -> int | None:
    with database.reading() as cursor:
        row = cursor.execute(statement, arguments).fetchone()
    return None if row is None or row[0] is None else int(row[0])
