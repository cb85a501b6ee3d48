"""vegeta's gob stream, what `vegeta attack` writes unless told otherwise; read natively, by the names of the fields."""

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO

from loadwatch_backend.importers.endpoints import endpoint_of_url
from loadwatch_backend.importers.importer import Importer, Part
from loadwatch_backend.importers.reading.gob import (
    BYTES,
    INT,
    STRING,
    UINT,
    Ending,
    GobError,
    GobType,
    Message,
    Types,
    define,
    messages,
    read_bytes,
    read_int,
    read_uint,
    skip,
    time_ns,
)
from loadwatch_backend.importers.sink import Rows, Sink
from loadwatch_backend.importers.tools.vegeta.hits import NO_TARGET, estimates
from loadwatch_backend.records.contract import ImportOptions

_NEEDED = {"Timestamp", "Latency", "Code"}
_WANTED = ("Attack", "Code", "Timestamp", "Latency", "BytesOut", "BytesIn", "Error", "Method", "URL")
_HIGHEST = 2**62


@dataclass(frozen=True, slots=True)
class _Plan:
    """How to read a Result as the stream defines it: name and kind of each field, and the last one that is wanted."""

    fields: tuple[tuple[str, int], ...]
    last: int


def recognise(head: bytes, _name: str) -> int:
    """By the first definition of a type: a Result with vegeta's fields."""
    if not head or head[0] in b"{[<":
        return 0
    types: Types = {}
    try:
        for message in messages(BytesIO(head), Ending()):
            if message.type >= 0:
                return 0
            known = types[define(types, message)]
            if known.name == "Result":
                return 100 if {field.name for field in known.fields} >= _NEEDED else 0
    except (GobError, IndexError):
        return 0
    return 0


def read(parts: Sequence[Part], sink: Sink, _options: ImportOptions) -> None:
    """Reads every part; several are attacks of several machines."""
    for part in parts:
        _read_part(part, sink)
    estimates(sink)


def _read_part(part: Part, sink: Sink) -> None:
    types: Types = {}
    plans: dict[int, _Plan | None] = {}
    rows = sink.rows()
    ending = Ending()
    urls: dict[tuple[bytes, bytes], str] = {}
    named = False
    with part.open() as stream:
        for message in messages(stream, ending):
            try:
                if message.type < 0:
                    plans.pop(define(types, message), None)
                    continue
                if message.type not in plans:
                    plans[message.type] = _plan(types.get(message.type))
                plan = plans[message.type]
                if plan is None:
                    raise GobError(f"A value of type {message.type}, which is no Result")
                found = _fields(types, plan, message)
                _append(rows, found, urls)
            except (GobError, IndexError) as error:
                what = str(error) or "A field ends beyond its record"
                sink.damage(f"{what}; the record was left out.", place=f"byte {message.offset}")
                continue
            if not named and (attack := found.get("Attack")):
                sink.describe(name=attack.decode("utf-8", "replace") if isinstance(attack, bytes) else None)
                named = True
    rows.flush()
    if ending.problem is not None:
        sink.damage(
            f"{ending.problem}; the requests before it were imported.",
            place=f"byte {ending.offset}",
            figures={"skipped_bytes": ending.left},
        )


def _plan(known: GobType | None) -> _Plan | None:
    if known is None or known.kind != "struct" or not {field.name for field in known.fields} >= _NEEDED:
        return None
    fields = tuple((field.name, field.type) for field in known.fields)
    return _Plan(fields, max(at for at, (name, _) in enumerate(fields) if name in _WANTED))


def _fields(types: Types, plan: _Plan, message: Message) -> dict[str, int | bytes]:
    """Fields by name; those that are zero are not there."""
    data, at = message.data, message.at
    found: dict[str, int | bytes] = {}
    index = -1
    while True:
        delta, at = read_uint(data, at)
        index += delta
        if delta == 0 or index > plan.last:
            return found
        name, kind = plan.fields[index]
        if kind == UINT:
            found[name], at = read_uint(data, at)
        elif kind == INT:
            found[name], at = read_int(data, at)
        elif kind in (STRING, BYTES) or name == "Timestamp":
            found[name], at = read_bytes(data, at)
        else:
            at = skip(types, kind, data, at)


def _append(rows: Rows, found: dict[str, int | bytes], urls: dict[tuple[bytes, bytes], str]) -> None:
    stamp = _text(found, "Timestamp")
    code, latency = _number(found, "Code"), _number(found, "Latency")
    if code > 999:
        raise GobError(f"Status {code}")
    target = _text(found, "Method"), _text(found, "URL")
    endpoint = urls.get(target)
    if endpoint is None:
        method, url = target
        endpoint = endpoint_of_url(method.decode("utf-8", "replace"), url.decode("utf-8", "replace"))
        endpoint = endpoint or NO_TARGET
        if len(urls) < 10_000:
            urls[target] = endpoint
    error = _text(found, "Error")
    rows.append(
        time_ns(stamp),
        latency,
        code,
        endpoint,
        error=error.decode("utf-8", "replace") if error else None,
        bytes_in=_number(found, "BytesIn"),
        bytes_out=_number(found, "BytesOut"),
    )


def _number(found: dict[str, int | bytes], name: str) -> int:
    value = found.get(name, 0)
    if not isinstance(value, int) or not -_HIGHEST < value < _HIGHEST:
        raise GobError(f"{name} is no number in range")
    return value


def _text(found: dict[str, int | bytes], name: str) -> bytes:
    value = found.get(name, b"")
    if not isinstance(value, bytes):
        raise GobError(f"{name} is no text")
    return value


IMPORTER = Importer(
    name="vegeta-gob",
    tool="vegeta",
    title="vegeta gob (what vegeta attack writes)",
    recognise=recognise,
    read=read,
)
