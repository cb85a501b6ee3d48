"""`loadwatch backup`: a copy of all that a server keeps, while it runs, from anywhere that reaches it."""

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, cast

import click
import urllib3
from loadwatch_formats.backups import SQLITE, BackupError

from loadwatch_collectors.backups.receive import Received, receive_backup, remove_older
from loadwatch_collectors.errors import AgentError
from loadwatch_collectors.runs.delivery.client import Client, read_token
from loadwatch_collectors.runs.errors import UsageError

EXIT_FAILED = 1
EXIT_USAGE = 2
PIECE_SECONDS = 600.0
"""Between two pieces: an hour of many series takes its time."""
DUMPS = {"mysql": "mariadb-dump --single-transaction", "postgresql": "pg_dump"}


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--keep", type=click.IntRange(min=1), metavar="N", help="Then delete all backups in DIR but the newest N."
)
@click.option(
    "--server",
    envvar="LOADWATCH_SERVER",
    default="http://127.0.0.1:8000",
    show_default=True,
    help="Address of the server.",
)
@click.option(
    "--token-file", help="File with an administrator's token; without it the variable LOADWATCH_TOKEN is used."
)
def backup(directory: Path, keep: int | None, server: str, token_file: str | None) -> None:
    """Copy all that a server keeps into a new directory below DIR, while it runs.

    Hours and files that have not changed since the newest backup in DIR are links to it. Prints the new directory, of
    which `loadwatch restore` makes a data directory. Exit status: 0; 1 there is no new backup; 2 the command was wrong.
    """
    try:
        client = Client(server, read_token(token_file), seconds=PIECE_SECONDS)

        def ask(known: Sequence[Mapping[str, str]]) -> IO[bytes]:
            return cast("IO[bytes]", client.download("/api/backup", document={"known": list(known)}))

        received = receive_backup(directory, ask, round(time.time() * 1_000))
        gone = remove_older(directory, keep) if keep else []
    except UsageError as error:
        raise _Failure(str(error), EXIT_USAGE) from error
    except (AgentError, BackupError) as error:
        raise _Failure(f"{error}. There is no new backup.", EXIT_FAILED) from error
    except urllib3.exceptions.HTTPError as error:
        raise _Failure(f"the server broke off: {error}. There is no new backup.", EXIT_FAILED) from error
    except OSError as error:
        raise _Failure(f"{directory}: {error.strerror}. There is no new backup.", EXIT_FAILED) from error
    for line in _report(received, gone):
        click.echo(line, err=True)
    click.echo(received.directory)


class _Failure(click.ClickException):
    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.exit_code = status  # pyright: ignore[reportAttributeAccessIssue] - click's own way, a class variable to it


def _report(received: Received, gone: Sequence[Path]) -> list[str]:
    manifest: Any = received.manifest
    size = sum(file.bytes for file in manifest.files)
    lines = [
        f"{manifest.rows} samples of {len(manifest.hours())} hours and {len(manifest.files)} files in all,"
        f" {size / 1e6:.1f} MB, {received.received_bytes / 1e6:.1f} MB of them new; all that was stored before"
        f" {datetime.fromtimestamp(manifest.begun_ms / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC."
    ]
    if manifest.relational != SQLITE:
        dump = DUMPS.get(manifest.relational, "its own tool")
        lines.append(
            f"NOT in it: runs, alerts and users, which are in the server's {manifest.relational} database. Back that up"
            f" with {dump}."
        )
    lines += [f"{path} was damaged in the backup before; it was received again." for path in received.damaged_before]
    lines += [f"deleted: {path}" for path in gone]
    return lines
