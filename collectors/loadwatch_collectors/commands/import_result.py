"""`loadwatch import`: result files that exist already."""

import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from loadwatch_formats.access_logs.blocks import MOST_FILES, MOST_LISTED, SCHEME, LineBlocks, Range, samples_of
from loadwatch_formats.access_logs.groups import GroupError, MatchingGroups, split_patterns
from loadwatch_formats.access_logs.lines.line import AccessLogError, LineOptions
from loadwatch_formats.access_logs.lines.ltsv import parse_keys
from loadwatch_formats.access_logs.lines.registry import recognise_first
from loadwatch_formats.access_logs.run_part import RunPart
from loadwatch_formats.compression import decompressed, pieces
from loadwatch_formats.run_facts import OPTIONS
from loadwatch_formats.run_spans import Span
from loadwatch_formats.statements.slow_log import NO_SLOW_LOG, SlowLogReader, read_log
from loadwatch_formats.statements.sums import SlowLogPart
from loadwatch_formats.terminal import echo
from loadwatch_formats.times import format_rfc3339

from loadwatch_collectors.errors import AgentError
from loadwatch_collectors.runs.delivery import Client, import_result, read_token, run_path
from loadwatch_collectors.runs.errors import UsageError
from loadwatch_collectors.runs.facts.request import parse_parameters, parse_start
from loadwatch_collectors.runs.screen.terminal import clear_bar, make_reporter
from loadwatch_collectors.sources.aws.client.client import Account, AwsClient, ConnectOptions, connect, default_regions

# Logs that are read once and kept with a run as what they say of it.

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_WHOLE = "whole"


def read_ended(client: Client, run_id: str) -> Mapping[str, Any]:
    """The run as the server has it.

    Raises:
        AgentError: the server says no, or the run is under way.
    """
    run: Mapping[str, Any] = client.get(run_path(run_id))
    if run["ended_ms"] is None:
        raise UsageError(f"{run['id']} is under way: import its log when it has ended")
    return run


def spans_of(run: Mapping[str, Any]) -> tuple[Span, Span | None]:
    steady = run["steady_window"]
    found = None if steady is None or steady["source"] == _WHOLE else Span(steady["from_ms"], steady["to_ms"])
    return Span(run["started_ms"], run["ended_ms"]), found


def keep_document(
    client: Client, run: Mapping[str, Any], kind: str, name: str, document: Mapping[str, Any]
) -> dict[str, Any]:
    """Send a digest; the file as the server keeps it.

    Raises:
        AgentError: the server says no.
    """
    content = io.BytesIO(json.dumps(document, separators=(",", ":")).encode())
    return client.upload(run_path(run["id"], "/evidence"), content, query={"kind": kind, "name": f"{name}.json"})


def nothing_of(run: Mapping[str, Any], outside_ms: tuple[int, int] | None) -> str:
    """Why a log has nothing of a run; `outside_ms` is the span of its lines, None without times. Pure."""
    when = f"{_time(run['started_ms'])} to {_time(run['ended_ms'])}"
    if outside_ms is None:
        return f"no line has a time that can be read; the run was from {when}"
    return (
        f"no line lies within the run, {when}: they are from {_time(outside_ms[0])} to {_time(outside_ms[1])}. Is it "
        "the right log, and does its time zone stand in it?"
    )


def _time(at_ms: int) -> str:
    return f"{format_rfc3339(at_ms)[:19]}Z"


PART_BYTES = 8 << 20
_ANY_REGION = "us-east-1"
"""S3 says where a bucket is, and botocore asks there."""


class S3File(NamedTuple):
    """A file in S3.

    Attributes:
        size: in bytes; above 0.
    """

    bucket: str
    key: str
    size: int

    def __str__(self) -> str:
        return f"{SCHEME}{self.bucket}/{self.key}"


