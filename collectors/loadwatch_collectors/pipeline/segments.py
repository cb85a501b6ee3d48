"""The spool's files: one folder, one owner, segments of numbered frames, and what is known of delivery.

The file `delivered` holds the number of the last frame that a server has taken, and how many samples were given up. It
has its full size from the start, so that it can be written on a full disk.
"""

import fcntl
import os
import stat
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from struct import Struct

import structlog

from loadwatch_collectors.errors import SpoolError
from loadwatch_collectors.pipeline.frames import HEAD, decode_definitions, decode_head, decode_rows, is_whole
from loadwatch_collectors.series import SampleRow, Series

logger = structlog.get_logger(__name__)

_SUFFIX = ".frames"
RECORD = Struct("<QQQQ")
"""What `delivered` holds: two numbers, each with a check behind it. Earlier agents wrote the first pair only."""

_CHECK = 0x6C6F_6164_7761_7463


@dataclass(slots=True)
class Segment:
    """One file of frames with rising sequence numbers; `counts` holds the samples of each, `sizes` its bytes.

    A file that is written now has no gap in its numbers; agents of before wrote such files after a full disk.
    """

    path: Path
    newest_ms: int = 0
    oldest_ms: int = 0
    size: int = 0
    sequences: "array[int]" = field(default_factory=lambda: array("Q"))
    counts: "array[int]" = field(default_factory=lambda: array("I"))
    sizes: "array[int]" = field(default_factory=lambda: array("I"))

    @property
    def last(self) -> int:
        """Sequence number of the last frame; 0 without frames."""
        return self.sequences[-1] if self.sequences else 0

    def add(self, sequence: int, samples: int, size: int, newest_ms: int) -> None:
        """Note a frame that was written or found."""
        if not self.counts:
            self.oldest_ms = newest_ms
        self.sequences.append(sequence)
        self.counts.append(samples)
        self.sizes.append(size)
        self.size += size
        self.newest_ms = max(self.newest_ms, newest_ms)

    def waiting(self, delivered: int) -> tuple[int, int]:
        """Samples and bytes of the frames after the sequence number `delivered`."""
        skip = bisect_right(self.sequences, delivered)
        return sum(self.counts[skip:]), sum(self.sizes[skip:])


def _close_to_others(directory: Path) -> None:
    """An earlier version left its folder open: samples say what a company's systems do."""
    mode = directory.stat().st_mode
    if mode & 0o077 and not mode & stat.S_ISVTX:
        with suppress(PermissionError):  # somebody else's folder, in which this user may write
            directory.chmod(0o700)
            logger.info(
                "other users of this machine could read the spool; it is closed to them now", folder=str(directory)
            )


class SpoolFolder:
    """The folder of one spool, locked for this process."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        try:
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock_fd = os.open(directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise SpoolError(
                f"the spool's folder {directory} cannot be used: {error}; give a folder that this user can write "
                "as `spool.directory`"
            ) from error
        try:
            fcntl.flock(self._lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._lock_fd)
            raise SpoolError(
                f"another agent uses the spool in {directory}; stop it, or give this one its own `spool.directory`"
            ) from error
        _close_to_others(directory)
        self._delivered_fd = os.open(directory / "delivered", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def read_record(self) -> tuple[int, int]:
        """Sequence number of the last frame that a server has taken, and samples given up; 0 for what is not known."""
        data = os.pread(self._delivered_fd, RECORD.size, 0)
        delivered, delivered_check, dropped, dropped_check = RECORD.unpack(data.ljust(RECORD.size, b"\0"))
        return (
            delivered if delivered ^ delivered_check == _CHECK else 0,
            dropped if dropped ^ dropped_check == _CHECK else 0,
        )

    def write_record(self, delivered: int, dropped: int) -> None:
        """Remember both. One write call: a killed agent leaves the old numbers or the new ones."""
        os.pwrite(self._delivered_fd, RECORD.pack(delivered, delivered ^ _CHECK, dropped, dropped ^ _CHECK), 0)

    def find_segments(self) -> list[Segment]:
        """All segments on disk, oldest first; empty ones are removed."""
        found: list[Segment] = []
        for path in sorted(self.directory.glob(f"*{_SUFFIX}")):
            segment = _scan(path)
            if segment is None:
                path.unlink(missing_ok=True)
            else:
                found.append(segment)
        return found

    def new_segment(self, first: int) -> tuple[Segment, int]:
        """A new file for frames from `first` on, and its descriptor."""
        path = self.directory / f"{first:020d}{_SUFFIX}"
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC, 0o600)
        return Segment(path), fd

    def close(self) -> None:
        """Give the folder up."""
        os.close(self._delivered_fd)
        os.close(self._lock_fd)


class SegmentReader:
    """Reads one segment from its first frame on, whose definitions the later frames need."""

    def __init__(self, segment: Segment) -> None:
        self.segment = segment
        self.next = 0
        self._series: dict[int, Series] = {}
        self._fd = os.open(segment.path, os.O_RDONLY | os.O_CLOEXEC)
        self._offset = 0

    def read(self, last: int) -> Iterator[tuple[int, list[SampleRow]]]:
        """Sequence number and rows of each frame up to `last`. It ends early at a damaged frame."""
        while self.next <= last:
            head_bytes = os.pread(self._fd, HEAD.size, self._offset)
            head = decode_head(head_bytes)
            if head is None:
                return
            body = os.pread(self._fd, head.length, self._offset + HEAD.size)
            if not is_whole(head_bytes, head, body):
                return
            definitions, offset = decode_definitions(body)
            for number, labels in definitions.items():
                self._series[number] = Series(labels)
            rows = list(decode_rows(body, offset, self._series))
            self._offset += HEAD.size + head.length
            self.next = head.sequence + 1
            yield head.sequence, rows

    def close(self) -> None:
        """Release the file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _scan(path: Path) -> Segment | None:
    """The frames of a file by their heads; what follows the last whole frame is the torn end of a killed agent."""
    segment: Segment | None = None
    with path.open("rb", buffering=0) as file:
        end = os.fstat(file.fileno()).st_size
        offset = 0
        while True:
            head = decode_head(os.pread(file.fileno(), HEAD.size, offset))
            if head is None or offset + HEAD.size + head.length > end:
                return segment
            if segment is None:
                segment = Segment(path)
            if head.sequence <= segment.last:
                return segment
            segment.add(head.sequence, head.samples, HEAD.size + head.length, head.newest_ms)
            offset += HEAD.size + head.length
