"""`loadwatch store`: what the server's store of samples holds, compacting, moving and salvaging it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import EntryPoint
from typing import Any

import click
from loadwatch_formats.terminal import echo
from loadwatch_formats.terminal_table import Column, draw_table

from loadwatch_collectors.commands.cli import GROUP, CommandGroup
from loadwatch_collectors.commands.runs import SERVER
from loadwatch_collectors.errors import AgentError
from loadwatch_collectors.runs.delivery import Client, read_token

COMPACT_SECONDS = 3_600.0
_GROUP = (
    Column(title="NAME", elastic=True),
    Column(title="SERIES", right=True),
    Column(title="SAMPLES", right=True),
    Column(title="BYTES", right=True),
)
_LABEL = (Column(title="LABEL", elastic=True), Column(title="VALUES", right=True))


class StoreGroup(CommandGroup):
    """With commands of the server's package, which are loaded only when they are asked for."""

    def entries(self) -> Iterable[EntryPoint]:
        return (
            EntryPoint(name="migrate", group=GROUP, value="loadwatch_backend.app.commands.store_migrate:migrate"),
            EntryPoint(name="salvage", group=GROUP, value="loadwatch_backend.app.commands.store_salvage:salvage"),
        )


@click.group(cls=StoreGroup, invoke_without_command=True)
@click.option(
    "--limit", "-n", type=click.IntRange(1, 1_000), default=10, show_default=True, help="Lines of each table."
)
@SERVER
@click.option("--token-file", help="File with a token; without it the variable LOADWATCH_TOKEN is used.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def store(context: click.Context, limit: int, server: str, token_file: str | None, as_json: bool) -> None:
    """Show what the server's store of samples takes on the disk, by metric and job, and its worst cardinality.

    Bytes of a metric or job are an estimate: those of each part of the store, shared among its samples.

    Exit status: 0; 1 the server does not say.
    """
    try:
        context.obj = Client(server, read_token(token_file), seconds=COMPACT_SECONDS)
        if context.invoked_subcommand is None:
            found = context.obj.get("/api/store", {"limit": limit})
            echo(json.dumps(found, indent=2) if as_json else _page(found))
    except AgentError as error:
        raise click.ClickException(str(error)) from error


@store.command()
@click.pass_obj
def compact(client: Client) -> None:
    """Have the server seal all samples and give dead space back to the disk, while it takes and answers.

    It refuses where the disk has no room for what is written anew. Killed in the middle of it, the server has lost
    nothing. Needs a token of role admin where tokens are asked for.
    """
    try:
        done = client.send("POST", "/api/store/compact")
    except AgentError as error:
        raise click.ClickException(str(error)) from error
    echo(
        f"{done['sealed_samples']} samples sealed; {_bytes(done['before_bytes'])} before,"
        f" {_bytes(done['after_bytes'])} now"
    )


def _page(found: Mapping[str, Any]) -> str:
    hot, sealed = found["hot"], found["sealed"]
    lines = [
        f"{_bytes(found['file_bytes'])} on disk, {_bytes(found['free_bytes'])} of it dead space;"
        f" {_bytes(found['disk_free_bytes'])} free on the disk",
        f"{hot['samples']:,} samples in order of arrival ({_bytes(hot['bytes'])}), {sealed['samples']:,} sealed"
        f" ({_bytes(sealed['bytes'])}{_each(sealed)})",
        *_rollups(found),
        f"from {_time(found['oldest_ms'])} to {_time(found['newest_ms'])}, kept for"
        f" {found['retention_ms'] / 86_400_000:g} days",
        f"{found['series']:,} series of at most {found['series_limit']:,}",
        *_losses(found),
    ]
    tables = (
        ("metrics by size", "metrics", found["metrics_total"]),
        ("metrics by series", "metrics_by_series", found["metrics_total"]),
        ("jobs by size", "jobs", found["jobs_total"]),
    )
    for title, key, total in tables:
        rows = [
            (one["name"] or "(none)", f"{one['series']:,}", f"{one['samples']:,}", _bytes(one["bytes"]))
            for one in found[key]
        ]
        lines += _table(title, _GROUP, rows, total)
    labels = [(one["name"], f"{one['values']:,}") for one in found["labels"]]
    lines += _table("labels by values", _LABEL, labels, found["labels_total"])
    return "\n".join(lines)


def _rollups(found: Mapping[str, Any]) -> list[str]:
    """Servers of before have none."""
    if "rollups" not in found:
        return []
    rollups, days = found["rollups"], found["rollup_retention_ms"] / 86_400_000
    return [f"{rollups['samples']:,} minutes as rollups ({_bytes(rollups['bytes'])}), kept for {days:g} days"]


_HELD = {"segments": "samples", "hot": "samples", "rollups": "minutes"}


def _losses(found: Mapping[str, Any]) -> list[str]:
    losses: Sequence[Mapping[str, Any]] = found.get("losses", [])
    if not losses:
        return []
    lines = [
        "",
        "A part of the samples is damaged on the disk; all others are answered, and nothing is sealed or deleted:",
    ]
    for one in losses:
        count = "an unknown number of" if one["samples"] is None else f"{one['samples']:,}"
        span = "" if one["first_ms"] is None else f", {_time(one['first_ms'])} to {_time(one['last_ms'])}"
        lines.append(f"  table {one['table']}: {count} {_HELD.get(one['table'], 'rows')}{span}")
    # Servers of before have another one.
    command = found.get("salvage_command") or found["repair_command"]
    return [*lines, f"Restore a backup, or stop the server and run: {command}"]


def _table(title: str, columns: Sequence[Column], rows: Sequence[Sequence[str]], total: int) -> list[str]:
    return ["", f"{title} ({len(rows)} of {total})", draw_table(columns, rows)] if rows else []


def _each(use: Mapping[str, int]) -> str:
    return f", {use['bytes'] / use['samples']:.2f} bytes each" if use["samples"] else ""


def _time(at_ms: int | None) -> str:
    return "-" if at_ms is None else f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _bytes(count: int) -> str:
    size, unit = float(count), "B"
    for bigger in ("kB", "MB", "GB", "TB"):
        if size < 1_000:
            break
        size, unit = size / 1_000, bigger
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
