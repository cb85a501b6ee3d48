"""`loadwatch restore`: a data directory out of a backup."""

import os
import shutil
from collections.abc import Collection, Generator
from contextlib import contextmanager
from pathlib import Path

import click
from loadwatch_formats import backups
from loadwatch_formats.terminal import echo

from loadwatch_backend.core.data_directory import HALF_RESTORED, DataDirectoryError, open_data_directory
from loadwatch_backend.series.store.embedded.copies import take_in
from loadwatch_backend.series.store.embedded.lock import LOCK_FILE, acquire_lock
from loadwatch_backend.series.store.errors import CopyDamagedError

IGNORED = frozenset({"lost+found", LOCK_FILE})
"""Files that a directory may hold and still count as empty."""


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option("--data", type=click.Path(path_type=Path, file_okay=False), help="The new directory, empty or missing.")
@click.option("--check", is_flag=True, help="Read all of the backup, say whether it is whole, and write nothing.")
@click.option("--skip-damaged", is_flag=True, help="Leave damaged files out and say what is missing without them.")
def restore(directory: Path, data: Path | None, *, check: bool, skip_damaged: bool) -> None:
    """Make a data directory of the backup in DIR, of the newest one if it holds several.

    All of it is read and compared with what was written before anything is made of it. Exit status: 0; 1 it is damaged,
    or the directory cannot be used; 2 the command was wrong.
    """
    if check == (data is not None):
        raise click.UsageError("Give either --data or --check.")
    try:
        if data is None:
            backup, manifest, _ = find_backup(directory, skip_damaged=False)
            echo(f"{backup} is whole: {manifest.summary()}.")
            return
        with new_data_directory(data):
            backup, manifest, damaged = find_backup(directory, skip_damaged=skip_damaged)
            rows = restore_backup(backup, manifest, damaged, data)
    except (backups.BackupError, CopyDamagedError, DataDirectoryError) as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{data or directory}: {error.strerror}. Nothing was restored.") from error
    echo(f"{data} has {rows} samples: {manifest.summary()}.")
    for what in damaged.values():
        echo(f"missing: {what}", err=True)
    if manifest.relational != backups.SQLITE:
        echo(f"Runs, alerts and users: restore your dump of {manifest.relational} (LOADWATCH_DATABASE_URL).", err=True)
    if all(file.path != backups.SERIES for file in manifest.files):
        echo("Samples: they are in another engine, restored by its own means (LOADWATCH_STORE_URL).", err=True)
    echo(f"Start it with: loadwatch server --data {data}")


def find_backup(directory: Path, *, skip_damaged: bool) -> tuple[Path, backups.Manifest, dict[str, str]]:
    """The backup in a directory, the newest where there are several, and its damaged files with what is lost by each.

    Raises:
        BackupError: there is none, or it is damaged; names what.
    """
    found = backups.whole_backups(directory)
    if not found:
        raise backups.BackupError(f"{directory} holds no backup that is whole")
    backup, manifest = found[-1], backups.read_manifest(found[-1])
    damaged = {path: f"{backup / path} {what}: {_loss(path)}" for path, what in backups.damages(backup, manifest)}
    if damaged and not skip_damaged:
        what = f"{len(damaged)} of {len(manifest.files)} files are damaged. Take an older backup, or --skip-damaged."
        raise backups.BackupError("\n".join([*damaged.values(), what]))
    return backup, manifest, damaged


@contextmanager
def new_data_directory(directory: Path) -> Generator[None]:
    """Hold an empty data directory, which a server refuses meanwhile; what fails leaves nothing in it.

    Raises:
        BackupError: it is not empty. DataDirectoryError: it is in use, or cannot be written.
    """
    existed = directory.exists()
    open_data_directory(directory)
    lock = acquire_lock(directory)
    try:
        if any(path.name not in IGNORED for path in directory.iterdir()):
            why = ": a restore was cut off" if (directory / HALF_RESTORED).exists() else ""
            raise backups.BackupError(f"{directory} is not empty{why}. Restore into a new one; nothing was changed.")
        try:
            (directory / HALF_RESTORED).touch()
            yield
            (directory / HALF_RESTORED).unlink()
        except BaseException:
            for path in directory.iterdir():
                if path.is_file():
                    path.unlink()
                elif path.name not in IGNORED:
                    shutil.rmtree(path, ignore_errors=True)
            if not existed:
                directory.rmdir()
            raise
    finally:
        os.close(lock)


def restore_backup(backup: Path, manifest: backups.Manifest, damaged: Collection[str], directory: Path) -> int:
    """Fill a directory without the damaged files; how many samples it has then.

    Raises:
        BackupError: the backup has no names of its series.
        CopyDamagedError: what is in a file is not what a server wrote.
        DataDirectoryError, OSError: the directory cannot be written.
    """
    kept = [file.path for file in manifest.files if file.path not in damaged]
    if not {backups.SERIES, backups.METADATA}.isdisjoint(damaged):
        raise backups.BackupError("without the names of series no sample has an owner; take an older backup.")
    for path in kept:
        if not path.startswith(backups.SAMPLES):
            target = directory / path
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            shutil.copyfile(backup / path, target)
    if backups.SERIES not in kept:
        return 0
    rows, expired = take_in(directory, backup, kept)
    if not damaged and rows + expired != manifest.rows:
        raise backups.BackupError(f"{rows + expired} samples were taken in, and the backup has {manifest.rows}.")
    return rows


def _loss(path: str) -> str:
    if found := backups.HOUR.fullmatch(path):
        return "the samples of the hour from {}-{}-{} {}:00 UTC on".format(*found.groups())
    if found := backups.DAY.fullmatch(path):
        return "what is known by the minute of {}-{}-{}".format(*found.groups())
    names = "the names of all series, and so all samples"
    words = {backups.RELATIONS: "runs, reviews, alerts, silences, users and tokens"}
    return (words | dict.fromkeys((backups.SERIES, backups.METADATA), names)).get(path, "this file")
