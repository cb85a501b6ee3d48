"""The table `rollups`: the minutes of each series, a row for what was sealed at once, and one for a day that is over.

Rows are written in the transaction that writes the segments they are made of, so that both levels tell the same.
`unrolled` has the hours of segments that an earlier version wrote, as long as they have no rollups; `whole` has the
spans of time in which no segment was deleted for its age.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import duckdb
import numpy as np

from loadwatch_backend.core.cancellation import Cancellation
from loadwatch_backend.series.store.embedded.arrow import Columns, joined, table_stream
from loadwatch_backend.series.store.embedded.block import F64, I64, LATEST_MS, TIME_BITS, TIME_MASK, U32, U64, Block
from loadwatch_backend.series.store.embedded.codec import DamagedSegmentError, decode, encode
from loadwatch_backend.series.store.embedded.settings import DAY_MS, HOUR_MS
from loadwatch_backend.series.store.levels import MINUTE_MS, MinuteColumns, Span, joined_spans
from loadwatch_backend.series.store.port import STALE_NAN_BITS

_TIDY_DECIMALS = 4
_TIDY = 4e-15
"""Relative distance to a decimal that a sum is rounded to: below the error of adding sixty numbers."""
BoolArray = np.ndarray[tuple[int], np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True)
class Minutes:
    """Parts of minutes, by series and time.

    `last` has the last sample of each part that has one, and a stale marker wherever one is the last of all of a part.
    `rest` has a row for each sample of `last` that is no marker.
    """

    last: Columns
    rest: MinuteColumns

    @property
    def real(self) -> BoolArray:
        """Which rows of `last` are no markers."""
        return self.last.values.view(np.uint64) != np.uint64(STALE_NAN_BITS)

    def keep(self, kept: BoolArray) -> "Minutes":
        if kept.all():
            return self
        real = self.real
        rest = kept if real.all() else kept[real]
        return Minutes(self.last.pick(np.flatnonzero(kept)), _pick_rest(self.rest, np.flatnonzero(rest)))


def _pick_rest(rest: MinuteColumns, rows: BoolArray | I64) -> MinuteColumns:
    return MinuteColumns(**{field.name: getattr(rest, field.name)[rows] for field in fields(rest)})


def nothing() -> Minutes:
    return roll_up(np.empty(0, np.uint32), np.empty(0, np.uint64), np.empty(0, np.float64))


def of_block(block: Block) -> Minutes:
    return roll_up(block.series, block.keys, block.values)


def roll_up(ids: U32, keys: U64, values: F64) -> Minutes:
    """The parts of samples whose rising keys are ranks among `ids` and times, as those of a block."""
    times = keys & TIME_MASK
    minutes = (times + np.uint64(MINUTE_MS - 1)) // np.uint64(MINUTE_MS)
    begins = np.ones(len(keys), np.bool_)
    np.not_equal(minutes[1:], minutes[:-1], out=begins[1:])
    begins[1:] |= (keys[1:] >> TIME_BITS) != (keys[:-1] >> TIME_BITS)
    begins |= times % np.uint64(HOUR_MS) == 0
    starts = np.flatnonzero(begins)
    stops = np.append(starts[1:], len(keys))[: len(starts)]
    shown = stops - 1
    stale = np.isnan(values)
    if stale.any():
        stale = values.view(np.uint64) == np.uint64(STALE_NAN_BITS)
    if stale.any():
        real = np.flatnonzero(~stale)
        before = np.concatenate(([0], np.cumsum(~stale)))
        starts, stops = before[starts], before[stops]
        shown = np.union1d(shown, real[stops[stops > starts] - 1])
        starts, stops = starts[stops > starts], stops[stops > starts]
        times, values_of = times[real], values[real]
    else:
        values_of = values
    rows = keys[shown]
    last = Columns(ids[(rows >> TIME_BITS).view(np.int64)], (rows & TIME_MASK).view(np.int64), values[shown])
    return Minutes(last, _reduced(times.view(np.int64), values_of, starts, stops))


def _reduced(times: I64, values: F64, starts: I64, stops: I64) -> MinuteColumns:
    resets = np.zeros(len(starts))
    with np.errstate(all="ignore"):
        falls = np.flatnonzero(values[1:] < values[:-1])
        if len(falls):
            # What stands before a fall counts for the part that both samples are in.
            before = np.zeros(len(values))
            before[falls + 1] = values[falls]
            before[starts] = 0
            resets = _tidy(np.add.reduceat(before, starts))
        sums = _tidy(np.add.reduceat(values, starts))
        least, greatest = np.fmin.reduceat(values, starts), np.fmax.reduceat(values, starts)
    return MinuteColumns(
        counts=stops - starts,
        last_ms=times[stops - 1],
        first_ms=times[starts],
        first=values[starts],
        sums=sums,
        least=least,
        greatest=greatest,
        resets=resets,
    )


def _tidy(sums: F64) -> F64:
    """The sums without the rounding noise of adding decimals in the last bits, which wastes space."""
    found = sums.copy()
    waiting = np.isfinite(sums)
    for decimals in range(_TIDY_DECIMALS + 1):
        scale = 10.0**decimals
        near = np.rint(sums * scale) / scale
        close = waiting & (np.abs(near - sums) <= _TIDY * np.abs(sums))
        found[close] = near[close]
        waiting &= ~close
    return found


def joined_minutes(parts: Sequence[Minutes]) -> Minutes:
    if not parts:
        return nothing()
    whole = parts[0]
    if len(parts) > 1:
        columns = (field.name for field in fields(MinuteColumns))
        rest = {name: np.concatenate([getattr(one.rest, name) for one in parts]) for name in columns}
        whole = Minutes(joined([one.last for one in parts]), MinuteColumns(**rest))
    series, times = whole.last.series, whole.last.timestamps
    if ((series[1:] > series[:-1]) | ((series[1:] == series[:-1]) & (times[1:] > times[:-1]))).all():
        return whole
    order = np.lexsort((times, series))
    real = whole.real
    place = np.cumsum(real) - 1
    return Minutes(whole.last.pick(order), _pick_rest(whole.rest, place[order][real[order]]))


_PARTS = 5
_HEADER = np.dtype([("first_ms", "<i8"), ("count", "<i8"), ("lengths", "<u4", (_PARTS,))])
_FIRST = 8
"""Bytes before the last samples: the time of the first of them."""


class RollupRows(NamedTuple):
    series_id: U32
    day: I64
    first_ms: I64
    last_ms: I64
    samples: I64
    minutes: I64
    data: Sequence[bytes]
    rest: Sequence[bytes]


def pack(minutes: Minutes, *, plain: bool = False) -> RollupRows:
    """A row for each series and day; `plain` as in `encode`."""
    last, real = minutes.last, minutes.real
    days = last.timestamps // DAY_MS
    begins = np.ones(len(days), np.bool_)
    begins[1:] = (days[1:] != days[:-1]) | (last.series[1:] != last.series[:-1])
    starts = np.flatnonzero(begins)
    offsets = np.append(starts, len(days))
    inner = np.concatenate(([0], np.cumsum(real)))[offsets]
    data = encode(offsets, last.timestamps, last.values, plain=plain)
    firsts = last.timestamps[starts]
    # The first time of all is that of the first sample of the first minute, unless a marker stands before it.
    first_ms = firsts.copy()
    if len(inner) > 1 and inner[-1]:
        filled = np.flatnonzero(np.diff(inner))
        first_ms[filled] = np.minimum(first_ms[filled], minutes.rest.first_ms[inner[filled]])
    return RollupRows(
        series_id=last.series[starts],
        day=days[starts],
        first_ms=first_ms,
        last_ms=last.timestamps[offsets[1:] - 1],
        samples=np.diff(offsets),
        minutes=np.diff(inner),
        data=[first.tobytes() + one for first, one in zip(firsts.astype("<i8"), data, strict=True)],
        rest=_pack_rest(minutes, inner, plain=plain),
    )


def _pack_rest(minutes: Minutes, offsets: I64, *, plain: bool) -> list[bytes]:
    rest, last = minutes.rest, minutes.last.values[minutes.real]
    filled = np.flatnonzero(np.diff(offsets))
    found = [b""] * (len(offsets) - 1)
    if not len(filled):
        return found
    starts, counts = offsets[filled], np.diff(offsets)[filled]
    header = np.zeros(len(filled), _HEADER)
    header["first_ms"], header["count"] = rest.first_ms[starts], rest.counts[starts]
    single = np.logical_and.reduceat(rest.counts == 1, starts)
    nothing = np.zeros(len(rest.counts), np.int64)

    def differ(column: F64, other: F64) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        return ~np.logical_and.reduceat(column.view(np.uint64) == other.view(np.uint64), starts)

    wanted = (
        (~single, rest.first_ms, rest.first),
        (~single, rest.counts, rest.sums),
        (~single & differ(rest.least, rest.first), nothing, rest.least),
        (~single & differ(rest.greatest, last), nothing, rest.greatest),
        (~single & differ(rest.resets, np.zeros(len(nothing))), nothing, rest.resets),
    )
    blobs: list[list[bytes]] = [[] for _ in filled]
    for part, (chosen, numbers, values) in enumerate(wanted):
        if not chosen.any():
            continue
        rows = slice(None) if chosen.all() else np.repeat(chosen, counts)
        within = np.concatenate(([0], np.cumsum(counts[chosen])))
        for place, blob in zip(
            np.flatnonzero(chosen).tolist(), encode(within, numbers[rows], values[rows], plain=plain), strict=True
        ):
            header["lengths"][place, part] = len(blob)
            blobs[place].append(blob)
    for place, row in enumerate(filled.tolist()):
        found[row] = header[place].tobytes() + b"".join(blobs[place])
    return found


def unpack_last(series: Sequence[int], samples: Sequence[int], data: Sequence[bytes]) -> Columns:
    """The last samples of rows.

    Raises:
        DamagedSegmentError: it is not what `pack` made of so many.
    """
    if not len(data):
        return Columns(np.empty(0, np.uint32), np.empty(0, np.int64), np.empty(0))
    if min(map(len, data)) < _FIRST:
        raise DamagedSegmentError("rollups are cut off")
    counts = np.array(samples, np.int64)
    firsts = np.frombuffer(b"".join([one[:_FIRST] for one in data]), "<i8").astype(np.int64)
    timestamps, values = decode([one[_FIRST:] for one in data], counts, firsts)
    return Columns(np.repeat(np.array(series, np.uint32), counts), timestamps, values)


def unpack(
    series: Sequence[int],
    samples: Sequence[int],
    minutes: Sequence[int],
    data: Sequence[bytes],
    rest: Sequence[bytes],
    *,
    ends_only: bool = False,
) -> Minutes:
    """The minutes of rows; raises as `unpack_last`. `ends_only` as in `Level.ENDS`."""
    last = unpack_last(series, samples, data)
    real = last.values.view(np.uint64) != np.uint64(STALE_NAN_BITS)
    counts = np.array(minutes, np.int64)
    if int(counts.sum()) != int(real.sum()):
        raise DamagedSegmentError("rollups have another number of minutes than their row says")
    last_ms, last_values = last.timestamps[real], last.values[real]
    filled = np.flatnonzero(counts)
    blobs = [rest[row] for row in filled.tolist()]
    if any(len(one) < _HEADER.itemsize for one in blobs):
        raise DamagedSegmentError("rollups are cut off")
    counts = counts[filled]
    header = np.frombuffer(b"".join([one[: _HEADER.itemsize] for one in blobs]), _HEADER)
    lengths = header["lengths"].astype(np.int64)
    ends = _HEADER.itemsize + np.cumsum(lengths, axis=1)

    def column(part: int, firsts: I64, numbers: I64, values: F64, *, numbers_only: bool = False) -> tuple[I64, F64]:
        chosen = lengths[:, part] > 0
        if not chosen.any():
            return numbers, values
        picked = np.flatnonzero(chosen).tolist()
        pieces = [blobs[row][ends[row, part] - lengths[row, part] : ends[row, part]] for row in picked]
        found_numbers, found = decode(pieces, counts[chosen], firsts[chosen], times_only=numbers_only)
        if chosen.all():
            return found_numbers, found
        rows = np.repeat(chosen, counts)
        numbers, values = numbers.copy(), values.copy()
        numbers[rows], values[rows] = found_numbers, found
        return numbers, values

    none = np.zeros(len(filled), np.int64)
    unused = np.zeros(len(last_ms), np.int64)
    first_ms, first = column(0, header["first_ms"].astype(np.int64), last_ms, last_values)
    ones = np.ones(len(last_ms), np.int64)
    found_counts, sums = column(1, header["count"].astype(np.int64), ones, last_values, numbers_only=ends_only)
    left_out = np.full(len(last_ms), np.nan) if ends_only else None
    return Minutes(
        last=last,
        rest=MinuteColumns(
            counts=found_counts,
            last_ms=last_ms,
            first_ms=first_ms,
            first=first,
            sums=sums if left_out is None else left_out,
            least=column(2, none, unused, first)[1] if left_out is None else left_out,
            greatest=column(3, none, unused, last_values)[1] if left_out is None else left_out,
            resets=column(4, none, unused, np.zeros(len(last_ms)))[1],
        ),
    )


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
"""The first row of a new table `whole`: all of time."""
UNROLLED = "INSERT INTO unrolled SELECT DISTINCT hour FROM segments"
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


class Rolled(NamedTuple):
    """What was rolled up: minutes that take the place of all in the spans of the series, which do not overlap."""

    series: U32
    first_ms: I64
    last_ms: I64
    minutes: Minutes


class DayPiece(NamedTuple):
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
    """Group rows, which begin with series and samples, by whole series up to `PIECE_MINUTES`."""
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
    incoming = table_stream(pack(minutes, plain=plain)._asdict())
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
        parts.append(part.pick(_within(part, start_ms, end_ms)))
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
    found = cursor.execute(_DAYS, [before_ms // DAY_MS]).fetchall()
    pieces: list[DayPiece] = []
    for day in dict.fromkeys(row[0] for row in found):
        for rows in _pieces([(row[1], row[3], 0) for row in found if row[0] == day]):
            pieces.append(DayPiece(day, rows[0][0], rows[-1][0]))
    return pieces


def join(cursor: duckdb.DuckDBPyConnection, piece: DayPiece) -> None:
    places = cursor.execute(_OF_DAY, list(piece)).fetchall()
    _insert(cursor, _taken(cursor, [place for (place,) in places]))


def forget_before(cursor: duckdb.DuckDBPyConnection, cutoff_ms: int) -> None:
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
