"""Sorted, immutable blocks of samples and what is done with them: build, merge, cut, look up, join.

A sample's key is one uint64: the rank of its series among the block's series (20 bits), then its time in milliseconds
(44 bits, up to the year 2527). One searchsorted over the keys then finds the samples of any number of series.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]

TIME_BITS = np.uint64(44)
TIME_MASK = np.uint64((1 << 44) - 1)
LATEST_MS = (1 << 44) - 1
MOST_SERIES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Samples sorted by series and time, without repeats; `series` has the ids by rank, rising."""

    series: U32
    keys: U64
    values: F64
    first_ms: int
    last_ms: int

    @property
    def nbytes(self) -> int:
        return self.series.nbytes + self.keys.nbytes + self.values.nbytes

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Samples by series and time, without repeats, whose keys are their times alone: as the disk has them."""

    keys: U64
    values: F64
    first_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """The rows of one block that a query asks for: `starts[i]:stops[i]` for the i-th wanted series."""

    block: Block | Rows
    starts: I64
    stops: I64


def count_rows(cuts: Sequence[Cut]) -> int:
    return sum(int((cut.stops - cut.starts).sum()) for cut in cuts)


def build_block(series: U32, timestamps: I64, values: F64) -> Block:
    """A block of samples in order of arrival: of a repeated (series, time) the last one stays."""
    times = timestamps.astype(np.uint64)
    if int(series.max()) < MOST_SERIES:
        # Ids serve as ranks until the keys are sorted; most pushes come in the order of the ids and need no sort.
        keys, values = _sorted_keys((series.astype(np.uint64) << TIME_BITS) | times, values)
        id_of = (keys >> TIME_BITS).astype(np.uint32)
        first = np.empty(len(keys), np.bool_)
        first[0] = True
        np.not_equal(id_of[1:], id_of[:-1], out=first[1:])
        ids = id_of[first]
        rank = np.cumsum(first).astype(np.uint64) - np.uint64(1)
        keys = (rank << TIME_BITS) | (keys & TIME_MASK)
    else:
        ids, rank = np.unique(series, return_inverse=True)
        keys, values = _sorted_keys((rank.astype(np.uint64) << TIME_BITS) | times, values)
    return Block(series=ids, keys=keys, values=values, first_ms=int(timestamps.min()), last_ms=int(timestamps.max()))


def _sorted_keys(keys: U64, values: F64) -> tuple[U64, F64]:
    """Keys in rising order with their values; of equal keys the last one stays. Never the arrays that came in."""
    if len(keys) < 2 or (keys[1:] > keys[:-1]).all():
        return keys, values.copy()
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    last = np.empty(len(keys), np.bool_)
    last[-1] = True
    np.not_equal(keys[1:], keys[:-1], out=last[:-1])
    return (keys, values) if last.all() else (keys[last], values[last])


def series_spans(block: Block) -> tuple[I64, I64]:
    """First and last time of each series of a block, by rank."""
    starts = np.searchsorted(block.keys, np.arange(len(block.series), dtype=np.uint64) << TIME_BITS)
    stops = np.append(starts[1:], len(block.keys))
    times = (block.keys & TIME_MASK).astype(np.int64)
    return times[starts], times[stops - 1]


def merge_blocks(older: Block, newer: Block) -> Block:
    """One block of two; where both have a (series, time) the newer one's value stays."""
    ids = np.union1d(older.series, newer.series)
    a, b = _with_ranks_of(older, ids), _with_ranks_of(newer, ids)
    place = np.searchsorted(a, b)
    inside = np.minimum(place, len(a) - 1)
    repeated = a[inside] == b
    if repeated.any():
        kept = np.ones(len(a), np.bool_)
        kept[inside[repeated]] = False
        a, old_values = a[kept], older.values[kept]
        place = np.searchsorted(a, b)
    else:
        old_values = older.values
    keys = np.empty(len(a) + len(b), np.uint64)
    values = np.empty(len(keys), np.float64)
    from_newer = np.zeros(len(keys), np.bool_)
    from_newer[place + np.arange(len(b))] = True
    from_older = ~from_newer
    keys[from_newer], keys[from_older] = b, a
    values[from_newer], values[from_older] = newer.values, old_values
    return Block(
        series=ids,
        keys=keys,
        values=values,
        first_ms=min(older.first_ms, newer.first_ms),
        last_ms=max(older.last_ms, newer.last_ms),
    )


def _with_ranks_of(block: Block, ids: U32) -> U64:
    if len(ids) == len(block.series):
        return block.keys
    rank = np.searchsorted(ids, block.series).astype(np.uint64)
    return (rank[(block.keys >> TIME_BITS).astype(np.int64)] << TIME_BITS) | (block.keys & TIME_MASK)


def drop_before(block: Block, cutoff_ms: int) -> Block | None:
    """The block without its samples before the cut-off; None when nothing is left."""
    kept = (block.keys & TIME_MASK) >= np.uint64(cutoff_ms)
    if not kept.any():
        return None
    keys = block.keys[kept]
    return Block(
        series=block.series,
        keys=keys,
        values=block.values[kept],
        first_ms=int((keys & TIME_MASK).min()),
        last_ms=block.last_ms,
    )


