"""`loadwatch export`: samples of a server as OpenMetrics text."""

import os
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import click
import urllib3
from loadwatch_formats.backups import BackupError

from loadwatch_collectors.commands.runs import SERVER
from loadwatch_collectors.errors import AgentError
from loadwatch_collectors.runs.delivery import Client, read_token
from loadwatch_collectors.runs.errors import ServerError

PIECE_SECONDS = 600.0
"""Until the first piece, and between two: a selection of many series takes its time."""
_PIECE_BYTES = 1 << 16
_END = b"# EOF\n"


@click.command()
@click.option(
    "--match",
    "matches",
    multiple=True,
    metavar="SELECTOR",
    help="Series to export, such as 'up{job=\"api\"}'; several.",
)
@click.option(
    "--from", "start", metavar="TIME", help="RFC 3339, or seconds since the epoch. Default: the oldest sample."
)
@click.option("--to", "end", metavar="TIME", help="The same, the last time. Default: the newest sample.")
@click.option("--output", "-o", default="-", show_default=True, help="Where to write it; - is the terminal.")
@SERVER
@click.option("--token-file", help="File with a token that may read; without it the variable LOADWATCH_TOKEN is used.")
def export(
    matches: Sequence[str], start: str | None, end: str | None, output: str, server: str, token_file: str | None
) -> None:
    """Write raw samples with their times as OpenMetrics text, which promtool reads.

    A file is there under its name once it is whole. Exit status: 0; 1 nothing, or not all, was written; 2 the command
    was wrong.
    """
    with failures(output):
        client = Client(server, read_token(token_file), seconds=PIECE_SECONDS)
        answer = client.download("/api/export", {"match[]": list(matches), "start": start, "end": end})
        with _target(output) as target:
            if not _copy(answer.stream(_PIECE_BYTES), target):
                raise ServerError(f"{client.shown} broke off: there is no # EOF at the end, so samples are missing")


@contextmanager
def failures(place: object, result: str = "") -> Generator[None]:
    """End a command with one line and its exit status where the server fails, or the disk at a place."""
    status = 1
    try:
        yield
        return
    except (AgentError, BackupError) as error:
        text, status = str(error), getattr(error, "exit_code", status)
    except urllib3.exceptions.HTTPError as error:
        text = f"the server broke off: {error}"
    except OSError as error:
        text = f"{place}: {error.strerror or error}"
    failure = click.ClickException(f"{text}{result}")
    failure.exit_code = status  # pyright: ignore[reportAttributeAccessIssue] - click's own way, a class variable to it
    raise failure


def _copy(pieces: Iterator[bytes], target: IO[bytes]) -> bool:
    """Copy the pieces; whether all of them came."""
    last = b""
    for piece in pieces:
        target.write(piece)
        last = (last + piece)[-len(_END) :]
    return last == _END


@contextmanager
def _target(output: str) -> Generator[IO[bytes]]:
    if output == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(output)
    part = path.with_name(f"{path.name}.partial")
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        with suppress(OSError):
            part.unlink()
