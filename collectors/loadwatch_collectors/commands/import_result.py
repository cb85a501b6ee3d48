"""`loadwatch import`: result files that exist already."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from loadwatch_formats.compression import decompressed, pieces
from loadwatch_formats.run_facts import OPTIONS
from loadwatch_formats.statements.reading import NO_SLOW_LOG, read_log
from loadwatch_formats.statements.run_part import SlowLogPart
from loadwatch_formats.statements.slow_log import SlowLogReader
from loadwatch_formats.terminal import echo

from loadwatch_collectors.commands.logs import keep_access_log, keep_document, nothing_of, read_ended, spans_of, summary
from loadwatch_collectors.errors import AgentError
from loadwatch_collectors.runs.delivery import Client, import_result, read_token, run_path
from loadwatch_collectors.runs.errors import UsageError
from loadwatch_collectors.runs.facts.request import parse_parameters, parse_start
from loadwatch_collectors.runs.screen.progress import clear_bar, make_reporter

PIECE_BYTES = 1 << 18


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
        reader = read_log(pieces(decompressed(raw), PIECE_BYTES, problems), part.add)
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
    """Import the files one after the other; the exit status."""
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
"""By the option's name."""


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
