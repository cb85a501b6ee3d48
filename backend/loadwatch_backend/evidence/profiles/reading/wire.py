"""The fields of an encoded protobuf message, without building it: so that they can be counted before memory is taken.

An empty message inside another takes two bytes on the wire and fifty in memory.
"""

from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


class WireError(ValueError):
    """The bytes are no protobuf message."""


def fields(data: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Number, wire type, and two integers: of bytes where they begin and end, of others the value and 0.

    Raises:
        WireError: a field that ends outside the message, or that no message has.
    """
    position, size = 0, len(data)
    while position < size:
        key, position = _varint(data, position)
        number, kind = key >> 3, key & 7
        if number == 0:
            raise WireError(f"a field without a number at byte {position}")
        if kind == BYTES:
            length, position = _varint(data, position)
            end = position + length
            if end > size:
                raise WireError(f"field {number} ends {end - size} bytes behind the end of the data")
            yield number, kind, position, end
            position = end
        elif kind == VARINT:
            value, position = _varint(data, position)
            yield number, kind, value, 0
        elif kind in (FIXED64, FIXED32):
            end = position + (8 if kind == FIXED64 else 4)
            if end > size:
                raise WireError(f"field {number} is cut off at byte {size}")
            yield number, kind, int.from_bytes(data[position:end], "little"), 0
            position = end
        else:
            raise WireError(f"field {number} at byte {position} has a type that is not used")


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if position >= len(data):
            raise WireError(f"the data is cut off at byte {position}")
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, position
        shift += 7
        if shift > 63:
            raise WireError(f"a number without an end at byte {position}")


def signed(value: int) -> int:
    """The int64 of a varint."""
    return value - (1 << 64) if value >> 63 else value
