"""XOR chunks: the bytes of Prometheus' own encoder, and read back by a decoder of the format."""

import itertools
import json
import struct
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from loadwatch_backend.promql.http.remote_read.chunks import CHUNK_SAMPLES, chunks_of, encode
from loadwatch_backend.promql.http.remote_read.frames import crc32c, frame

from backend.tests.promql.http.remote_read.decoding import decode, unframe

GOLDEN = Path(__file__).parents[2] / "golden" / "xor_chunks.json"
"""Made by backend/tests/promql/reference/chunks."""


words = st.one_of(
    st.integers(0, 2**64 - 1), st.floats().map(lambda one: struct.unpack("<Q", struct.pack("<d", one))[0])
)
steps = st.one_of(
    st.integers(1, 3), st.sampled_from([1000, 8192, 8193, 65536, 65537, 524288, 524289]), st.integers(1, 2**40)
)


@given(st.integers(-(2**40), 2**41), st.lists(st.tuples(steps, words), min_size=1, max_size=150))
def test_what_is_encoded_is_read_back(first: int, samples: list[tuple[int, int]]) -> None:
    times = list(itertools.accumulate((step for step, _ in samples), initial=first))[1:]
    values = [word for _, word in samples]
    assert decode(encode(times, values)) == list(zip(times, values, strict=True))


def test_the_bytes_are_those_of_prometheus() -> None:
    cases = json.loads(GOLDEN.read_text())
    assert len(cases) > 20
    for case in cases:
        words = [int(word, 16) for word in case["values"]]
        assert encode(case["times"], words).hex() == case["chunk"], case["name"]


def test_chunks_have_so_many_samples_and_tell_their_times() -> None:
    count = 2 * CHUNK_SAMPLES + 1
    found = list(chunks_of(list(range(count)), [0] * count))
    assert [(one.first_ms, one.last_ms) for one in found] == [(0, 119), (120, 239), (240, 240)]
    assert [time for one in found for time, _ in decode(one.data)] == list(range(count))
    assert list(chunks_of([], [])) == []


def test_a_frame_has_length_and_checksum() -> None:
    # The check value of CRC-32C, and what RFC 3720 (B.4) gives for 32 zeros.
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)).to_bytes(4, "little") == bytes.fromhex("aa36918a")
    assert frame(b"123456789") == b"\x09" + bytes.fromhex("e3069283") + b"123456789"
    assert frame(bytes(200))[:2] == b"\xc8\x01"
    assert list(unframe(frame(b"a") + frame(bytes(300)))) == [b"a", bytes(300)]
