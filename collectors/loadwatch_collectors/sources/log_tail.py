"""Follows a log file through rotation, truncation and compression, reading only what is new.

Whatever turns a log does three things that lose lines for a careless reader: the old file is still written to after the
new one is there (a server reopens its log when it is told to, not when the file is renamed), a copy is made and the
file cut in place (`copytruncate`), and the old file is compressed and deleted. So the old file is followed for a while
beside the new one, what was cut off is looked for in the copy, and after a restart the file is found again by its
inode, else by how it begins, compressed or not.
"""

import errno
import hashlib
import io
import os
import re
import stat
import time
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self, cast

from loadwatch_formats.compression import DAMAGE, opener_of

from loadwatch_collectors.errors import CollectorError, PrivilegeError

# The files of a log: the one that is written to, those that were rotated away, compressed or not.

HEAD_BYTES = 512
"""First bytes by which a file is recognised: an access log begins with its first request's time."""
_LEAST_HEAD = 16
_LONGEST_LINE = 1024 * 1024
_SKIPPED_AT_ONCE = 16 * 1024 * 1024
_MOST_SIBLINGS = 64
_ROTATED = re.compile(r"[.-](?:[^a-zA-Z]*\d[\w.:+-]*|(?:old|bak)(?:\.\w+)?)")
"""What rotation adds to a name: a number or a time, and a compressor's suffix; `access.log-audit` is another log."""
_KINDS = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}


class LogPosition(NamedTuple):
    """A place in a file between two lines, and how the file is known again.

    Attributes:
        offset: bytes of whole lines that were read, of the content as it is without compression.
        head: SHA-256 of the file's first `head_bytes` bytes, none of which can change any more.
        seen_s: when the file was last written to, as it was last seen; seconds since the epoch.
    """

    device: int
    inode: int
    offset: int
    head: str
    head_bytes: int
    seen_s: float

    def to_json(self) -> dict[str, Any]:
        return self._asdict()

    @classmethod
    def from_json(cls, document: Any) -> Self:
        """The position in a JSON object.

        Raises:
            ValueError: it is none.
        """
        try:
            return cls(
                device=int(document["device"]),
                inode=int(document["inode"]),
                offset=max(int(document["offset"]), 0),
                head=str(document["head"]),
                head_bytes=min(max(int(document["head_bytes"]), 0), HEAD_BYTES),
                seen_s=float(document["seen_s"]),
            )
        except (KeyError, TypeError) as error:
            raise ValueError("this is no position in a log") from error


def head_of(data: bytes) -> str:
    """Return the SHA-256 of a file's first bytes, by which the file is recognised."""
    return hashlib.sha256(data).hexdigest()


