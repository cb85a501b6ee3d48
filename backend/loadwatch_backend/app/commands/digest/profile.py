"""`loadwatch digest profile`: profiles by function."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from loadwatch_formats.terminal import echo

from loadwatch_backend.app.commands.digest.matching import match_pattern
from loadwatch_backend.app.commands.digest.profile_table import profile_table
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts.words import Texts
from loadwatch_backend.evidence.profiles.digest import FunctionRow, ProfileDigest, digest_of
from loadwatch_backend.evidence.profiles.folding.difference import StackChanges
from loadwatch_backend.evidence.profiles.folding.merging import merge
from loadwatch_backend.evidence.profiles.folding.stacks import label_keys, sums_by_label
from loadwatch_backend.evidence.profiles.folding.tree import Order
from loadwatch_backend.evidence.profiles.model import Profile
from loadwatch_backend.evidence.profiles.reading.read import LIMITS, read_profile
from loadwatch_backend.series.store.patterns import Pattern

_STDIN = "-"
_ROWS = 50
_LABELS = 5
"""Keys of labels that the document sums by."""


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--base", metavar="FILE", multiple=True, help="A profile to take off, as pprof's -diff_base; or several.")
@click.option(
    "--requests", type=click.FloatRange(0, min_open=True), help="Answered meanwhile: values for each request."
)
@click.option("--base-requests", type=click.FloatRange(0, min_open=True), help="The same of the base.")
@click.option(
    "-m", "--match", "match", metavar="PATTERN", callback=match_pattern, help="Only functions with this in the name."
)
@click.option(
    "--sort", type=click.Choice(["flat", "cum"]), default="flat", show_default=True, help="The largest first."
)
@click.option("--sample-type", metavar="TYPE", help="Such as alloc_space; by default as pprof chooses.")
@click.option("--limit", type=click.IntRange(min=0), help=f"Functions; 0 for all. {_ROWS} in a table, all in JSON.")
@click.option("--json", "as_json", is_flag=True, help="JSON in place of the table.")
def profile(
    files: Sequence[str],
    base: Sequence[str],
    requests: float | None,
    base_requests: float | None,
    match: Pattern | None,
    sort: Order,
    sample_type: str | None,
    limit: int | None,
    as_json: bool,
) -> None:
    """Profiles by function: what each costs itself (flat) and with all that it calls (cum), as `pprof -top`.

    FILE is a profile in pprof's format or collapsed stacks (perf, async-profiler, py-spy); - is standard input.
    Several are added up. Functions that everybody meets are explained, with the function of yours that called them.
    """
    if base and (requests is None) != (base_requests is None):
        raise click.UsageError("Values for each request need --requests and --base-requests both.")
    if base_requests is not None and not base:
        raise click.UsageError("--base-requests needs --base.")
    try:
        now = merge([_read(name) for name in files])
        before = merge([_read(name) for name in base]) if base else None
        found = digest_of(
            now, before, sample_type=sample_type, order=sort, requests=requests, base_requests=base_requests
        )
    except ProblemError as error:
        raise click.ClickException(str(error)) from None
    rows = [row for row in found.rows if match is None or match.search(row.name)]
    if as_json:
        document = _document(found, rows[: limit or None], now, len(files))
        echo(json.dumps(document, indent=2))
        return
    shown = _ROWS if limit is None else limit or len(rows)
    echo(profile_table(found, rows[:shown], _words(rows[:shown]), now.duration_ns))
    if len(rows) > shown:
        echo(f"… and {len(rows) - shown} more; --limit 0 shows all")
    if not rows:
        echo(_nothing(found, match is not None))
    for note in found.notes:
        echo(note, err=True)


def _read(name: str) -> Profile:
    try:
        if name == _STDIN:
            data = sys.stdin.buffer.read(LIMITS.file_bytes + 1)
        else:
            with Path(name).open("rb") as file:
                data = file.read(LIMITS.file_bytes + 1)
    except OSError as error:
        raise click.ClickException(f"{name}: {error.strerror or error}") from None
    try:
        return read_profile(data)
    except ProblemError as error:
        raise click.ClickException(f"{name}: {error}") from None


def _words(rows: Sequence[FunctionRow]) -> Sequence[str]:
    texts = Texts("profiles", Language.EN)
    said: list[str] = []
    for row in rows:
        words = texts(f"frame.{row.meaning}") if row.meaning else ""
        said.append(texts("below", meaning=words, function=row.caller) if words and row.caller else words)
    return said


def _nothing(found: ProfileDigest, matched: bool) -> str:
    if matched and found.rows:
        return "No function has that in its name."
    if found.base_total is not None:
        return "The profiles do not differ."
    if found.type.name in ("delay", "contentions"):
        return (
            "No samples. Mutex and block profiles are off until the application calls"
            " runtime.SetMutexProfileFraction and runtime.SetBlockProfileRate."
        )
    return "No samples: nothing was measured while the profile was taken."


def _document(found: ProfileDigest, rows: Sequence[FunctionRow], now: Profile, files: int) -> dict[str, Any]:
    document: dict[str, Any] = {
        "functions": [_function(row, words) for row, words in zip(rows, _words(rows), strict=True)],
        "total": found.total,
        "unit": found.type.unit,
        "sample_type": found.type.name,
        "sample_types": [one.name for one in now.types],
        "kind": found.kind.value,
        "duration_seconds": now.duration_ns / 1e9 or None,
        "files": files,
        "notes": list(found.notes),
    }
    column = [one.name for one in now.types].index(found.type.name)
    sums = [sums_by_label(now, key, column) for key in label_keys(now)[:_LABELS]]
    document["labels"] = {one.key: {"values": dict(one.by_value), "without": one.without} for one in sums}
    if found.base_total is not None and found.new is not None and found.gone is not None:
        document |= {
            "base_total": found.base_total,
            "new_stacks": _stacks(found.new),
            "gone_stacks": _stacks(found.gone),
        }
    return document


def _function(row: FunctionRow, words: str) -> dict[str, Any]:
    every: dict[str, Any] = {
        "name": row.name,
        "flat": row.flat,
        "cum": row.cum,
        "base_flat": row.base_flat,
        "base_cum": row.base_cum,
        "flat_per_request": row.flat_per_request,
        "cum_per_request": row.cum_per_request,
        "file": row.file or None,
        "own": row.own or None,
        "words": words or None,
    }
    return {key: value for key, value in every.items() if value is not None}


def _stacks(changes: StackChanges) -> dict[str, Any]:
    return {
        "stacks": [{"functions": list(one.functions), "value": one.value} for one in changes.stacks],
        "count": changes.count,
        "smaller": changes.smaller,
    }