class S3Logs:
    """Reads with the credentials that boto3 finds; needs s3:ListBucket and s3:GetObject."""

    def __init__(self) -> None:
        """Nothing is asked yet.

        Raises:
            ConfigError: boto3 is not installed.
        """
        region = next(iter(default_regions()), _ANY_REGION)
        self._client = connect(Account(), region, ConnectOptions(), lambda _call, _seconds: None)

    def close(self) -> None:
        self._client.close()

    def files(self, name: str, wanted: Range) -> Sequence[S3File]:
        """The files of a time below `s3://BUCKET/PREFIX`, by name; one whose whole name is given is always wanted.

        Raises:
            AwsError: AWS says no.
            UsageError: there are none, or too many.
        """
        bucket, _, prefix = name.removeprefix(SCHEME).partition("/")
        if not bucket:
            raise UsageError(f"{name!r} names no bucket; {SCHEME}BUCKET/PREFIX")
        found: list[S3File] = []
        listed = 0
        for one in wanted.prefixes(prefix):
            for page in self._client.pages("s3", "list_objects_v2", {"Bucket": bucket, "Prefix": one}):
                for item in page.get("Contents", ()):
                    listed += 1
                    key, size = str(item["Key"]), int(item["Size"])
                    if size and (key == prefix or wanted.wants(key)):
                        found.append(S3File(bucket=bucket, key=key, size=size))
                if listed > MOST_LISTED or len(found) > MOST_FILES:
                    raise UsageError(
                        f"{name}: more than {MOST_FILES:,} files of the run, or {MOST_LISTED:,} to look through; name "
                        "a longer prefix, such as one day's folder"
                    )
        if not found:
            raise UsageError(
                f"{name}: no file of the run among {listed:,}; load balancers write each five minutes, and files "
                "appear some minutes after those. A log of another name is read when its whole name is given"
            )
        return sorted(found, key=lambda file: file.key)

    def open(self, file: S3File) -> "io.BufferedReader[_Parts]":
        return io.BufferedReader(_Parts(self._client, file))


class _Parts(io.RawIOBase):
    """An object of S3 as a file; raises AwsError, also when it was replaced meanwhile."""

    def __init__(self, client: AwsClient, file: S3File) -> None:
        self._client, self._file = client, file
        self._at = 0
        self._part = memoryview(b"")
        self._tag = ""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        if not self._part and self._at < self._file.size:
            self._read_part()
        target = memoryview(buffer).cast("B")
        count = min(len(target), len(self._part))
        target[:count] = self._part[:count]
        self._part = self._part[count:]
        return count

    def _read_part(self) -> None:
        end = min(self._at + PART_BYTES, self._file.size)
        parameters = {
            "Bucket": self._file.bucket,
            "Key": self._file.key,
            "Range": f"bytes={self._at}-{end - 1}",
            **({"IfMatch": self._tag} if self._tag else {}),
        }
        answer = self._client.call("s3", "get_object", parameters)
        self._tag = str(answer.get("ETag", ""))
        self._part = memoryview(bytes(answer["Body"]))
        self._at = end


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
            # Lines lie in the file of the five minutes in which they were answered.
            start, end = (datetime.fromtimestamp(run[name] / 1_000, UTC) for name in ("started_ms", "ended_ms"))
            with closing(S3Logs()) as logs:
                for file in logs.files(path, Range(start=start, end=end)):
                    _count(str(file), lambda logs=logs, file=file: logs.open(file), part, lines, problems)
        else:
            _count(str(path), lambda path=path: path.open("rb"), part, lines, problems)
    names = [path.rstrip("/") if isinstance(path, str) else path.name for path in files]
    document = part.document({"file": ", ".join(names)})
    for problem in problems:
        echo(problem, err=True)
    if not document["routes"]:
        first, last = part.outside.first_ms, part.outside.last_ms
        raise UsageError(nothing_of(run, None if first is None or last is None else (first, last)))
    counted = (("read", "requests of the run"), ("outside", "lines outside it"))
    rest = (("unreadable", "unreadable"), ("too_long", "too long"), ("undated", "without a time"))
    echo(summary(document["lines"], counted, rest), err=True)
    return keep_document(client, run, "access_log", names[0].rpartition("/")[2], document)


def _groups(options: Mapping[str, Any]) -> MatchingGroups:
    patterns = [one for text in options["match"] for one in split_patterns(text)]
    keep = [name.strip() for text in options["keep"] for name in text.split(",") if name.strip()]
    option = "--match"
    try:
        MatchingGroups(patterns)
        option = "--keep"
        return MatchingGroups(patterns, keep)
    except GroupError as error:
        raise UsageError(f"{option}: {error}") from error


def _count(
    path: str, opened: "Callable[[], io.BufferedReader[Any]]", part: RunPart, options: LineOptions, problems: list[str]
) -> None:
    found: list[str] = []
    blocks = LineBlocks()
    with opened() as raw:
        data = pieces(decompressed(raw), 1 << 16, found)
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


def summary(lines: Mapping[str, int], always: Sequence[tuple[str, str]], others: Sequence[tuple[str, str]]) -> str:
    shown = (*always, *((name, word) for name, word in others if lines[name]))
    return ", ".join(f"{lines[name]:,} {word}" for name, word in shown)


