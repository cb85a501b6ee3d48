"""Samples on disk before they are sent; oldest first out; bounded by size and age.

Every batch is one frame in an append-only file, written by one system call before the sender may see it: after a
`kill -9` it is in the page cache and will be sent by the next agent. Only a power failure or a crash of the kernel can
lose frames, so the file is forced to disk (`fdatasync`, at most once a second) only while samples wait longer than
`SYNC_AFTER_SECONDS`: while the server answers, every sample is on the server's disk before that, and a sync of ours
would only compete with the disk of the system under load. docs/guide/agent.md has the measurement.

When the disk itself refuses (full, read-only), batches are held in memory, within a bound, and written once it works.

What is given up is counted, and the count is kept beside the frames: an agent that starts anew goes on counting where
the last one ended. Only what a killed agent held in memory, because its disk refused, is counted by nobody.

The file `delivered` holds the number of the last frame that a server has taken, and how many samples were given up. It
has its full size from the start, so that it can be written on a full disk.
"""

import fcntl
import os
import stat
import sys
import threading
import time
import zlib
from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from struct import Struct
from typing import NamedTuple

import structlog

from loadwatch_collectors.errors import SpoolError
from loadwatch_collectors.series import SampleRow, Series

# The spool's file format: frames of samples, each with its length and checksum.
#
# A segment file is a run of frames. A frame is
#
#     u32 length of the body · u32 crc32 of all that follows · u64 sequence · u32 samples · i64 newest time · body
#
# and its body is
#
#     u32 n · n times (u32 series id · u32 length · label bytes)          series that this segment has not named before
#     u32 m · m times (i64 time · u32 k · k times u32 id · k times f64)   values
#
# All numbers are little-endian. A segment names every series that it uses, so each file can be read alone.

HEAD = Struct("<IIQIq")
_CRC_FROM = 8
_U32 = Struct("<I")
_DEFINITION = Struct("<II")
_BLOCK = Struct("<qI")
MAX_BODY = 64_000_000


class FrameHead(NamedTuple):
    length: int
    crc: int
    sequence: int
    samples: int
    newest_ms: int


def encode_frame(sequence: int, rows: Sequence[SampleRow], new_series: Sequence[Series]) -> bytes:
    """One frame with the rows, naming `new_series` first."""
    parts: list[bytes] = [_U32.pack(len(new_series))]
    for series in new_series:
        parts += (_DEFINITION.pack(series.id, len(series.labels)), series.labels)
    parts.append(_U32.pack(len(rows)))
    for row in rows:
        parts += (
            _BLOCK.pack(row.timestamp_ms, len(row.series)),
            _little(array("I", [series.id for series in row.series])),
            _little(array("d", row.values)),
        )
    body = b"".join(parts)
    samples = sum(len(row.series) for row in rows)
    newest = max((row.timestamp_ms for row in rows), default=0)
    head = HEAD.pack(len(body), 0, sequence, samples, newest)
    crc = zlib.crc32(body, zlib.crc32(head[_CRC_FROM:]))
    return _U32.pack(len(body)) + _U32.pack(crc) + head[_CRC_FROM:] + body


def decode_head(data: bytes) -> FrameHead | None:
    """The head of a frame, or None when the bytes cannot be one."""
    if len(data) < HEAD.size:
        return None
    head = FrameHead(*HEAD.unpack_from(data))
    return head if head.length <= MAX_BODY else None


def is_whole(head_bytes: bytes, head: FrameHead, body: bytes) -> bool:
    """Whether the body is complete and its checksum is right."""
    return len(body) == head.length and zlib.crc32(body, zlib.crc32(head_bytes[_CRC_FROM:])) == head.crc


def decode_definitions(body: bytes) -> tuple[dict[int, bytes], int]:
    """The series that a frame names, as id → label bytes, and the offset at which its rows begin."""
    (count,) = _U32.unpack_from(body)
    offset = 4
    found: dict[int, bytes] = {}
    for _ in range(count):
        number, length = _DEFINITION.unpack_from(body, offset)
        offset += _DEFINITION.size
        found[number] = body[offset : offset + length]
        offset += length
    return found, offset


