"""Room on the disk of the data directory: a part of it stays free for samples, whoever else writes."""

import shutil
from pathlib import Path

from loadwatch_backend.core.errors import UnavailableError

RESERVE_BYTES = 256 << 20
"""Left free for everything else that writes here, the samples above all."""
CHECK_BYTES = 64 << 20
"""Written between two looks at what is free; far less than the reserve."""


class DiskFullError(UnavailableError, code="disk-full", title="The disk is full"):
    """The disk has no room for the file."""


def check_room(directory: Path, size: int) -> None:
    """Refuse what would leave less free than the reserve.

    Raises:
        DiskFullError: it says how much is free.
    """
    free = shutil.disk_usage(directory).free
    if free < size + RESERVE_BYTES:
        raise DiskFullError(
            f"The data directory's disk has {free >> 20} MiB free; the file needs {size >> 20} MiB, and"
            f" {RESERVE_BYTES >> 20} MiB stay free for samples. Delete runs, or give the disk more room."
        )
