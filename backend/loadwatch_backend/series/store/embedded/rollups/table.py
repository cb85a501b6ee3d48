"""The table `rollups`: the minutes of each series, a row for what was sealed at once, and one for a day that is over.

Rows are written in the transaction that writes the segments they are made of, so that both levels tell the same.
`unrolled` has the hours of segments that an earlier version wrote, as long as they have no rollups; `whole` has the
spans of time in which no segment was deleted for its age.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import duckdb
import numpy as np

from loadwatch_backend.core.cancellation import Cancellation
from loadwatch_backend.series.store.embedded.arrow import Columns, joined, table_stream
from loadwatch_backend.series.store.embedded.block import I64, LATEST_MS, U32, U64
from loadwatch_backend.series.store.embedded.rollups.packing import (
    Minutes,
    joined_minutes,
    nothing,
    pack,
    unpack,
    unpack_last,
)
from loadwatch_backend.series.store.embedded.settings import DAY_MS, HOUR_MS
from loadwatch_backend.series.store.levels import Span, joined_spans

SCHEMA = """
CREATE TABLE IF NOT EXISTS rollups (
    series_id UINTEGER NOT NULL, day INTEGER NOT NULL, first_ms BIGINT NOT NULL, last_ms BIGINT NOT NULL,
    samples UINTEGER NOT NULL, minutes UINTEGER NOT NULL, data BLOB USING COMPRESSION uncompressed NOT NULL,
    rest BLOB USING COMPRESSION uncompressed NOT NULL
);
CREATE TABLE IF NOT EXISTS unrolled (hour INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS whole (first_ms BIGINT NOT NULL, last_ms BIGINT NOT NULL);
"""
FIRST = f"INSERT INTO whole VALUES (0, {LATEST_MS})"
"""In a new table `whole`."""
UNROLLED = "INSERT INTO unrolled SELECT DISTINCT hour FROM segments"
"""For segments that have no rollups."""
PIECE_MINUTES = 1_000_000
"""Minutes that are brought into memory to be written again."""
_DECODED_AT_ONCE = 256
_DAY_HOURS = DAY_MS // HOUR_MS

_INSERT = "INSERT INTO rollups SELECT * FROM incoming"
_SPANS = "CREATE OR REPLACE TEMP TABLE rolling AS SELECT * FROM incoming"
_TOUCHED = """
SELECT DISTINCT rollups.rowid AS place, rollups.series_id, rollups.samples
FROM rollups JOIN rolling USING (series_id)
WHERE rollups.day BETWEEN ? AND ? AND rollups.last_ms >= rolling.first_ms AND rollups.first_ms <= rolling.last_ms
ORDER BY rollups.series_id
"""
_COLUMNS = "SELECT series_id, samples, minutes, data, rest FROM rollups"
_PLACES = "CREATE OR REPLACE TEMP TABLE rewritten AS SELECT unnest(?::BIGINT[]) AS place"
_READ_PLACES = f"{_COLUMNS} WHERE rowid IN (SELECT place FROM rewritten) ORDER BY series_id, first_ms"
_DELETE_PLACES = "DELETE FROM rollups WHERE rowid IN (SELECT place FROM rewritten)"
_SPAN = "{condition} AND day BETWEEN ? AND ? AND last_ms >= ? AND first_ms <= ? ORDER BY series_id, first_ms"
_READ = f"{_COLUMNS} WHERE {_SPAN}"
_READ_LAST = f"SELECT series_id, samples, data FROM rollups WHERE {_SPAN}"
_COUNT_WHOLE = """
SELECT sum(samples) FROM rollups WHERE {condition} AND day BETWEEN ? AND ? AND first_ms >= ? AND last_ms <= ?
"""
_DAYS = f"""
SELECT day, series_id, count(*), sum(samples) FROM rollups
WHERE day < ? AND day NOT IN (SELECT hour // {_DAY_HOURS} FROM unrolled)
GROUP BY day, series_id HAVING count(*) > 1 ORDER BY day, series_id
"""
_OF_DAY = "SELECT rowid FROM rollups WHERE day = ? AND series_id BETWEEN ? AND ?"
_DELETE_OLD = "DELETE FROM rollups WHERE last_ms < ?"
_WHOLE = "SELECT first_ms, last_ms FROM whole ORDER BY first_ms"
_UNROLLED = "SELECT hour FROM unrolled ORDER BY hour DESC"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rolled:
    """What was rolled up: minutes that take the place of all in the spans of the series, which do not overlap."""

    series: U32
    first_ms: I64
    last_ms: I64
    minutes: Minutes


@dataclass(frozen=True, slots=True, kw_only=True)
class DayPiece:
    """Some series of a day, whose rows become one each."""

    day: int
    low_id: int
    high_id: int


# Writing --------------------------------------------------------------------------------------------------------------


def put(cursor: duckdb.DuckDBPyConnection, rolled: Rolled) -> None:
    """Write minutes; rows that have some of the same spans are written again with them."""
    incoming = table_stream({"series_id": rolled.series, "first_ms": rolled.first_ms, "last_ms": rolled.last_ms})
    cursor.execute(_SPANS)
    del incoming
    days = [int(rolled.first_ms.min()) // DAY_MS, int(rolled.last_ms.max()) // DAY_MS]
    touched = cursor.execute(_TOUCHED, days).fetchall()
    cursor.execute("DROP TABLE rolling")
    if not touched:
        # The rows of a day that is over are written again as one.
        _insert(cursor, rolled.minutes, plain=True)
        return
    series = rolled.minutes.last.series
    alone = ~np.isin(series, np.array(list({series_id for _, series_id, _ in touched}), np.uint32))
    if alone.any():
        _insert(cursor, rolled.minutes.keep(alone), plain=True)
    for rows in _pieces([(series_id, samples, place) for place, series_id, samples in touched]):
        old = _taken(cursor, [place for _, _, place in rows])
        kept = old.keep(~_inside(rolled, old.last))
        here = ~alone & (series >= rows[0][0]) & (series <= rows[-1][0])
        _insert(cursor, joined_minutes([kept, rolled.minutes.keep(here)]))


def _pieces(rows: Sequence[tuple[int, int, int]]) -> Iterator[list[tuple[int, int, int]]]:
    """Series, samples and something of rows by series: whole series together, not too many samples."""
    piece: list[tuple[int, int, int]] = []
    size = 0
    for row in rows:
        if piece and size + row[1] > PIECE_MINUTES and row[0] != piece[-1][0]:
            yield piece
            piece, size = [], 0
        piece.append(row)
        size += row[1]
    if piece:
        yield piece


def _taken(cursor: duckdb.DuckDBPyConnection, places: Sequence[int]) -> Minutes:
    """The minutes of some rows, which are deleted."""
    cursor.execute(_PLACES, [places])
    found = joined_minutes(list(_unpacked(cursor.execute(_READ_PLACES), Cancellation())))
    cursor.execute(_DELETE_PLACES)
    cursor.execute("DROP TABLE rewritten")
    return found


def _inside(rolled: Rolled, rows: Columns) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which rows are in a span."""

    def keys(series: U32, times: I64) -> U64:
        # Ids have 32 bits and times 44, of which the lowest 12 have no room.
        return (series.astype(np.uint64) << np.uint64(32)) | (times >> 12).astype(np.uint64)

    order = np.lexsort((rolled.first_ms, rolled.series))
    series, first, last = rolled.series[order], rolled.first_ms[order], rolled.last_ms[order]
    place = np.searchsorted(keys(series, first), keys(rows.series, rows.timestamps), side="right") - 1
    # Spans are of different hours: two of a series at most begin in those four seconds.
    found = np.zeros(len(rows.series), np.bool_)
    for back in range(2):
        at = np.maximum(place - back, 0)
        found |= (
            (place >= back)
            & (series[at] == rows.series)
            & (first[at] <= rows.timestamps)
            & (rows.timestamps <= last[at])
        )
    return found


def _insert(cursor: duckdb.DuckDBPyConnection, minutes: Minutes, *, plain: bool = False) -> None:
    if not len(minutes.last.series):
        return
    rows = pack(minutes, plain=plain)
    incoming = table_stream(
        {
            "series_id": rows.series,
            "day": rows.days,
            "first_ms": rows.first_ms,
            "last_ms": rows.last_ms,
            "samples": rows.samples,
            "minutes": rows.minutes,
            "data": rows.data,
            "rest": rows.rest,
        }
    )
    cursor.execute(_INSERT)
    del incoming


# Reading --------------------------------------------------------------------------------------------------------------


def read(
    cursor: duckdb.DuckDBPyConnection,
    condition: str,
    start_ms: int,
    end_ms: int,
    cancellation: Cancellation,
    *,
    ends_only: bool = False,
) -> Minutes:
    """Minutes whose last sample has start_ms <= time <= end_ms, of the series that the condition names."""
    result = cursor.execute(_READ.format(condition=condition), _span(start_ms, end_ms))
    parts = [
        part.keep(_within(part.last, start_ms, end_ms)) for part in _unpacked(result, cancellation, ends_only=ends_only)
    ]
    return joined_minutes(parts)


def read_last(
    cursor: duckdb.DuckDBPyConnection, condition: str, start_ms: int, end_ms: int, cancellation: Cancellation
) -> Columns:
    """The last samples of minutes, and stale markers after them, with start_ms <= time <= end_ms."""
    result = cursor.execute(_READ_LAST.format(condition=condition), _span(start_ms, end_ms))
    parts = [nothing().last]
    while rows := result.fetchmany(_DECODED_AT_ONCE):
        cancellation.check()
        part = unpack_last(*zip(*rows, strict=True))
        kept = _within(part, start_ms, end_ms)
        parts.append(Columns(series=part.series[kept], timestamps=part.timestamps[kept], values=part.values[kept]))
    return joined(parts)


def count_whole(cursor: duckdb.DuckDBPyConnection, condition: str, start_ms: int, end_ms: int) -> int:
    """Minutes of rows that lie within the span as a whole: at least so many are read."""
    row = cursor.execute(_COUNT_WHOLE.format(condition=condition), _span(start_ms, end_ms)).fetchone()
    return int(row[0] or 0) if row else 0


def _span(start_ms: int, end_ms: int) -> list[int]:
    return [start_ms // DAY_MS, end_ms // DAY_MS, start_ms, end_ms]


def _within(rows: Columns, start_ms: int, end_ms: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return (rows.timestamps >= start_ms) & (rows.timestamps <= end_ms)


def _unpacked(
    result: duckdb.DuckDBPyConnection, cancellation: Cancellation, *, ends_only: bool = False
) -> Iterator[Minutes]:
    while rows := result.fetchmany(_DECODED_AT_ONCE):
        cancellation.check()
        yield unpack(*zip(*rows, strict=True), ends_only=ends_only)


def whole_spans(cursor: duckdb.DuckDBPyConnection) -> list[Span]:
    """Spans of time in which no segment was deleted for its age."""
    return cursor.execute(_WHOLE).fetchall()


def unrolled_hours(cursor: duckdb.DuckDBPyConnection) -> list[int]:
    """Hours whose segments have no rollups yet, the newest first."""
    return [hour for (hour,) in cursor.execute(_UNROLLED).fetchall()]


# Upkeep ---------------------------------------------------------------------------------------------------------------


def pieces_to_join(cursor: duckdb.DuckDBPyConnection, before_ms: int) -> list[DayPiece]:
    """Series with several rows in a day that ended before a time."""
    found = cursor.execute(_DAYS, [before_ms // DAY_MS]).fetchall()
    pieces: list[DayPiece] = []
    for day in dict.fromkeys(row[0] for row in found):
        for rows in _pieces([(row[1], row[3], 0) for row in found if row[0] == day]):
            pieces.append(DayPiece(day=day, low_id=rows[0][0], high_id=rows[-1][0]))
    return pieces


def join(cursor: duckdb.DuckDBPyConnection, piece: DayPiece) -> None:
    """Make one row of the rows of each of the series."""
    places = cursor.execute(_OF_DAY, [piece.day, piece.low_id, piece.high_id]).fetchall()
    _insert(cursor, _taken(cursor, [place for (place,) in places]))


def forget_before(cursor: duckdb.DuckDBPyConnection, cutoff_ms: int) -> None:
    """Delete the rows all of whose minutes are before a time."""
    cursor.execute(_DELETE_OLD, [cutoff_ms])


def keep_whole(cursor: duckdb.DuckDBPyConnection, cutoff_ms: int, pinned: Sequence[Span]) -> None:
    """Note that samples before a time are deleted, but for those of the pinned spans, which do not overlap."""
    before = whole_spans(cursor)
    after = intersected(before, [*(pin for pin in pinned if pin[0] < cutoff_ms), (cutoff_ms, LATEST_MS)])
    if after != before:
        cursor.execute("DELETE FROM whole")
        cursor.executemany("INSERT INTO whole VALUES (?, ?)", [list(span) for span in after])


def intersected(some: Sequence[Span], others: Sequence[Span]) -> list[Span]:
    """What is in a span of both, in order, joined where they touch."""
    both = ((max(first, start), min(last, end)) for first, last in some for start, end in others)
    return joined_spans((start, end) for start, end in both if start <= end)
