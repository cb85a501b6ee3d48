"""The sealed samples: the table `segments`, a row for each series and hour, or for each part of such an hour.

Rows of one (series, hour) never overlap in time, so that no sample is there twice and their order is that of time. What
comes later for an hour is put behind its last row; rows that it overlaps are written again with it, and so is a last
row that is small. All of it happens within the transaction of the cursor that is given.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import duckdb
import numpy as np
import numpy.typing as npt

from loadwatch_backend.core.cancellation import Cancellation
from loadwatch_backend.series.store.embedded import rollups
from loadwatch_backend.series.store.embedded.arrow import Columns, fetch_columns, joined, table_stream
from loadwatch_backend.series.store.embedded.block import I64, LATEST_MS, TIME_BITS, TIME_MASK, U32, Block, build_block
from loadwatch_backend.series.store.embedded.codec import decode, encode
from loadwatch_backend.series.store.embedded.rollups import of_block
from loadwatch_backend.series.store.embedded.settings import HOUR_MS
from loadwatch_backend.series.store.levels import joined_spans

SCHEMA = """
CREATE TABLE IF NOT EXISTS segments (
    series_id UINTEGER NOT NULL, hour INTEGER NOT NULL, first_ms BIGINT NOT NULL, last_ms BIGINT NOT NULL,
    samples UINTEGER NOT NULL, data BLOB USING COMPRESSION uncompressed NOT NULL
);
"""
PIECE_ROWS = 2_000_000
"""Rows that are brought into memory to be sealed."""
SMALL_SAMPLES = 256
"""A last row of an hour with fewer is written again with what comes behind it: each row costs 50 bytes of its own."""
MOVED_BYTES = 32 << 20
"""Bytes that are written again in one transaction."""
_ENCODED_AT_ONCE = 1 << 17
_DECODED_ROWS = (16, 256)
_DECODED_SAMPLES = 1 << 17
"""What is decoded at once: few enough for a processor's cache, and enough for arrays to be worth it."""
_REWRITTEN_AT_ONCE = 512

