"""`loadwatch annotate`: a note on the time line, by hand or from a script that deploys."""

import json
import time
from collections.abc import Mapping
from typing import Any

import click
from loadwatch_formats.terminal import echo

from loadwatch_collectors.commands.runs import SERVER, asking
from loadwatch_collectors.runs.delivery import Client, run_path
from loadwatch_collectors.runs.errors import UsageError
from loadwatch_collectors.runs.facts.request import parse_start
from loadwatch_collectors.settings import parse_duration


@click.command()
@click.option("--tag", "tags", multiple=True, help="Such as deploy; several times.")
@click.option("--at", metavar="TIME", help="When: RFC 3339, or with --run a duration after its start, such as 90s.")
@click.option("--end", metavar="TIME", help="Until when, for a span; written as --at.")
@click.option("--run", "run_id", metavar="ID", help="On the time line of this run; at its start without --at.")
@click.option("--author", default="", help="Who writes it. Default: who the token belongs to.")
@click.option("--commit", default="", help="Commit of what was deployed.")
@click.option("--issue", default="", help="Number or address of the issue behind it.")
@SERVER
@click.option(
    "--token-file", help="File with a token that may write notes; without it the variable LOADWATCH_TOKEN is used."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.argument("text")
def annotate(**options: Any) -> None:
    """Write a note on the time line: TEXT, at this moment unless --at says another one.

    Charts, run pages and reports show it. Prints its id. Exit status: 0; 1 the server refused it or is away; 2 the
    command was wrong.
    """
    with asking("annotate", options) as client:
        document = client.send("POST", "/api/annotations", _note(client, options, round(time.time() * 1_000)))
    echo(json.dumps(document, ensure_ascii=False) if options["as_json"] else document["id"])


def _note(client: Client, options: Mapping[str, Any], now_ms: int) -> dict[str, Any]:
    run_id = options["run_id"]
    base_ms = int(client.get(run_path(run_id))["started_ms"]) if run_id else None
    at, end = options["at"], options["end"]
    start_ms = parse_moment(at, base_ms, "--at") if at else now_ms if base_ms is None else base_ms
    return {
        **{name: options[name] for name in ("text", "author", "commit", "issue")},
        "tags": list(options["tags"]),
        "start_ms": start_ms,
        "end_ms": parse_moment(end, base_ms, "--end") if end else None,
    }


def parse_moment(text: str, base_ms: int | None, option: str) -> int:
    """Milliseconds since the epoch of a time, or of a duration after `base_ms`.

    Raises:
        UsageError: it is neither.
    """
    if base_ms is not None:
        try:
            return base_ms + round(parse_duration(text) * 1_000)
        except ValueError:
            pass  # then it is a time
    try:
        return parse_start(text)
    except UsageError as error:
        also = "" if base_ms is None else ", or a duration such as 90s"
        raise UsageError(f"{option}: {error}{also}") from error
