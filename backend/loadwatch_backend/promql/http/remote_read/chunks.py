"""Samples as Prometheus' XOR chunks: times as differences of differences, values as what changed of their bits.

Source: tsdb/chunkenc/xor.go of Prometheus, whose encoder gives the same bytes. A chunk is one whole number to which
bits are added at its end: with 120 samples it stays so small that moving them costs less than keeping bytes apart.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

CHUNK_SAMPLES = 120
"""Of one chunk, as Prometheus cuts them."""
_WORD = (1 << 64) - 1
_UNSET = 64
"""Leading zeros of a window that there is not yet: no number has as many that has a bit."""
_MOST_LEADING = 31
"""What five bits can say."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Encoded samples, and the times of the first and the last of them."""

    first_ms: int
    last_ms: int
    data: bytes


def chunks_of(times: Sequence[int], words: Sequence[int]) -> Iterator[Chunk]:
    """All samples of a series, chunk by chunk; `words` are the bits of the values as unsigned numbers."""
    for begin in range(0, len(times), CHUNK_SAMPLES):
        part = slice(begin, begin + CHUNK_SAMPLES)
        yield Chunk(times[begin], times[part][-1], encode(times[part], words[part]))


def encode(times: Sequence[int], words: Sequence[int]) -> bytes:
    """The bytes of one chunk of at least one sample, and 65,535 at most."""
    count = len(times)
    head = count.to_bytes(2, "big") + varint(_zigzag(times[0])) + words[0].to_bytes(8, "big")
    if count == 1:
        return head
    delta = times[1] - times[0]
    head += varint(delta & _WORD)
    bits, size = 0, 0
    leading, trailing = _UNSET, 0
    for place in range(1, count):
        if place > 1:
            now = times[place] - times[place - 1]
            value, length = _difference(now - delta)
            bits, size = bits << length | value, size + length
            delta = now
        changed = words[place] ^ words[place - 1]
        if not changed:
            bits, size = bits << 1, size + 1
            continue
        before = min(64 - changed.bit_length(), _MOST_LEADING)
        after = (changed & -changed).bit_length() - 1
        if before >= leading and after >= trailing:
            # 1, 0, and what lies in the window of the value before.
            length = 64 - leading - trailing
            bits, size = bits << 2 + length | 0b10 << length | changed >> trailing, size + 2 + length
        else:
            # 1, 1, the new window, and what lies in it; a length of 64 is written as 0.
            leading, trailing = before, after
            length = 64 - before - after
            window = 0b11 << 11 | before << 6 | length & 0b111111
            bits, size = bits << 13 + length | window << length | changed >> after, size + 13 + length
    padding = -size % 8
    return head + (bits << padding).to_bytes((size + padding) // 8, "big")


def _difference(value: int) -> tuple[int, int]:
    """The bits for a difference of differences, and how many they are."""
    if not value:
        return 0, 1
    if -8191 <= value <= 8192:
        return 0b10 << 14 | value & 0x3FFF, 16
    if -65535 <= value <= 65536:
        return 0b110 << 17 | value & 0x1FFFF, 20
    if -524287 <= value <= 524288:
        return 0b1110 << 20 | value & 0xFFFFF, 24
    return 0b1111 << 64 | value & _WORD, 68


def varint(value: int) -> bytes:
    """A number that is not negative, seven bits a byte, the lowest first."""
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def _zigzag(value: int) -> int:
    return value << 1 if value >= 0 else (-value << 1) - 1
