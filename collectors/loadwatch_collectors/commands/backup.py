"""`loadwatch backup`: a copy of all that a server keeps, while it runs, from anywhere that reaches it."""

import fcntl
import os
import shutil
import tarfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from loadwatch_formats import backups
from loadwatch_formats.terminal import echo

from loadwatch_collectors.commands.runs import SERVER
from loadwatch_collectors.commands.samples.export import failures
from loadwatch_collectors.runs.delivery import Client, read_token

PIECE_SECONDS = 600.0
"""Between two pieces: an hour of many series takes its time."""


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@click.option("--keep", type=click.IntRange(min=1), metavar="N", help="Then delete all but the newest N backups.")
@SERVER
@click.option("--token-file", help="File with an administrator's token. Default: the variable LOADWATCH_TOKEN.")
def backup(directory: Path, keep: int | None, server: str, token_file: str | None) -> None:
    """Copy all that a server keeps into a new directory below DIR, while it runs.

    Each copy is whole by itself. Prints the new directory, of which `loadwatch restore` makes a data directory. Exit
    status: 0; 1 there is no new backup; 2 the command was wrong.
    """
    with failures(directory, ". There is no new backup."):
        client = Client(server, read_token(token_file), seconds=PIECE_SECONDS)
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (directory / ".loadwatch-backup.lock").open("w") as lock:
            # Another one that writes into this directory comes first.
            fcntl.flock(lock, fcntl.LOCK_EX)
            now = datetime.now(UTC)
            target, manifest = receive_backup(directory, lambda: client.download("/api/backup", document={}), now)
            for gone in backups.whole_backups(directory)[:-keep] if keep else ():
                # From here on it is no backup, however far the deletion gets.
                shutil.rmtree(gone.rename(gone.with_name(f"{gone.name}{backups.PARTIAL}")), ignore_errors=True)
                echo(f"deleted: {gone}", err=True)
    echo(f"{manifest.summary()}.", err=True)
    if manifest.relational != backups.SQLITE:
        echo(f"NOT in it: runs, alerts and users. Dump the server's {manifest.relational} database.", err=True)
    echo(target)


def receive_backup(directory: Path, ask: Callable[[], Any], now: datetime) -> tuple[Path, backups.Manifest]:
    """Make a new backup in a directory that is locked: whole, or not at all. `ask` gives the open tar archive.

    Raises:
        backups.BackupError: the server could not make it, or what came is not whole; nothing of it is left.
        OSError: the disk; nothing of it is left.
    """
    if (directory / backups.MANIFEST).exists():
        raise backups.BackupError(f"{directory} is one backup; give the directory that it is in, or an empty one")
    for killed in directory.glob(f"*{backups.PARTIAL}"):
        shutil.rmtree(killed, ignore_errors=True)
    target = directory / f"{now:%Y%m%dT%H%M%SZ}"
    work = target.with_name(f"{target.name}{backups.PARTIAL}")
    work.mkdir(mode=0o700)
    try:
        with ask() as stream, tarfile.open(fileobj=stream, mode="r|", bufsize=backups.PIECE_BYTES) as archive:
            for member in archive:
                content = archive.extractfile(member)
                if content is None or not backups.is_path(member.name):
                    raise backups.BackupError(f"the server sent {member.name[:200]!r}, which is no file of a backup")
                (work / member.name).parent.mkdir(parents=True, exist_ok=True)
                with (work / member.name).open("xb") as file:
                    shutil.copyfileobj(content, file, backups.PIECE_BYTES)
                    file.flush()
                    os.fsync(file.fileno())
        if (work / backups.FAILURE).exists():
            raise backups.BackupError((work / backups.FAILURE).read_text("utf-8", "replace"))
        manifest = backups.read_manifest(work)
        for path, what in backups.damages(work, manifest):
            raise backups.BackupError(f"{path} did not arrive as the server sent it: it {what}")
        os.sync()
        work.rename(target)
        os.sync()
    except tarfile.TarError as error:
        raise backups.BackupError(f"the server broke off: {error}") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return target, manifest
