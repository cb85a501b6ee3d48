"""`loadwatch export`: samples of a server as OpenMetrics text."""

import os
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import click
import urllib3

from loadwatch_collectors.errors import AgentError
from loadwatch_collectors.runs.delivery.client import Client, read_token
from loadwatch_collectors.runs.errors import UsageError

EXIT_FAILED, EXIT_USAGE = 1, 2
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
@click.option(
    "--server",
    envvar="LOADWATCH_SERVER",
    default="http://127.0.0.1:8000",
    show_default=True,
    help="Address of the server.",
)
@click.option("--token-file", help="File with a token that may read; without it the variable LOADWATCH_TOKEN is used.")
def export(
    matches: Sequence[str], start: str | None, end: str | None, output: str, server: str, token_file: str | None
) -> None:
    """Write raw samples with their times as OpenMetrics text, which `loadwatch import metrics` and promtool read.

    A file is there under its name once it is whole. Exit status: 0; 1 nothing, or not all, was written; 2 the command
    was wrong.
    """
    try:
        client = Client(server, read_token(token_file), seconds=PIECE_SECONDS)
        answer = client.download("/api/export", {"match[]": list(matches), "start": start, "end": end})
        with _target(output) as target:
            if not _copy(answer.stream(_PIECE_BYTES), target):
                raise _Failure(f"{client.shown} broke off: there is no # EOF at the end, so samples are missing")
    except UsageError as error:
        raise _Failure(str(error), EXIT_USAGE) from error
    except AgentError as error:
        raise _Failure(str(error)) from error
    except urllib3.exceptions.HTTPError as error:
        raise _Failure(f"the server broke off: {error}") from error
    except OSError as error:
        raise _Failure(f"{output}: {error.strerror or error}") from error


class _Failure(click.ClickException):
    def __init__(self, text: str, status: int = EXIT_FAILED) -> None:
        super().__init__(text)
        self.exit_code = status  # pyright: ignore[reportAttributeAccessIssue] - click's own way, a class variable to it


def _copy(pieces: Iterator[bytes], target: IO[bytes]) -> bool:
    """Whether all of it came."""
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
