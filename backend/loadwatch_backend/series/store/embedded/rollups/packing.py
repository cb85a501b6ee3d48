"""Minutes of one series as two pieces of bytes: the last samples, and the rest; all columns by the codec of segments.

Columns that follow from others for all minutes of a row are left out: of minutes of one sample everything but that;
of a counter that was not reset the least value is the first, the greatest is the last, and no reset is zero.

A minute is what lies in (end - 60 s, end], as the windows of PromQL are open on the left. A part of it is what one hour
of `segments` has: the sample at the very end of an hour's last minute is in the next hour, so that this minute has two
parts. Parts are kept as they are: everything that is made of them adds up in order of time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from loadwatch_backend.series.store.embedded.arrow import Columns, joined
from loadwatch_backend.series.store.embedded.block import F64, I64, TIME_BITS, TIME_MASK, U32, U64, Block
from loadwatch_backend.series.store.embedded.codec import DamagedSegmentError, decode, encode
from loadwatch_backend.series.store.embedded.settings import DAY_MS, HOUR_MS
from loadwatch_backend.series.store.levels import MINUTE_MS, MinuteColumns
from loadwatch_backend.series.store.port import STALE_NAN_BITS

_TIDY_DECIMALS = 4
_TIDY = 4e-15
"""By so much of itself a sum may be moved to a decimal number: less than adding up sixty numbers is off by."""
BoolArray = np.ndarray[tuple[int], np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True, kw_only=True)
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
        """Those of some rows of `last`."""
        if kept.all():
            return self
        real = self.real
        rest = kept if real.all() else kept[real]
        return Minutes(last=_pick(self.last, np.flatnonzero(kept)), rest=_pick_rest(self.rest, np.flatnonzero(rest)))


def _pick(columns: Columns, rows: BoolArray | I64) -> Columns:
    return Columns(series=columns.series[rows], timestamps=columns.timestamps[rows], values=columns.values[rows])


def _pick_rest(rest: MinuteColumns, rows: BoolArray | I64) -> MinuteColumns:
    return MinuteColumns(**{field.name: getattr(rest, field.name)[rows] for field in fields(rest)})


def nothing() -> Minutes:
    """No minute."""
    return roll_up(np.empty(0, np.uint32), np.empty(0, np.uint64), np.empty(0, np.float64))


def of_block(block: Block) -> Minutes:
    """The minutes of a block's samples."""
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
    last = Columns(
        series=ids[(keys[shown] >> TIME_BITS).view(np.int64)],
        timestamps=(keys[shown] & TIME_MASK).view(np.int64),
        values=values[shown],
    )
    return Minutes(last=last, rest=_reduced(times.view(np.int64), values_of, starts, stops))


def _reduced(times: I64, values: F64, starts: I64, stops: I64) -> MinuteColumns:
    if not len(starts):
        none, whole = np.empty(0), np.empty(0, np.int64)
        return MinuteColumns(
            counts=whole, last_ms=whole, first_ms=whole, first=none, sums=none, least=none, greatest=none, resets=none
        )
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
    """The same, without the noise that adding decimal numbers leaves in the last bits: it takes room for nothing."""
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
    """All of them by series and time."""
    whole = _in_a_row(parts)
    series, times = whole.last.series, whole.last.timestamps
    if ((series[1:] > series[:-1]) | ((series[1:] == series[:-1]) & (times[1:] > times[:-1]))).all():
        return whole
    order = np.lexsort((times, series))
    real = whole.real
    place = np.cumsum(real) - 1
    return Minutes(last=_pick(whole.last, order), rest=_pick_rest(whole.rest, place[order][real[order]]))


def _in_a_row(parts: Sequence[Minutes]) -> Minutes:
    if not parts:
        return nothing()
    if len(parts) == 1:
        return parts[0]
    columns = (field.name for field in fields(MinuteColumns))
    return Minutes(
        last=joined([one.last for one in parts]),
        rest=MinuteColumns(**{name: np.concatenate([getattr(one.rest, name) for one in parts]) for name in columns}),
    )


_PARTS = 5
_HEADER = np.dtype([("first_ms", "<i8"), ("count", "<i8"), ("lengths", "<u4", (_PARTS,))])
_FIRST = 8
"""Bytes before the last samples: the time of the first of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RollupRows:
    """Rows of the table, all of one length."""

    series: U32
    days: I64
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
        series=last.series[starts],
        days=days[starts],
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
        return Columns(series=np.empty(0, np.uint32), timestamps=np.empty(0, np.int64), values=np.empty(0))
    if min(map(len, data)) < _FIRST:
        raise DamagedSegmentError("rollups are cut off")
    counts = np.array(samples, np.int64)
    firsts = np.frombuffer(b"".join([one[:_FIRST] for one in data]), "<i8").astype(np.int64)
    timestamps, values = decode([one[_FIRST:] for one in data], counts, firsts)
    return Columns(series=np.repeat(np.array(series, np.uint32), counts), timestamps=timestamps, values=values)


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
