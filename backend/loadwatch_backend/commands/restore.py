"""`loadwatch restore`: a data directory out of a backup."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import click
from loadwatch_formats.backups import BackupError, Manifest

from loadwatch_backend.backups.restore import (
    Restored,
    check_backup,
    find_backup,
    is_empty,
    make_directory,
    relational_advice,
    restore_backup,
    samples_advice,
)
from loadwatch_backend.kit.data_directory import HALF_RESTORED
from loadwatch_backend.store.embedded.lock import acquire_lock
from loadwatch_backend.store.errors import CopyDamagedError, DataDirectoryError
from loadwatch_backend.store.relational_copy import RelationalCopyError

directory_type = click.Path(path_type=Path, file_okay=False)


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option("--data", type=directory_type, help="The new data directory: empty, or not there yet.")
@click.option("--check", is_flag=True, help="Read all of the backup, say whether it is whole, and write nothing.")
@click.option("--skip-damaged", is_flag=True, help="Leave damaged files out and say what is missing without them.")
def restore(directory: Path, data: Path | None, *, check: bool, skip_damaged: bool) -> None:
    """Make a data directory of the backup in DIR, of the newest one if it holds several.

    All of it is read and compared with what was written before anything is made of it. Exit status: 0; 1 it is damaged,
    or the directory cannot be used; 2 the command was wrong.
    """
    if check == (data is not None):
        raise click.UsageError("Give either --data or --check.")
    if data is not None:
        _refuse_full(data)
    try:
        backup, manifest = find_backup(directory)
        damaged = check_backup(backup, manifest)
    except (BackupError, OSError) as error:
        raise click.ClickException(str(error)) from error
    for _, what in damaged:
        click.echo(f"damaged: {what}", err=True)
    if damaged and not skip_damaged:
        raise click.ClickException(
            f"{len(damaged)} of {len(manifest.files)} files of {backup} are damaged."
            + ("" if check else " Take an older backup, or leave them out with --skip-damaged.")
        )
    if data is None:
        click.echo(f"{backup} is whole: {_of(manifest)}.")
        return
    restored = _locked(data, lambda: restore_backup(backup, manifest, damaged, data))
    click.echo(f"{data} has {restored.rows} samples and {len(manifest.files) - len(damaged)} files: {_of(manifest)}.")
    for what in restored.missing:
        click.echo(f"missing: {what}", err=True)
    for advice in (relational_advice(manifest), samples_advice(manifest)):
        if advice is not None:
            click.echo(advice, err=True)
    click.echo(f"Start it with: loadwatch server --data {data}")


def _refuse_full(data: Path) -> None:
    if data.exists() and not is_empty(data):
        _refuse_used(data)
        if (data / HALF_RESTORED).exists():
            raise click.ClickException(f"a restore into {data} was cut off: remove it, and run this again.")
        raise click.ClickException(f"{data} is not empty. Restore into a new directory; nothing was changed.")


def _locked(data: Path, job: Callable[[], Restored]) -> Restored:
    undo = make_directory(data)
    try:
        lock = acquire_lock(data)
    except DataDirectoryError as error:
        raise click.ClickException(str(error)) from error
    try:
        try:
            return job()
        except BaseException:
            undo()
            raise
    except (BackupError, CopyDamagedError, RelationalCopyError, DataDirectoryError) as error:
        raise click.ClickException(f"{error} Nothing was left in {data}.") from error
    except OSError as error:
        raise click.ClickException(f"{data} cannot be written: {error.strerror}. Nothing was left in it.") from error
    finally:
        os.close(lock)


def _refuse_used(data: Path) -> None:
    """Say it where a server uses the directory."""
    try:
        os.close(acquire_lock(data))
    except DataDirectoryError as error:
        raise click.ClickException(f"{error}. Nothing was changed.") from error


def _of(manifest: Manifest) -> str:
    begun = datetime.fromtimestamp(manifest.begun_ms / 1_000, UTC)
    return (
        f"{manifest.rows} samples of {len(manifest.hours())} hours, all that was stored before"
        f" {begun:%Y-%m-%d %H:%M:%S} UTC by Loadwatch {manifest.loadwatch}"
    )
