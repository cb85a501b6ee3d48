"""Reading a result that is one JSON document or one short text, without believing anything about its shape."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, cast

import orjson
from loadwatch_formats.times import parse_rfc3339

from loadwatch_backend.evidence.records.model import Latency
from loadwatch_backend.runs.importers.errors import ImportLimitError, UnreadableFileError
from loadwatch_backend.runs.importers.importer import Part, Sink

DOCUMENT_BYTES = 64 * 1024 * 1024
"""A summary is some kilobytes; one that is larger than this is none."""

LONGEST_LINE = 100_000
"""A tool's line has some hundred characters; the JSON that a script of wrk prints in one line has some thousand."""

_MOST = 2.0**62
STATUS_MOST = 999
LATENCIES = tuple(field.name for field in fields(Latency))


def only(parts: Sequence[Part], sink: Sink) -> Part:
    """The first part, of formats whose file is a whole result; says so when there are more."""
    if len(parts) > 1:
        sink.remark(
            "one-result-only",
            figures={"files": len(parts) - 1},
            name=parts[0].name,
            others=", ".join(part.name for part in parts[1:10]),
        )
    return parts[0]


def read_text(part: Part, what: str) -> bytes:
    """All of a small file.

    Raises:
        ImportLimitError: it is larger than `DOCUMENT_BYTES`.
    """
    with part.open() as stream:
        content = stream.read(DOCUMENT_BYTES + 1)
    if len(content) > DOCUMENT_BYTES:
        raise ImportLimitError(
            f"{part.name}: {what} of more than {DOCUMENT_BYTES // 2**20} MiB is not read. "
            "Send the tool's file of single requests instead."
        )
    return content


def read_lines(part: Part, what: str) -> str:
    """A small file as text with plain line ends, its lines cut to `LONGEST_LINE` characters.

    Raises:
        ImportLimitError: it is larger than `DOCUMENT_BYTES`.
    """
    text = read_text(part, what).decode(errors="replace").replace("\r\n", "\n")
    return "\n".join(line[:LONGEST_LINE] for line in text.split("\n"))


def read_document(part: Part, what: str) -> dict[str, Any]:
    """A JSON object.

    Raises:
        UnreadableFileError: it is cut off or damaged; the text says at which byte.
    """
    content = read_text(part, what)
    try:
        return mapping(orjson.loads(content))
    except orjson.JSONDecodeError as error:
        at = len(error.doc[: error.pos].encode())
        cut = " The file seems to be cut off." if at >= len(content.rstrip()) - 1 else ""
        raise UnreadableFileError(
            f"{part.name}: {what} cannot be read from byte {at} of {len(content)} on ({error.msg}).{cut} "
            "Nothing of it was imported: let the tool write it again."
        ) from error


def mapping(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def items(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for item in cast("list[object]", value):
            if found := mapping(item):
                yield found


def number(value: object) -> float | None:
    """A finite number (also one written as text), else None."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def count(value: object) -> int:
    """A count from 0 to 2 ** 53, which floats still hold exactly; 0 where there is none."""
    found = number(value)
    return int(found) if found is not None and 0 < found < 2**53 else 0


def scaled(value: object, factor: float) -> float | None:
    found = number(value)
    return None if found is None else found * factor


def latency_of(values: Mapping[Any, object], names: Sequence[object] = LATENCIES, factor: float = 1.0) -> Latency:
    """Latencies out of a tool's values, by the names that it has for those of `LATENCIES`."""
    found = {field: scaled(values.get(name), factor) for field, name in zip(LATENCIES, names, strict=True)}
    return Latency(**found)


def nanoseconds(value: str | float, per: float = 1e9) -> int:
    """A duration in a unit of `per` nanoseconds, seconds by default.

    Raises:
        ValueError: it is no number, or one beyond all use.
    """
    found = float(value) * per
    if not -_MOST < found < _MOST:
        raise ValueError("a time is out of range")
    return round(found)


def integer(value: str | int | float, most: int = 2**62) -> int:
    """A whole number from 0 to `most`.

    Raises:
        ValueError: it is none.
    """
    found = int(value)
    if not 0 <= found <= most:
        raise ValueError("a number is out of range")
    return found


def epoch_ms(value: object) -> int | None:
    """A number that can be milliseconds since the epoch (until the year 5138), else None."""
    found = number(value)
    return int(found) if found is not None and 0 <= found < 1e14 else None


def instant_ms(value: object) -> int | None:
    """An ISO 8601 time with its zone as milliseconds since the epoch."""
    if not isinstance(value, str):
        return None
    try:
        return (parse_rfc3339(value) + 500_000) // 1_000_000
    except ValueError:
        return None
