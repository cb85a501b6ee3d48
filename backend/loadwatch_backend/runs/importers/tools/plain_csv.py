"""Rows of a small CSV without quoting in its figures, with the places of those that are damaged."""

import csv
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from loadwatch_backend.runs.importers.errors import UnreadableFileError
from loadwatch_backend.runs.importers.importer import Part
from loadwatch_backend.runs.importers.sink import Sink

_LONGEST_ROW = 1_000_000
_SHOWN = 20


class _Lines:
    """Decoded lines; tells whether the last one ended with a line break."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.ended = True

    def __iter__(self) -> Iterator[str]:
        while line := self._stream.readline(_LONGEST_ROW):
            self.ended = line.endswith(b"\n")
            yield line.decode(errors="replace").replace("\0", "�")


def check_header(part: Part, row: Sequence[str], wanted: Sequence[str], what: str) -> None:
    """Refuses a file that was called by a format that it has not.

    Raises:
        UnreadableFileError: the first row has other names; the text shows both.
    """
    if list(row[: len(wanted)]) != list(wanted):
        raise UnreadableFileError(
            f"{part.name}: {what} begins with the line {','.join(wanted)!r}, and this file with "
            f"{','.join(row)[:80]!r}. Leave the format out to have it recognised."
        )


class Damages:
    """Reports damaged rows, the first ones with their places, then how many more there were."""

    def __init__(self, sink: Sink, what: str) -> None:
        self._sink = sink
        self._what = what
        self.rows = 0

    def add(self, line: int, why: str) -> None:
        """One damaged row at a line number from 1."""
        self.rows += 1
        if self.rows <= _SHOWN:
            self._sink.damage(f"{self._what}: {why}; the line was left out.", place=f"line {line}")

    def close(self) -> None:
        """Sums up what was not listed."""
        if self.rows > _SHOWN:
            self._sink.damage(
                f"{self._what}: {self.rows - _SHOWN} more lines were damaged and left out.",
                place="further lines",
                figures={"lines": self.rows - _SHOWN},
            )


def rows_of(part: Part, damages: Damages, *, quoted: bool = True) -> Iterator[tuple[int, Sequence[str]]]:
    """Line number and fields of every whole row after the header; the header comes first as line 1.

    Without `quoted` a quote is a character as any other, so that a stray one costs its own line only.

    A row of another length than the header is damaged, and so is a last row without its line break whose length is
    right: its last figure may have lost digits.
    """
    with part.open() as stream:
        lines = _Lines(stream)
        reader = csv.reader(lines, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE)
        width = 0
        held: tuple[int, Sequence[str]] | None = None
        while True:
            try:
                row = next(reader)
            except StopIteration:
                break
            except csv.Error as error:
                damages.add(reader.line_num, str(error))
                continue
            if held is not None:
                yield held
                held = None
            if not row:
                continue
            if width == 0:
                width = len(row)
                held = (1, row)
                continue
            if len(row) != width:
                why = "the file ends within it" if not lines.ended else f"{len(row)} fields instead of {width}"
                damages.add(reader.line_num, why)
                continue
            held = (reader.line_num, row)
        if held is not None:
            if lines.ended or held[0] == 1:
                yield held
            else:
                damages.add(held[0], "the file ends within it")
