"""What the samples of a minute were, made of samples in order; pure.

A minute is what lies in (end - 60 s, end], as the windows of PromQL are open on the left. A part of it is what one hour
of `segments` has: the sample at the very end of an hour's last minute is in the next hour, so that this minute has two
parts. Parts are kept as they are: everything that is made of them adds up in order of time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from loadwatch_backend.series.store.embedded.arrow import Columns, joined
from loadwatch_backend.series.store.embedded.block import F64, I64, TIME_BITS, TIME_MASK, U32, U64, Block
from loadwatch_backend.series.store.embedded.settings import HOUR_MS
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
        none = np.empty(0)
        whole = np.empty(0, np.int64)
        return MinuteColumns(
            counts=whole,
            last_ms=whole,
            first_ms=whole,
            first=none,
            sums=none,
            least=none,
            greatest=none,
            resets=none,
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
