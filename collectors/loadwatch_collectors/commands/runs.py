"""The commands `loadwatch run`, `sync`, `import`, `replay` and `runs`; the first four load their parts when called."""

import json
import re
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from loadwatch_formats.run_facts import FILTERS, OPTIONS
from loadwatch_formats.terminal import echo

from loadwatch_collectors.errors import AgentError
from loadwatch_collectors.runs.delivery import Client, read_token, run_path
from loadwatch_collectors.runs.errors import UsageError
from loadwatch_collectors.runs.screen.pages import compare_page, list_page, show_page
from loadwatch_collectors.runs.screen.terminal import clear_bar, make_reporter

DEFAULT_SERVER = "http://127.0.0.1:8000"

SERVER = click.option(
    "--server", envvar="LOADWATCH_SERVER", default=DEFAULT_SERVER, show_default=True, help="Address of the server."
)
_TOKEN_FILE = click.option(
    "--token-file", help="File with a token of role admin; without it the variable LOADWATCH_TOKEN is used."
)
_STATE = click.option(
    "--state-directory",
    envvar="LOADWATCH_RUNS",
    help="Folder of runs that wait for the server. Default: $XDG_STATE_HOME/loadwatch/runs.",
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_YES = click.option("--yes", is_flag=True, help="Do not ask.")


@contextmanager
def asking(command: str, options: Mapping[str, Any]) -> Generator[Client]:
    """The server that is asked; an error ends the command with one line."""
    try:
        yield Client(options["server"], read_token(options["token_file"]))
    except (AgentError, OSError) as error:
        echo(f"loadwatch {command}: {error}", err=True)
        sys.exit(getattr(error, "exit_code", 1))


def _server_options(command: Callable[..., None]) -> Callable[..., None]:
    return SERVER(_TOKEN_FILE(command))


def _facts(command: Callable[..., None]) -> Callable[..., None]:
    """Decorator for the options that describe a run by hand."""
    for fact in reversed(OPTIONS):
        kind = float if fact.nullable else None
        command = click.option(
            fact.option, fact.name, type=kind, multiple=fact.several, metavar=fact.metavar, help=fact.help
        )(command)
    return command


def _filters(command: Callable[..., None]) -> Callable[..., None]:
    """Decorator for the options that filter a list of runs."""
    for fact in reversed(FILTERS):
        option = "--" + fact.name.replace("_", "-")
        command = click.option(option, help=f"Only this {fact.name.replace('_', ' ')}.")(command)
    return command


@click.command(context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False})
@_facts
@click.option("--duration", help="How long the load is to last, such as 5m. Read from the arguments by default.")
@click.option(
    "--expect", "expectations", multiple=True, help="As --threshold: expected, without effect on the verdict."
)
@click.option(
    "--marker",
    "markers",
    multiple=True,
    metavar="REGEX",
    help="Lines of the command's output that match become annotations of the run, 100 at most.",
)
@click.option("--issue", "issues", multiple=True, metavar="URL", help="The issue that the run belongs to.")
@click.option("--link", "links", multiple=True, metavar="URL[=TITLE]", help="A pull request, a dashboard.")
@click.option("--author", help="Who runs it. Default: git's user.name, or the login name.")
@click.option("--tool", help="The tool's name, where it cannot be read from the command.")
@click.option("--result", help="The result file that the command writes, or where the tool's is to stay.")
@_server_options
@_STATE
@click.option("--offline", is_flag=True, help="Do not talk to the server; `loadwatch sync` delivers the run later.")
@click.option("--wait", default=15.0, show_default=True, help="Seconds to try again at the end if the server is away.")
@click.option("--no-gate", is_flag=True, help="Exit with the command's own status, whatever the verdict.")
@click.option("--strict", is_flag=True, help="Exit with 4 unless the verdict is `passed`.")
@click.option("--no-stream", is_flag=True, help="Send no figures while the run is under way.")
@click.option("--untouched", is_flag=True, help="Run the command exactly as given, without the tool's result file.")
@click.option("--no-patch", is_flag=True, help="Keep no patch of what is not committed with the run.")
@click.option("--no-output", is_flag=True, help="Keep none of the command's output with the run.")
@click.option("--quiet", "-q", is_flag=True, help="No status line and no summary.")
@_JSON
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run(**options: Any) -> None:
    """Run a load test: COMMAND with its arguments, after `--`.

    The command's output stays as it is. Exit status: that of the command if it is not 0 (128 + N when signal N ended
    it); 3 when the command succeeded and the verdict is `failed`; 4 with --strict and any verdict but `passed`;
    2 when the run could not begin.
    """
    from loadwatch_collectors.commands.run import run_command

    sys.exit(run_command(options))


