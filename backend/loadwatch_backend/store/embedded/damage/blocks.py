"""The blocks of DuckDB's file as they lie on the disk, with the checksums that DuckDB looks at when it reads one.

The layout is that of DuckDB's storage versions since 1: three headers of 4 KiB, then blocks of one size, each of which
begins with the checksum (u8) of the rest. Reading beside DuckDB finds damage that its cache hides, at the speed of the
disk, and without the locks of a query.
"""

import os
from pathlib import Path

import numpy as np

HEADERS_BYTES = 3 * 4096
_SEED = 5381
_FACTOR = np.uint64(0xBF58476D1CE4E5B9)


def checksum(block: bytes) -> int:
    """DuckDB's checksum of a block, its first eight bytes left out (`src/common/checksum.cpp`)."""
    words = np.frombuffer(block, np.uint64)[1:]
    # The products wrap around on purpose.
    return int(np.bitwise_xor.reduce(words * _FACTOR)) ^ _SEED


def is_whole(block: bytes) -> bool:
    """Whether the checksum is right; a block that was never written has none."""
    return checksum(block) == int.from_bytes(block[:8], "little") or not any(block)


def empty_strings(size: int) -> bytes:
    """A block of an uncompressed column of strings, all of which are empty: length and end of its dictionary, zeros."""
    words = np.zeros(size // 8, np.uint64)
    words[1] = np.uint64((size - 8) << 32)
    words[0] = np.uint64(checksum(words.tobytes()))
    return words.tobytes()


class BlockFile:
    """The file beside DuckDB. Close it after DuckDB has closed: it would lose its lock on the file before."""

    def __init__(self, path: Path, block_bytes: int) -> None:
        self._path = path
        self.block_bytes = block_bytes
        self._file = os.open(path, os.O_RDWR | os.O_CLOEXEC)

    def __len__(self) -> int:
        return max(os.fstat(self._file).st_size - HEADERS_BYTES, 0) // self.block_bytes

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)

    def damaged(self, first: int, end: int) -> list[int]:
        """Those of some blocks that are not whole, or that the disk does not give."""
        return [number for number in range(first, min(end, len(self))) if not self._is_whole(number)]

    def damaged_still(self, numbers: list[int]) -> list[int]:
        """Those that are not whole when the disk itself is asked again, not what the kernel remembers of it."""
        for number in numbers:
            os.posix_fadvise(self._file, self._place(number), self.block_bytes, os.POSIX_FADV_DONTNEED)
        return [number for number in numbers if number < len(self) and not self._is_whole(number)]

    def keep(self, number: int, suffix: str) -> None:
        """Write a block as it is into a file of its own; OSError when it cannot be."""
        target = self._path.with_name(f"{self._path.name}.block-{number}.{suffix}")
        try:
            content = os.pread(self._file, self.block_bytes, self._place(number))
        except OSError:
            content = b""
        target.write_bytes(content)

    def put(self, number: int, content: bytes) -> None:
        """Write a block; on the disk when this returns."""
        os.pwrite(self._file, content, self._place(number))
        os.fdatasync(self._file)

    def _is_whole(self, number: int) -> bool:
        try:
            block = os.pread(self._file, self.block_bytes, self._place(number))
        except OSError:
            return False
        return len(block) < self.block_bytes or is_whole(block)

    def _place(self, number: int) -> int:
        return HEADERS_BYTES + number * self.block_bytes
