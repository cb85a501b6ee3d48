"""Samples of one series in a few bytes each, bit for bit: times and values as residuals, byte by byte through zstd.

A segment is the samples of one series in rising order of time. Its times are their differences less the mean one:
nothing at all where they are regular. Its values are whole numbers of the smallest decimal place that all of them
have, less their mean or as differences less the mean one, whichever leaves less; values that no such number stands for
(NaN and stale markers, infinities, -0) are kept beside them as they are. Where that does not do, a value is the
exclusive or of its bits and those of the value before it. Residuals are folded to small positive numbers, and their
lowest bytes, their second bytes and so on are compressed apart, because noise is in the lowest.

Many segments are encoded and decoded at once; only zstd is asked one by one. Integers wrap around on purpose: sums of
differences come out right whatever is in between.

The layout is little endian: HEADER, the length of each plane (u4; 0 says that it is as it was, not compressed), the
planes of times and those of values from the lowest byte up, then the positions (u4) and the bits (u8) of the values
that are kept as they are.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from loadwatch_backend.series.store.embedded.block import F64, I64, U64

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

U8 = npt.NDArray[np.uint8]

HEADER = np.dtype(
    [
        ("form", "u1"),
        ("exponent", "u1"),
        ("time_width", "u1"),
        ("value_width", "u1"),
        ("exceptions", "<u2"),
        ("step", "<i8"),
        ("base", "<i8"),
        ("slope", "<i8"),
    ]
)
_LEVELS, _DIFFERENCES, _BITS = range(3)
"""Forms of values: less their mean, as differences, as bits."""
_MOST_EXPONENT = 9
_POWERS = np.array([10.0**exponent for exponent in range(_MOST_EXPONENT + 1)], np.float64)
_LARGEST = 2.0**53
_PROBES = 8
_EXCEPTIONS_OF = 16
"""At most one value of so many is kept beside the others."""
_LEVEL = 1


class DamagedSegmentError(ValueError):
    """What is stored is no segment, or not the one that its row speaks of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Whole:
    """Values as whole numbers of 10 ** -exponent, where they are; `exceptions` marks those that are kept beside."""

    numbers: I64
    exponents: I64
    decimal: npt.NDArray[np.bool_]
    exceptions: npt.NDArray[np.bool_]


def encode(offsets: I64, timestamps: I64, values: F64, *, plain: bool = False) -> list[bytes]:
    """Each segment `offsets[i]:offsets[i + 1]`, none of which is empty, as bytes; times rise within a segment.

    `plain` leaves zstd out, for what is soon written again: most of the time is its.
    """
    starts, counts = offsets[:-1], np.diff(offsets)
    if not len(starts):
        return []
    header = np.zeros(len(starts), HEADER)
    times, header["step"], _ = _differences(timestamps, starts, counts)
    whole = _whole_numbers(values, starts, counts)
    residuals = _value_residuals(whole, values, starts, counts, header)
    time_widths, value_widths = _widths(times, starts), _widths(residuals, starts)
    header["time_width"], header["value_width"] = time_widths, value_widths
    exceptions = whole.exceptions & np.repeat(whole.decimal, counts)
    header["exceptions"] = np.add.reduceat(exceptions, starts, dtype=np.int64)
    kept = _kept_beside(np.flatnonzero(exceptions), values, starts)
    time_planes = _Planes(times, int(time_widths.max()))
    value_planes = _Planes(residuals, int(value_widths.max()))
    compressor = zstd.ZstdCompressor(level=_LEVEL)
    found: list[bytes] = []
    stops = offsets[1:].tolist()
    for place, (start, stop, time_width, value_width, beside) in enumerate(
        zip(
            starts.tolist(),
            stops,
            time_widths.tolist(),
            value_widths.tolist(),
            header["exceptions"].tolist(),
            strict=True,
        )
    ):
        lengths: list[int] = []
        parts: list[bytes] = [header[place].tobytes(), b""]
        for planes, width in ((time_planes, time_width), (value_planes, value_width)):
            for raw in planes.of(start, stop, width):
                packed = raw if plain else compressor.compress(raw, zstd.ZstdCompressor.FLUSH_FRAME)
                shorter = len(packed) < len(raw)
                lengths.append(len(packed) if shorter else 0)
                parts.append(packed if shorter else raw)
        parts[1] = np.array(lengths, "<u4").tobytes()
        if beside:
            parts.append(next(kept))
        found.append(b"".join(parts))
    return found


