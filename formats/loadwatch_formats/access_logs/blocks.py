"""From bytes to texts of whole lines, however the bytes are cut."""

from collections.abc import Iterator

LONGEST_LINE = 1 << 20
"""Bytes; a longer line is left out and counted."""
BLOCK_BYTES = LONGEST_LINE
"""Of bytes to give at once, at most: a line within one such piece is never longer than the longest."""
SAMPLE_BYTES = 1 << 17
"""Of the beginning of a log, by which its format is told."""


class LineBlocks:
    """Joins what was cut in the middle of a line. Bytes are read as Latin-1: nothing is ever no text.

    Attributes:
        too_long: lines that were left out for their length.
    """

    def __init__(self) -> None:
        self.too_long = 0
        self._begun: list[bytes] = []
        self._length = 0

    def feed(self, data: bytes) -> str:
        """The whole lines that end in these bytes, with what was held of the first of them.

        Raises:
            ValueError: there are more than `BLOCK_BYTES` at once.
        """
        if len(data) > BLOCK_BYTES:
            raise ValueError(f"{len(data)} bytes at once are more than {BLOCK_BYTES}")
        cut = data.rfind(b"\n") + 1
        if not cut:
            self._hold(data)
            return ""
        first = data.find(b"\n") + 1
        if self._length + first - 1 > LONGEST_LINE:
            self.too_long += 1
            whole = data[first:cut]
        else:
            whole = b"".join((*self._begun, data[:cut]))
        self._begun, self._length = [], 0
        self._hold(data[cut:])
        return whole.decode("latin-1")

    def rest(self) -> str:
        """The last line, if nothing ended it."""
        left, length = b"".join(self._begun), self._length
        self._begun, self._length = [], 0
        if length > LONGEST_LINE:
            self.too_long += 1
            return ""
        return left.decode("latin-1")

    def _hold(self, data: bytes) -> None:
        if not data:
            return
        self._length += len(data)
        if self._length <= LONGEST_LINE:
            self._begun.append(data)
        else:
            self._begun.clear()


def sample_of(data: Iterator[bytes]) -> tuple[list[bytes], str]:
    """The first pieces of a log, taken away from it, and the whole lines in their beginning."""
    begun: list[bytes] = []
    length = 0
    for piece in data:
        begun.append(piece)
        length += len(piece)
        if length >= SAMPLE_BYTES:
            break
    head = b"".join(begun)[:SAMPLE_BYTES]
    cut = head.rfind(b"\n") + 1
    return begun, (head[:cut] if cut and length >= SAMPLE_BYTES else head).decode("latin-1")
