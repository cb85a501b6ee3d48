"""What an importer is. To add one: a file with `IMPORTER`, a line in `registry.py`, a test, a fixture of the real tool.

An importer reads `Part`s and calls a `Sink`. A tool with single requests calls `sink.add(RequestRows)` (columns) or
`sink.rows()` (one request at a time); a tool that only sums up calls `sink.aggregate` once. It raises
`UnreadableFileError` if nothing at all can be used; everything less is a remark.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from loadwatch_backend.evidence.records.contract import ImportOptions
from loadwatch_backend.runs.importers.reading.unpacked import Unpacked
from loadwatch_backend.runs.importers.sink import Sink

HEAD_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One file as the tool wrote it: already decompressed and taken out of its archive.

    Attributes:
        name: its name without directories; never a path to open.
        head: the first `HEAD_BYTES` bytes.
        open: a new binary stream from the beginning, readable once; `read(n)` gives n bytes or, at the end, fewer.
        account: of what the import unpacks; whoever copies the part to disk asks it.
    """

    name: str
    head: bytes
    open: Callable[[], BinaryIO]
    account: Unpacked


Recognise = Callable[[bytes, str], int]
"""From head and name of a part to a confidence, 0 (no) to 100 (a magic number). By content; a name may only add."""
Read = Callable[[Sequence[Part], Sink, ImportOptions], None]
"""Reads the parts of one upload that this importer recognised: one, or several files of one test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Importer:
    """One format.

    Attributes:
        name: stable, such as `vegeta-csv`; `ImportOptions.format` names it.
        tool: such as `vegeta`.
        title: what a person calls the format, such as "vegeta CSV (`vegeta encode --to csv`)".
    """

    name: str
    tool: str
    title: str
    recognise: Recognise
    read: Read
