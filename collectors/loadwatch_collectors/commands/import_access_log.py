"""`loadwatch import --access-log`: the part of access logs that lies within a run, kept with it as a digest."""

import io
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from loadwatch_formats.access_logs.alb_files import Range
from loadwatch_formats.access_logs.blocks import LineBlocks, samples_of
from loadwatch_formats.access_logs.groups import GroupError, MatchingGroups, split_patterns
from loadwatch_formats.access_logs.lines.keys import parse_keys
from loadwatch_formats.access_logs.lines.line import AccessLogError, LineOptions
from loadwatch_formats.access_logs.lines.registry import recognise_first
from loadwatch_formats.access_logs.run_part import RunPart, Span
from loadwatch_formats.compression import decompressed, pieces
from loadwatch_formats.times import format_rfc3339

from loadwatch_collectors.commands.s3_logs import S3Logs
from loadwatch_collectors.runs.delivery.client import Client, run_path
from loadwatch_collectors.runs.errors import UsageError

PIECE_BYTES = 1 << 16
_WHOLE = "whole"


def keep_access_log(client: Client, files: Sequence[Path | str], options: Mapping[str, Any]) -> dict[str, Any]:
    """Count the run's lines and send their digest; the file as the server keeps it. A text names files in S3.

    Raises:
        AgentError: the server or AWS says no, a file is no access log, or has nothing of the run.
        OSError: a file cannot be read.
    """
    run = client.get(run_path(options["run_id"]))
    if run["ended_ms"] is None:
        raise UsageError(f"{run['id']} is under way: import its log when it has ended")
    groups = _groups(options)
    steady = run["steady_window"]
    part = RunPart(
        Span(run["started_ms"], run["ended_ms"]),
        None if steady is None or steady["source"] == _WHOLE else Span(steady["from_ms"], steady["to_ms"]),
        groups,
    )
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
        click.echo(problem, err=True)
    if not document["routes"]:
        raise UsageError(_nothing(part, run))
    click.echo(_said(document), err=True)
    content = json.dumps(document, separators=(",", ":")).encode()
    query = {"kind": "access_log", "name": f"{names[0].rpartition('/')[2]}.json"}
    place = run_path(run["id"], "/evidence")
    kind = "application/octet-stream"
    return client.upload(place, io.BytesIO(content), len(content), query=query, kind=kind, progress=lambda _: None)


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


def _said(document: Mapping[str, Any]) -> str:
    lines = document["lines"]
    said = [f"{lines['read']:,} requests of the run", f"{lines['outside']:,} lines outside it"]
    for name, word in (("unreadable", "unreadable"), ("too_long", "too long"), ("undated", "without a time")):
        if lines[name]:
            said.append(f"{lines[name]:,} {word}")
    return ", ".join(said)


def _nothing(part: RunPart, run: Mapping[str, Any]) -> str:
    when = f"{_time(run['started_ms'])} to {_time(run['ended_ms'])}"
    first, last = part.outside.first_ms, part.outside.last_ms
    if first is None or last is None:
        return f"no line has a time that can be read; the run was from {when}"
    return (
        f"no line lies within the run, {when}: they are from {_time(first)} to {_time(last)}. Is it the right log, and "
        "does its time zone stand in it?"
    )


def _time(at_ms: int) -> str:
    return f"{format_rfc3339(at_ms)[:19]}Z"
