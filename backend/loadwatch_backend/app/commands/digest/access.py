"""`loadwatch digest access`: access logs by route."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import click
from loadwatch_formats.access_logs.alb_files import Range
from loadwatch_formats.access_logs.document import lines_document, window_document
from loadwatch_formats.access_logs.groups import GroupError, MatchingGroups, split_patterns
from loadwatch_formats.access_logs.instants import instant_of
from loadwatch_formats.access_logs.lines.keys import parse_keys
from loadwatch_formats.access_logs.lines.line import UNITS, AccessLogError, LineOptions
from loadwatch_formats.access_logs.lines.registry import FORMATS
from loadwatch_formats.access_logs.routes import MOST_ROUTES, OTHER, RouteNames
from loadwatch_formats.access_logs.sketch import RELATIVE_ERROR
from loadwatch_formats.access_logs.tally import settle_together
from loadwatch_formats.terminal import echo
from loadwatch_formats.times import format_rfc3339

from loadwatch_backend.app.commands.digest.access_count import Counted, Counting, count_files
from loadwatch_backend.app.commands.digest.access_rows import Row, document_of, rows_of
from loadwatch_backend.app.commands.digest.access_table import COLUMNS, COMPARED, SYNONYMS, USUAL, sorted_rows, table_of
from loadwatch_backend.app.commands.digest.columns import column_named, columns_named
from loadwatch_backend.app.commands.digest.files import printable
from loadwatch_backend.app.commands.digest.s3_files import expand

_ROWS = 50
_NAMES = tuple(COLUMNS)


def _keys(_context: click.Context, _option: click.Parameter, value: Sequence[str]) -> dict[str, str]:
    try:
        return parse_keys(value)
    except AccessLogError as error:
        raise click.BadParameter(str(error)) from None


def _time(_context: click.Context, _option: click.Parameter, value: str | None) -> datetime | None:
    at_ms = None if value is None else instant_of(value)
    if value is not None and at_ms is None:
        raise click.BadParameter(f"{value!r} is no time with its zone, such as 2026-11-24T10:00:00Z")
    return None if at_ms is None else datetime.fromtimestamp(at_ms / 1_000, UTC)


def _groups(_context: click.Context, _option: click.Parameter, value: Sequence[str]) -> list[str]:
    patterns = [pattern for text in value for pattern in split_patterns(text)]
    return list(_checked(MatchingGroups, patterns).patterns)


def _kept(_context: click.Context, _option: click.Parameter, value: Sequence[str]) -> list[str]:
    names = [name.strip() for text in value for name in text.split(",") if name.strip()]
    return list(_checked(lambda keep: MatchingGroups((), keep), names).kept.names)


def _checked(make: Callable[[list[str]], MatchingGroups], texts: list[str]) -> MatchingGroups:
    try:
        return make(texts)
    except GroupError as error:
        raise click.BadParameter(str(error)) from None


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--base", metavar="FILE", multiple=True, help="A log to compare with; again for several.")
@click.option(
    *("-m", "--match", "groups"),
    metavar="PATTERNS",
    multiple=True,
    callback=_groups,
    help="Regular expressions, commas between; the first that is found in a path names its route.",
)
@click.option(
    "--keep",
    metavar="NAMES",
    multiple=True,
    callback=_kept,
    help="Parameters of queries that become part of the route, such as action; commas between.",
)
@click.option(
    "--sort",
    default="sum",
    callback=column_named(_NAMES, SYNONYMS),
    help="A column; the largest first.",
    show_default=True,
)
@click.option("-r", "--reverse", is_flag=True, help="The largest first, as always: for those who are used to alp.")
@click.option("--ascending", is_flag=True, help="The smallest first.")
@click.option(
    "-o",
    "--output",
    "columns",
    metavar="COLUMNS",
    callback=columns_named(_NAMES, SYNONYMS),
    help=f"Of {', '.join(COLUMNS)}.",
)
@click.option("--limit", type=click.IntRange(min=0), help=f"Routes; 0 for all. {_ROWS} in a table, all in JSON.")
@click.option(
    *("--format", "format_name"),
    type=click.Choice(["auto", *(one.name for one in FORMATS)]),
    default="auto",
    show_default=True,
    help="Of the lines; told by the first ones.",
)
@click.option(
    *("--key", "keys"),
    metavar="WHAT=KEY",
    multiple=True,
    callback=_keys,
    help="The key of time, method, path, request, status, bytes or seconds in LTSV and JSON; commas between several.",
)
@click.option("--from", "start", metavar="TIME", callback=_time, help="Of s3:// only: RFC 3339, or Unix seconds.")
@click.option("--to", "end", metavar="TIME", callback=_time, help="As --from; files of five minutes count whole.")
@click.option("--unit", type=click.Choice(list(UNITS)), help="Of durations, where the log does not say it.")
@click.option("--json", "as_json", is_flag=True, help="JSON in place of the table.")
def access(
    files: Sequence[str],
    base: Sequence[str],
    groups: list[str],
    keep: list[str],
    sort: str,
    reverse: bool,
    ascending: bool,
    columns: Sequence[str] | None,
    limit: int | None,
    format_name: str,
    keys: dict[str, str],
    start: datetime | None,
    end: datetime | None,
    unit: str | None,
    as_json: bool,
) -> None:
    """Access logs by route: requests, time, percentiles, statuses, bytes.

    FILE is a log of nginx, Apache, Envoy, Caddy or an ALB, LTSV or JSON lines, also compressed; - is standard input.
    Numbers, UUIDs, hashes and slugs in paths become placeholders; queries are left out, but for --keep.
    s3://BUCKET/PREFIX is all files below it; of a load balancer's those of the time.
    """
    del reverse
    wanted = Range(start=start, end=end)
    files, base = expand(files, wanted), expand(base, wanted)
    counting = Counting(
        lines=LineOptions(format=format_name, keys=keys, unit=unit, queries=bool(keep)),
        groups=groups,
        keep=keep,
    )
    names = RouteNames(MatchingGroups(groups, keep), limit=MOST_ROUTES)
    counted = count_files(files, counting, names)
    before = count_files(base, counting, names) if base else None
    settle_together([one.tally for one in (counted, before) if one])
    rows = rows_of(counted.tally, before.tally if before else None)
    measured = bool(counted.durations)
    by = sort if measured or sort not in ("sum", "share") else "count"
    rows = sorted_rows(rows, by, ascending)
    if as_json:
        echo(json.dumps(_document(rows[: limit or None], counted, before), indent=2))
        return
    _print(rows, counted, before, columns, _ROWS if limit is None else limit or len(rows))


def _document(rows: Sequence[Row], counted: Counted, before: Counted | None) -> dict[str, Any]:
    document = document_of(rows) | {"lines": _lines(counted), "window": window_document(counted.tally)}
    if before is not None:
        document |= {"base": {"lines": _lines(before), "window": window_document(before.tally)}}
    return document


def _lines(counted: Counted) -> dict[str, Any]:
    return lines_document(counted.tally) | {
        "formats": counted.formats,
        "durations": counted.durations,
        "remarks": counted.remarks,
    }


def _print(
    rows: Sequence[Row], counted: Counted, before: Counted | None, columns: Sequence[str] | None, limit: int
) -> None:
    echo(_headline(counted))
    if before is not None:
        echo(f"compared with {_headline(before)}")
    chosen = columns or (COMPARED if before else USUAL)
    echo()
    echo(table_of(rows[:limit], chosen))
    if len(rows) > limit:
        echo(f"… and {len(rows) - limit} more; --limit 0 shows all")
    for one in (counted, before):
        for remark in _remarks(one) if one else ():
            echo(remark, err=True)


def _headline(counted: Counted) -> str:
    lines = counted.tally.lines
    routes = len({route for _, route in counted.tally.figures})
    said = [f"{lines.read:,} requests, {routes:,} routes"]
    if lines.first_ms is not None and lines.last_ms is not None:
        took = (lines.last_ms - lines.first_ms) / 1000
        rate = f", {lines.read / took:,.0f} a second" if took >= 1 else ""
        said.append(f"{format_rfc3339(lines.first_ms)[:19]}Z to {format_rfc3339(lines.last_ms)[11:19]}Z{rate}")
    if counted.durations:
        said.append(f"durations: {' and '.join(counted.durations)}; percentiles within {RELATIVE_ERROR * 100:g} %")
    return "; ".join(said)


def _remarks(counted: Counted) -> list[str]:
    lines, tally = counted.tally.lines, counted.tally
    remarks = [printable(remark, 1_000) for remark in counted.remarks]
    if lines.unreadable:
        example = f", such as: {printable(lines.example, 120)}" if lines.example else ""
        verb = "line is no request" if lines.unreadable == 1 else "lines are no requests"
        remarks.append(f"{lines.unreadable:,} {verb}{example}")
    if lines.too_long:
        verb = "line of more than a megabyte was" if lines.too_long == 1 else "lines of more than a megabyte were"
        remarks.append(f"{lines.too_long:,} {verb} left out")
    if counted.durations and (without := tally.without_duration):
        verb = "request has" if without == 1 else "requests have"
        remarks.append(f"{without:,} {verb} no duration: in counts and bytes, but not in times")
    others = _lines(counted)["other_routes"]
    if others:
        remarks.append(f"{others:,} requests are of further routes, together as {OTHER!r}; --match names what matters")
    return remarks