def decode(blobs: Sequence[bytes], counts: I64, first_ms: I64, *, times_only: bool = False) -> tuple[I64, F64]:
    """Times and values of the segments one after another; how many samples each has and its first time are known.

    With `times_only` values are not looked at, and are 0.

    Raises:
        DamagedSegmentError: it is not what `encode` made of so many samples.
    """
    if not len(blobs):
        return np.empty(0, np.int64), np.empty(0, np.float64)
    if min(map(len, blobs)) < HEADER.itemsize or int(counts.min()) < 1:
        raise DamagedSegmentError("a segment is cut off")
    header = np.frombuffer(b"".join([blob[: HEADER.itemsize] for blob in blobs]), HEADER)
    time_widths, value_widths = header["time_width"].astype(np.int64), header["value_width"].astype(np.int64)
    if int(time_widths.max()) > 8 or int(value_widths.max()) > 8 or int(header["form"].max()) > _BITS:
        raise DamagedSegmentError("a segment has an unknown form")
    if int(header["exponent"].max()) > _MOST_EXPONENT:
        raise DamagedSegmentError("a segment has an unknown exponent")
    offsets = np.concatenate(([0], np.cumsum(counts)))
    starts, total = offsets[:-1], int(offsets[-1])
    times, residuals = _Gathered(time_widths, total), _Gathered(value_widths, total)
    positions: list[npt.NDArray[np.int64]] = []
    beside: list[U64] = []
    for blob, start, count, time_width, value_width, exceptions in zip(
        blobs,
        starts.tolist(),
        counts.tolist(),
        time_widths.tolist(),
        value_widths.tolist(),
        header["exceptions"].tolist(),
        strict=True,
    ):
        place = HEADER.itemsize + 4 * (time_width + value_width)
        if len(blob) < place:
            raise DamagedSegmentError("a segment is cut off")
        lengths: list[int] = np.frombuffer(blob, "<u4", time_width + value_width, HEADER.itemsize).tolist()
        if not any(lengths):
            size = len(lengths) * count
            if len(blob) < place + size:
                raise DamagedSegmentError("a segment is cut off")
            planes = np.frombuffer(blob, np.uint8, size, place).reshape(len(lengths), count)
            times.put_all(start, planes[:time_width])
            residuals.put_all(start, planes[time_width:])
            lengths, place = [], place + size
        for index, length in enumerate(lengths):
            if times_only and index >= time_width:
                place += length or count
                continue
            raw = blob[place : place + (length or count)]
            place += length or count
            if length:
                try:
                    raw = zstd.ZstdDecompressor().decompress(raw, count + 1)
                except zstd.ZstdError as error:
                    raise DamagedSegmentError(f"a segment cannot be decompressed: {error}") from error
            if len(raw) != count:
                raise DamagedSegmentError("a segment has another length than its row says")
            if index < time_width:
                times.put(index, start, raw)
            else:
                residuals.put(index - time_width, start, raw)
        if len(blob) - place != 12 * exceptions:
            raise DamagedSegmentError("a segment has another length than its row says")
        if exceptions:
            at = np.frombuffer(blob, "<u4", exceptions, place).astype(np.int64)
            if int(at.max()) >= count:
                raise DamagedSegmentError("a segment has a value beside none of its samples")
            positions.append(at + start)
            beside.append(np.frombuffer(blob, "<u8", exceptions, place + 4 * exceptions).astype(np.uint64))
    steps = header["step"].astype(np.int64)
    if int(time_widths.max()):
        timestamps = _summed(_unfolded(times.numbers()), starts, counts, steps, first_ms)
    else:
        timestamps = np.repeat(first_ms - starts * steps, counts) + np.arange(total) * np.repeat(steps, counts)
    if times_only:
        return timestamps, np.zeros(total)
    values = _values(residuals.numbers(), counts, header)
    if positions:
        values.view(np.uint64)[np.concatenate(positions)] = np.concatenate(beside)
    return timestamps, values


# Encoding -------------------------------------------------------------------------------------------------------------


def _differences(numbers: I64, starts: I64, counts: I64) -> tuple[U64, I64, I64]:
    """Zigzag differences less the segment's mean one, 0 for its first; the means; the first numbers."""
    differences = np.empty_like(numbers)
    differences[0] = 0
    np.subtract(numbers[1:], numbers[:-1], out=differences[1:])
    first, last = numbers[starts], numbers[starts + counts - 1]
    slopes = (last - first) // np.maximum(counts - 1, 1)
    differences -= np.repeat(slopes, counts)
    differences[starts] = 0
    return _folded(differences), slopes, first


