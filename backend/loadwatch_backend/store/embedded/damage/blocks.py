"""The blocks of DuckDB's file as they lie on the disk, with the checksums that DuckDB looks at when it reads one.

The layout is that of DuckDB's storage versions since 1: three headers of 4 KiB, then blocks of one size, each of which
begins with the checksum (u8) of the rest. Reading beside DuckDB finds damage that its cache hides, at the speed of the
disk, and without the locks of a query.
"""

import os
from pathlib import Path

import numpy as np

HEADERS_BYTES = 3 * 4096
BLOCK_BYTES = 1 << 18
"""DuckDB's default, with which all of our files are made."""
HEADER_BYTES = 4096
_SEED = 5381
_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
_INVERSE = np.uint64(pow(0xBF58476D1CE4E5B9, -1, 1 << 64))
_BYTES = [np.uint64(0xFF << shift) for shift in range(0, 64, 8)]


def checksum(block: bytes) -> int:
    """DuckDB's checksum of a block, its first eight bytes left out (`src/common/checksum.cpp`)."""
    words = np.frombuffer(block, np.uint64)[1:]
    # The products wrap around on purpose.
    return int(np.bitwise_xor.reduce(words * _FACTOR)) ^ _SEED


def is_whole(block: bytes) -> bool:
    """Whether the checksum is right; a block that was never written has none."""
    return checksum(block) == int.from_bytes(block[:8], "little") or not any(block)


def mended(block: bytes) -> bytes | None:
    """The block as it was written, if one byte of it is wrong; None when more are, or when it cannot be told which.

    The checksum is the exclusive or of all words times an odd factor, so that it tells for each word what that would
    have to be if it alone were wrong. One that differs by a single byte from what is there is the right one: by chance
    that comes in one of 10^11 blocks that are damaged otherwise. A wrong byte at the upper end of a word leaves its
    mark on the highest bits alone, and so could be in several words.
    """
    words = np.frombuffer(block, np.uint64).copy()
    wrong = np.uint64(checksum(block)) ^ words[0]
    good = ((words * _FACTOR) ^ wrong) * _INVERSE
    good[0] = words[0] ^ wrong
    change = good ^ words
    places = np.flatnonzero(np.any([(change & ~mask) == 0 for mask in _BYTES], axis=0))
    if len(places) != 1:
        return None
    words[places] = good[places]
    return words.tobytes()


def empty_strings(size: int) -> bytes:
    """A block of an uncompressed column of strings, all of which are empty: length and end of its dictionary, zeros."""
    words = np.zeros(size // 8, np.uint64)
    words[1] = np.uint64((size - 8) << 32)
    words[0] = np.uint64(checksum(words.tobytes()))
    return words.tobytes()


class BlockFile:
    """The file beside DuckDB. Close it after DuckDB has closed: it would lose its lock on the file before."""

    block_bytes = BLOCK_BYTES

    def __init__(self, path: Path) -> None:
        self._path = path
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

    def mend(self, number: int) -> bool:
        """Put a single wrong byte of a block right; whether that was all."""
        content = self._read(number)
        right = mended(content) if len(content) == self.block_bytes else None
        if right is not None:
            self.put(number, right)
        return right is not None

    def mend_headers(self) -> None:
        """Do so for the three headers."""
        for place in range(0, HEADERS_BYTES, HEADER_BYTES):
            header = os.pread(self._file, HEADER_BYTES, place)
            if len(header) == HEADER_BYTES and not is_whole(header):
                right = mended(header)
                if right is not None:
                    os.pwrite(self._file, right, place)

    def keep(self, number: int, suffix: str) -> None:
        """Write a block as it is into a file of its own; OSError when it cannot be."""
        target = self._path.with_name(f"{self._path.name}.block-{number}.{suffix}")
        target.write_bytes(self._read(number))

    def blank(self, number: int) -> bytes:
        """A block of long strings without any, that leads on to the same block: its number stands at the end."""
        words = np.zeros(self.block_bytes // 8, np.uint64)
        follower = np.frombuffer(self._read(number)[-8:].ljust(8, b"\xff"), np.int64)[0]
        words[-1] = np.int64(follower if 0 <= follower < len(self) else -1).astype(np.uint64)
        words[0] = np.uint64(checksum(words.tobytes()))
        return words.tobytes()

    def put(self, number: int, content: bytes) -> None:
        """Write a block; on the disk when this returns."""
        os.pwrite(self._file, content, self._place(number))
        os.fdatasync(self._file)

    def _is_whole(self, number: int) -> bool:
        block = self._read(number)
        return len(block) == self.block_bytes and is_whole(block)

    def _read(self, number: int) -> bytes:
        """A block, of nothing when the disk does not give it."""
        try:
            return os.pread(self._file, self.block_bytes, self._place(number))
        except OSError:
            return b""

    def _place(self, number: int) -> int:
        return HEADERS_BYTES + number * self.block_bytes
