"""One account of all that an import unpacks: layers of compression, members of archives, copies on disk."""

import shutil
from collections.abc import Callable, Hashable
from io import FileIO
from pathlib import Path
from typing import BinaryIO

from loadwatch_backend.core.room import CHECK_BYTES, RESERVE_BYTES, DiskFullError
from loadwatch_backend.runs.importers.errors import ImportLimitError

MAX_BYTES = 256 << 30
MAX_RATIO = 300
"""Most unpacked bytes per byte sent, beyond the first `FREE_BYTES`; result files compress 5 to 40 times."""
FREE_BYTES = 64 << 20


class Unpacked:
    """What one import has unpacked so far; every layer counts, each place once however often it is read.

    Args:
        sent: bytes of the file as it was sent.
        most: most bytes of all together.
        free: tells how many bytes the disk of a directory has free; of the operating system by default.
    """

    def __init__(
        self,
        sent: int,
        most: int = MAX_BYTES,
        *,
        free: Callable[[Path], int] = lambda path: shutil.disk_usage(path).free,
    ) -> None:
        self._sent = sent
        self._most = most
        self._free = free
        self._reached: dict[Hashable, int] = {}
        self._total = 0
        self._until_check = 0

    def reach(self, place: Hashable, count: int) -> None:
        """The stream at `place` has given `count` bytes since its beginning.

        Raises:
            ImportLimitError: all together are more than the budget.
        """
        more = count - self._reached.get(place, 0)
        if more <= 0:
            return
        self._reached[place] = count
        self._total += more
        budget = min(self._most, FREE_BYTES + MAX_RATIO * self._sent)
        if self._total > budget:
            raise ImportLimitError(
                f"The file of {self._sent} bytes unpacks to more than {budget} bytes: at most {MAX_RATIO} times its"
                f" size and {FREE_BYTES >> 20} MiB are unpacked, and never more than {self._most} bytes."
                " Send it unpacked, or in parts."
            )

    def check_room(self, directory: Path, size: int) -> None:
        """Before `size` bytes are written below a directory; looks at the disk every `CHECK_BYTES`.

        Raises:
            DiskFullError: the disk would have less free than the reserve.
        """
        self._until_check -= size
        if self._until_check > 0:
            return
        self._until_check = CHECK_BYTES
        free = self._free(directory)
        if free < RESERVE_BYTES + CHECK_BYTES:
            raise DiskFullError(
                f"The data directory's disk has {free >> 20} MiB free while the file is unpacked and read, and"
                f" {RESERVE_BYTES >> 20} MiB stay free for samples. Delete runs, or give the disk more room."
            )

    def copy(self, stream: BinaryIO, path: Path, step: int = 1 << 20) -> int:
        """Write a stream to a file as far as the budget and the disk allow; its length.

        Raises:
            ImportLimitError, DiskFullError: see `reach` and `check_room`.
        """
        written = 0
        # Unbuffered: what the disk refuses is refused here, and not taken for damage of what is read.
        with path.open("wb", buffering=0) as target:
            while data := stream.read(step):
                written += len(data)
                self.reach(path, written)
                self.check_room(path.parent, len(data))
                _write(target, data)
        return written


def _write(target: FileIO, data: bytes) -> None:
    left = memoryview(data)
    try:
        while left:
            left = left[target.write(left) :]
    except OSError as error:
        raise DiskFullError(f"What the file unpacks to could not be written: {error.strerror}.") from error
