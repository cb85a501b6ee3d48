"""Reads what is streamed, bit by bit, after chunked.go and xor.go of Prometheus."""

from collections.abc import Iterator

from loadwatch_backend.promql.http.remote_read.frames import crc32c


class Bits:
    """Reads a chunk bit by bit."""

    def __init__(self, data: bytes) -> None:
        self.number, self.left = int.from_bytes(data, "big"), len(data) * 8

    def take(self, count: int) -> int:
        self.left -= count
        assert self.left >= 0
        return self.number >> self.left & (1 << count) - 1

    def varint(self) -> int:
        value, shift = 0, 0
        while True:
            byte = self.take(8)
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value > 1 << bits - 1 else value


def decode(data: bytes) -> list[tuple[int, int]]:
    """Times and bits of values, after tsdb/chunkenc/xor.go."""
    bits = Bits(data)
    count = bits.take(16)
    raw = bits.varint()
    time = raw >> 1 if not raw & 1 else -(raw >> 1) - 1
    word = bits.take(64)
    found, delta, leading, trailing = [(time, word)], 0, 0, 0
    for number in range(1, count):
        if number == 1:
            delta = bits.varint()
        else:
            size = next((size for size in (0, 14, 17, 20) if not bits.take(1)), 64)
            delta += signed(bits.take(size), size) if size else 0
        time += delta
        if bits.take(1):
            if bits.take(1):
                leading, length = bits.take(5), bits.take(6) or 64
                trailing = 64 - leading - length
            word ^= bits.take(64 - leading - trailing) << trailing
        found.append((time & (1 << 64) - 1 if time >= 1 << 63 else time, word))
    assert bits.left < 8
    return found


def unframe(stream: bytes) -> Iterator[bytes]:
    """The contents of frames, whose checksums must be right."""
    while stream:
        end = next(place for place, byte in enumerate(stream) if byte < 0x80) + 1
        size = Bits(stream[:end]).varint()
        content = stream[end + 4 : end + 4 + size]
        assert len(content) == size
        assert crc32c(content).to_bytes(4, "big") == stream[end : end + 4]
        yield content
        stream = stream[end + 4 + size :]