def keep_slow_log(client: Client, files: Sequence[Path], options: Mapping[str, Any]) -> dict[str, Any]:
    """Sum up the run's executions and send their digest; the file as the server keeps it.

    Raises:
        AgentError: the server says no, a file is no slow log, or has nothing of the run.
        OSError: a file cannot be read.
    """
    run = read_ended(client, options["run_id"])
    part = SlowLogPart(*spans_of(run))
    unreadable = cut = 0
    for path in files:
        reader = _read(path, part)
        unreadable += reader.unreadable
        cut += reader.cut
    if not part.read:
        span = None if part.first is None or part.last is None else (int(part.first * 1e3), int(part.last * 1e3))
        raise UsageError(nothing_of(run, span))
    document = part.document({"file": ", ".join(path.name for path in files)}, unreadable=unreadable, cut=cut)
    counted = (("read", "statements of the run"), ("outside", "outside it"))
    rest = (("undated", "without a time"), ("unreadable", "unreadable lines"), ("cut", "cut"))
    echo(summary(document["lines"], counted, rest), err=True)
    return keep_document(client, run, "slow_log", files[0].name, document)


def _read(path: Path, part: SlowLogPart) -> SlowLogReader:
    problems: list[str] = []
    with path.open("rb") as raw:
        reader = read_log(pieces(decompressed(raw), 1 << 18, problems), part.add)
    for problem in problems:
        echo(f"{path}: {problem}", err=True)
    if not reader.statements:
        raise UsageError(f"{path}: {NO_SLOW_LOG}")
    return reader


EXIT_FAILED, EXIT_USAGE = 1, 2


def make_query(options: Mapping[str, Any]) -> dict[str, Any]:
    """The query of `POST /api/imports`.

    Raises:
        UsageError: an option is wrong.
    """
    parameters = parse_parameters(options["parameters"])
    started = options["started_at"]
    query: dict[str, Any] = {
        **{fact.query or fact.name: options[fact.name] for fact in OPTIONS},
        "parameter": [f"{key}={value}" for key, value in parameters.items()],
        "run": options["run_id"],
        "started_ms": None if started is None else parse_start(started),
        "format": options["format_name"],
    }
    return {name: value for name, value in query.items() if value not in (None, (), [])}


def import_command(options: Mapping[str, Any]) -> int:
    given: Sequence[Path | str] = options["files"]
    files = [path for path in given if isinstance(path, Path)]
    try:
        client = Client(options["server"], read_token(options["token_file"]))
        query = make_query(options)
        if options["as_profiles"] and not options["run_id"]:
            raise UsageError("--profile needs --run: a profile is kept with a run that is there")
        if len(files) < len(given) and not options["as_access_log"]:
            raise UsageError("s3:// is read with --access-log only")
        for name, keep in _LOGS.items():
            if options[f"as_{name}"]:
                return _keep_log(client, given, options, name, keep)
        if options["run_id"] and len(files) > 1 and not options["as_profiles"]:
            raise UsageError("--run takes one file: each file replaces the result of its run")
    except AgentError as error:
        echo(f"loadwatch import: {error}", err=True)
        return EXIT_USAGE
    status = 0
    report = make_reporter(show=not options["quiet"])
    documents: list[Any] = []
    for path in files:
        try:
            if options["as_profiles"]:
                with path.open("rb") as source:
                    kept = client.upload(run_path(options["run_id"], "/profiles"), source, query={"name": path.name})
                documents.append(kept)
                continue
            try:
                run = import_result(client, path, {**query, "filename": path.name}, report)
            finally:
                clear_bar()
        except (AgentError, OSError) as error:
            echo(f"loadwatch import: {_name(path, error)}", err=True)
            status = EXIT_FAILED
            continue
        if options["as_json"]:
            documents.append(client.get(run_path(run)))
        else:
            echo(run)
    if options["as_profiles"] and not options["as_json"]:
        for document in documents:
            echo(f"{client.page(options['run_id'])}/profiles?{urlencode({'kind': document['kind']})}")
    if options["as_json"] and documents:
        echo(json.dumps(documents[0] if len(files) == 1 else documents, ensure_ascii=False, indent=2))
    return status


_Keep = Callable[[Client, Sequence[Any], Mapping[str, Any]], dict[str, Any]]
_LOGS: Mapping[str, _Keep] = {"access_log": keep_access_log, "slow_log": keep_slow_log}


def _keep_log(client: Client, files: Sequence[Any], options: Mapping[str, Any], name: str, keep: _Keep) -> int:
    others = [other for other in ("profiles", *_LOGS) if other != name and options[f"as_{other}"]]
    if not options["run_id"] or others:
        option = f"--{name.replace('_', '-')}"
        raise UsageError(f"{option} needs --run, and stands alone: a log is kept with a run that is there")
    try:
        kept = keep(client, files, options)
    except (AgentError, OSError) as error:
        echo(f"loadwatch import: {error}", err=True)
        return EXIT_FAILED
    echo(json.dumps(kept, indent=2) if options["as_json"] else f"{client.page(options['run_id'])}#why")
    return 0


def _name(path: Path, error: Exception) -> str:
    text = str(error)
    return text if os.fspath(path) in text else f"{path}: {text}"
