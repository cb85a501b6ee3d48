"""`loadwatch digest statements`: slow logs by statement."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from loadwatch_formats.access_logs.sketch import RELATIVE_ERROR
from loadwatch_formats.statements.fingerprint import OTHER
from loadwatch_formats.terminal import echo
from loadwatch_formats.times import format_rfc3339

from loadwatch_backend.app.commands.digest.columns import column_named, columns_named, sort_rows, text_table
from loadwatch_backend.app.commands.digest.files import printable
from loadwatch_backend.app.commands.digest.matching import match_any_case
from loadwatch_backend.app.commands.digest.statements_read import Summed, read_files
from loadwatch_backend.app.commands.digest.statements_table import (
    COLUMNS,
    COMPARED,
    SYNONYMS,
    USUAL,
    Row,
    document_of,
    rows_of,
)

if TYPE_CHECKING:
    from loadwatch_backend.series.store.patterns import Pattern

_ROWS = 50
_NAMES = tuple(COLUMNS)


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--base", metavar="FILE", multiple=True, help="A log to compare with; again for several.")
@click.option(
    *("-m", "--match", "match"),
    metavar="PATTERN",
    callback=match_any_case,
    help="Only statements with this in their fingerprint, in small letters or capitals; shares stay those of all.",
)
@click.option(
    "--sort",
    default="sum",
    callback=column_named(_NAMES, SYNONYMS),
    help="A column; the largest first.",
    show_default=True,
)
@click.option("--ascending", is_flag=True, help="The smallest first.")
@click.option(
    *("-o", "--output", "columns"),
    metavar="COLUMNS",
    callback=columns_named(_NAMES, SYNONYMS),
    help=f"Of {', '.join(COLUMNS)}.",
)
@click.option("--limit", type=click.IntRange(min=0), help=f"Statements; 0 for all. {_ROWS} in a table, all in JSON.")
@click.option("--json", "as_json", is_flag=True, help="JSON in place of the table.")
def statements(
    files: Sequence[str],
    base: Sequence[str],
    match: "Pattern | None",
    sort: str,
    ascending: bool,
    columns: Sequence[str] | None,
    limit: int | None,
    as_json: bool,
) -> None:
    """Slow logs by statement: calls, time, percentiles, locks, rows.

    FILE is a slow log of MySQL, MariaDB, Percona Server or RDS, also compressed; - is standard input. Statements that
    differ in their values only are one, and values are left out.
    """
    summed = read_files(files)
    before = read_files(base) if base else None
    rows = rows_of(summed.sums, before.sums if before else None)
    found = [row for row in rows if match is None or match.search(row.sums.fingerprint)]
    rows = sort_rows(found, COLUMNS[sort], ascending, lambda row: (row.sums.fingerprint, row.sums.schema))
    if as_json:
        echo(json.dumps(_document(rows[: limit or None], summed, before), indent=2))
        return
    _print(rows, summed, before, columns, _ROWS if limit is None else limit or len(rows))
    if match is not None and not rows:
        echo("No statement has that in its fingerprint.")


def _document(rows: Sequence[Row], summed: Summed, before: Summed | None) -> dict[str, Any]:
    document = document_of(rows) | {"lines": _lines(summed), "window": _window(summed)}
    if before is not None:
        document |= {"base": {"lines": _lines(before), "window": _window(before)}}
    return document


def _lines(summed: Summed) -> dict[str, Any]:
    return {
        "read": summed.read,
        "unreadable": summed.unreadable,
        "cut": summed.cut,
        "sampled": summed.sums.sampled,
        "other_statements": _others(summed),
        "percentile_error": RELATIVE_ERROR,
        "remarks": summed.remarks,
    }


def _others(summed: Summed) -> int:
    other = summed.sums.by_key().get(("", OTHER))
    return other.times.count if other else 0


def _window(summed: Summed) -> dict[str, int] | None:
    first, last = summed.sums.first, summed.sums.last
    if first is None or last is None:
        return None
    return {"first_ms": round(first * 1_000), "last_ms": round(last * 1_000)}


def _print(
    rows: Sequence[Row], summed: Summed, before: Summed | None, columns: Sequence[str] | None, limit: int
) -> None:
    echo(_headline(summed))
    if before is not None:
        echo(f"compared with {_headline(before)}")
    chosen = columns or (COMPARED if before else USUAL)
    echo()
    echo(text_table(rows[:limit], [COLUMNS[name] for name in chosen]))
    if len(rows) > limit:
        echo(f"… and {len(rows) - limit} more; --limit 0 shows all")
    for one in (summed, before):
        for remark in _remarks(one) if one else ():
            echo(remark, err=True)


def _headline(summed: Summed) -> str:
    calls, different = summed.sums.calls, len({text for _, text in summed.sums.by_key()})
    said = [f"{calls:,} calls, {different:,} statements, {summed.sums.seconds:,.3f} s together"]
    window = _window(summed)
    if window is not None:
        took = (window["last_ms"] - window["first_ms"]) / 1_000
        rate = f", {calls / took:,.0f} a second" if took >= 1 else ""
        end = format_rfc3339(window["last_ms"])[11:19]
        said.append(f"{format_rfc3339(window['first_ms'])[:19]}Z to {end}Z{rate}")
    said.append(f"percentiles within {RELATIVE_ERROR * 100:g} %")
    return "; ".join(said)


def _remarks(summed: Summed) -> list[str]:
    remarks = [printable(remark, 1_000) for remark in summed.remarks]
    if summed.unreadable:
        verb = "line or heading belongs" if summed.unreadable == 1 else "lines or headings belong"
        remarks.append(f"{summed.unreadable:,} {verb} to no statement")
    if summed.cut:
        verb = "statement is" if summed.cut == 1 else "statements are"
        remarks.append(f"{summed.cut:,} {verb} longer than is read: told apart by their beginning")
    if summed.sums.sampled:
        remarks.append(
            f"the server wrote one of several statements (log_slow_rate_limit): {summed.sums.sampled:,} that are there "
            "stand for those that are not"
        )
    if others := _others(summed):
        remarks.append(f"{others:,} calls are of further statements, together as {OTHER!r}")
    return remarks
