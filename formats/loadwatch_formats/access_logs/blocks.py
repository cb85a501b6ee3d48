"""From bytes to texts of whole lines, however the bytes are cut."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

# Which files of a load balancer of AWS are of a time, by their names in S3.
#
# A load balancer writes a file for each five minutes, which appears some minutes later; its name has their end:
# `..._app.my-lb.50dc6c495c0c9188_20261124T1005Z_192.0.2.1_5k1a2b3c.log.gz`.
# Source: docs.aws.amazon.com, "Access logs for your Application Load Balancer", "Access log files".

SCHEME = "s3://"
MOST_LISTED, MOST_FILES = 100_000, 2_000
INTERVAL = timedelta(minutes=5)
_END = re.compile(r"_([0-9]{8}T[0-9]{4})Z_[^/]*$")
_REGION_FOLDER = re.compile(r"elasticloadbalancing/[a-z0-9-]+/?$")


class Range(NamedTuple):
    """Time range of the lines that are wanted; None leaves that end open."""

    start: datetime | None = None
    end: datetime | None = None

    def wants(self, key: str) -> bool:
        """Whether a file may have lines of it; with a bound, one whose name has no time is not wanted."""
        if self.start is None and self.end is None:
            return True
        found = _END.search(key)
        if found is None:
            return False
        try:
            end = datetime.strptime(found[1], "%Y%m%dT%H%M").replace(tzinfo=UTC)
        except ValueError:
            return False
        return (self.start is None or end > self.start) and (self.end is None or end - INTERVAL < self.end)

    def prefixes(self, prefix: str) -> list[str]:
        """Return the prefixes to list: one per day of the range where `prefix` ends at a region's folder."""
        if self.start is None or self.end is None or not _REGION_FOLDER.search(prefix):
            return [prefix]
        day, last = self.start.astimezone(UTC).date(), (self.end.astimezone(UTC) + INTERVAL).date()
        days: list[str] = []
        while day <= last and len(days) < 400:
            days.append(f"{prefix.rstrip('/')}/{day:%Y/%m/%d}/")
            day += timedelta(days=1)
        return days


LONGEST_LINE = 1 << 20
"""Bytes; a longer line is left out and counted."""
BLOCK_BYTES = LONGEST_LINE
"""Most bytes passed to `feed` at once, so that no line within one piece exceeds `LONGEST_LINE`."""
SAMPLE_BYTES = 1 << 17
"""Bytes from the beginning of a log by which its format is recognised."""
MOST_SAMPLED_BYTES = 8 << 20
"""Most bytes that are sampled where the first samples leave the format undecided."""


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
