"""`loadwatch import --slow-log`: the part of slow logs that lies within a run, kept with it as a digest."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from loadwatch_formats.compression import decompressed, pieces
from loadwatch_formats.statements.reading import NO_SLOW_LOG, read_log
from loadwatch_formats.statements.run_part import SlowLogPart
from loadwatch_formats.statements.slow_log import SlowLogReader
from loadwatch_formats.terminal import echo

from loadwatch_collectors.commands.logs.kept_with_run import keep_document, nothing_of, read_ended, spans_of
from loadwatch_collectors.runs.delivery.client import Client
from loadwatch_collectors.runs.errors import UsageError

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
    echo(_summary(document["lines"]), err=True)
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


def _summary(lines: Mapping[str, int]) -> str:
    said = [f"{lines['read']:,} statements of the run", f"{lines['outside']:,} outside it"]
    for name, word in (("undated", "without a time"), ("unreadable", "unreadable lines"), ("cut", "cut")):
        if lines[name]:
            said.append(f"{lines[name]:,} {word}")
    return ", ".join(said)
