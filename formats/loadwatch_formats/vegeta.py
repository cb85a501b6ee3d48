"""vegeta's own stream (`vegeta attack`, encoding/gob of lib.Result), read by the names of the fields."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from loadwatch_formats.gob import (
    BYTES,
    INT,
    STRING,
    UINT,
    GobError,
    GobStream,
    GobType,
    Message,
    Types,
    define,
    read_bytes,
    read_int,
    read_uint,
    skip,
    time_ns,
)

_NEEDED = {"Timestamp", "Latency", "Code"}
_NUMBERS = ("Latency", "Code", "BytesIn", "BytesOut")
_TEXTS = ("Timestamp", "Error", "Method", "URL", "Attack")
_HIGHEST = 2**62


class Hit(NamedTuple):
    """One request; `error` is empty where there was none, `code` 0 where there was no answer."""

    time_ns: int
    latency_ns: int
    code: int
    bytes_in: int
    bytes_out: int
    error: str
    method: bytes
    url: bytes
    attack: bytes


class _Plan(NamedTuple):
    """How to read a Result as the stream defines it: type and place of each field, and the last field of use.

    The place is that in _NUMBERS or _TEXTS, as the type is; the one behind the last takes what is of no use.
    """

    fields: tuple[tuple[int, int], ...]
    last: int


def is_vegeta(head: bytes) -> bool:
    """Whether a stream begins with the definition of a Result that has vegeta's fields; `head` must hold all of it."""
    if not head or head[0] in b"{[<":
        return False
    types: Types = {}
    try:
        for message in GobStream().feed(head):
            if message.type >= 0:
                return False
            known = types[define(types, message)]
            if known.name == "Result":
                return _plan(known) is not None
    except (GobError, IndexError):
        pass
    return False


class VegetaStream:
    """Requests from a stream that comes in pieces; several streams one after the other are read as one.

    `damaged` is called with the first byte of each record that cannot be read, and why; the reading goes on behind it.
    """

    def __init__(self, damaged: Callable[[int, str], None]) -> None:
        self.messages = GobStream()
        self._damaged = damaged
        self._types: Types = {}
        self._plans: dict[int, _Plan | None] = {}

    def feed(self, data: bytes) -> Iterator[Hit]:
        """The requests that are whole with these bytes. Take all before the next piece.

        Raises:
            GobError: nothing more can be read, from `messages.offset` on.
        """
        for message in self.messages.feed(data):
            try:
                if message.type < 0:
                    self._plans.pop(define(self._types, message), None)
                    continue
                if message.type not in self._plans:
                    self._plans[message.type] = _plan(self._types.get(message.type))
                plan = self._plans[message.type]
                if plan is None:
                    raise GobError(f"A value of type {message.type}, which is no Result")
                hit = _read(self._types, plan, message)
            except (GobError, IndexError) as error:
                self._damaged(message.offset, str(error) or "A field ends beyond its record")
                continue
            yield hit


def _plan(known: GobType | None) -> _Plan | None:
    if known is None or known.kind != "struct":
        return None
    fields: list[tuple[int, int]] = []
    wanted: dict[str, int] = {}
    for index, field in enumerate(known.fields):
        kind = BYTES if field.type == STRING or field.name == "Timestamp" else field.type
        names = _TEXTS if kind == BYTES else _NUMBERS if kind in (INT, UINT) else ()
        if field.name in names:
            wanted[field.name] = index
        fields.append((kind, names.index(field.name) if field.name in names else len(names)))
    last = max(wanted.values(), default=0)
    return _Plan(tuple(fields), last) if wanted.keys() >= _NEEDED and last < 128 else None


def _read(types: Types, plan: _Plan, message: Message) -> Hit:
    _, data, at, _ = message
    fields, last = plan
    # What the stream leaves out is zero.
    numbers, texts = [0] * (len(_NUMBERS) + 1), [b""] * (len(_TEXTS) + 1)
    index = -1
    while True:
        delta = data[at]  # one byte, for `last` is below 128
        at += 1
        index += delta
        if delta == 0 or index > last:
            break
        kind, place = fields[index]
        if kind == BYTES:
            texts[place], at = read_bytes(data, at)
        elif kind == UINT:
            numbers[place], at = read_uint(data, at)
        elif kind == INT:
            numbers[place], at = read_int(data, at)
        else:
            at = skip(types, kind, data, at)
    latency, code, bytes_in, bytes_out, _ = numbers
    stamp, error, method, url, attack, _ = texts
    if not 0 <= code <= 999:
        raise GobError(f"Status {code}")
    if not (-_HIGHEST < latency < _HIGHEST and bytes_in < _HIGHEST and bytes_out < _HIGHEST):
        raise GobError("A latency or a number of bytes is out of range")
    words = error.decode("utf-8", "replace") if error else ""
    return Hit(time_ns(stamp), latency, code, bytes_in, bytes_out, words, method, url, attack)
