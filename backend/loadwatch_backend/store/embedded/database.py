"""The DuckDB file: every statement of the embedded engine is here.

`hot` takes samples in order of arrival; `sorted` has those of sealed hours by (series_id, ts), without repeats. A row
of `hot` is newer than a row of `sorted`.
"""

import shutil
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import duckdb
import numpy as np
import numpy.typing as npt
import structlog

from loadwatch_backend.kit.cancellation import Cancellation
from loadwatch_backend.store.embedded.arrow import sample_stream
from loadwatch_backend.store.embedded.block import F64, I64, U32
from loadwatch_backend.store.embedded.series_index import FlatLabels
from loadwatch_backend.store.embedded.settings import EmbeddedSettings
from loadwatch_backend.store.errors import DataDirectoryError
from loadwatch_backend.store.port import MetricMetadata
from loadwatch_backend.store.set_aside import SAMPLES, SAMPLES_LOG, advice

FILE = SAMPLES
FORMAT = 1
logger = structlog.get_logger(__name__)

_HEADER_BYTES = 3 * 4096
_MAGIC = b"DUCK"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS format (version INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS series (
    id UINTEGER NOT NULL, labels VARCHAR[] NOT NULL, first_ms BIGINT, last_ms BIGINT
);
CREATE TABLE IF NOT EXISTS metadata (metric VARCHAR PRIMARY KEY, type VARCHAR, help VARCHAR, unit VARCHAR);
CREATE TABLE IF NOT EXISTS hot (series_id UINTEGER NOT NULL, ts BIGINT NOT NULL, value DOUBLE NOT NULL);
CREATE TABLE IF NOT EXISTS sorted (series_id UINTEGER NOT NULL, ts BIGINT NOT NULL, value DOUBLE NOT NULL);
"""
_NO_ROOM = ("No space left", "Permission denied", "Read-only file system", "Could not set lock", "File too large")
"""In errors of the disk: the file is whole."""
_APPEND = "INSERT INTO hot SELECT * FROM incoming"
_ADD_SERIES = "INSERT INTO series SELECT unnest(?::UINTEGER[]), unnest(?::VARCHAR[][]), NULL, NULL"
_PUT_METADATA = "INSERT OR REPLACE INTO metadata VALUES (?, ?, ?, ?)"
_SERIES = "SELECT id, labels, first_ms, last_ms FROM series ORDER BY id"
_HOT_SPANS = "SELECT series_id, min(ts) AS first_ms, max(ts) AS last_ms FROM hot GROUP BY series_id"
_SELECT = "SELECT series_id, ts, value FROM {table} WHERE {ids} AND ts BETWEEN ? AND ? LIMIT ?"
_SLICE = "SELECT series_id, ts, value FROM {table} WHERE ts BETWEEN ? AND ?"
_COUNT_SINCE = "SELECT (SELECT count(*) FROM hot WHERE ts >= $1) + (SELECT count(*) FROM sorted WHERE ts >= $1)"
_NEWEST = "SELECT greatest((SELECT max(ts) FROM hot), (SELECT max(ts) FROM sorted))"
_OLDEST = "SELECT least((SELECT min(ts) FROM hot), (SELECT min(ts) FROM sorted))"
_HOT_ROWS = "SELECT count(*), min(ts) FROM hot"
_DELETE_OLD = "DELETE FROM {table} WHERE ts < ?{pins}"
_KEEP_PIN = " AND NOT ts BETWEEN ? AND ?"
_FORGET_SERIES = "DELETE FROM series WHERE id IN (SELECT unnest(?::UINTEGER[]))"
_METADATA = "SELECT metric, type, help, unit FROM metadata"
_SEAL_TEMPORARY = """
CREATE OR REPLACE TEMP TABLE sealing AS
SELECT series_id, ts, arg_max(value, rowid) AS value FROM hot WHERE ts < ? GROUP BY series_id, ts
"""
_SEAL_REPEATED = """
DELETE FROM sorted USING sealing
WHERE sorted.ts >= ? AND sorted.series_id = sealing.series_id AND sorted.ts = sealing.ts
"""
_SEAL_INSERT = "INSERT INTO sorted SELECT * FROM sealing ORDER BY series_id, ts"
_SEAL_DELETE = "DELETE FROM hot WHERE ts < ?"
_SEAL_SPANS = """
UPDATE series SET
    first_ms = least(series.first_ms, span.first_ms), last_ms = greatest(series.last_ms, span.last_ms)
FROM (SELECT series_id, min(ts) AS first_ms, max(ts) AS last_ms FROM sealing GROUP BY series_id) AS span
WHERE series.id = span.series_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSeries:
    """One series as it is on disk; the span is None when no sample of it is left."""

    id: int
    labels: FlatLabels
    first_ms: int | None
    last_ms: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Samples column by column, as they come from the disk."""

    series: U32
    timestamps: I64
    values: F64


def _is_unfinished(path: Path) -> bool:
    """Whether it is what a first start left that an earlier version did not finish: it never had a sample.

    The headers alone are three blocks, the first of them written last. Any other short file is somebody's.
    """
    with path.open("rb") as file:
        content = file.read(_HEADER_BYTES)
    return len(content) < _HEADER_BYTES and (not content.strip(b"\0") or content[8:12] == _MAGIC)


def unreadable(directory: Path, error: duckdb.Error) -> DataDirectoryError:
    """What is wrong with which file, what its loss means, and the command that sets it aside."""
    text = str(error)
    says = text.split("\n")[0][:300]
    if any(word in text for word in _NO_ROOM):
        return DataDirectoryError(f"cannot open {directory / FILE}: {says}. Make room on the disk and start again")
    name = SAMPLES_LOG if "WAL" in text and (directory / SAMPLES_LOG).exists() else SAMPLES
    return DataDirectoryError(f"cannot read {directory / name}: {says}\n{advice(directory, name)}")


class Database:
    """One connection that writes, used by the writer thread; cursors of it for all that reads or maintains."""

    def __init__(self, settings: EmbeddedSettings) -> None:
        self._path: Path = settings.data_directory / FILE
        self._config: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": f"{settings.database_bytes >> 20}MiB",
            "threads": str(settings.database_threads),
            "temp_directory": str(settings.data_directory / "spill"),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "checkpoint_threshold": "64MiB",
        }
        self._lock = threading.Lock()
        self._create()
        self._keep_log()
        self._connection = self._open()

    def _keep_log(self) -> None:
        """Copy the log of a server that was killed before DuckDB replays it.

        DuckDB takes damage of the log's header or of a length in it for a log that was cut off, and goes on without
        the rest: what is not replayed is in the copy.
        """
        log = self._path.with_name(SAMPLES_LOG)
        if not log.exists() or not log.stat().st_size:
            return
        copy = log.with_name(f"{SAMPLES_LOG}.last")
        try:
            shutil.copyfile(log, copy)
        except OSError as error:
            copy.unlink(missing_ok=True)
            logger.warning("the log of samples could not be copied before it is replayed", reason=error.strerror)
        else:
            logger.warning(
                "the server was killed; its log of samples is replayed", bytes=log.stat().st_size, copy=str(copy)
            )

    def _create(self) -> None:
        """Make the file under another name and give it its own once it is whole: no start leaves half of one.

        Raises:
            DataDirectoryError: it cannot be written.
        """
        new = self._path.with_name(f"{FILE}.new")
        log, new_log = (path.with_name(f"{path.name}.wal") for path in (self._path, new))
        if self._path.exists() and (log.exists() or not _is_unfinished(self._path)):
            return
        try:
            for left in (new, new_log):
                left.unlink(missing_ok=True)
            with duckdb.connect(str(new), config=self._config) as connection:
                connection.execute(_SCHEMA)
                connection.execute("INSERT INTO format VALUES (?)", [FORMAT])
                connection.execute("CHECKPOINT")
            new.replace(self._path)
        except (duckdb.Error, OSError) as error:
            for left in (new, new_log):
                left.unlink(missing_ok=True)
            raise DataDirectoryError(
                f"cannot make {self._path}: {error}. Nothing was left behind: make room on the disk, or choose another"
                " directory with LOADWATCH_DATA, and start again"
            ) from error

    def _open(self) -> duckdb.DuckDBPyConnection:
        try:
            connection = duckdb.connect(str(self._path), config=self._config)
        except duckdb.Error as error:
            raise unreadable(self._path.parent, error) from error
        try:
            connection.execute(_SCHEMA)
            version = connection.execute("SELECT version FROM format").fetchone()
            if version is None:
                connection.execute("INSERT INTO format VALUES (?)", [FORMAT])
            elif version[0] != FORMAT:
                raise DataDirectoryError(
                    f"{self._path} has format {version[0]} and this server reads format {FORMAT};"
                    " use the version of Loadwatch that wrote it, or another data directory"
                )
        except BaseException:
            connection.close()
            raise
        return connection

    def reopen(self) -> None:
        """Close and open again: what DuckDB asks for after an error that invalidated the database."""
        with self._lock:
            self._connection.close()
            self._connection = self._open()

    def close(self) -> None:
        """Write the log into the file and close it."""
        with self._lock:
            self._connection.close()

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

    def series(self) -> list[StoredSeries]:
        """All series with the span of their samples, by id."""
        with self.reading() as cursor:
            spans = cursor.execute(_HOT_SPANS).fetchall()
            hot = {series_id: (first, last) for series_id, first, last in spans}
            rows = cursor.execute(_SERIES).fetchall()
        found: list[StoredSeries] = []
        for series_id, labels, first, last in rows:
            hot_first, hot_last = hot.get(series_id, (None, None))
            firsts = [value for value in (first, hot_first) if value is not None]
            lasts = [value for value in (last, hot_last) if value is not None]
            found.append(
                StoredSeries(
                    id=series_id,
                    labels=tuple(labels),
                    first_ms=min(firsts, default=None),
                    last_ms=max(lasts, default=None),
                )
            )
        return found

    def metadata(self) -> dict[str, MetricMetadata]:
        """All metadata, by metric."""
        with self.reading() as cursor:
            rows = cursor.execute(_METADATA).fetchall()
        return {metric: MetricMetadata(type=kind, help=text, unit=unit) for metric, kind, text, unit in rows}

    def select(self, ids: U32, start_ms: int, end_ms: int, most_rows: int, cancellation: Cancellation) -> list[Columns]:
        """Samples of the rising `ids`, those of `sorted` before those of `hot`, at most `most_rows` of each.

        Raises:
            duckdb.InterruptException, CancelledError: it was cancelled.
        """
        condition = _id_condition(ids)
        with self.reading() as cursor, cancellation.interrupting(cursor.interrupt):
            return [
                _columns(cursor.execute(_SELECT.format(table=table, ids=condition), [start_ms, end_ms, most_rows]))
                for table in ("sorted", "hot")
            ]

    def slice(self, start_ms: int, end_ms: int) -> Columns:
        """All samples with start_ms <= time <= end_ms, those of `sorted` first, then `hot` in order of arrival."""
        with self.reading() as cursor:
            parts = [
                _columns(cursor.execute(_SLICE.format(table=table), [start_ms, end_ms])) for table in ("sorted", "hot")
            ]
        return Columns(
            series=np.concatenate([part.series for part in parts]),
            timestamps=np.concatenate([part.timestamps for part in parts]),
            values=np.concatenate([part.values for part in parts]),
        )

    def count_since(self, start_ms: int) -> int:
        """Rows at or after a time."""
        return _number(self, _COUNT_SINCE, [start_ms]) or 0

    def newest_ms(self) -> int | None:
        """Time of the newest sample."""
        return _number(self, _NEWEST, [])

    def oldest_ms(self) -> int | None:
        """Time of the oldest sample."""
        return _number(self, _OLDEST, [])

    def hot_rows(self) -> tuple[int, int | None]:
        """How many rows are in order of arrival, and the oldest time among them."""
        with self.reading() as cursor:
            row = cursor.execute(_HOT_ROWS).fetchone()
        return (row[0], row[1]) if row else (0, None)

    def seal(self, before_ms: int) -> int:
        """Move the rows of `hot` before a time to `sorted`, the last of each (series, time); returns how many.

        Runs beside commits: rows that arrive meanwhile are not in this transaction's snapshot and stay in `hot`.
        """
        with self.reading() as cursor:
            cursor.execute(_SEAL_TEMPORARY, [before_ms])
            row = cursor.execute("SELECT count(*), min(ts) FROM sealing").fetchone()
            count, oldest = row if row else (0, None)
            if count:
                cursor.execute(_SEAL_REPEATED, [oldest])
                cursor.execute(_SEAL_INSERT)
                cursor.execute(_SEAL_SPANS)
                cursor.execute(_SEAL_DELETE, [before_ms])
            cursor.execute("DROP TABLE sealing")
        return int(count)

    def delete_before(self, cutoff_ms: int, pinned: Sequence[tuple[int, int]]) -> int:
        """Delete samples before a time, except those within the pinned (start, end) spans; returns how many."""
        pins = _KEEP_PIN * len(pinned)
        arguments = [cutoff_ms, *(edge for pin in pinned for edge in pin)]
        deleted = 0
        with self.reading() as cursor:
            for table in ("sorted", "hot"):
                row = cursor.execute(_DELETE_OLD.format(table=table, pins=pins), arguments).fetchone()
                deleted += int(row[0]) if row else 0
        return deleted

    def nbytes(self) -> int:
        """Size of the file and its log on disk."""
        paths = (self._path, self._path.with_name(self._path.name + ".wal"))
        return sum(path.stat().st_size for path in paths if path.exists())

    def forget_series(self, ids: Sequence[int]) -> None:
        """Delete series of which no sample is left."""
        self._connection.execute(_FORGET_SERIES, [list(ids)])

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
    # DuckDB finds the stream by its name in this frame; registering it would cost as much as the insert itself.
    incoming = sample_stream(series, timestamps, values)
    connection.execute(_APPEND)
    del incoming


def _columns(result: duckdb.DuckDBPyConnection) -> Columns:
    # DuckDB's stubs leave the arrays' types open; the statements above fix them.
    columns = cast("dict[str, npt.NDArray[Any]]", result.fetchnumpy())  # pyright: ignore[reportUnknownMemberType] - untyped
    return Columns(series=columns["series_id"], timestamps=columns["ts"], values=columns["value"])


def _id_condition(ids: U32) -> str:
    low, high = int(ids[0]), int(ids[-1])
    between = f"series_id BETWEEN {low} AND {high}"
    if high - low + 1 == len(ids):
        return between
    return f"{between} AND series_id IN ({', '.join(map(str, ids.tolist()))})"


def _number(database: Database, statement: str, arguments: list[int]) -> int | None:
    with database.reading() as cursor:
        row = cursor.execute(statement, arguments).fetchone()
    return None if row is None or row[0] is None else int(row[0])
