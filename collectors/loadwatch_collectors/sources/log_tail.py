"""Follows a log file through rotation and truncation, reading only what is new."""

import os
from contextlib import suppress
from typing import BinaryIO

_LARGEST_READ = 4 * 1024 * 1024
_LONGEST_LINE = 1024 * 1024


class LogTail:
    """The lines that were added to a file since the last call."""

    def __init__(self, path: str, first_read: int = 65536) -> None:
        """The first call returns the lines within the last `first_read` bytes."""
        self._path = path
        self._first_read = first_read
        self._file: BinaryIO | None = None
        self._partial = b""

    def read_lines(self) -> list[str]:
        """New whole lines, oldest first; of a very fast log only those in its last 4 MiB.

        Raises:
            OSError: the file cannot be opened or read.
        """
        if self._file is None:
            self._open(whole=False)
            return self._read_new()
        lines = self._read_new()
        if self._was_replaced():
            # Rotated: what the old file still had is read above, the new one is read from its start.
            self._open(whole=True)
            lines += self._read_new()
        return lines

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
        self._partial = b""

    def _open(self, *, whole: bool) -> None:
        file = open(self._path, "rb", buffering=0)
        self.close()
        self._file = file
        if not whole:
            self._skip_to_last(self._first_read)

    def _was_replaced(self) -> bool:
        assert self._file is not None
        with suppress(FileNotFoundError):  # between the two steps of a rotation: look again at the next call
            now, ours = os.stat(self._path), os.fstat(self._file.fileno())
            return (now.st_dev, now.st_ino) != (ours.st_dev, ours.st_ino)
        return False

    def _read_new(self) -> list[str]:
        assert self._file is not None
        size = os.fstat(self._file.fileno()).st_size
        if size < self._file.tell():
            self._file.seek(0)  # truncated in place
            self._partial = b""
        if size - self._file.tell() > _LARGEST_READ:
            self._skip_to_last(_LARGEST_READ)
        data = self._partial + (self._file.read(_LARGEST_READ) or b"")
        *lines, self._partial = data.split(b"\n")
        if len(self._partial) > _LONGEST_LINE:
            self._partial = b""
        return [line.decode("utf-8", "replace").rstrip("\r") for line in lines]

    def _skip_to_last(self, count: int) -> None:
        assert self._file is not None
        size = os.fstat(self._file.fileno()).st_size
        self._partial = b""
        if size > count:
            self._file.seek(size - count)