def decode_rows(body: bytes, offset: int, series: Mapping[int, Series]) -> Iterator[SampleRow]:
    (count,) = _U32.unpack_from(body, offset)
    offset += 4
    for _ in range(count):
        timestamp_ms, size = _BLOCK.unpack_from(body, offset)
        offset += _BLOCK.size
        ids = array("I", body[offset : offset + 4 * size])
        offset += 4 * size
        values = array("d", body[offset : offset + 8 * size])
        offset += 8 * size
        if sys.byteorder == "big":
            ids.byteswap()
            values.byteswap()
        yield SampleRow(timestamp_ms, [series[number] for number in ids], values)


def _little(numbers: "array[int] | array[float]") -> bytes:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


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
    """Close a folder that earlier versions left readable by others: samples are confidential."""
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
        path = self.directory / f"{first:020d}{_SUFFIX}"
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC, 0o600)
        return Segment(path), fd

    def close(self) -> None:
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
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _scan(path: Path) -> Segment | None:
    """Index the frames of a file by their heads; a torn end is what a killed agent left."""
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


SYNC_AFTER_SECONDS = 2.0
_SYNC_EVERY_SECONDS = 1.0
_SEGMENT_BYTES = 4_000_000
_HELD_BATCHES = 8
HELD_SAMPLES_WITHOUT_DISK = 200_000


class WriteRequest(NamedTuple):
    """Blocks to send together; `last` is to be acknowledged once a server has them."""

    last: int
    rows: Sequence[SampleRow]
    samples: int


@dataclass(slots=True)
class _Held:
    sequence: int
    rows: Sequence[SampleRow]
    samples: int
    on_disk: bool