class Part:
    """One open file of a log. A compressed file yields its decompressed content, and never grows."""

    def __init__(self, file: BinaryIO, stat: os.stat_result, *, compressed: bool = False) -> None:
        self._file = file
        # `read` of what is compressed would lose what comes before damage.
        self._take: Callable[[int], bytes] = cast(io.BufferedIOBase, file).read1 if compressed else file.read
        self._stat = stat
        self.compressed = compressed
        self._at = 0
        """Bytes taken from the content; what of them is not a whole line yet is in `_partial`."""
        self._target = 0
        self._partial = b""
        self._discarding = False
        self._cut_lines = 0
        self._head = b""
        self._until: float | None = None

    def read(self, most: int) -> bytes | None:
        """New whole lines; empty when more is to be done first; None when there is nothing now.

        Raises:
            OSError: it cannot be read.
        """
        if self._at < self._target:
            return self._skip()
        try:
            data = self._take(most)
        except DAMAGE:  # a file that is being compressed, or was not to its end
            data = b""
        if not data:
            return None
        if self._at < HEAD_BYTES and len(self._head) == self._at:
            self._head += data[: HEAD_BYTES - self._at]
        self._at += len(data)
        end = data.rfind(b"\n") + 1
        if not end:
            self._hold(data)
            return b""
        first = data.find(b"\n") + 1
        if not self._discarding and len(self._partial) + first > _LONGEST_LINE:
            self._cut_lines += 1
            self._partial, self._discarding = b"", True
        if self._discarding:
            data, end = data[first:], end - first
            self._discarding = False
        whole, rest = self._partial + data[:end], data[end:]
        self._partial = b""
        self._hold(rest)
        return whole

    def position(self) -> LogPosition:
        with suppress(OSError):
            self._stat = self._stat if self.compressed else os.fstat(self._file.fileno())
        offset = max(self._at - len(self._partial), self._target)
        head = self._head[:offset]
        return LogPosition(
            device=self._stat.st_dev,
            inode=self._stat.st_ino,
            offset=offset,
            head=head_of(head),
            head_bytes=len(head),
            seen_s=self._stat.st_mtime,
        )

    def head(self) -> str:
        """Return the hash of the file's present first bytes."""
        return head_of(self.look_at_head(HEAD_BYTES))

    def is_at(self, position: LogPosition) -> bool:
        own = (self._stat.st_dev, self._stat.st_ino) == (position.device, position.inode)
        return own and self.begins_as(position)

    def begins_as(self, position: LogPosition) -> bool:
        """Whether the file begins as that of the position, and reaches as far."""
        if not self.compressed and os.fstat(self._file.fileno()).st_size < position.offset:
            return False
        return head_of(self.look_at_head(position.head_bytes)) == position.head

    def is_file(self, stat: os.stat_result) -> bool:
        return (stat.st_dev, stat.st_ino) == (self._stat.st_dev, self._stat.st_ino)

    def was_cut(self) -> LogPosition | None:
        """Return the position reached before the file was cut in place; None if the file only grew."""
        begins_otherwise = bool(self._head) and os.pread(self._file.fileno(), len(self._head), 0) != self._head
        before, self._stat = self._stat, os.fstat(self._file.fileno())
        if self._stat.st_size >= self._at and not begins_otherwise:
            return None
        # When it was last seen as it was then: what was copied since is younger.
        return self.position()._replace(seen_s=before.st_mtime)

    def behind(self) -> int:
        """Bytes that are there and were not read."""
        return 0 if self.compressed else max(os.fstat(self._file.fileno()).st_size - self._at, 0)

    def restart(self) -> None:
        self._file.seek(0)
        self._at = self._target = 0
        self._partial, self._head, self._discarding = b"", b"", False

    def skip_to(self, offset: int) -> None:
        """Leave out what lies before; a compressed file is read up to there, bit by bit."""
        self.look_at_head(HEAD_BYTES)
        if self.compressed:
            self._target = offset
            return
        self._head = os.pread(self._file.fileno(), min(HEAD_BYTES, offset), 0)
        self._file.seek(offset)
        self._at = self._target = offset
        self._partial, self._discarding = b"", False

    def skip_to_last(self, count: int) -> None:
        """Skip to the last `count` bytes; with 0, to the start of the line that is being written."""
        size = os.fstat(self._file.fileno()).st_size
        offset = max(size - count, 0)
        if not count:
            start = max(size - _LONGEST_LINE, 0)
            last = os.pread(self._file.fileno(), size - start, start).rfind(b"\n")
            offset = start + last + 1 if last >= 0 or not start else size
        self.skip_to(offset)

    def follow_until(self, time: float) -> None:
        self._until = time

    def is_over(self, now: float) -> bool:
        """Whether it need not be read again; asked once it has given nothing."""
        return self._until is not None and (self.compressed or now >= self._until)

    def take_cut_lines(self) -> int:
        count, self._cut_lines = self._cut_lines, 0
        return count

    def close(self) -> None:
        with suppress(OSError):
            self._file.close()

    def look_at_head(self, count: int) -> bytes:
        """The first bytes of the content, at most `HEAD_BYTES` of a compressed one."""
        if not self.compressed:
            return os.pread(self._file.fileno(), count, 0)
        if self._at == 0 and not self._head:
            with suppress(*DAMAGE):
                self._head = self._file.read(HEAD_BYTES)
            self._file.seek(0)
        return self._head[:count]

    def _hold(self, rest: bytes) -> None:
        if self._discarding:
            return
        self._partial += rest
        if len(self._partial) > _LONGEST_LINE:
            self._partial, self._discarding = b"", True
            self._cut_lines += 1

    def _skip(self) -> bytes | None:
        try:
            skipped = len(self._file.read(min(self._target - self._at, _SKIPPED_AT_ONCE)))
        except DAMAGE:
            skipped = 0
        self._at += skipped
        return b"" if skipped else None


def open_log(path: str | Path) -> io.FileIO:
    """The bytes of a log that is a file, from its start.

    Raises:
        OSError: it cannot be opened, or is none, such as the `/dev/stdout` of a container.
    """
    number = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    kind = stat.S_IFMT(os.fstat(number).st_mode)
    if kind != stat.S_IFREG:
        os.close(number)
        raise OSError(errno.EINVAL, f"is {_KINDS.get(kind, 'a device')}, and no file that can be read again")
    return io.FileIO(number)


def open_part(path: str | Path) -> Part:
    """A file as it is.

    Raises:
        OSError: it cannot be opened, or is no file; whoever opens a pipe would wait for its writer.
    """
    file = open_log(path)
    return Part(cast(BinaryIO, file), os.fstat(file.fileno()))