def cut_block(block: Block, ids: U32, start_ms: int, end_ms: int) -> Cut:
    """Where the samples of the rising `ids` with start_ms <= time <= end_ms are."""
    rank = np.searchsorted(block.series, ids)
    inside = np.minimum(rank, len(block.series) - 1)
    present = block.series[inside] == ids
    base = inside.astype(np.uint64) << TIME_BITS
    starts = np.searchsorted(block.keys, base | np.uint64(start_ms))
    stops = np.searchsorted(block.keys, base | np.uint64(end_ms), side="right")
    return Cut(block=block, starts=starts, stops=np.where(present, stops, starts))


def cut_rows(series: U32, timestamps: I64, values: F64, ids: U32, start_ms: int, end_ms: int) -> Cut:
    """As `cut_block`, of columns by series and time without repeats; nothing is copied."""
    starts, stops = np.searchsorted(series, ids), np.searchsorted(series, ids, side="right")
    for place, (start, stop) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
        times = timestamps[start:stop]
        starts[place] += np.searchsorted(times, start_ms)
        stops[place] = start + np.searchsorted(times, end_ms, side="right")
    first_ms = int(timestamps[starts[starts < stops]].min(initial=LATEST_MS))
    return Cut(
        block=Rows(keys=timestamps.view(np.uint64), values=values, first_ms=first_ms), starts=starts, stops=stops
    )


def join_cuts(cuts: Sequence[Cut], series_count: int) -> tuple[I64, I64, F64]:
    """Offsets, times and values of the wanted series; `cuts` in order of arrival, so that later ones win.

    Almost always the blocks follow each other in time: then every run of rows goes straight to its place. Only late
    or repeated samples need a sort.
    """
    cuts = [cut for cut in cuts if (cut.stops > cut.starts).any()]
    if not cuts:
        return np.zeros(series_count + 1, np.int64), np.empty(0, np.int64), np.empty(0, np.float64)
    in_time = sorted(cuts, key=lambda cut: cut.block.first_ms)
    counts = np.stack([cut.stops - cut.starts for cut in in_time])
    offsets = np.zeros(series_count + 1, np.int64)
    np.cumsum(counts.sum(axis=0), out=offsets[1:])
    targets = offsets[:-1] + np.cumsum(counts, axis=0) - counts
    keys = np.empty(int(offsets[-1]), np.uint64)
    values = np.empty(len(keys), np.float64)
    for cut, count, target in zip(in_time, counts, targets, strict=True):
        _copy(cut, count, target, keys, values)
    if not _rising(keys, offsets):
        return _sorted_join(cuts, series_count)
    return offsets, keys.view(np.int64), values


def newest_samples(blocks: Sequence[Block], ids: U32, start_ms: int, end_ms: int) -> tuple[I64, F64]:
    """Time and value of the newest sample with start_ms <= time <= end_ms of the rising `ids`; time -1 without one.

    `blocks` in order of arrival: of samples at one time the later one wins.
    """
    times, values = np.full(len(ids), -1, np.int64), np.zeros(len(ids))
    for block in blocks:
        if block.first_ms > end_ms or block.last_ms < start_ms:
            continue
        inside = np.minimum(np.searchsorted(block.series, ids), len(block.series) - 1)
        base = inside.astype(np.uint64) << TIME_BITS
        rows = np.searchsorted(block.keys, base | np.uint64(end_ms), side="right") - 1
        keys = block.keys[np.maximum(rows, 0)]
        # A row of an earlier series has a smaller key than the first moment of this one.
        found = (block.series[inside] == ids) & (rows >= 0) & (keys >= (base | np.uint64(start_ms)))
        at = (keys & TIME_MASK).astype(np.int64)
        found &= at >= times
        times[found] = at[found]
        values[found] = block.values[rows[found]]
    return times, values


def _copy(cut: Cut, count: I64, target: I64, keys: U64, values: F64) -> None:
    if len(count) <= 64:
        # Copying a few long slices is cheaper than making an index of every row.
        for start, stop, place in zip(cut.starts.tolist(), cut.stops.tolist(), target.tolist(), strict=True):
            if stop > start:
                end = place + stop - start
                np.bitwise_and(cut.block.keys[start:stop], TIME_MASK, out=keys[place:end])
                values[place:end] = cut.block.values[start:stop]
        return
    rows = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
    source = rows + np.repeat(cut.starts, count)
    places = rows + np.repeat(target, count)
    keys[places] = cut.block.keys[source] & TIME_MASK
    values[places] = cut.block.values[source]


def _rising(times: U64, offsets: I64) -> bool:
    if len(times) < 2:
        return True
    rising = times[1:] > times[:-1]
    borders = offsets[1:-1] - 1
    rising[borders[(borders >= 0) & (borders < len(rising))]] = True
    return bool(rising.all())


def _sorted_join(cuts: Sequence[Cut], series_count: int) -> tuple[I64, I64, F64]:
    keys: list[U64] = []
    values: list[F64] = []
    for cut in cuts:
        count = cut.stops - cut.starts
        source = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count) + np.repeat(cut.starts, count)
        rank = np.repeat(np.arange(series_count, dtype=np.uint64), count)
        keys.append((rank << TIME_BITS) | (cut.block.keys[source] & TIME_MASK))
        values.append(cut.block.values[source])
    joined, joined_values = _sorted_keys(np.concatenate(keys), np.concatenate(values))
    borders = np.arange(series_count + 1, dtype=np.uint64) << TIME_BITS
    offsets = np.searchsorted(joined, borders).astype(np.int64)
    return offsets, (joined & TIME_MASK).view(np.int64), joined_values
