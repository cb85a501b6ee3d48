"""Reads a slow log as a file: its bytes go in, its executions come out."""

from collections.abc import Callable, Iterable, Iterator

from loadwatch_formats.statements.slow_log import LONGEST_LINE, SlowLogReader, SlowStatement

MOST_LINES_BEFORE = 200_000
"""Lines without a statement among them, after which a file is no slow log; the end of a bulk insert may come first."""
NO_SLOW_LOG = (
    "no slow log of MySQL or MariaDB: no statement below a line such as "
    "'# Query_time: 0.25  Lock_time: 0.00 Rows_sent: 1  Rows_examined: 9'"
)


def read_log(data: Iterable[bytes], add: Callable[[SlowStatement], None]) -> SlowLogReader:
    """Give each execution to `add`; the reader tells what became of the lines, without statements of no slow log."""
    reader = SlowLogReader()
    for number, line in enumerate(lines_of(data)):
        for one in reader.feed(line):
            add(one)
        if number >= MOST_LINES_BEFORE and not reader.statements:
            break
    for one in reader.flush():
        add(one)
    return reader


def lines_of(data: Iterable[bytes]) -> Iterator[str]:
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