@click.command()
@click.option(
    "--server", envvar="LOADWATCH_SERVER", help="Address of the server. Default: the one each run was meant for."
)
@_TOKEN_FILE
@_STATE
@click.option("--drop", "dropped", multiple=True, metavar="ID", help="Forget this run and its files instead.")
@_JSON
def sync(**options: Any) -> None:
    """Deliver runs that were recorded while the server was away, the oldest first; end those that were killed.

    Exit status: 0 nothing is left, 1 something is left and why is said, 2 the command was wrong.
    """
    from loadwatch_collectors.commands.synchronise import sync_command

    sys.exit(sync_command(options))


class _FileOrS3(click.Path):
    """A file that is there, or `s3://BUCKET/PREFIX`, which stays a text."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if isinstance(value, str) and value.startswith("s3://") else super().convert(value, param, ctx)


@click.command("import")
@_facts
@click.option("--run", "run_id", metavar="ID", help="Add the result to this run instead of making a new one.")
@click.option(
    "--profile",
    "as_profiles",
    is_flag=True,
    help="The files are profiles (pprof, collapsed stacks), to be kept with the run that --run names.",
)
@click.option(
    "--access-log",
    "as_access_log",
    is_flag=True,
    help="The files are the access log of the run that --run names: what of it lies within the run is kept with it, by "
    "route and without single lines.",
)
@click.option(
    "--slow-log",
    "as_slow_log",
    is_flag=True,
    help="The files are the slow log of MySQL or MariaDB: what of it lies within the run that --run names is kept with "
    "it, by statement and without values.",
)
@click.option(
    *("-m", "--match"),
    metavar="PATTERNS",
    multiple=True,
    help="With --access-log: regular expressions, commas between; the first that is found in a path names its route.",
)
@click.option(
    *("--key", "keys"),
    metavar="WHAT=KEY",
    multiple=True,
    help="With --access-log: the key of time, method, path, request, status, bytes or seconds in LTSV and JSON; commas "
    "between several.",
)
@click.option(
    "--keep",
    metavar="NAMES",
    multiple=True,
    help="With --access-log: parameters of queries that become part of the route, such as action; commas between.",
)
@click.option(
    "--unit",
    type=click.Choice(["s", "ms", "us", "ns"]),
    help="With --access-log: of durations, where the log does not say it.",
)
@click.option("--started-at", metavar="TIME", help="RFC 3339 start, for files without a wall clock (hey, wrk, oha).")
@click.option("--format", "format_name", help="Name of the format, to skip recognition.")
@_server_options
@_JSON
@click.option("--quiet", "-q", is_flag=True, help="No progress bar.")
@click.argument("files", nargs=-1, required=True, type=_FileOrS3(exists=True, dir_okay=False, path_type=Path))
def import_result(**options: Any) -> None:
    """Import result files of load tools, one run each, and print the runs' ids, one a line.

    With --profile, --access-log or --slow-log the files are kept with a run that is there, and the pages that show it
    are printed. With --access-log s3://BUCKET/PREFIX is the files of AWS' load balancers below it that are of the run's
    time, or the one file of that name.

    Exit status: 0 all are imported, 1 one is not, 2 the command was wrong.
    """
    from loadwatch_collectors.commands.import_result import import_command

    sys.exit(import_command(options))


@click.command()
@click.option("--purpose", type=click.Choice(["tune", "judge"]), help="Only recordings of this purpose.")
@click.option(
    "--at-least",
    type=click.FloatRange(0, 1),
    default=0.0,
    metavar="SHARE",
    help="Exit with 1 when the first finding is right in a smaller share, such as 0.93.",
)
@_server_options
@_JSON
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
def replay(**options: Any) -> None:
    """Import recordings of labelled cases and score what the server's findings say of them.

    PATHS are folders, or archives NAME.zip with their label NAME.json beside them. The runs stay on the server: take
    one that is there for this.

    Exit status: 0; 1 below --at-least, or when a recording could not be imported; 2 the command was wrong.
    """
    from loadwatch_collectors.commands.replay import replay_command

    sys.exit(replay_command(options))


_MAX_COMPARED = 8
_FORMATS = {".html": "html", ".htm": "html", ".md": "md", ".json": "json"}
_CHUNK = 256 * 1024


def _print(options: Mapping[str, Any], document: Any, page: Callable[[Any], str]) -> None:
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


@click.group()
def runs() -> None:
    """List, show, compare, report, delete and move runs."""


@runs.command("list")
@click.option("--search", "-s", default="", help="Words in name, scenario, tool, commit, tags, author, parameters.")
@_filters
@click.option("--state", help="running, finished, aborted or imported.")
@click.option("--verdict", help="passed, failed, invalid or none.")
@click.option("--tag", "tags", multiple=True, help="Runs that have all of these.")
@click.option("--commit", help="Commits that begin with this.")
@click.option("--sort", default="started", show_default=True, help="started, name, rate, p95, requests, ...")
@click.option("--ascending", is_flag=True, help="Smallest or oldest first.")
@click.option("--limit", "-n", default=20, show_default=True, type=click.IntRange(1, 500), help="At most so many.")
@_server_options
@_JSON
def list_runs(**options: Any) -> None:
    """List runs, the newest first."""
    query = {
        "q": options["search"],
        **{fact.name: options[fact.name] for fact in FILTERS},
        **{name: options[name] for name in ("state", "verdict", "commit", "sort", "limit")},
        "tag": list(options["tags"]),
        "descending": "false" if options["ascending"] else "true",
    }
    with asking("runs list", options) as client:
        _print(options, client.get("/api/runs", query), list_page)


@runs.command("show")
@click.argument("run_id", metavar="ID")
@_server_options
@_JSON
def show_run(**options: Any) -> None:
    """Show one run."""
    with asking("runs show", options) as client:
        run = client.get(run_path(options["run_id"]))
        # The document of a run is what scripts read; for people its review is read, too.
        review: dict[str, Any] = {} if options["as_json"] else client.get(run_path(options["run_id"], "/review"))
        _print(options, run, lambda document: show_page(document, review))


@runs.command("compare")
@click.argument("run_ids", metavar="ID ID...", nargs=-1, required=True)
@click.option("--align", type=click.Choice(["start", "steady"]), default="start", show_default=True)
@click.option("--percentile", "percentiles", multiple=True, help="Another one, such as p70 or p99.9; several times.")
@_server_options
@_JSON
def compare_runs(**options: Any) -> None:
    """Compare 2 to 8 runs; the first one's group is the base."""
    with asking("runs compare", options) as client:
        runs: tuple[str, ...] = options["run_ids"]
        if not 2 <= len(runs) <= _MAX_COMPARED:
            raise UsageError(f"2 to {_MAX_COMPARED} runs can be compared, not {len(runs)}")
        query = {"run": runs, "align": options["align"], "percentile": list(options["percentiles"])}
        _print(options, client.get("/api/compare", query), compare_page)


