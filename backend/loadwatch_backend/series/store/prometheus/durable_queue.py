"""Frames on disk that wait for the engine, in order: forced to disk before `append` returns, read again after a crash.

A segment file holds frames: magic, sequence, length, CRC-32, samples, time of arrival, then the body, a snappy block
with a remote-write request. The file `position` says how far they are delivered; it is not forced to disk, so that
after a crash some are sent again. What is delivered goes file by file, once it has `settled`.
"""

import os
import struct
import threading
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import structlog

log = structlog.get_logger(__name__)

_HEAD = struct.Struct("<4sQIIIQ")
_MAGIC = b"LWQ1"
_SUFFIX = ".frames"
_POSITION = "position"
SEGMENT_BYTES = 16 << 20
LARGEST_BODY = 64 << 20


@dataclass(frozen=True, slots=True)
class Frame:
    sequence: int
    samples: int
    arrived_ms: int
    path: Path
    offset: int
    size: int
    crc: int


class DurableQueue:
    """Safe to use from any thread; one appends, one reads."""

    def __init__(self, directory: Path, clock: Callable[[], int], segment_bytes: int = SEGMENT_BYTES) -> None:
        """Raises OSError when the directory cannot be used."""
        self._directory = directory
        self._clock = clock
        self._segment_bytes = segment_bytes
        self._changed = threading.Condition()
        self._frames: deque[Frame] = deque()
        self._files: dict[Path, tuple[int, int]] = {}
        """Files in order, each with the sequence and arrival time of its last frame."""
        self._descriptor, self._path, self._size = -1, directory, 0
        self._closed = False
        self.found: list[Frame] = []
        self.samples = self.nbytes = 0
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.position = 0
        """Up to which sequence all is delivered."""
        with suppress(OSError, ValueError):  # Without it what is there is sent once more.
            self.position = int((directory / _POSITION).read_text())
        self._next = self.position + 1
        for path in sorted(directory.glob(f"*{_SUFFIX}")):
            self._files[path] = (0, 0)
            frames = _frames_of(path)
            self._next = max([self._next, *(frame.sequence + 1 for frame in frames)])
            self.found += frames
            self._take(frames)

    # What waits -----------------------------------------------------------------------------------------------

    @property
    def oldest_ms(self) -> int | None:
        with self._changed:
            return self._frames[0].arrived_ms if self._frames else None

    @property
    def last(self) -> int:
        """The sequence of the newest frame that was ever appended."""
        return self._next - 1

    def append(self, bodies: Sequence[tuple[bytes, int]]) -> int:
        """Put bodies with their samples at the end; on disk when this returns. Returns the last sequence.

        Raises:
            OSError: the disk refused; none of them is kept.
        """
        with self._changed:
            if self._descriptor < 0 or self._size >= self._segment_bytes:
                self._end_segment()
                self._path, self._size = self._directory / f"{self._next:020d}{_SUFFIX}", 0
                # A file of this name has no frame that was acknowledged, or the next number would be higher.
                flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC
                self._descriptor = os.open(self._path, flags, 0o600)
                _force_directory(self._directory)
            begin, sequence = self._size, self._next
            frames: list[Frame] = []
            pieces: list[bytes] = []
            now_ms = self._clock()
            for body, samples in bodies:
                crc = _checksum(body, sequence, samples)
                pieces += (_HEAD.pack(_MAGIC, sequence, len(body), crc, samples, now_ms), body)
                frames.append(Frame(sequence, samples, now_ms, self._path, begin + _HEAD.size, len(body), crc))
                begin += _HEAD.size + len(body)
                sequence += 1
            try:
                view = memoryview(b"".join(pieces))
                while view:
                    view = view[os.write(self._descriptor, view) :]
                os.fdatasync(self._descriptor)
            except OSError:
                # What comes next begins a file of its own, behind which nothing is torn.
                with suppress(OSError):
                    os.ftruncate(self._descriptor, self._size)
                self._end_segment()
                raise
            self._size, self._next = begin, sequence
            self._take(frames)
            self._changed.notify_all()
            return sequence - 1

    def wait(self, seconds: float, most_samples: int) -> list[Frame]:
        """Wait for frames: those that come next, one at least; none after the time or when the queue is closed."""
        found: list[Frame] = []
        count = 0
        with self._changed:
            self._changed.wait_for(lambda: self._closed or bool(self._frames), seconds)
            for frame in () if self._closed else self._frames:
                count += frame.samples
                if found and count > most_samples:
                    break
                found.append(frame)
        return found

    def body(self, frame: Frame) -> bytes | None:
        """The body of a frame; None, logged, when the disk no longer has it as it was written."""
        reason = "its checksum is wrong"
        try:
            with frame.path.open("rb") as file:
                file.seek(frame.offset)
                body = file.read(frame.size)
            if _checksum(body, frame.sequence, frame.samples) == frame.crc:
                return body
        except OSError as error:
            reason = str(error)
        log.error("samples that waited for the engine are damaged", file=frame.path.name, reason=reason)
        return None

    def deliver(self, through: int) -> None:
        """Mark everything up to this sequence as delivered or given up."""
        with self._changed:
            while self._frames and self._frames[0].sequence <= through:
                frame = self._frames.popleft()
                self.samples -= frame.samples
                self.nbytes -= frame.size + _HEAD.size
            if through > self.position:
                self.position = through
                new = self._directory / f"{_POSITION}.new"
                with suppress(OSError):  # Not written means sent again after a restart.
                    new.write_text(f"{through}\n")
                    new.replace(self._directory / _POSITION)

    def remove_delivered(self, before_ms: int) -> None:
        """Remove the files whose frames are all delivered and arrived before this time."""
        with self._changed:
            for path, (last, arrived_ms) in list(self._files.items()):
                if last > self.position or arrived_ms > before_ms:
                    return
                if path == self._path and self._descriptor >= 0:
                    if self._size < self._segment_bytes // 4:
                        return
                    self._end_segment()
                del self._files[path]
                with suppress(OSError):
                    path.unlink()

    def stop_waiting(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def close(self) -> None:
        """Let go of the files; what waits stays on disk."""
        self.stop_waiting()
        with self._changed:
            self._end_segment()

    # Files ----------------------------------------------------------------------------------------------------

    def _end_segment(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _take(self, frames: Sequence[Frame]) -> None:
        for frame in frames:
            self._files[frame.path] = (frame.sequence, frame.arrived_ms)
            if frame.sequence > self.position:
                self._frames.append(frame)
                self.samples += frame.samples
                self.nbytes += frame.size + _HEAD.size


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file atomically and durably; it is unchanged when this raises OSError."""
    new = path.with_suffix(".new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    _force_directory(path.parent)


def _force_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _checksum(body: bytes, sequence: int, samples: int) -> int:
    return zlib.crc32(body, zlib.crc32(struct.pack("<QI", sequence, samples)))


def _frames_of(path: Path) -> list[Frame]:
    """The frames of a file, up to the first that is cut off: only what was never acknowledged ends so."""
    frames: list[Frame] = []
    size = path.stat().st_size
    with path.open("rb") as file:
        place = 0
        while place + _HEAD.size <= size:
            file.seek(place)
            magic, sequence, length, crc, samples, arrived_ms = _HEAD.unpack(file.read(_HEAD.size))
            if magic != _MAGIC or length > LARGEST_BODY or place + _HEAD.size + length > size:
                break
            frames.append(Frame(sequence, samples, arrived_ms, path, place + _HEAD.size, length, crc))
            place += _HEAD.size + length
    return frames
