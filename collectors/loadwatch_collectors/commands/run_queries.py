"""`loadwatch runs`: list, show, compare, report, delete, export, import-archive."""

import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click
from loadwatch_formats.run_facts import FILTERS
from loadwatch_formats.terminal import echo

from loadwatch_collectors.errors import AgentError
from loadwatch_collectors.runs.delivery import Client, read_token, run_path
from loadwatch_collectors.runs.errors import UsageError
from loadwatch_collectors.runs.screen.pages import compare_page, list_page, show_page
from loadwatch_collectors.runs.screen.progress import clear_bar, make_reporter

EXIT_FAILED = 1
_MAX_COMPARED = 8
_FORMATS = {".html": "html", ".htm": "html", ".md": "md", ".json": "json"}
_CHUNK = 256 * 1024

Options = Mapping[str, Any]


def list_command(options: Options) -> int:
    """`runs list`."""
    query = {
        "q": options["search"],
        **{fact.name: options[fact.name] for fact in FILTERS},
        "state": options["state"],
        "verdict": options["verdict"],
        "tag": list(options["tags"]),
        "commit": options["commit"],
        "sort": options["sort"],
        "descending": "false" if options["ascending"] else "true",
        "limit": options["limit"],
    }
    return _guard("list", options, lambda client: _print(options, client.get("/api/runs", query), list_page))


def show_command(options: Options) -> int:
    """`runs show`."""

    def show(client: Client) -> None:
        run = client.get(run_path(options["run_id"]))
        # The document of a run is what scripts read; for people its review is read, too.
        review: dict[str, Any] = {} if options["as_json"] else client.get(run_path(options["run_id"], "/review"))
        _print(options, run, lambda document: show_page(document, review))

    return _guard("show", options, show)


def compare_command(options: Options) -> int:
    """`runs compare`."""

    def compare(client: Client) -> None:
        runs: tuple[str, ...] = options["run_ids"]
        if not 2 <= len(runs) <= _MAX_COMPARED:
            raise UsageError(f"2 to {_MAX_COMPARED} runs can be compared, not {len(runs)}")
        query = {"run": runs, "align": options["align"], "percentile": list(options["percentiles"])}
        document = client.get("/api/compare", query)
        _print(options, document, compare_page)

    return _guard("compare", options, compare)


def report_command(options: Options) -> int:
    """`runs report`."""

    def report(client: Client) -> None:
        output: str = options["output"]
        form = options["format_name"] or ("json" if options["as_json"] else _FORMATS.get(Path(output).suffix, ""))
        if not form:
            form = "md" if output == "-" and sys.stdout.isatty() else "html"
        query = {"format": form, "lang": options["lang"]}
        _save(client, run_path(options["run_id"], "/report"), query, output)

    return _guard("report", options, report)


def export_command(options: Options) -> int:
    """`runs export`."""

    def export(client: Client) -> None:
        _save(client, run_path(options["run_id"], "/archive"), {}, options["output"])

    return _guard("export", options, export)


def delete_command(options: Options) -> int:
    """`runs delete`."""

    def delete(client: Client) -> None:
        run = options["run_id"]
        goes = client.get(run_path(run, "/deletion"))
        echo(f"{run}: {_describe_deletion(goes)}", err=True)
        if not options["yes"]:
            click.confirm("Delete it for good?", abort=True, err=True)
        client.send("DELETE", run_path(run))
        echo(f"deleted {run}", err=True)

    return _guard("delete", options, delete)


def import_archive_command(options: Options) -> int:
    """`runs import-archive`."""

    def take_in(client: Client) -> None:
        path: Path = options["file"]
        size = path.stat().st_size
        report = make_reporter(show=True)
        try:
            with path.open("rb") as source:
                document = client.upload(
                    "/api/archives",
                    source,
                    size,
                    query={},
                    kind="application/zip",
                    progress=lambda sent: report("sending", sent, size),
                )
        finally:
            clear_bar()
        _print(options, document, lambda run: str(run["id"]))

    return _guard("import-archive", options, take_in)


def _guard(name: str, options: Options, step: Callable[[Client], None]) -> int:
    """Run a step with a client; errors are told in one line."""
    try:
        step(Client(options["server"], read_token(options["token_file"])))
    except (AgentError, OSError) as error:
        echo(f"loadwatch runs {name}: {error}", err=True)
        return getattr(error, "exit_code", EXIT_FAILED)
    return 0


def _print(options: Options, document: Any, page: Callable[[Any], str]) -> None:
    echo(json.dumps(document, ensure_ascii=False, indent=2) if options["as_json"] else page(document))


def _save(client: Client, path: str, query: Mapping[str, str], output: str | None) -> None:
    """Write an answer as it comes: to a file in one step, or to standard output for `-`."""
    response = client.download(path, query)
    try:
        if output == "-":
            for chunk in response.stream(_CHUNK):
                sys.stdout.buffer.write(chunk)
            sys.stdout.flush()
            return
        target = Path(output or _named(response.headers.get("Content-Disposition", "")))
        fresh = target.with_name(f"{target.name}.part")
        try:
            with fresh.open("wb") as file:
                for chunk in response.stream(_CHUNK):
                    file.write(chunk)
            fresh.replace(target)
        finally:
            fresh.unlink(missing_ok=True)
    finally:
        response.release_conn()
    echo(f"{target}: {target.stat().st_size} bytes", err=True)


def _named(disposition: str) -> str:
    """The file's name that the server gives, without any folder."""
    found = re.search(r'filename="([^"]+)"', disposition)
    name = Path(found[1]).name if found else ""
    if not name or name.startswith("."):
        raise UsageError("the server gave no name for the file; name one with -o")
    return name


def _describe_deletion(goes: Mapping[str, Any]) -> str:
    parts = [
        f"{goes['records']} records ({goes['record_bytes'] / 1e6:.1f} MB)",
        f"{goes['reviews']} versions of its review",
        f"{goes['snapshots']} snapshots",
        f"{goes['shares']} share links",
    ]
    if goes["samples_past_retention"]:
        parts.append("the samples of its window, which are older than the retention")
    if goes["was_baseline"]:
        parts.append("the baseline of its scenario")
    return "this goes: " + ", ".join(parts)