def _value_residuals(whole: _Whole, values: F64, starts: I64, counts: I64, header: npt.NDArray[np.void]) -> U64:
    """Residuals of the values in the form that is best for each segment; fills in the header."""
    differences, slopes, first = _differences(whole.numbers, starts, counts)
    # Divided before they are summed: no sum of numbers below 2 ** 53 may wrap around here.
    means = np.add.reduceat(whole.numbers / np.repeat(counts, counts), starts).astype(np.int64)
    levels = _folded(whole.numbers - np.repeat(means, counts))
    as_levels = _effort(levels, starts) < _effort(differences, starts)
    residuals = np.where(np.repeat(as_levels, counts), levels, differences)
    header["form"] = np.where(as_levels, _LEVELS, _DIFFERENCES)
    header["base"] = np.where(as_levels, means, first)
    header["slope"] = np.where(as_levels, 0, slopes)
    header["exponent"] = whole.exponents
    if not whole.decimal.all():
        bits = values.view(np.uint64)
        mixed = bits.copy()
        mixed[1:] ^= bits[:-1]
        mixed[starts] = bits[starts]
        residuals = np.where(np.repeat(whole.decimal, counts), residuals, mixed)
        for field, value in (("form", _BITS), ("base", 0), ("slope", 0), ("exponent", 0)):
            header[field][~whole.decimal] = value
    return residuals


