"""Follows a log file through rotation, truncation and compression, reading only what is new.

Whatever turns a log does three things that lose lines for a careless reader: the old file is still written to after the
new one is there (a server reopens its log when it is told to, not when the file is renamed), a copy is made and the
file cut in place (`copytruncate`), and the old file is compressed and deleted. So the old file is followed for a while
beside the new one, what was cut off is looked for in the copy, and after a restart the file is found again by its
inode, else by how it begins, compressed or not.
"""

import os
import time
from collections import deque
from collections.abc import Callable, Sequence

from loadwatch_collectors.sources.log_files import (
    LogPosition,
    Part,
    find_by_head,
    find_by_inode,
    find_younger,
    open_log,
    open_part,
)

OLD_FOLLOWED_SECONDS = 60.0
"""How long a file that was rotated away is still read: servers reopen their logs later than they are renamed."""
AWAY_SECONDS = 10.0
"""How long a log may be away, as it is between the steps of a rotation, before that is an error."""
_LARGEST_READ = 4 * 1024 * 1024
_BLOCK = 1024 * 1024


class LogTail:
    """What was added to a file since the last call."""

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
        """Lines that were too long and were left out."""
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
                self._drop(part)
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
        """Close all files."""
        for part in self._before:
            part.close()
        self._before.clear()
        if self._current is not None:
            self._current.close()
            self._current = None

    # Files ------------------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        """Open the file, where it was left or near its end."""
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

    def _drop(self, part: Part) -> None:
        part.close()
        self._before.remove(part)

    def _note_away(self) -> None:
        now = self._clock()
        if self._away_since is None:
            self._away_since = now
        elif now - self._away_since > AWAY_SECONDS:
            raise FileNotFoundError(2, "there is no such file", self._path)