def find_by_inode(path: str, position: LogPosition) -> Part | None:
    """The file of a position in the folder of the log, under whatever name it has now."""
    for name in _siblings(path):
        with suppress(OSError):
            stat = os.stat(name)
            if (stat.st_dev, stat.st_ino) == (position.device, position.inode):
                part = open_part(name)
                if part.begins_as(position):
                    return part
                part.close()
    return None


def find_by_head(path: str, position: LogPosition) -> Part | None:
    """A file with the same content, such as a copy or what a compressor made of it."""
    if position.head_bytes < _LEAST_HEAD:
        return None
    found: Part | None = None
    for name in _siblings(path):
        if name == path or (found is not None and not found.compressed):
            continue
        for part in _open(name):
            # While a copy is compressed both are there, and the compressed one is not whole.
            if part.begins_as(position) and (found is None or not part.compressed):
                found = part
            else:
                part.close()
    return found


def find_younger(path: str, seen_s: float, positions: Collection[LogPosition]) -> list[Part]:
    """Find rotated files written to after `seen_s`, oldest first, without `positions` and duplicates."""
    base = os.path.basename(path)
    found: list[tuple[float, Part]] = []
    heads: set[str] = set()
    with suppress(OSError):
        current = open_part(path)
        heads.add(current.head())
        current.close()
    for name in _siblings(path):
        if name == path or not _ROTATED.fullmatch(os.path.basename(name).removeprefix(base)):
            continue
        with suppress(OSError):
            written = os.stat(name).st_mtime
            for part in _open(name) if written > seen_s else ():
                known = any(part.begins_as(one) for one in positions if one.head_bytes >= _LEAST_HEAD)
                if known or part.head() in heads:
                    part.close()
                    continue
                heads.add(part.head())
                found.append((written, part))
    return [part for _, part in sorted(found, key=lambda pair: pair[0])]


def _siblings(path: str) -> list[str]:
    """Files of the log by their names, the youngest first: `access.log`, `access.log.2.gz`, `access-20261123.log`."""
    folder, base = os.path.split(path)
    stem = base.partition(".")[0]
    found: list[tuple[float, str]] = []
    with suppress(OSError), os.scandir(folder or ".") as entries:
        for entry in entries:
            with suppress(OSError):
                if entry.name.startswith(stem) and entry.is_file():
                    found.append((entry.stat().st_mtime, os.path.join(folder, entry.name)))
    return [name for _, name in sorted(found, reverse=True)[:_MOST_SIBLINGS]]


def _open(name: str) -> Iterator[Part]:
    """The file with its content, unpacked where it is compressed; nothing when it cannot be opened."""
    with suppress(OSError):
        part = open_part(name)
        start = part.look_at_head(6)
        kind = opener_of(start)
        if kind is None:
            yield part
            return
        part.close()
        file = kind(name)
        yield Part(cast(BinaryIO, file), os.stat(name), compressed=True)


OLD_FOLLOWED_SECONDS = 60.0
"""How long a file that was rotated away is still read: servers reopen their logs later than they are renamed."""
AWAY_SECONDS = 10.0
"""How long a log may be away, as it is between the steps of a rotation, before that is an error."""
_LARGEST_READ = 4 * 1024 * 1024
_BLOCK = 1024 * 1024


@contextmanager
def reading_log(path: str, remedy: str = "let the agent's user read it, for example by its group") -> Generator[None]:
    """Turn OSError into CollectorError, or a denied permission into PrivilegeError with `remedy`."""
    try:
        yield
    except PermissionError as error:
        raise PrivilegeError(f"{path}: {error.strerror}; {remedy}") from error
    except OSError as error:
        raise CollectorError(f"{path}: {error.strerror or error}") from error


