"""`loadwatch import --access-log`: the part of access logs that lies within a run, kept with it as a digest."""

import io
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from loadwatch_formats.access_logs.alb_files import Range
from loadwatch_formats.access_logs.blocks import LineBlocks, samples_of
from loadwatch_formats.access_logs.groups import GroupError, MatchingGroups, split_patterns
from loadwatch_formats.access_logs.lines.keys import parse_keys
from loadwatch_formats.access_logs.lines.line import AccessLogError, LineOptions
from loadwatch_formats.access_logs.lines.registry import recognise_first
from loadwatch_formats.access_logs.run_part import RunPart
from loadwatch_formats.compression import decompressed, pieces
from loadwatch_formats.terminal import echo

from loadwatch_collectors.commands.logs.kept_with_run import keep_document, nothing_of, read_ended, spans_of
from loadwatch_collectors.commands.logs.s3_logs import S3Logs
from loadwatch_collectors.runs.delivery.client import Client
from loadwatch_collectors.runs.errors import UsageError

PIECE_BYTES = 1 << 16


def keep_access_log(client: Client, files: Sequence[Path | str], options: Mapping[str, Any]) -> dict[str, Any]:
    """Count the run's lines and send their digest; the file as the server keeps it. A text names files in S3.

    Raises:
        AgentError: the server or AWS says no, a file is no access log, or has nothing of the run.
        OSError: a file cannot be read.
    """
    run = read_ended(client, options["run_id"])
    groups = _groups(options)
    part = RunPart(*spans_of(run), groups)
    try:
        keys = parse_keys(options["keys"])
    except AccessLogError as error:
        raise UsageError(f"--key: {error}") from error
    lines = LineOptions(
        format=options["format_name"] or "auto", keys=keys, unit=options["unit"], queries=bool(groups.kept.names)
    )
    problems: list[str] = []
    for path in files:
        if isinstance(path, str):
            _count_s3(path, _range(run), part, lines, problems)
        else:
            _count(str(path), lambda path=path: path.open("rb"), part, lines, problems)
    names = [path.rstrip("/") if isinstance(path, str) else path.name for path in files]
    document = part.document({"file": ", ".join(names)})
    for problem in problems:
        echo(problem, err=True)
    if not document["routes"]:
        first, last = part.outside.first_ms, part.outside.last_ms
        raise UsageError(nothing_of(run, None if first is None or last is None else (first, last)))
    echo(_summary(document), err=True)
    return keep_document(client, run, "access_log", names[0].rpartition("/")[2], document)


def _groups(options: Mapping[str, Any]) -> MatchingGroups:
    patterns = [one for text in options["match"] for one in split_patterns(text)]
    keep = [name.strip() for text in options["keep"] for name in text.split(",") if name.strip()]
    try:
        MatchingGroups(patterns)
    except GroupError as error:
        raise UsageError(f"--match: {error}") from error
    try:
        return MatchingGroups(patterns, keep)
    except GroupError as error:
        raise UsageError(f"--keep: {error}") from error


def _range(run: Mapping[str, Any]) -> Range:
    """The run's time: lines lie in the file of the five minutes in which they were answered."""
    start, end = (datetime.fromtimestamp(run[name] / 1_000, UTC) for name in ("started_ms", "ended_ms"))
    return Range(start=start, end=end)


def _count_s3(name: str, wanted: Range, part: RunPart, options: LineOptions, problems: list[str]) -> None:
    logs = S3Logs()
    try:
        for file in logs.files(name, wanted):
            _count(str(file), lambda file=file: logs.open(file), part, options, problems)
    finally:
        logs.close()


def _count(
    path: str,
    opened: "Callable[[], io.BufferedReader[Any]]",
    part: RunPart,
    options: LineOptions,
    problems: list[str],
) -> None:
    found: list[str] = []
    blocks = LineBlocks()
    with opened() as raw:
        data = pieces(decompressed(raw), PIECE_BYTES, found)
        begun: list[bytes] = []
        try:
            part.begin(recognise_first(samples_of(data, begun), options)[0])
        except AccessLogError as error:
            raise UsageError(f"{path}: {error}") from error
        for some in (begun, data):
            for piece in some:
                part.feed(blocks.feed(piece))
        part.feed(blocks.rest())
    part.end(blocks.too_long)
    problems += [f"{path}: {problem}" for problem in found]


def _summary(document: Mapping[str, Any]) -> str:
    lines = document["lines"]
    said = [f"{lines['read']:,} requests of the run", f"{lines['outside']:,} lines outside it"]
    for name, word in (("unreadable", "unreadable"), ("too_long", "too long"), ("undated", "without a time")):
        if lines[name]:
            said.append(f"{lines[name]:,} {word}")
    return ", ".join(said)
