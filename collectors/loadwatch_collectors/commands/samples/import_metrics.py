"""`loadwatch import metrics`: files of samples."""

import json
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from loadwatch_formats.compression import decompressed, pieces

from loadwatch_collectors.errors import AgentError
from loadwatch_collectors.pipeline.write_client import WriteClient
from loadwatch_collectors.runs.delivery.client import UPLOAD_SECONDS, Client, read_token
from loadwatch_collectors.runs.facts.request import parse_start
from loadwatch_collectors.transfers.lines import numbered_lines
from loadwatch_collectors.transfers.reading import Form, SampleReader
from loadwatch_collectors.transfers.sending import BatchSender

EXIT_FAILED, EXIT_USAGE = 1, 2
STDIN = "-"
_PIECE_BYTES = 1 << 16


def import_metrics_command(options: Mapping[str, Any]) -> int:
    """Send the samples of all files; the exit status."""
    try:
        server = Client(options["server"], read_token(options["token_file"]))
        at_ms = parse_start(options["at"]) if options["at"] else None
    except AgentError as error:
        click.echo(f"loadwatch import metrics: {error}", err=True)
        return EXIT_USAGE
    reader = SampleReader(form=Form(options["form"]), at_ms=at_ms)
    client = WriteClient(server.remote_write, server.token, user_agent="loadwatch", timeout_seconds=UPLOAD_SECONDS)
    sender = BatchSender(client, reader.metadata, patience_seconds=options["wait"])
    problems: list[str] = []
    failed = ""
    for name in options["files"]:
        try:
            with _open(name) as file:
                lines = numbered_lines(pieces(decompressed(file), _PIECE_BYTES, found := []))
                for sample in reader.read(lines, name):
                    sender.add(*sample)
                problems += [f"{name}: {problem}" for problem in found]
        except OSError as error:
            problems.append(f"{name}: {error.strerror or error}")
        except AgentError as error:
            failed = str(error)
            break
    if not failed:
        try:
            sender.flush()
        except AgentError as error:
            failed = str(error)
    client.close()
    return _report(reader, sender, problems, failed, as_json=options["as_json"])


@contextmanager
def _open(name: str) -> Generator[Any]:
    if name == STDIN:
        yield sys.stdin.buffer
        return
    with Path(name).open("rb") as file:
        yield file


def _report(reader: SampleReader, sender: BatchSender, problems: list[str], failed: str, *, as_json: bool) -> int:
    read, sent = reader.counts, sender.counts
    counts = {
        "samples": read.samples,
        "series": len(read.series),
        "stored": sent.stored,
        "refused": sent.refused,
        "damaged_lines": read.damaged,
        "without_time": read.undated,
        "exemplars_left_out": read.exemplars,
        "metrics_described": sent.metadata,
    }
    for text in (*problems, *read.problems):
        click.echo(text, err=True)
    if read.damaged > len(read.problems):
        click.echo(f"... and {read.damaged - len(read.problems)} more damaged lines", err=True)
    for reason in sent.reasons:
        click.echo(f"refused: {reason}", err=True)
    if read.undated:
        click.echo(f"{read.undated} samples have no time and were left out; --at TIME gives them one", err=True)
    if failed:
        click.echo(
            f"loadwatch import metrics: {failed}. Run it again: a sample that is stored already stays one sample.",
            err=True,
        )
    if as_json:
        click.echo(json.dumps(counts))
    else:
        click.echo(
            f"{read.samples} samples of {len(read.series)} series read, {sent.stored} stored, {sent.refused} refused;"
            f" {read.damaged} damaged lines; {sent.metadata} metrics described"
        )
    return EXIT_FAILED if failed or problems or read.damaged or read.undated or sent.refused else 0
