"""Damaged files of the data directory: what setting one aside loses, and doing it. Nothing is ever deleted."""

import shlex
from datetime import UTC, datetime
from pathlib import Path

from loadwatch_backend.core.data_directory import DataDirectoryError

SAMPLES, SAMPLES_LOG, RELATIONS = "samples.duckdb", "samples.duckdb.wal", "loadwatch.sqlite"
FILES = (SAMPLES_LOG, SAMPLES, RELATIONS)
"""What can be set aside: the server starts without them."""
_WITH = {
    SAMPLES: (SAMPLES_LOG,),
    # The start removes files of runs that the database does not know: they go along.
    RELATIONS: ("loadwatch.sqlite-wal", "loadwatch.sqlite-shm", "runs"),
}


def advice(directory: Path, name: str) -> str:
    command = f"loadwatch server --data {shlex.quote(str(directory))} --set-aside {name}"
    return (
        f"{_loss(directory, name)} A backup of the whole directory is better if there is one. Otherwise run"
        f"\n    {command}\nwhich renames it, deletes nothing, and ends; then start the server again."
    )


def salvage_command(directory: Path) -> str:
    """What copies all that can be read of a damaged file of samples; while the server is stopped."""
    return f"loadwatch store salvage {shlex.quote(str(directory))} NEW_FILE"


def set_aside(directory: Path, name: str, now_ms: int) -> list[Path]:
    """Rename a file, and what is worth nothing without it, by the time; their new names.

    The caller holds the lock of the directory.

    Raises:
        DataDirectoryError: there is no such file, or it cannot be renamed.
    """
    present = [directory / part for part in (name, *_WITH.get(name, ())) if (directory / part).exists()]
    if not present or present[0].name != name:
        raise DataDirectoryError(f"there is no {name} in {directory}; nothing was changed")
    suffix = f"set-aside-{datetime.fromtimestamp(now_ms / 1000, UTC):%Y%m%dT%H%M%SZ}"
    renamed: list[Path] = []
    # The file itself at last: until then the next start refuses as before.
    for path in reversed(present):
        target = path.with_name(f"{path.name}.{suffix}")
        if target.exists():
            raise DataDirectoryError(f"{target} exists already; wait a second and try again")
        try:
            path.rename(target)
        except OSError as error:
            raise DataDirectoryError(f"{path} cannot be renamed: {error.strerror}") from error
        renamed.append(target)
    return renamed


def _loss(directory: Path, name: str) -> str:
    path = directory / name
    if name == SAMPLES_LOG:
        return (
            f"{path} holds {_size(path)} of samples that are not in {SAMPLES} yet: those that arrived between about"
            f" {_changed(directory / SAMPLES)}, when that was last written, and {_changed(path)}. Without it they are"
            " lost, as are metrics first seen in that time; all older samples, runs and alerts stay."
        )
    if name == SAMPLES:
        return (
            f"{path} holds all samples ({_size(path)}, last written {_changed(path)}). Without it every sample is lost;"
            " runs with their results, alerts, users and annotations stay."
        )
    return (
        f"{path} holds runs, reviews, alerts, silences, users and tokens ({_size(path)}, last written"
        f" {_changed(path)}). Without it they are lost; samples stay, and the files of runs are set aside with it."
    )


def _size(path: Path) -> str:
    return f"{path.stat().st_size / 1e6:.1f} MB" if path.exists() else "nothing"


def _changed(path: Path) -> str:
    return f"{datetime.fromtimestamp(path.stat().st_mtime, UTC):%Y-%m-%d %H:%M:%S} UTC" if path.exists() else "never"
