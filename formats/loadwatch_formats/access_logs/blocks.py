"""From bytes to texts of whole lines, however the bytes are cut."""

from collections.abc import Iterator

LONGEST_LINE = 1 << 20
"""Bytes; a longer line is left out and counted."""
BLOCK_BYTES = LONGEST_LINE
"""Of bytes to give at once, at most: a line within one such piece is never longer than the longest."""
SAMPLE_BYTES = 1 << 17
"""Of the beginning of a log, by which its format is told."""
MOST_SAMPLED_BYTES = 8 << 20
"""So far samples are taken where the first ones leave something open."""


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


def samples_of(data: Iterator[bytes], begun: list[bytes]) -> Iterator[str]:
    """Whole lines of a log's beginning in samples, one after another; what is taken from `data` goes into `begun`.

    A line that is longer than a sample is in none, unless the log has no other.
    """
    blocks = LineBlocks()
    usual: list[str] = []
    long: list[str] = []
    length = read = 0
    for piece in data:
        begun.append(piece)
        read += len(piece)
        for line in blocks.feed(piece).split("\n"):
            if len(line) >= SAMPLE_BYTES:
                long = [line]
            elif line:
                usual.append(line)
                length += len(line) + 1
        if length >= SAMPLE_BYTES:
            yield "\n".join(usual)
            usual, long, length = [], [], 0
        if read >= MOST_SAMPLED_BYTES:
            break
    else:
        rest = blocks.rest()
        if rest and (len(rest) < SAMPLE_BYTES or not (usual or long)):
            usual.append(rest)
    if usual or long:
        yield "\n".join(usual or long)