@runs.command("report")
@click.argument("run_id", metavar="ID")
@click.option("--output", "-o", default="-", show_default=True, help="Where to write it; - is the terminal.")
@click.option("--format", "format_name", type=click.Choice(["html", "md", "json"]), help="Default: by the file's name.")
@click.option("--lang", type=click.Choice(["en", "ja"]), default="en", show_default=True, help="Language.")
@_server_options
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def report_run(**options: Any) -> None:
    """Write a run's report as one self-contained file."""
    output: str = options["output"]
    form = options["format_name"] or ("json" if options["as_json"] else _FORMATS.get(Path(output).suffix, ""))
    if not form:
        form = "md" if output == "-" and sys.stdout.isatty() else "html"
    with asking("runs report", options) as client:
        _save(client, run_path(options["run_id"], "/report"), {"format": form, "lang": options["lang"]}, output)


@runs.command("delete")
@click.argument("run_id", metavar="ID")
@_YES
@_server_options
def delete_run(**options: Any) -> None:
    """Say what goes with a run, ask, and delete it for good."""
    run = options["run_id"]
    with asking("runs delete", options) as client:
        goes = client.get(run_path(run, "/deletion"))
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
        echo(f"{run}: this goes: {', '.join(parts)}", err=True)
        if not options["yes"]:
            click.confirm("Delete it for good?", abort=True, err=True)
        client.send("DELETE", run_path(run))
        echo(f"deleted {run}", err=True)


@runs.command("export")
@click.argument("run_id", metavar="ID")
@click.option("--output", "-o", help="Where to write it. Default: the name that the server gives.")
@_server_options
def export_run(**options: Any) -> None:
    """Write a whole run as one archive: samples, records, metadata, reviews."""
    with asking("runs export", options) as client:
        _save(client, run_path(options["run_id"], "/archive"), {}, options["output"])


@runs.command("import-archive")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@_server_options
@_JSON
def import_archive(**options: Any) -> None:
    """Take in an archive made by `loadwatch runs export`, and print the run's id."""
    path: Path = options["file"]
    with asking("runs import-archive", options) as client:
        size = path.stat().st_size
        report = make_reporter(show=True)
        try:
            with path.open("rb") as source:
                document = client.upload(
                    "/api/archives", source, kind="application/zip", progress=lambda sent: report("sending", sent, size)
                )
        finally:
            clear_bar()
        _print(options, document, lambda run: str(run["id"]))
