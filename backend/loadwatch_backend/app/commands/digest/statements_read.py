"""Reads slow logs into one table of sums."""

from collections.abc import Sequence
from dataclasses import dataclass

import click
from loadwatch_formats.compression import pieces
from loadwatch_formats.statements.reading import NO_SLOW_LOG, read_log
from loadwatch_formats.statements.slow_log import SlowLogReader
from loadwatch_formats.statements.sums import StatementSums

from loadwatch_backend.app.commands.digest.files import opened

_PIECE = 1 << 18


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
    problems: list[str] = []
    with opened(name) as stream:
        reader = read_log(pieces(stream, _PIECE, problems), sums.add)
    if not reader.statements:
        damage = f" ({problems[0]})" if problems else ""
        raise click.ClickException(f"{name}: {NO_SLOW_LOG}{damage}")
    remarks += [f"{name}: {problem}" for problem in problems]
    return reader
