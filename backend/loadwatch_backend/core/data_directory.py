"""The data directory is its owner's alone: it holds hashes of passwords, keys, and what a company's systems do."""

import os
import stat
from pathlib import Path

import structlog

logger = structlog.get_logger(__name__)


class DataDirectoryError(Exception):
    """The data directory cannot be used; the text says why and what to do. Ends the start of the server."""


OURS = ("loadwatch.lock", "loadwatch.sqlite", "samples.duckdb")
"""Files by which a directory that exists is known to be a data directory and nothing else."""
HALF_RESTORED = "restore-under-way"
"""A file that is there as long as a restore has not come to its end."""
_OTHERS = 0o077


def open_data_directory(directory: Path, *, user_id: int | None = None) -> None:
    """Make the directory if needed, for its owner alone, and close what an earlier version left open to others.

    What cannot be closed is logged: a directory of another user (a mounted volume may be one), or one that holds other
    things, whose mode is not ours to change. New files are private by the process's umask all the same.

    Raises:
        OSError: it cannot be made or read.
    """
    try:
        directory.mkdir(parents=True, mode=0o700)
        return
    except FileExistsError:
        status = directory.stat()
    user = os.geteuid() if user_id is None else user_id
    if status.st_uid != user:
        logger.warning(
            "the data directory belongs to another user, who can read it; give it to the server's user (chown)",
            directory=str(directory),
            owner=status.st_uid,
            user=user,
        )
        return
    if not status.st_mode & _OTHERS:
        return
    if not _is_ours(directory, status):
        logger.warning(
            "the data directory holds other things and is open to other users; take one of its own (LOADWATCH_DATA)",
            directory=str(directory),
            mode=f"{stat.S_IMODE(status.st_mode):04o}",
        )
        return
    below = (Path(folder, name) for folder, folders, files in os.walk(directory) for name in (*folders, *files))
    closed = sum(map(_close, (directory, *below)))
    logger.warning(
        "other users of this machine could read the data directory; it is closed to them now",
        directory=str(directory),
        closed=closed,
    )


def _is_ours(directory: Path, status: os.stat_result) -> bool:
    """A shared folder such as /tmp stays as it is even where an earlier version wrote into it."""
    if status.st_mode & stat.S_ISVTX:
        return False
    return any((directory / name).exists() for name in OURS) or not any(directory.iterdir())


def _close(path: Path) -> int:
    """Take others' rights away; whether there were any. Links are not followed, files of others not touched."""
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode) or not mode & _OTHERS:
            return 0
        path.chmod(stat.S_IMODE(mode) & ~_OTHERS)
    except OSError:
        return 0
    return 1
