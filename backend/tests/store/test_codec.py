"""Segments give back every bit, whatever the samples are."""

import struct

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_backend.series.store.embedded.codec import HEADER, DamagedSegmentError, decode, encode
from loadwatch_backend.series.store.port import STALE_NAN_BITS

SPECIAL = [
    *(STALE_NAN_BITS, 0x7FF8000000000001, 0xFFF8000000000001, 0x7FF0000000000001),
    *(0x7FF0000000000000, 0xFFF0000000000000, 0, 1 << 63, 1, 0x000FFFFFFFFFFFFF, 0x7FEFFFFFFFFFFFFF),
]


def bits_of(value: float) -> int:
    return struct.unpack("<Q", struct.pack("<d", value))[0]


any_bits = st.one_of(
    st.integers(0, (1 << 64) - 1),
    st.sampled_from(SPECIAL),
    st.integers(-(1 << 54), 1 << 54).map(lambda number: bits_of(float(number))),
    st.floats().map(bits_of),
)
decimals = st.tuples(st.integers(-(10**12), 10**12), st.integers(0, 10)).map(
    lambda pair: bits_of(pair[0] / 10 ** pair[1])
)
steps = st.one_of(st.just(1_000), st.integers(1, 3), st.integers(1, 3_600_000), st.integers(1, 1 << 40))