def _whole_numbers(values: F64, starts: I64, counts: I64) -> _Whole:
    # A comparison with NaN is false, and that is what is wanted of it.
    exceptions = ~(np.abs(values) < _LARGEST) | ((values == 0) & np.signbit(values))
    decimal = np.ones(len(starts), np.bool_)
    if exceptions.any():
        beside = np.add.reduceat(exceptions, starts, dtype=np.int64)
        decimal = beside <= np.minimum(counts // _EXCEPTIONS_OF + 1, 65_535)
        # The value before it stands in for one that is kept beside, so that nothing jumps.
        rows = np.where(exceptions, -1, np.arange(len(values)))
        rows[starts] = np.where(exceptions[starts], -2 - starts, starts)
        filled = np.maximum.accumulate(np.where(rows < -1, -2 - rows, rows))
        values = np.where(exceptions[filled], 0.0, values[filled])
    exponents = _probed(values, starts, counts)
    numbers = np.zeros(len(values), np.int64)
    waiting = decimal & (exponents <= _MOST_EXPONENT)
    while waiting.any():
        every = bool(waiting.all())
        rows = slice(None) if every else np.repeat(waiting, counts)
        picked, sizes = values[rows], counts if every else counts[waiting]
        scales = _POWERS[exponents[waiting]]
        scaled, fit = _scaled(picked, scales[:1] if (scales == scales[0]).all() else np.repeat(scales, sizes))
        numbers[rows] = scaled
        good = np.logical_and.reduceat(fit, np.concatenate(([0], np.cumsum(sizes)[:-1])))
        exponents[np.flatnonzero(waiting)[~good]] += 1
        waiting[np.flatnonzero(waiting)[good]] = False
        waiting &= exponents <= _MOST_EXPONENT
    decimal &= exponents <= _MOST_EXPONENT
    return _Whole(numbers=numbers, exponents=np.where(decimal, exponents, 0), decimal=decimal, exceptions=exceptions)


def _probed(values: F64, starts: I64, counts: I64) -> I64:
    """The least exponent that suits a few values of each segment; one more than there are when none does."""
    spread = (np.arange(_PROBES) * (counts[:, None] - 1)) // (_PROBES - 1)
    probes = values[starts[:, None] + spread]
    exponents = np.full(len(starts), _MOST_EXPONENT + 1)
    for exponent in range(_MOST_EXPONENT, -1, -1):
        _, fit = _scaled(probes, _POWERS[exponent : exponent + 1])
        exponents[fit.all(axis=1)] = exponent
    return exponents


def _scaled(values: F64, scale: F64) -> tuple[I64, npt.NDArray[np.bool_]]:
    """Whole numbers of 1 / scale, and where dividing them by it gives the same bits again."""
    scaled = np.rint(values * scale)
    fit = np.abs(scaled) < _LARGEST
    scaled = np.where(fit, scaled, 0.0)
    # -0 is none of the values, and 0 / scale is 0.
    fit &= scaled / scale == values
    return scaled.astype(np.int64), fit


def _kept_beside(rows: I64, values: F64, starts: I64) -> Iterator[bytes]:
    """Positions and bits of the marked values, segment by segment that has any."""
    if not len(rows):
        return
    owners = np.searchsorted(starts, rows, side="right") - 1
    borders = np.flatnonzero(np.diff(owners)) + 1
    for part in np.split(rows, borders):
        start = starts[np.searchsorted(starts, part[0], side="right") - 1]
        yield (part - start).astype("<u4").tobytes() + values[part].view(np.uint64).astype("<u8").tobytes()


def _folded(numbers: I64) -> U64:
    """Zigzag encoding: 0, -1, 1, -2 become 0, 1, 2, 3, and so on."""
    return ((numbers << 1) ^ (numbers >> 63)).view(np.uint64)


def _effort(folded: U64, starts: I64) -> F64:
    """Bits that the numbers of each segment have, which says how well they can be compressed."""
    return np.add.reduceat(np.log2(folded.astype(np.float64) + 1), starts)


def _widths(numbers: U64, starts: I64) -> I64:
    """Bytes of the largest number of each segment."""
    largest = np.maximum.reduceat(numbers, starts)
    widths = np.zeros(len(starts), np.int64)
    for byte in range(8):
        widths += largest >= np.uint64(1 << (8 * byte))
    return widths


class _Planes:
    """All lowest bytes one after another, all second bytes, and so on."""

    def __init__(self, numbers: U64, width: int) -> None:
        rows = numbers.astype("<u8", copy=False).view(np.uint8).reshape(-1, 8)
        self._planes = [rows[:, byte].tobytes() for byte in range(width)]

    def of(self, start: int, stop: int, width: int) -> list[bytes]:
        return [plane[start:stop] for plane in self._planes[:width]]


# Decoding -------------------------------------------------------------------------------------------------------------


class _Gathered:
    def __init__(self, widths: I64, total: int) -> None:
        width = int(widths.max())
        self._buffer = bytearray(width * total)
        self._planes = np.frombuffer(self._buffer, np.uint8).reshape(width, total)
        self._total = total

    def put(self, byte: int, start: int, raw: bytes) -> None:
        begin = byte * self._total + start
        # Into bytes and not into the array, which takes thrice as long.
        self._buffer[begin : begin + len(raw)] = raw

    def put_all(self, start: int, planes: U8) -> None:
        self._planes[: len(planes), start : start + planes.shape[1]] = planes

    def numbers(self) -> U64:
        rows = np.zeros((self._total, 8), np.uint8)
        for byte, plane in enumerate(self._planes):
            rows[:, byte] = plane
        return rows.view("<u8").ravel()


def _unfolded(folded: U64) -> I64:
    """Undo `_folded`, in place."""
    signs = folded & np.uint64(1)
    np.negative(signs, out=signs)
    folded >>= np.uint64(1)
    folded ^= signs
    return folded.view(np.int64)


def _summed(differences: I64, starts: I64, counts: I64, slopes: I64, first: I64) -> I64:
    """Undo `_differences`, in place; the differences of the first samples of segments are ignored."""
    if (slopes == slopes[0]).all():
        differences += slopes[0]
    else:
        differences += np.repeat(slopes, counts)
    # What comes before a segment is taken off in its first difference.
    differences[starts] = 0
    ends = np.add.reduceat(differences, starts)
    differences[starts] = first
    differences[starts[1:]] -= first[:-1] + ends[:-1]
    return np.cumsum(differences, out=differences)


def _values(residuals: U64, counts: I64, header: npt.NDArray[np.void]) -> F64:
    forms = header["form"]
    values = np.empty(len(residuals), np.float64)
    for form in range(3):
        wanted = forms == form
        if not wanted.any():
            continue
        every = bool(wanted.all())
        rows = slice(None) if every else np.repeat(wanted, counts)
        sizes = counts[wanted]
        part, begins = residuals[rows], np.concatenate(([0], np.cumsum(sizes)[:-1]))
        if form == _BITS:
            mixed = np.bitwise_xor.accumulate(part)
            before = np.where(begins > 0, mixed[begins - 1], np.uint64(0))
            values[rows] = (mixed ^ np.repeat(before, sizes)).view(np.float64)
            continue
        bases = header["base"][wanted].astype(np.int64)
        if form == _LEVELS:
            numbers = _unfolded(part)
            numbers += np.repeat(bases, sizes)
        else:
            numbers = _summed(_unfolded(part), begins, sizes, header["slope"][wanted].astype(np.int64), bases)
        scales = _POWERS[header["exponent"][wanted]]
        if (scales == scales[0]).all():
            values[rows] = numbers / scales[0]
        else:
            values[rows] = numbers / np.repeat(scales, sizes)
    return values
