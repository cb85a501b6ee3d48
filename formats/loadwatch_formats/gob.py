"""Go's gob streams (https://pkg.go.dev/encoding/gob), as far as results need them: bounded, without building values.

A stream is a row of messages, each with its length in front. A message defines a type (a negative id) or holds a value
(its type's id, then the fields that are not zero, each with the distance from the field before).
"""

from collections.abc import Iterator
from typing import NamedTuple

BOOL, INT, UINT, FLOAT, BYTES, STRING, COMPLEX, INTERFACE = range(1, 9)
_BASIC = {BOOL, INT, UINT, FLOAT}
_LONGEST = 1 << 28
_DEPTH = 20


class GobError(ValueError):
    """The bytes are not what a gob encoder writes."""


class Field(NamedTuple):
    name: str
    type: int


class GobType(NamedTuple):
    """A type that the stream defined: `kind` is array, slice, struct, map, or opaque (bytes of the type's own)."""

    kind: str
    name: str
    fields: tuple[Field, ...] = ()
    element: int = 0
    key: int = 0


Types = dict[int, GobType]


class Message(NamedTuple):
    """One message; `data[at:]` is what stands behind its type id. `offset` is of its first byte in the stream."""

    type: int
    data: bytes
    at: int
    offset: int


class GobStream:
    """A stream that comes in pieces of any size. `offset` is of the first byte that belongs to no whole message."""

    def __init__(self) -> None:
        self.offset = 0
        self._held = b""

    @property
    def left(self) -> int:
        return len(self._held)

    def feed(self, data: bytes) -> Iterator[Message]:
        """The messages, whatever their type, that are whole with these bytes. Take all before the next piece.

        Raises:
            GobError: no message can begin at `offset`; nothing more can be read.
        """
        held = self._held + data
        at = 0
        try:
            while at < len(held):
                try:
                    length, start = read_uint(held, at)
                except IndexError:
                    break
                if length > _LONGEST:
                    raise GobError(f"A message claims {length} bytes")
                end = start + length
                if end > len(held):
                    break
                message = held[start:end]
                try:
                    kind, inner = read_int(message, 0)
                except (IndexError, GobError):
                    kind, inner = 0, 0
                yield Message(kind, message, inner, self.offset + at)
                at = end
        finally:
            self.offset += at
            self._held = held[at:]


def read_uint(data: bytes, at: int) -> tuple[int, int]:
    """An unsigned integer and the place behind it; IndexError when cut off."""
    first = data[at]
    if first < 128:
        return first, at + 1
    count = 256 - first
    if count > 8:
        raise GobError(f"An integer claims {count} bytes")
    end = at + 1 + count
    if end > len(data):
        raise IndexError
    return int.from_bytes(data[at + 1 : end], "big"), end


def read_int(data: bytes, at: int) -> tuple[int, int]:
    """A signed integer: the sign is the lowest bit."""
    value, at = read_uint(data, at)
    return (~(value >> 1) if value & 1 else value >> 1), at


def read_bytes(data: bytes, at: int) -> tuple[bytes, int]:
    """Bytes or text with their length in front."""
    length, at = (data[at], at + 1) if data[at] < 128 else read_uint(data, at)
    end = at + length
    if end > len(data):
        raise IndexError
    return data[at:end], end


def define(types: Types, message: Message) -> int:
    """Takes a message with a negative type id as the definition that it is; gives the id.

    Raises:
        GobError, IndexError: if it is none.
    """
    # wireType: 0 array, 1 slice, 2 struct, 3 map, 4 gob encoder, 5 binary marshaler, 6 text marshaler
    field, at = read_uint(message.data, message.at)
    if field == 0:
        raise GobError("A type is defined as nothing")
    found = _definition(message.data, at, field - 1)
    known = types.get(-message.type)
    if known is not None and (known.kind, known.name) != (found.kind, found.name):
        # Streams one after the other define their types again, of another version perhaps; never as something else.
        raise GobError(f"Type {-message.type}, which is {known.name or known.kind}, is defined anew")
    types[-message.type] = found
    return -message.type