class LogTail:
    """Reads the lines that were added to a log since the last call, across rotations."""

    def __init__(
        self,
        path: str,
        first_read: int = 65536,
        *,
        positions: Sequence[LogPosition] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """The first call returns the lines within the last `first_read` bytes, or those after `positions`."""
        self._path = path
        self._first_read = first_read
        self._resume = list(positions)
        self._clock = clock
        self._current: Part | None = None
        self._before: deque[Part] = deque()
        """Files that come before the present one: rotated away a short while ago, or while nobody followed."""
        self._away_since: float | None = None
        self._was_missing = False
        """There was no log at first, so all that is in it is new."""
        self.cut_lines = 0
        self.lost_files = 0
        """Times that a file was gone, or cut, and its rest, if it had one, stands nowhere else."""

    def read_lines(self) -> list[str]:
        """New whole lines, oldest first; of a very fast log only those in its last 4 MiB.

        Raises:
            OSError: the file cannot be opened or read.
        """
        self.skip_to_last(_LARGEST_READ)
        blocks: list[bytes] = []
        while (block := self.read_block()) is not None:
            blocks.append(block)
        *lines, _ = b"".join(blocks).split(b"\n")
        return [line.decode("utf-8", "replace").rstrip("\r") for line in lines]

    def read_block(self, most: int = _BLOCK) -> bytes | None:
        """The next new whole lines, each with its end, of at most about `most` bytes; None when there are none now.

        Empty when there is more to do before the next line, such as finding one's place in a compressed file: so no
        call takes long.

        Raises:
            FileNotFoundError: the log has been away for longer than a rotation takes.
            OSError: the file cannot be opened or read.
        """
        if self._current is None:
            self._start()
        for part in list(self._before):
            block = self._read(part, most)
            if block is not None:
                return block
            if part.is_over(self._clock()):
                part.close()
                self._before.remove(part)
        current = self._current
        if current is None:
            self._note_away()
            return None
        cut_at = current.was_cut()
        if cut_at is not None:
            self._find_copy(current, cut_at)
            return b""
        block = self._read(current, most)
        if block is None:
            return b"" if self._turn(current) else None
        return block

    def behind(self) -> int:
        """Bytes that are there and were not read, but for those of compressed files."""
        parts = [*self._before, *([self._current] if self._current else [])]
        return sum(part.behind() for part in parts)

    def skip_to_last(self, count: int) -> int:
        """Leave out all but the last bytes of the present file, wherever a line begins; how many were left out."""
        if self._current is None or self._current.behind() <= count:
            return 0
        before = self._current.behind()
        self._current.skip_to_last(count)
        return before - self._current.behind()

    def read_last(self, count: int) -> bytes:
        """The last bytes of the file as it is, from a line's start; for a look at what stands in it.

        Raises:
            OSError: the file cannot be opened or read.
        """
        with open_log(self._path) as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(size - count, 0))
            data = file.read(count)
        if size > count:
            data = data.partition(b"\n")[2]
        return data[: data.rfind(b"\n") + 1]

    def positions(self) -> list[LogPosition]:
        """Where the lines end that were returned, of each file that is followed, oldest first."""
        parts = [*self._before, *([self._current] if self._current else [])]
        return [part.position() for part in parts] or list(self._resume)

    def close(self) -> None:
        for part in self._before:
            part.close()
        self._before.clear()
        if self._current is not None:
            self._current.close()
            self._current = None

    # Files ------------------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        try:
            current = open_part(self._path)
        except FileNotFoundError:
            self._was_missing = True
            if not self._resume:
                raise
            self._note_away()
            return
        self._away_since = None
        if self._resume:
            self._resume_at(current)
        elif not self._was_missing:
            current.skip_to_last(self._first_read)
        self._current = current

    def _resume_at(self, current: Part) -> None:
        """Continue after what was read by an earlier process: the rest of its files, those since, then this one."""
        positions, self._resume = self._resume, []
        self._away_since = None
        newest = positions[-1]
        for position in positions:
            if current.is_at(position):
                current.skip_to(position.offset)
                continue
            part = find_by_inode(self._path, position) or find_by_head(self._path, position)
            if part is None:
                self.lost_files += 1
                continue
            part.skip_to(position.offset)
            part.follow_until(self._clock() + OLD_FOLLOWED_SECONDS)
            self._before.append(part)
        if not current.is_at(newest):
            for part in find_younger(self._path, newest.seen_s, positions):
                part.follow_until(self._clock() + OLD_FOLLOWED_SECONDS)
                self._before.append(part)

    def _find_copy(self, current: Part, cut_at: LogPosition) -> None:
        """The file was cut in place: what it had beyond our place may be in a copy, and it may have been cut again."""
        current.restart()
        copies = find_younger(self._path, cut_at.seen_s, [cut_at, *(part.position() for part in self._before)])
        copy = find_by_head(self._path, cut_at)
        if copy is None:
            self.lost_files += 1
        else:
            copy.skip_to(cut_at.offset)
            copies.insert(0, copy)
        for part in copies:
            part.follow_until(self._clock())
            self._before.append(part)

    def _turn(self, current: Part) -> bool:
        """Take the new file, if there is one in the place of the one that was read to its end."""
        try:
            now = os.stat(self._path)
        except FileNotFoundError:  # between the two steps of a rotation: look again at the next call
            self._note_away()
            return False
        self._away_since = None
        if current.is_file(now):
            return False
        try:
            fresh = open_part(self._path)
        except FileNotFoundError:
            return False
        current.follow_until(self._clock() + OLD_FOLLOWED_SECONDS)
        self._before.append(current)
        self._current = fresh
        return True

    def _read(self, part: Part, most: int) -> bytes | None:
        block = part.read(most)
        self.cut_lines += part.take_cut_lines()
        return block

    def _note_away(self) -> None:
        now = self._clock()
        if self._away_since is None:
            self._away_since = now
        elif now - self._away_since > AWAY_SECONDS:
            raise FileNotFoundError(2, "there is no such file", self._path)
