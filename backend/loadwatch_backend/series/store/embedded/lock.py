"""One process per data directory: a lock that the kernel lets go of when the process ends, however it ends."""

import fcntl
import os
from pathlib import Path

from loadwatch_backend.core.data_directory import DataDirectoryError

LOCK_FILE = "loadwatch.lock"


def acquire_lock(directory: Path) -> int:
    """Make the directory if needed and lock it; returns the open file descriptor, whose closing unlocks.

    Raises:
        DataDirectoryError: the directory cannot be made or written, or another process holds it.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(directory / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise DataDirectoryError(
            f"cannot use the data directory {directory}: {error.strerror}; choose another with LOADWATCH_DATA"
        ) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip() or "unknown"
        os.close(descriptor)
        raise DataDirectoryError(
            f"the data directory {directory} is in use by another loadwatch server (process {holder});"
            " stop it, or choose another directory with LOADWATCH_DATA"
        ) from error
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    except OSError:
        pass  # The name of the holder is only a courtesy: a full disk must not keep the server from starting.
    return descriptor