@st.composite
def segments(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Times and bits of one series."""
    regular = draw(st.booleans())
    size = draw(st.integers(1, 60))
    first = draw(st.integers(0, 1 << 43))
    if regular:
        step = draw(st.integers(1, 100_000))
        times = [first + step * place for place in range(size)]
    else:
        times = [
            first,
            *(
                first + sum_
                for sum_ in np.cumsum(draw(st.lists(steps, min_size=size - 1, max_size=size - 1))).astype(int).tolist()
            ),
        ]
    kind = draw(st.integers(0, 3))
    if kind == 0:
        bits = draw(st.lists(any_bits, min_size=size, max_size=size))
    elif kind == 1:
        places = draw(st.integers(0, 9))
        numbers = draw(st.lists(st.integers(-(10**6), 10**6), min_size=size, max_size=size))
        bits = [bits_of(number / 10**places) for number in numbers]
    elif kind == 2:
        bits = draw(st.lists(decimals, min_size=size, max_size=size))
    else:
        numbers = draw(st.lists(st.integers(0, 100), min_size=size, max_size=size))
        bits = [bits_of(float(number)) for number in np.cumsum(numbers).tolist()]
        for place in draw(st.lists(st.integers(0, size - 1), max_size=3)):
            bits[place] = draw(st.sampled_from(SPECIAL))
    return times, bits


def columns(
    given_segments: list[tuple[list[int], list[int]]],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
    offsets = np.cumsum([0, *(len(times) for times, _ in given_segments)])
    times = np.array([time for one, _ in given_segments for time in one], np.int64)
    return offsets, times, np.array([bits for _, one in given_segments for bits in one], np.uint64)


def round_trip(given_segments: list[tuple[list[int], list[int]]]) -> list[bytes]:
    offsets, times, bits = columns(given_segments)
    blobs = encode(offsets, times, bits.view(np.float64))
    assert len(blobs) == len(given_segments)
    found_times, found_values = decode(blobs, np.diff(offsets), times[offsets[:-1]])
    assert found_times.tolist() == times.tolist()
    assert found_values.view(np.uint64).tolist() == bits.tolist()
    return blobs


@given(st.lists(segments(), min_size=1, max_size=6))
def test_every_bit_comes_back(given_segments: list[tuple[list[int], list[int]]]) -> None:
    blobs = round_trip(given_segments)
    # Each of them alone gives the same: they do not depend on what they are encoded with.
    for one, blob in zip(given_segments, blobs, strict=True):
        assert round_trip([one]) == [blob]


def test_nothing_is_nothing() -> None:
    assert encode(np.zeros(1, np.int64), np.empty(0, np.int64), np.empty(0)) == []
    times, values = decode([], np.empty(0, np.int64), np.empty(0, np.int64))
    assert len(times) == len(values) == 0


@pytest.mark.parametrize("seed", range(20))
def test_long_segments_of_all_kinds_beside_each_other(seed: int) -> None:
    chance = np.random.default_rng(seed)
    parts: list[tuple[list[int], list[int]]] = []
    for _ in range(12):
        size = int(chance.integers(1, 5_000))
        gaps = (
            chance.choice([1_000, 1_000, 1_000, 1_001, 999, 1_800_000], size)
            if chance.random() < 0.5
            else np.full(size, 1_000)
        )
        times = 1_750_000_000_000 + np.cumsum(gaps)
        values = [
            np.cumsum(chance.integers(0, 40, size)).astype(np.float64),
            np.round(chance.normal(50, 10, size), int(chance.integers(0, 10))),
            chance.random(size),
            np.full(size, chance.random()),
            np.cumsum(chance.random(size)),
            chance.integers(0, 1 << 64, size, np.uint64).view(np.float64),
            chance.integers(-(1 << 53), 1 << 53, size).astype(np.float64),
        ][int(chance.integers(0, 7))]
        bits = values.view(np.uint64).copy()
        marked = chance.random(size) < chance.choice([0, 0.001, 0.05, 0.2])
        bits[marked] = chance.choice(np.array(SPECIAL, np.uint64), int(marked.sum()))
        parts.append((times.tolist(), bits.tolist()))
    round_trip(parts)


def bytes_each(values: npt.NDArray[np.float64]) -> float:
    times = 1_750_000_000_000 + 1_000 * np.arange(len(values))
    return len(encode(np.array([0, len(values)]), times, values)[0]) / len(values)


def test_sizes_of_an_hour() -> None:
    chance = np.random.default_rng(7)
    assert bytes_each(np.cumsum(chance.integers(0, 40, 3_600)).astype(np.float64)) < 0.8
    assert bytes_each(np.round(chance.normal(50, 10, 3_600), 2)) < 1.7
    assert bytes_each(chance.random(3_600)) < 7.2
    assert bytes_each(np.full(3_600, 0.1)) < 0.02
    reset = np.cumsum(chance.integers(0, 40, 3_600)).astype(np.float64)
    reset[2_000:] -= reset[2_000]
    assert bytes_each(reset) < 0.9
    reset.view(np.uint64)[3_599] = STALE_NAN_BITS
    assert bytes_each(reset) < 0.9


def damaged() -> list[tuple[str, bytes, int]]:
    times = np.arange(100, dtype=np.int64) * 1_000
    values = np.round(np.random.default_rng(3).normal(50, 10, 100), 2)
    values[7] = np.nan
    whole = encode(np.array([0, 100]), times, values)[0]
    noisy = encode(np.array([0, 100]), times, np.repeat([1.0, 2.0], 50))[0]
    beside = bytearray(whole)
    beside[-12:-8] = (100).to_bytes(4, "little")
    form, exponent, width = bytearray(whole), bytearray(whole), bytearray(whole)
    form[0], exponent[1], width[3] = 9, 99, 200
    packed = bytearray(noisy)
    packed[HEADER.itemsize + 4] ^= 0xFF
    return [
        ("cut off", b"", 100),
        ("cut off", whole[:20], 100),
        ("cut off", whole[: HEADER.itemsize + 1], 100),
        ("another length", whole[:-1], 100),
        ("another length", whole + b"x", 100),
        ("decompressed", whole, 99),
        ("cut off", whole, 0),
        ("unknown form", bytes(form), 100),
        ("unknown exponent", bytes(exponent), 100),
        ("unknown form", bytes(width), 100),
        ("beside none", bytes(beside), 100),
        ("decompressed", bytes(packed), 100),
    ]


@pytest.mark.parametrize(("says", "blob", "count"), damaged())
def test_damage_is_said(says: str, blob: bytes, count: int) -> None:
    with pytest.raises(DamagedSegmentError, match=says):
        decode([blob], np.array([count]), np.zeros(1, np.int64))


@given(st.binary(max_size=200), st.integers(1, 50))
def test_bytes_by_chance_are_damage_or_samples(blob: bytes, count: int) -> None:
    try:
        times, values = decode([blob], np.array([count]), np.zeros(1, np.int64))
    except DamagedSegmentError:
        return
    assert len(times) == len(values) == count
