"""Makes a data directory of a backup, and says of one whether it is whole."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from loadwatch_formats.backups import (
    METADATA,
    RELATIONS,
    SAMPLES,
    SERIES,
    SQLITE,
    WHOLE,
    BackupError,
    BackupFile,
    Manifest,
    damages,
    day_of,
    hour_of,
    read_manifest,
    whole_backups,
)

from loadwatch_backend.kit.data_directory import HALF_RESTORED, open_data_directory
from loadwatch_backend.store.embedded.copies import take_in
from loadwatch_backend.store.relational_copy import check_sqlite

IGNORED = frozenset({"lost+found", "loadwatch.lock"})
"""In a directory that counts as empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What a new data directory holds; `missing` are damaged files that were left out, in words."""

    rows: int
    expired_rows: int
    missing: Sequence[str]


def find_backup(directory: Path) -> tuple[Path, Manifest]:
    """The backup in a directory, the newest where there are several.

    Raises:
        BackupError: there is none, or its manifest cannot be read.
    """
    found = whole_backups(directory)
    if not found:
        raise BackupError(f"{directory} holds no backup that is whole")
    return found[-1], read_manifest(found[-1])


def check_backup(backup: Path, manifest: Manifest) -> list[tuple[BackupFile, str]]:
    """Read all of it; files that are not as they were written, with what that means for people."""
    return [
        (file, f"{backup / file.path} {what}: {_loss(file.path)}") for file, what in damages(backup, manifest.files)
    ]


def restore_backup(
    backup: Path, manifest: Manifest, damaged: Sequence[tuple[BackupFile, str]], directory: Path
) -> Restored:
    """Fill an empty data directory, which the caller has locked, leaving out damaged files.

    A server refuses the directory until all of it is there.

    Raises:
        BackupError: the directory is not empty, or the backup has no names of its series.
        CopyDamagedError, RelationalCopyError: what is in a file is not what a server wrote.
        DataDirectoryError, OSError: the directory cannot be written.
    """
    if not is_empty(directory):
        raise BackupError(f"{directory} is not empty; restore into a new directory")
    without = {file.path for file, _ in damaged}
    kept = [file for file in manifest.files if file.path not in without]
    if manifest.hours() and {SERIES, METADATA} & without:
        raise BackupError(f"without {SERIES} and {METADATA} nobody knows which samples are whose; take an older backup")
    mark = directory / HALF_RESTORED
    mark.touch()
    for file in kept:
        if not file.path.startswith(f"{SAMPLES}/"):
            target = directory / file.path
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            shutil.copy2(backup / file.path, target)
            target.chmod(0o600)
    if any(file.path == RELATIONS for file in kept):
        check_sqlite(directory / RELATIONS)
    if not has_samples(manifest):
        mark.unlink()
        return Restored(rows=0, expired_rows=0, missing=[what for _, what in damaged])
    hours = [backup / file.path for file in manifest.hours() if file.path not in without]
    days = [backup / file.path for file in manifest.days() if file.path not in without]
    whole = next((backup / file.path for file in kept if file.path == WHOLE), None)
    taken = take_in(directory, backup / SERIES, backup / METADATA, hours, days, whole)
    if not without and taken.rows + taken.expired_rows != manifest.rows:
        raise BackupError(
            f"{taken.rows + taken.expired_rows} samples were taken in, and the backup has {manifest.rows}"
        )
    mark.unlink()
    return Restored(rows=taken.rows, expired_rows=taken.expired_rows, missing=[what for _, what in damaged])


def is_empty(directory: Path) -> bool:
    """Whether nothing of anybody is in it."""
    return not directory.exists() or all(path.name in IGNORED for path in directory.iterdir())


def make_directory(directory: Path) -> Callable[[], None]:
    """Make the data directory if needed; what is returned removes what a restore that failed has put into it."""
    existed = directory.exists()
    open_data_directory(directory)

    def undo() -> None:
        for path in directory.iterdir():
            if path.is_dir() and path.name not in IGNORED:
                shutil.rmtree(path, ignore_errors=True)
            elif not path.is_dir():
                path.unlink(missing_ok=True)
        if not existed:
            directory.rmdir()

    return undo


def _loss(path: str) -> str:
    hour = hour_of(path)
    if hour is not None:
        return f"the samples of the hour from {hour} on"
    day = day_of(path)
    if day is not None:
        return f"what is known by the minute of {day}"
    if path == RELATIONS:
        return "runs, reviews, alerts, silences, users and tokens"
    if path in (SERIES, METADATA):
        return "the names of all series, and so all samples"
    folder, _, rest = path.partition("/")
    if folder in ("runs", "evidence"):
        return f"a file of the run {rest.partition('/')[0]}"
    return "this file"


def has_samples(manifest: Manifest) -> bool:
    """Whether the server kept samples itself, be there any or not; another engine's are not in a backup."""
    return any(file.path == SERIES for file in manifest.files)


def samples_advice(manifest: Manifest) -> str | None:
    """What is to be said of samples that are elsewhere."""
    if has_samples(manifest):
        return None
    return (
        "Samples were in another engine, which is not in this backup: restore it by its own means, and name it in"
        " LOADWATCH_STORE_URL."
    )


def relational_advice(manifest: Manifest) -> str | None:
    """What is to be said of tables that are elsewhere."""
    if manifest.relational == SQLITE:
        return None
    return (
        f"Runs, alerts and users were in a {manifest.relational} database, which is not in this backup: restore it from"
        " its own dump, and name it in LOADWATCH_DATABASE_URL."
    )
