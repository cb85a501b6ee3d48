"""From pieces of bytes to numbered lines of a bounded length. Pure."""

from collections.abc import Iterable, Iterator

LONGEST_LINE = 1 << 16
"""Bytes: more than 64 labels of usual length take."""

Line = tuple[int, bytes | None]
"""A line's number, from 1, and its bytes without the line feed; None of a line that is too long."""


def numbered_lines(pieces: Iterable[bytes]) -> Iterator[Line]:
    """All lines; the last one too where nothing ends it."""
    number, held = 1, b""
    too_long = False
    for piece in pieces:
        *whole, rest = piece.split(b"\n")
        for part in whole:
            line = held + part
            yield number, None if too_long or len(line) > LONGEST_LINE else line
            number, held, too_long = number + 1, b"", False
        if too_long or len(held) + len(rest) > LONGEST_LINE:
            too_long, held = True, b""
        else:
            held += rest
    if held or too_long:
        yield number, None if too_long else held
