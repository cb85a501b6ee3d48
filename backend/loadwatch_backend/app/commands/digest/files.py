"""Files as they lie there: plain, compressed, or standard input."""

import io
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import click
from loadwatch_formats.access_logs.blocks import MOST_FILES, MOST_LISTED, SCHEME, Range
from loadwatch_formats.compression import HEAD_BYTES, decompressed, opener_of

_NEEDS = "reading s3:// needs s3:ListBucket and s3:GetObject, and credentials as the AWS command line finds them"


def list_files(name: str, wanted: Range) -> list[str]:
    """The files of a time below `s3://BUCKET/PREFIX`, by name; a file's own name is itself.

    Raises:
        click.ClickException: they cannot be listed, there are none, or too many.
    """
    bucket, prefix = _split(name)
    found: list[str] = []
    listed = 0
    client = _client()
    try:
        pages = client.get_paginator("list_objects_v2")
        for one in wanted.prefixes(prefix):
            for page in pages.paginate(Bucket=bucket, Prefix=one):
                keys = [str(item["Key"]) for item in page.get("Contents", ())]
                listed += len(keys)
                found += [f"{SCHEME}{bucket}/{key}" for key in keys if not key.endswith("/") and wanted.wants(key)]
                if listed > MOST_LISTED or len(found) > MOST_FILES:
                    raise click.ClickException(
                        f"{name}: more than {MOST_FILES:,} files, or {MOST_LISTED:,} to look through; name a longer "
                        "prefix, such as one day's folder, or a shorter time by --from and --to"
                    )
    except _errors() as error:
        raise click.ClickException(f"{name}: {error}; {_NEEDS}") from None
    if not found:
        raise click.ClickException(
            f"{name}: no file of that time among {listed:,}; load balancers write each five minutes, and files appear "
            "some minutes after those"
        )
    return sorted(found)


def open_file(name: str) -> "io.BufferedReader[Any]":
    """What a file holds, read as it comes.

    Raises:
        click.ClickException: it cannot be read.
    """
    bucket, key = _split(name)
    client = _client()
    try:
        body = client.get_object(Bucket=bucket, Key=key)["Body"]
    except _errors() as error:
        raise click.ClickException(f"{name}: {error}; {_NEEDS}") from None
    return io.BufferedReader(cast(io.RawIOBase, body))


def expand(names: Sequence[str], wanted: Range) -> list[str]:
    """Names of files, with those of S3 in the place of their prefix."""
    return [one for name in names for one in (list_files(name, wanted) if name.startswith(SCHEME) else [name])]


def _split(name: str) -> tuple[str, str]:
    bucket, _, key = name.removeprefix(SCHEME).partition("/")
    if not bucket:
        raise click.ClickException(f"{name!r} names no bucket; s3://BUCKET/PREFIX")
    return bucket, key


def _client() -> Any:
    if find_spec("botocore") is None:
        raise click.ClickException('reading s3:// needs boto3: pip install "loadwatch[aws]"')
    import botocore.session
    from botocore.config import Config

    session: Any = botocore.session.Session()
    bounds: Any = {"connect_timeout": 10, "read_timeout": 60, "retries": {"total_max_attempts": 3}}
    return session.create_client("s3", config=Config(**bounds))


def _errors() -> tuple[type[Exception], ...]:
    from botocore.exceptions import BotoCoreError, ClientError

    return BotoCoreError, ClientError


STDIN = "-"


def is_compressed(path: Path) -> bool:
    with path.open("rb") as file:
        return opener_of(file.read(HEAD_BYTES)) is not None


@contextmanager
def opened(name: str) -> Generator[io.BufferedIOBase]:
    """The bytes of a file, or of standard input for `-`, decompressed by what they begin with.

    Raises:
        click.ClickException: the file cannot be read.
    """
    try:
        if name.startswith(SCHEME):
            raw = open_file(name)
        else:
            raw = io.BufferedReader(cast(io.RawIOBase, sys.stdin.buffer)) if name == STDIN else Path(name).open("rb")
    except OSError as error:
        raise click.ClickException(f"{name}: {error.strerror or error}") from None
    try:
        yield decompressed(raw)
    finally:
        if name == STDIN:
            raw.detach()
        else:
            raw.close()


def printable(text: str, most: int = 200) -> str:
    """A text from a file as it may stand on a terminal: what is no printable ASCII as its number, long ones cut off."""
    shown = "".join(one if one.isascii() and one.isprintable() else f"\\x{ord(one):02x}" for one in text[:most])
    return shown + ("…" if len(text) > most else "")
