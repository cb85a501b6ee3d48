"""Records of a damaged chunk of CSV, one by one: what is whole is given, the rest is told with its line.

For chunks that the fast reader of whole columns refuses. A stray quote costs the line it is in, not what follows.
"""

import csv
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from loadwatch_backend.runs.importers.reading.chunks import Chunk

T = TypeVar("T")
_MOST_LINES = 500
_SHOWN = 80


def whole_records(
    chunk: Chunk,
    accept: Callable[[Sequence[str]], T | None],
    damaged: Callable[[int, str], None],
    *,
    delimiter: str = ",",
) -> Iterator[T]:
    """What `accept` makes of each record; those for which it gives None go to `damaged` with line and text."""
    lines = chunk.data.decode("utf-8", "replace").split("\n")
    at = 0
    while at < len(lines):
        text = lines[at].rstrip("\r")
        if not text:
            at += 1
            continue
        end = _end(lines, at)
        found = accept(_fields("\n".join(lines[at:end]), delimiter))
        if found is None and end > at + 1:
            end = at + 1
            found = accept(_fields(text, delimiter))
        if found is None:
            damaged(chunk.line + at, text if len(text) <= _SHOWN else text[:_SHOWN] + "…")
        else:
            yield found
        at = end


def _end(lines: Sequence[str], at: int) -> int:
    """Behind the last line of the record that begins at `at`; of a quote that is never closed, behind its line."""
    quotes = 0
    for end in range(at, min(len(lines), at + _MOST_LINES)):
        quotes += lines[end].count('"')
        if quotes % 2 == 0:
            return end + 1
    return at + 1


def _fields(text: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([text.rstrip("\r")], delimiter=delimiter, strict=True), list[str]())
    except csv.Error:
        return []
