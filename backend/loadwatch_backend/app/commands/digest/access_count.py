"""Counts access logs: small and compressed ones here, large ones by several processes."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import click
from loadwatch_formats.access_logs.blocks import BLOCK_BYTES, LineBlocks, samples_of
from loadwatch_formats.access_logs.groups import MatchingGroups
from loadwatch_formats.access_logs.lines.line import AccessLogError, LineOptions, LineReader
from loadwatch_formats.access_logs.lines.registry import recognise, recognise_first
from loadwatch_formats.access_logs.routes import RouteNames
from loadwatch_formats.access_logs.tally import Tally
from loadwatch_formats.compression import pieces

from loadwatch_backend.app.commands.digest.files import STDIN, is_compressed, opened

_PIECE_BYTES = 1 << 16
"""Read at a time: some decompressors give nothing of a piece that is damaged in the middle."""
PART_BYTES = 32 << 20
"""Of a plain file that one process counts at a time."""
_NAMES_OF_A_PART = 4_000
"""Routes of a part: which of them are too many is decided when all are together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counting:
    """What somebody says of the logs: their lines, expressions that name routes, parameters that stay in them."""

    lines: LineOptions
    groups: Sequence[str] = ()
    keep: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Logs that were counted together.

    Attributes:
        tally: their figures.
        remarks: what is to be known of them, in words, each with the name of its file.
        durations: where durations come from, in words, of each kind of log.
    """

    tally: Tally
    remarks: Sequence[str]
    formats: Sequence[str]
    durations: Sequence[str]


def count_files(files: Sequence[str], counting: Counting, names: RouteNames, processes: int | None = None) -> Counted:
    """Count files into one tally, whose routes are not settled yet.

    Raises:
        click.ClickException: a file cannot be read, or is no access log.
    """
    total: Tally | None = None
    remarks: list[str] = []
    formats, durations = dict[str, None](), dict[str, None]()
    for name in files:
        try:
            reader, part = _count_file(name, counting, remarks, processes or _cores())
        except AccessLogError as error:
            raise click.ClickException(f"{name}: {error}") from None
        except OSError as error:
            raise click.ClickException(f"{name}: {error.strerror or error}") from None
        formats[reader.format] = None
        if reader.durations:
            durations[reader.durations] = None
        else:
            remarks.append(f"{name}: no durations: {reader.without}")
        total = total or Tally(reader, names)
        total.join(part)
    assert total is not None
    return Counted(tally=total, remarks=remarks, formats=list(formats), durations=list(durations))


def _count_file(name: str, counting: Counting, remarks: list[str], processes: int) -> tuple[LineReader, dict[str, Any]]:
    path = None if name == STDIN else Path(name)
    if path is not None and path.is_file() and path.stat().st_size > PART_BYTES and not is_compressed(path):
        return _count_large(path, counting, processes)
    problems: list[str] = []
    with opened(name) as stream:
        data = pieces(stream, _PIECE_BYTES, problems)
        begun: list[bytes] = []
        try:
            reader = recognise_first(samples_of(data, begun), counting.lines)[0]
        except AccessLogError:
            if problems and not begun:
                raise AccessLogError(problems[0]) from None
            raise
        tally = _new_tally(reader, counting)
        _feed(tally, _chained(begun, data))
    remarks += [f"{name}: {problem}" for problem in problems]
    return reader, tally.part()


def _count_large(path: Path, counting: Counting, processes: int) -> tuple[LineReader, dict[str, Any]]:
    size = path.stat().st_size
    with path.open("rb") as file:
        reader, sample = recognise_first(samples_of(pieces(file, _PIECE_BYTES, []), []), counting.lines)
        bounds = [0]
        while bounds[-1] < size:
            bounds.append(_line_start(file, bounds[-1] + PART_BYTES, size))
    parts = [(path, begin, end, sample, counting) for begin, end in pairwise(bounds)]
    tally = _new_tally(reader, counting)
    if processes > 1:
        with ProcessPoolExecutor(min(processes, len(parts))) as pool:
            for part in pool.map(_count_part, parts):
                tally.join(part)
    else:
        for part in map(_count_part, parts):
            tally.join(part)
    return reader, tally.part()


def _count_part(part: tuple[Path, int, int, str, Counting]) -> dict[str, Any]:
    path, begin, end, sample, counting = part
    tally = _new_tally(recognise(sample, counting.lines, most=len(sample)), counting)
    with path.open("rb") as file:
        file.seek(begin)
        _feed(tally, _until(file, end - begin))
    return tally.part()


def _until(file: BinaryIO, left: int) -> Iterator[bytes]:
    while left > 0 and (data := file.read(min(BLOCK_BYTES, left))):
        left -= len(data)
        yield data


def _line_start(file: BinaryIO, at: int, size: int) -> int:
    """The first beginning of a line from a byte on, or the end of the file."""
    if at >= size:
        return size
    file.seek(at - 1)
    at -= 1
    while data := file.read(BLOCK_BYTES):
        found = data.find(b"\n")
        if found >= 0:
            return at + found + 1
        at += len(data)
    return size


def _new_tally(reader: LineReader, counting: Counting) -> Tally:
    return Tally(reader, RouteNames(MatchingGroups(counting.groups, counting.keep), limit=_NAMES_OF_A_PART))


def _feed(tally: Tally, data: Iterator[bytes]) -> None:
    blocks = LineBlocks()
    for piece in data:
        tally.feed(blocks.feed(piece))
    tally.feed(blocks.rest())
    tally.lines.too_long += blocks.too_long


def _chained(begun: list[bytes], data: Iterator[bytes]) -> Iterator[bytes]:
    yield from begun
    yield from data


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