def _definition(data: bytes, at: int, wire: int) -> GobType:
    name = ""
    fields: tuple[Field, ...] = ()
    numbers: dict[int, int] = {}
    index = -1
    while True:
        delta, at = read_uint(data, at)
        if delta == 0:
            break
        index += delta
        if index == 0:
            name, _, at = _name_and_id(data, at)
        elif wire == 2:
            fields, at = _field_list(data, at)
        else:
            numbers[index], at = read_int(data, at)
    kind = ("array", "slice", "struct", "map")[wire] if wire < 4 else "opaque"
    if kind == "map":
        return GobType(kind, name, key=numbers.get(1, 0), element=numbers.get(2, 0))
    return GobType(kind, name, fields, element=numbers.get(1, 0))


def _field_list(data: bytes, at: int) -> tuple[tuple[Field, ...], int]:
    count, at = read_uint(data, at)
    fields: list[Field] = []
    for _ in range(min(count, 1_000)):
        name, kind, at = _name_and_id(data, at)
        fields.append(Field(name, kind))
    return tuple(fields), at


def _name_and_id(data: bytes, at: int) -> tuple[str, int, int]:
    """Decode a CommonType or a fieldType (name and id); return both and the place behind it."""
    name, number, index = "", 0, -1
    while True:
        delta, at = read_uint(data, at)
        if delta == 0:
            return name, number, at
        index += delta
        if index == 0:
            raw, at = read_bytes(data, at)
            name = raw.decode("utf-8", "replace")
        else:
            number, at = read_int(data, at)


def skip(types: Types, kind: int, data: bytes, at: int, depth: int = 0) -> int:
    """The place behind a value of any type.

    Raises:
        GobError, IndexError: for a type that is not defined, one nested too deep, or a value that is cut off.
    """
    if depth > _DEPTH:
        raise GobError("Types are nested too deep")
    if kind in _BASIC:
        return read_uint(data, at)[1]
    if kind in (BYTES, STRING):
        return read_bytes(data, at)[1]
    if kind == COMPLEX:
        return read_uint(data, read_uint(data, at)[1])[1]
    known = types.get(kind)
    if known is None:
        raise GobError(f"Type {kind} is not defined")
    if known.kind == "opaque":
        return read_bytes(data, at)[1]
    if known.kind == "struct":
        index = -1
        while True:
            delta, at = read_uint(data, at)
            if delta == 0:
                return at
            index += delta
            if index >= len(known.fields):
                raise GobError(f"{known.name} has no field {index}")
            at = skip(types, known.fields[index].type, data, at, depth + 1)
    count, at = read_uint(data, at)
    for _ in range(count):
        if known.kind == "map":
            at = skip(types, known.key, data, at, depth + 1)
        at = skip(types, known.element, data, at, depth + 1)
    return at


_FARTHEST = 9_200_000_000
"""Seconds from 1970 whose nanoseconds fit into 64 bits."""
UNIX_OF_YEAR_ONE = 62_135_596_800
"""Seconds from the beginning of year 1, where Go's times begin, to 1970."""


def time_ns(raw: bytes) -> int:
    """Nanoseconds since the epoch of `time.Time.MarshalBinary`: version, seconds since year 1, nanoseconds, offset."""
    if len(raw) < 15 or raw[0] not in (1, 2):
        raise GobError("A time is not in Go's binary form")
    seconds = int.from_bytes(raw[1:9], "big", signed=True) - UNIX_OF_YEAR_ONE
    if not -_FARTHEST < seconds < _FARTHEST:
        raise GobError("A time is beyond the year 2262")
    return seconds * 1_000_000_000 + int.from_bytes(raw[9:13], "big", signed=True)