_READ = """
SELECT series_id, first_ms, samples, data FROM segments
WHERE {condition} AND hour BETWEEN ? AND ? AND last_ms >= ? AND first_ms <= ? ORDER BY series_id, first_ms
"""
_COUNT_WHOLE = """
SELECT sum(samples) FROM segments WHERE {condition} AND hour BETWEEN ? AND ? AND first_ms >= ? AND last_ms <= ?
"""
_HOURS = f"""
SELECT ts // {HOUR_MS} AS hour, count(*), min(ts), max(ts) FROM {{source}} WHERE ts < ? GROUP BY hour ORDER BY hour
"""
_ROWS_BY_SERIES = (
    "SELECT series_id, count(*) FROM {source} WHERE ts BETWEEN ? AND ? GROUP BY series_id ORDER BY series_id"
)
_TAKE = "SELECT series_id, ts, value FROM {source} WHERE ts BETWEEN ? AND ? AND series_id BETWEEN ? AND ?"
_TAKEN = "DELETE FROM {source} WHERE ts BETWEEN ? AND ? AND series_id BETWEEN ? AND ?"
_COMING = "CREATE OR REPLACE TEMP TABLE coming AS SELECT * FROM incoming"
_TOUCHED = """
CREATE OR REPLACE TEMP TABLE touched AS
WITH there AS (
    SELECT segments.rowid AS place, segments.series_id, segments.hour, segments.first_ms, segments.last_ms,
        segments.samples,
        max(segments.last_ms) OVER (PARTITION BY segments.series_id, segments.hour) AS newest_ms,
        coming.first_ms AS coming_ms
    FROM segments JOIN coming USING (series_id, hour) WHERE segments.hour BETWEEN ? AND ?
)
SELECT place FROM there WHERE newest_ms >= coming_ms OR (last_ms = newest_ms AND samples < ?)
"""
_READ_TOUCHED = """
SELECT series_id, first_ms, samples, data FROM segments WHERE rowid IN (SELECT place FROM touched)
ORDER BY series_id, first_ms
"""
_DELETE_TOUCHED = "DELETE FROM segments WHERE rowid IN (SELECT place FROM touched)"
_INSERT = "INSERT INTO segments SELECT * FROM incoming"
_SPANS = """
UPDATE series SET
    first_ms = least(series.first_ms, span.first_ms), last_ms = greatest(series.last_ms, span.last_ms)
FROM (SELECT series_id, min(first_ms) AS first_ms, max(last_ms) AS last_ms FROM coming GROUP BY series_id) AS span
WHERE series.id = span.series_id
"""
_OF_HOUR = "SELECT rowid FROM segments WHERE hour = ? ORDER BY series_id, first_ms"
_OLD = "last_ms < ? AND hour NOT IN (SELECT hour FROM unrolled)"
_APART = " AND (last_ms < ? OR first_ms > ?)"
_COUNT_OLD = "SELECT count(*), sum(samples) FROM segments WHERE {condition}"
_DELETE = "DELETE FROM segments WHERE {condition}"
_PARTLY_PINNED = f"SELECT rowid FROM segments WHERE {_OLD}{{inside}} ORDER BY series_id, first_ms"
_NOT_INSIDE = " AND NOT (first_ms >= ? AND last_ms <= ?)"
_PART_BYTES = {
    "segments": "SELECT hour, sum(octet_length(data)) FROM segments GROUP BY hour ORDER BY hour",
    "rollups": "SELECT day, sum(octet_length(data) + octet_length(rest)) FROM rollups GROUP BY day ORDER BY day",
}
_PART = {"segments": "hour", "rollups": "day"}
_MOVING = "CREATE OR REPLACE TEMP TABLE moving AS SELECT * FROM {table} WHERE {part} BETWEEN ? AND ?"
_MOVING_FROM = "DELETE FROM {table} WHERE {part} BETWEEN ? AND ?"
_MOVED = "INSERT INTO {table} SELECT * FROM moving ORDER BY {part}, series_id, first_ms"
_TOUCH = "CREATE OR REPLACE TEMP TABLE touched AS SELECT unnest(?::BIGINT[]) AS place"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Rows of a table that are sealed in one transaction: hours, or some series of one."""

    first_ms: int
    last_ms: int
    low_id: int = 0
    high_id: int = (1 << 32) - 1

    @property
    def bounds(self) -> list[int]:
        return [self.first_ms, self.last_ms, self.low_id, self.high_id]


class SegmentRows(NamedTuple):
    series_id: U32
    hour: npt.NDArray[np.int32]
    first_ms: I64
    last_ms: I64
    samples: U32
    data: Sequence[bytes]


# Reading --------------------------------------------------------------------------------------------------------------


def read(
    cursor: duckdb.DuckDBPyConnection, condition: str, start_ms: int, end_ms: int, cancellation: Cancellation
) -> Columns:
    """Samples with start_ms <= time <= end_ms of the series that the condition names, by series and time."""
    result = cursor.execute(_READ.format(condition=condition), _span(start_ms, end_ms))
    return joined([_cut(part, start_ms, end_ms) for part in _decoded(result, cancellation)])


def read_rows(
    cursor: duckdb.DuckDBPyConnection, condition: str, start_ms: int, end_ms: int, cancellation: Cancellation
) -> Columns:
    """As `read`, with other samples of the same rows among them, as long as these are not more than what is asked for.

    Of days they are few, and cutting costs more than they do; of a minute of many series they would fill the memory.
    """
    result = cursor.execute(_READ.format(condition=condition), _span(start_ms, end_ms))
    parts = [
        part if _is_mostly_inside(part, start_ms, end_ms) else _cut(part, start_ms, end_ms)
        for part in _decoded(result, cancellation)
    ]
    return replace(joined(parts), ordered=True)


def count_whole(cursor: duckdb.DuckDBPyConnection, condition: str, start_ms: int, end_ms: int) -> int:
    """Samples of rows that lie within the span as a whole: at least so many are read."""
    row = cursor.execute(_COUNT_WHOLE.format(condition=condition), _span(start_ms, end_ms)).fetchone()
    return int(row[0] or 0) if row else 0


def _span(start_ms: int, end_ms: int) -> list[int]:
    return [start_ms // HOUR_MS, end_ms // HOUR_MS, start_ms, end_ms]


def _decoded(result: duckdb.DuckDBPyConnection, cancellation: Cancellation) -> Iterator[Columns]:
    least, most = _DECODED_ROWS
    size = least
    while rows := result.fetchmany(size):
        cancellation.check()
        series, first_ms, samples, blobs = zip(*rows, strict=True)
        counts = np.array(samples, np.int64)
        size = min(max(_DECODED_SAMPLES * len(rows) // max(int(counts.sum()), 1), least), most)
        timestamps, values = decode(blobs, counts, np.array(first_ms, np.int64))
        yield Columns(np.repeat(np.array(series, np.uint32), counts), timestamps, values)


def _is_mostly_inside(columns: Columns, start_ms: int, end_ms: int) -> bool:
    times = columns.timestamps
    return 2 * int(np.count_nonzero((times >= start_ms) & (times <= end_ms))) >= len(times)


def _cut(columns: Columns, start_ms: int, end_ms: int) -> Columns:
    kept = (columns.timestamps >= start_ms) & (columns.timestamps <= end_ms)
    return columns if kept.all() else columns.pick(kept)


# Sealing --------------------------------------------------------------------------------------------------------------


def pieces(cursor: duckdb.DuckDBPyConnection, source: str, before_ms: int) -> list[Piece]:
    hours = cursor.execute(_HOURS.format(source=source), [before_ms]).fetchall()
    found: list[Piece] = []
    first, last, rows = 0, 0, 0
    for _, count, oldest, newest in hours:
        if rows and rows + count > PIECE_ROWS:
            found.append(Piece(first_ms=first, last_ms=last))
            rows = 0
        if count > PIECE_ROWS:
            found += _series_pieces(cursor, source, oldest, newest)
            continue
        first = first if rows else oldest
        last, rows = newest, rows + count
    if rows:
        found.append(Piece(first_ms=first, last_ms=last))
    return found


def _series_pieces(cursor: duckdb.DuckDBPyConnection, source: str, first_ms: int, last_ms: int) -> list[Piece]:
    counted = cursor.execute(_ROWS_BY_SERIES.format(source=source), [first_ms, last_ms]).fetchall()
    found: list[Piece] = []
    low, rows = 0, 0
    for series_id, count in counted:
        if rows and rows + count > PIECE_ROWS:
            found.append(Piece(first_ms=first_ms, last_ms=last_ms, low_id=low, high_id=series_id - 1))
            low, rows = series_id, 0
        rows += count
    found.append(Piece(first_ms=first_ms, last_ms=last_ms, low_id=low))
    return found


def seal(cursor: duckdb.DuckDBPyConnection, source: str, piece: Piece, *, newer: bool) -> int:
    """Move rows of a table to the segments, the last of each (series, time); returns how many.

    `newer` says whether they are newer than what is sealed: they take the place of samples at the same times then.
    """
    count = take(cursor, source, piece, newer=newer)
    cursor.execute(_TAKEN.format(source=source), piece.bounds)
    return count


def take(cursor: duckdb.DuckDBPyConnection, source: str, piece: Piece, *, newer: bool) -> int:
    """As `seal`, and the rows stay where they are."""
    return put(cursor, fetch_columns(cursor.execute(_TAKE.format(source=source), piece.bounds)), newer=newer)


def put(cursor: duckdb.DuckDBPyConnection, columns: Columns, *, newer: bool) -> int:
    """Add samples in order of arrival to the segments; returns how many there are without repeats."""
    if not len(columns.series):
        return 0
    block = build_block(columns.series, columns.timestamps, columns.values)
    count = len(block)
    rows = _bounds_of(block)
    incoming = table_stream(rows._asdict())
    cursor.execute(_COMING)
    del incoming
    cursor.execute(_SPANS)
    cursor.execute(_TOUCHED, [int(rows.hour.min()), int(rows.hour.max()), SMALL_SAMPLES])
    there = list(_decoded(cursor.execute(_READ_TOUCHED), _NEVER))
    if there:
        cursor.execute(_DELETE_TOUCHED)
        both = joined([*there, columns] if newer else [columns, *there])
        del there, columns
        block = build_block(both.series, both.timestamps, both.values)
        rows = _bounds_of(block)
    _insert(cursor, block, rows)
    cursor.execute("DROP TABLE coming")
    cursor.execute("DROP TABLE touched")
    _roll_up(cursor, block, rows)
    return count


def _roll_up(cursor: duckdb.DuckDBPyConnection, block: Block, rows: SegmentRows) -> None:
    rollups.put(cursor, rollups.Rolled(rows.series_id, rows.first_ms, rows.last_ms, of_block(block)))


def roll_up(cursor: duckdb.DuckDBPyConnection, hour: int) -> None:
    places = cursor.execute(_OF_HOUR, [hour]).fetchall()
    for begin in range(0, len(places), _REWRITTEN_AT_ONCE):
        cursor.execute(_TOUCH, [[place for (place,) in places[begin : begin + _REWRITTEN_AT_ONCE]]])
        columns = joined(list(_decoded(cursor.execute(_READ_TOUCHED), _NEVER)))
        block = build_block(columns.series, columns.timestamps, columns.values)
        _roll_up(cursor, block, _bounds_of(block))
    cursor.execute("DROP TABLE IF EXISTS touched")
    cursor.execute("DELETE FROM unrolled WHERE hour = ?", [hour])


def _bounds_of(block: Block) -> SegmentRows:
    times = (block.keys & TIME_MASK).view(np.int64)
    ranks = (block.keys >> TIME_BITS).view(np.int64)
    hours = times // HOUR_MS
    starts = np.flatnonzero(np.concatenate(([True], (hours[1:] != hours[:-1]) | (ranks[1:] != ranks[:-1]))))
    samples = np.diff(np.append(starts, len(times)))
    return SegmentRows(
        series_id=block.series[ranks[starts]],
        hour=hours[starts].astype(np.int32),
        first_ms=times[starts],
        last_ms=times[starts + samples - 1],
        samples=samples.astype(np.uint32),
        data=[b""] * len(starts),
    )


def _insert(cursor: duckdb.DuckDBPyConnection, block: Block, rows: SegmentRows) -> None:
    times = (block.keys & TIME_MASK).view(np.int64)
    offsets = np.zeros(len(rows.samples) + 1, np.int64)
    np.cumsum(rows.samples, out=offsets[1:])
    places: list[int] = offsets.tolist()
    first = 0
    while first < len(rows.data):
        last = max(bisect_right(places, places[first] + _ENCODED_AT_ONCE) - 1, first + 1)
        begin, end = places[first], places[last]
        data = encode(offsets[first : last + 1] - begin, times[begin:end], block.values[begin:end])
        incoming = table_stream({name: column[first:last] for name, column in rows._asdict().items()} | {"data": data})
        cursor.execute(_INSERT)
        del incoming
        first = last


# Retention ------------------------------------------------------------------------------------------------------------


def delete_before(cursor: duckdb.DuckDBPyConnection, cutoff_ms: int, pinned: Sequence[tuple[int, int]]) -> int:
    """Delete rows all of whose samples are before a time, except samples within the pinned spans; returns how many.

    A row with a younger sample is kept whole until that is old, too, so that nothing is written again for it.
    """
    spans = merged(pinned)
    edges = [edge for span in spans for edge in span]
    condition = _OLD + _APART * len(spans)
    row = cursor.execute(_COUNT_OLD.format(condition=condition), [cutoff_ms, *edges]).fetchone()
    deleted = 0
    if row and row[0]:
        deleted = int(row[1])
        cursor.execute(_DELETE.format(condition=condition), [cutoff_ms, *edges])
    if not spans:
        return deleted
    partly = cursor.execute(_PARTLY_PINNED.format(inside=_NOT_INSIDE * len(spans)), [cutoff_ms, *edges]).fetchall()
    places = [place for (place,) in partly]
    for begin in range(0, len(places), _REWRITTEN_AT_ONCE):
        cursor.execute(_TOUCH, [places[begin : begin + _REWRITTEN_AT_ONCE]])
        columns = joined(list(_decoded(cursor.execute(_READ_TOUCHED), _NEVER)))
        cursor.execute(_DELETE_TOUCHED)
        kept = [_cut(columns, start, end) for start, end in spans]
        for part in kept:
            # A row for each span, so that the next look finds it inside of one.
            if len(part.series):
                block = build_block(part.series, part.timestamps, part.values)
                _insert(cursor, block, _bounds_of(block))
        deleted += len(columns.series) - sum(len(part.series) for part in kept)
    if places:
        cursor.execute("DROP TABLE touched")
    return deleted


# Room -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    table: str
    first: int
    last: int


def moves(cursor: duckdb.DuckDBPyConnection) -> list[Move]:
    found: list[Move] = []
    for table, statement in _PART_BYTES.items():
        size = MOVED_BYTES
        for part, length in cursor.execute(statement).fetchall():
            if size + length > MOVED_BYTES:
                found.append(Move(table=table, first=part, last=part))
                size = 0
            found[-1] = replace(found[-1], last=part)
            size += length
    return found


def move(cursor: duckdb.DuckDBPyConnection, one: Move) -> None:
    names = {"table": one.table, "part": _PART[one.table]}
    cursor.execute(_MOVING.format(**names), [one.first, one.last])
    cursor.execute(_MOVING_FROM.format(**names), [one.first, one.last])
    cursor.execute(_MOVED.format(**names))
    cursor.execute("DROP TABLE moving")


def merged(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    return joined_spans((max(start, 0), min(end, LATEST_MS)) for start, end in spans if start <= end)


_NEVER = Cancellation()
