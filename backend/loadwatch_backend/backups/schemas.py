"""What is asked for a backup."""

from typing import Annotated

from pydantic import Field

from loadwatch_backend.kit.schemas import Schema

MOST_KNOWN = 100_000


class KnownCopy(Schema):
    """A file of an earlier backup that is still whole: not sent again while its tag is the same."""

    path: Annotated[str, Field(min_length=1, max_length=1_000)]
    tag: Annotated[str, Field(min_length=1, max_length=200)]


class BackupIn(Schema):
    """What the receiver has from before; nothing makes a whole backup."""

    known: Annotated[tuple[KnownCopy, ...], Field(max_length=MOST_KNOWN)] = ()
