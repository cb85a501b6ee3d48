"""vegeta's own stream (`vegeta attack`, encoding/gob of lib.Result), as far as the live view needs it.

Gob's rules (Go, encoding/gob/doc.go): a message is its length and a type id; a negative id defines a type, a positive
one is a value. A struct is (field delta, value) pairs up to delta 0, zero values are left out. An unsigned number below
128 is one byte, else the negated count of its bytes and these, big-endian; a signed one has its sign in the lowest bit.
"""

from collections.abc import Sequence

from loadwatch_collectors.runs.streams.event import RequestEvent, StreamError
from loadwatch_collectors.runs.streams.vegeta_csv import vegeta_outcome

_INT, _UINT, _BYTES, _STRING = 2, 3, 5, 6
_STRUCT_FIELD = 3
_MAX_MESSAGE = 1 << 30
_YEAR_ONE_TO_EPOCH = 62_135_596_800
_NEEDED = frozenset({"Code", "Timestamp", "Latency", "BytesOut", "BytesIn", "Error"})
HEAD_WORDS = (b"Result", b"Attack", b"Timestamp")


class _Cursor:
    """Reads values of one message, which is there as a whole."""

    __slots__ = ("at", "data", "end")

    def __init__(self, data: bytes, at: int, end: int) -> None:
        self.data = data
        self.at = at
        self.end = end

    def uint(self) -> int:
        value, self.at = read_uint(self.data, self.at)
        if self.at > self.end:
            raise IndexError("a number goes past the end of its message")
        return value

    def int(self) -> int:
        value = self.uint()
        return ~(value >> 1) if value & 1 else value >> 1

    def bytes(self) -> bytes:
        count = self.uint()
        if self.at + count > self.end:
            raise IndexError("a text goes past the end of its message")
        self.at += count
        return self.data[self.at - count : self.at]


def read_uint(data: bytes, at: int) -> tuple[int, int]:
    """A number of gob at an offset, and the offset behind it; IndexError when it goes on beyond the data."""
    first = data[at]
    if first < 128:
        return first, at + 1
    count = 256 - first
    if count > 8:
        raise ValueError(f"{count} bytes cannot be a number")
    if at + 1 + count > len(data):
        raise IndexError("the number is not complete")
    return int.from_bytes(data[at + 1 : at + 1 + count], "big"), at + 1 + count


def find_result_type(data: bytes) -> bool:
    """Whether the beginning of a file defines vegeta's Result."""
    return data[:1] > b"\x08" and all(word in data[:400] for word in HEAD_WORDS)


class VegetaGobReader:
    """Requests from a growing stream; several streams one after the other are read as one."""

    def __init__(self) -> None:
        self._rest = b""
        self._done = 0
        self._fields: dict[int, list[tuple[str, int]]] = {}

    def feed(self, data: bytes) -> Sequence[RequestEvent]:
        """See StreamReader."""
        data = self._rest + data
        events: list[RequestEvent] = []
        at = 0
        while at < len(data):
            try:
                length, begin = read_uint(data, at)
            except IndexError:
                break
            except ValueError as error:
                raise StreamError(f"byte {self._done + at}: {error}; this is not vegeta's stream") from error
            if length > _MAX_MESSAGE:
                raise StreamError(f"byte {self._done + at}: a message of {length} bytes; this is not vegeta's stream")
            if begin + length > len(data):
                break
            try:
                event = self._read_message(_Cursor(data, begin, begin + length))
            except (IndexError, ValueError) as error:
                raise StreamError(f"byte {self._done + at}: {error}; this is not vegeta's stream") from error
            if event is not None:
                events.append(event)
            at = begin + length
        self._rest = data[at:]
        self._done += at
        return events

    def _read_message(self, message: _Cursor) -> RequestEvent | None:
        type_id = message.int()
        if type_id < 0:
            fields = _read_definition(message)
            if fields is not None:
                self._fields[-type_id] = fields
            return None
        fields = self._fields.get(type_id)
        if fields is None:
            raise ValueError(f"a value of the unknown type {type_id}")
        return _read_result(message, fields)


def _read_result(message: _Cursor, fields: list[tuple[str, int]]) -> RequestEvent:
    code = latency = bytes_in = bytes_out = 0
    error, start_ms, index = "", 0, -1
    while delta := message.uint():
        index += delta
        name, kind = fields[index]
        if kind == _UINT:
            number = message.uint()
        elif kind == _INT:
            number = message.int()
        elif kind in (_BYTES, _STRING) or name == "Timestamp":
            raw, number = message.bytes(), 0
            if name == "Timestamp":
                start_ms = parse_go_binary_time(raw)
            elif name == "Error":
                error = raw.decode("utf-8", "replace")
        else:
            break  # the headers, of no use here; the fields that are of use come before them
        if name == "Code":
            code = number
        elif name == "Latency":
            latency = number
        elif name == "BytesIn":
            bytes_in = number
        elif name == "BytesOut":
            bytes_out = number
    return RequestEvent(start_ms, latency / 1e9, vegeta_outcome(code, error), bytes_in, bytes_out)


def parse_go_binary_time(raw: bytes) -> int:
    """Milliseconds since the epoch of time.Time.MarshalBinary: version, int64 s since year 1, int32 ns, int16 zone."""
    if len(raw) < 15:
        raise ValueError(f"a time of {len(raw)} bytes")
    seconds = int.from_bytes(raw[1:9], "big", signed=True) - _YEAR_ONE_TO_EPOCH
    return seconds * 1000 + int.from_bytes(raw[9:13], "big") // 1_000_000


def _read_definition(message: _Cursor) -> list[tuple[str, int]] | None:
    """Names and type ids of a struct's fields from a `wireType`; None for types that are no structs."""
    if message.uint() != _STRUCT_FIELD:
        return None
    fields: list[tuple[str, int]] = []
    index = 0
    while delta := message.uint():  # structType{CommonType, Field []*fieldType}
        index += delta
        if index == 1:
            _read_name_and_id(message)
        else:
            fields = [_read_name_and_id(message) for _ in range(message.uint())]
    return fields if {name for name, _ in fields} >= _NEEDED else None


def _read_name_and_id(message: _Cursor) -> tuple[str, int]:
    name, number, index = "", 0, 0
    while delta := message.uint():
        index += delta
        if index == 1:
            name = message.bytes().decode("utf-8", "replace")
        else:
            number = message.int()
    return name, number