class Spool:
    """A queue on disk. One thread appends, one reads and acknowledges.

    Raises (on construction):
        SpoolError: the folder cannot be used, or another agent uses it.
    """

    def __init__(
        self,
        directory: Path,
        *,
        max_bytes: int,
        max_age_seconds: float,
        clock: Callable[[], float] = time.time,
        held_samples: int = HELD_SAMPLES_WITHOUT_DISK,
    ) -> None:
        self._folder = SpoolFolder(directory)
        self._max_bytes = max_bytes
        self._max_age_ms = max_age_seconds * 1000
        self._segment_bytes = min(_SEGMENT_BYTES, max_bytes // 8)
        self._clock = clock
        self._most_held = held_samples
        self._changed = threading.Condition()
        self._delivered, self.dropped_samples = self._folder.read_record()
        self._segments = deque(self._folder.find_segments())
        newest = self._segments[-1].last if self._segments else 0
        self._delivered = min(self._delivered, newest) if self._segments else self._delivered
        self._next = max(newest, self._delivered) + 1
        self._held: deque[_Held] = deque()
        self._active_fd = -1
        self._named: set[int] = set()
        self._reader: SegmentReader | None = None
        self._synced_at = 0.0
        self._waiting_since = 0.0
        self._read_last = 0
        self._given_up_unanswered = 0
        self._closed = False
        self.disk_error: str | None = None
        """Why the last append could not be written, or None."""
        with self._changed:
            self._forget_delivered()
            self._drop_beyond_limits()
            self._remember()

    @property
    def held_samples(self) -> int:
        """Samples that only memory has, because the disk refuses."""
        with self._changed:
            return sum(item.samples for item in self._held if not item.on_disk)

    def waiting(self) -> tuple[int, int]:
        """Samples and bytes that no server has taken yet."""
        with self._changed:
            parts = [segment.waiting(self._delivered) for segment in self._segments]
            samples = sum(part[0] for part in parts) + self.held_samples + self._given_up_unanswered
            return samples, sum(part[1] for part in parts)

    def append(self, rows: Sequence[SampleRow]) -> None:
        """Write a batch; it can be read once it is on disk (or held in memory because the disk refuses)."""
        with self._changed:
            if self._delivered + 1 == self._next:
                self._waiting_since = time.monotonic()
            samples = sum(len(row.series) for row in rows)
            self._held.append(_Held(self._next, rows, samples, on_disk=False))
            self._next += 1
            try:
                for item in self._held:
                    if not item.on_disk:
                        self._write(item)
                self.disk_error = None
            except OSError as error:
                self.disk_error = f"{self._folder.directory}: {error.strerror or error}"
            dropped = self.dropped_samples
            self._trim_held()
            self._drop_beyond_limits()
            if self.dropped_samples != dropped:
                self._remember()
            self._changed.notify_all()
            now = time.monotonic()
            late = now - self._waiting_since > SYNC_AFTER_SECONDS and now - self._synced_at >= _SYNC_EVERY_SECONDS
            fd = self._active_fd
        if late and fd >= 0 and self.disk_error is None:
            self._synced_at = now
            try:
                os.fdatasync(fd)
            except OSError as error:
                self.disk_error = f"{self._folder.directory}: {error.strerror or error}"

    def read(self, max_samples: int) -> WriteRequest | None:
        """The oldest samples that are not acknowledged, at least one batch; None when there are none."""
        with self._changed:
            self._settle(arrived=False)
        while True:
            with self._changed:
                start = self._delivered + 1
                if start >= self._next:
                    return None
                if self._held and self._held[0].sequence <= start:
                    return self._note_read(self._read_held(start, max_samples))
                segment = next((item for item in self._segments if item.last >= start), None)
                if segment is None:
                    self._delivered = self._held[0].sequence - 1 if self._held else self._next - 1
                    continue
                last = segment.last
            batch = self._read_segment(segment, start, last, max_samples)
            with self._changed:
                if batch is not None:
                    return self._note_read(batch)
                self._give_up(segment)
                self._remember()

    def wait(self, timeout: float) -> bool:
        """Wait until there is something to read; False after the timeout or once the spool is closed."""
        with self._changed:
            return self._changed.wait_for(lambda: self._closed or self._delivered + 1 < self._next, timeout) and (
                not self._closed
            )

    def acknowledge(self, batch: WriteRequest) -> None:
        with self._changed:
            self._settle(arrived=True)
            self._deliver(batch)

    def discard(self, batch: WriteRequest, samples: int) -> None:
        """Drop a batch that no server will take, and count `samples` of it as dropped."""
        with self._changed:
            self._settle(arrived=True)
            self.dropped_samples += samples
            self._deliver(batch)

    def _deliver(self, batch: WriteRequest) -> None:
        if batch.last > self._delivered:
            self._delivered = batch.last
            self._waiting_since = time.monotonic()
            self._forget_delivered()
        self._remember()

    def _note_read(self, batch: WriteRequest) -> WriteRequest:
        """Mark a batch as in flight: samples of it that are given up from now on may still arrive."""
        self._read_last = batch.last
        return batch

    def _settle(self, *, arrived: bool) -> None:
        """Settle the batch read last; unless it arrived, its given-up samples count as dropped."""
        if not arrived:
            self.dropped_samples += self._given_up_unanswered
        self._given_up_unanswered = 0
        self._read_last = 0

    def _drop(self, sequence: int, samples: int) -> None:
        """Count samples of one frame as given up, unless they are on their way."""
        if sequence <= self._read_last:
            self._given_up_unanswered += samples
        else:
            self.dropped_samples += samples

    def _remember(self) -> None:
        with suppress(OSError):  # Not remembered means sent, or counted, again after a restart.
            # Whoever reads it finds this agent gone, and with it the answer to what was on its way.
            self._folder.write_record(self._delivered, self.dropped_samples + self._given_up_unanswered)

    def close(self) -> None:
        """Force what waits to disk and release the folder; what only memory has is counted as dropped."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            self._settle(arrived=False)
            self.dropped_samples += self.held_samples
            self._remember()
            if self._reader is not None:
                self._reader.close()
            if self._active_fd >= 0:
                with suppress(OSError):
                    os.fdatasync(self._active_fd)
                os.close(self._active_fd)
                self._active_fd = -1
            self._folder.close()

    def _write(self, item: _Held) -> None:
        active = self._segments[-1] if self._segments and self._active_fd >= 0 else None
        # Beside fullness a gap ends a file: numbers that a scan does not expect must not hide what follows them.
        if active is not None and (self._is_full(active) or item.sequence != active.last + 1):
            self._end_active()
            active = None
        if active is None:
            active, self._active_fd = self._folder.new_segment(item.sequence)
            self._segments.append(active)
            self._named.clear()
        new: dict[int, Series] = {}
        for row in item.rows:
            for series in row.series:
                if series.id not in self._named:
                    new[series.id] = series
        frame = encode_frame(item.sequence, item.rows, list(new.values()))
        try:
            written = os.write(self._active_fd, frame)
            while written < len(frame):  # A short write means that the next one says why.
                written += os.write(self._active_fd, frame[written:])
        except OSError:
            self._undo(active)
            raise
        self._named.update(new)
        active.add(item.sequence, item.samples, len(frame), max((row.timestamp_ms for row in item.rows), default=0))
        item.on_disk = True

    def _undo(self, active: Segment) -> None:
        whole = True
        try:
            os.ftruncate(self._active_fd, active.size)
        except OSError:
            whole = False
        if not active.counts:
            self._segments.pop()
            self._end_active()
            _remove(active.path)
        elif not whole:
            self._end_active()  # What follows a torn frame would not be read.

    def _is_full(self, segment: Segment) -> bool:
        if segment.last <= self._delivered and segment.size > self._segment_bytes // 4:
            return True
        age_ms = segment.newest_ms - segment.oldest_ms
        return segment.size >= self._segment_bytes or age_ms > self._max_age_ms / 8

    def _end_active(self) -> None:
        os.close(self._active_fd)
        self._active_fd = -1
        self._forget_delivered()

    def _trim_held(self) -> None:
        while len(self._held) > _HELD_BATCHES and self._held[0].on_disk:
            self._held.popleft()
        in_memory = sum(item.samples for item in self._held if not item.on_disk)
        while in_memory > self._most_held and len(self._held) > 1:
            gone = self._held.popleft()
            if not gone.on_disk:
                in_memory -= gone.samples
                self._drop(gone.sequence, gone.samples)

    def _drop_beyond_limits(self) -> None:
        oldest_allowed = self._clock() * 1000 - self._max_age_ms
        total = sum(segment.size for segment in self._segments)
        while self._segments:
            segment = self._segments[0]
            if self._active_fd >= 0 and segment is self._segments[-1]:
                return
            if total <= self._max_bytes and segment.newest_ms >= oldest_allowed:
                return
            total -= segment.size
            self._give_up(segment)

    def _give_up(self, segment: Segment) -> None:
        """Drop what is left of a segment, and count it. Only the oldest one is ever given up."""
        for sequence, samples in zip(segment.sequences, segment.counts, strict=True):
            if sequence > self._delivered:
                self._drop(sequence, samples)
        self._delivered = max(self._delivered, segment.last)
        if self._active_fd >= 0 and segment is self._segments[-1]:
            self._end_active()  # What is appended from now on must not follow damaged frames.
        self._forget_delivered()

    def _forget_delivered(self) -> None:
        while self._held and self._held[0].sequence <= self._delivered:
            self._held.popleft()
        while self._segments and self._segments[0].last <= self._delivered:
            if self._active_fd >= 0 and self._segments[0] is self._segments[-1]:
                return
            _remove(self._segments.popleft().path)

    def _read_held(self, start: int, max_samples: int) -> WriteRequest:
        rows: list[SampleRow] = []
        samples = 0
        last = start - 1
        for item in self._held:
            if item.sequence < start:
                continue
            if rows and samples + item.samples > max_samples:
                break
            rows += item.rows
            samples += item.samples
            last = item.sequence
        return WriteRequest(last, rows, samples)

    def _read_segment(self, segment: Segment, start: int, last: int, max_samples: int) -> WriteRequest | None:
        """From one segment only; None when its next frame is damaged."""
        reader = self._reader
        if reader is None or reader.segment is not segment or reader.next > start:
            if reader is not None:
                reader.close()
            try:
                reader = self._reader = SegmentReader(segment)
            except OSError:
                self._reader = None
                return None
        rows: list[SampleRow] = []
        samples = 0
        found = start - 1
        with suppress(OSError):  # A disk that cannot be read has the same end as a damaged frame.
            for sequence, read in reader.read(last):
                if sequence >= start:
                    rows += read
                    samples += sum(len(row.series) for row in read)
                    found = sequence
                if samples >= max_samples:
                    break
        return WriteRequest(found, rows, samples) if found >= start else None


def _remove(path: Path) -> None:
    with suppress(OSError):  # On a read-only disk it stays, and is found as delivered at the next start.
        path.unlink()
