"""Reads slow logs into one table of sums."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import click
from loadwatch_formats.compression import pieces
from loadwatch_formats.statements.slow_log import LONGEST_LINE, SlowLogReader
from loadwatch_formats.statements.sums import StatementSums

from loadwatch_backend.commands.digest.files import opened

_PIECE = 1 << 18
_MOST_LINES_BEFORE = 200_000
"""Lines without a statement among them, after which a file is no slow log; the end of a bulk insert may come first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summed:
    """Slow logs that were summed up together.

    Attributes:
        sums: by fingerprint.
        read, unreadable, cut: of `SlowLogReader`.
        remarks: what is to be known of them, in words, each with the name of its file.
    """

    sums: StatementSums
    read: int
    unreadable: int
    cut: int
    remarks: Sequence[str]


def read_files(files: Sequence[str]) -> Summed:
    """Sum up files as one log.

    Raises:
        click.ClickException: a file cannot be read, or is no slow log.
    """
    sums, remarks = StatementSums(), list[str]()
    read = unreadable = cut = 0
    for name in files:
        try:
            reader = _read_file(name, sums, remarks)
        except OSError as error:
            raise click.ClickException(f"{name}: {error.strerror or error}") from None
        read += reader.statements
        unreadable += reader.unreadable
        cut += reader.cut
    return Summed(sums=sums, read=read, unreadable=unreadable, cut=cut, remarks=remarks)


def _read_file(name: str, sums: StatementSums, remarks: list[str]) -> SlowLogReader:
    reader, problems = SlowLogReader(), list[str]()
    with opened(name) as stream:
        for number, line in enumerate(_lines(pieces(stream, _PIECE, problems))):
            for one in reader.feed(line):
                sums.add(one)
            if number >= _MOST_LINES_BEFORE and not reader.statements:
                break
        for one in reader.flush():
            sums.add(one)
    if not reader.statements:
        damage = f" ({problems[0]})" if problems else ""
        raise click.ClickException(
            f"{name}: no slow log of MySQL or MariaDB: no statement below a line such as "
            f"'# Query_time: 0.25  Lock_time: 0.00 Rows_sent: 1  Rows_examined: 9'{damage}"
        )
    remarks += [f"{name}: {problem}" for problem in problems]
    return reader


def _lines(data: Iterator[bytes]) -> Iterator[str]:
    """Lines without their ends, and of each at most `LONGEST_LINE` bytes: the rest of a longer one is read past."""
    begun = bytearray()
    for piece in data:
        *ended, rest = piece.split(b"\n")
        for line in ended:
            begun += line[: LONGEST_LINE - len(begun)]
            yield _text(begun)
            begun.clear()
        begun += rest[: LONGEST_LINE - len(begun)]
    if begun:
        yield _text(begun)


def _text(line: bytearray) -> str:
    return line.decode("utf-8", "replace").removesuffix("\r")
