"""`loadwatch digest statements`: slow logs by statement."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import click
from loadwatch_formats import terminal_table
from loadwatch_formats.access_logs.sketch import RELATIVE_ERROR
from loadwatch_formats.compression import pieces
from loadwatch_formats.statements.fingerprint import OTHER
from loadwatch_formats.statements.slow_log import NO_SLOW_LOG, SlowLogReader, read_log
from loadwatch_formats.statements.sums import COUNTS, StatementSum, StatementSums
from loadwatch_formats.terminal import echo
from loadwatch_formats.times import format_rfc3339

from loadwatch_backend.app.commands.digest.files import opened, printable
from loadwatch_backend.app.commands.digest.match import match_any_case

if TYPE_CHECKING:
    from loadwatch_backend.series.store.patterns import Pattern


R = TypeVar("R")
L = TypeVar("L")
Option = Callable[[Callable[..., None]], Callable[..., None]]
Number = float | int | None
ROWS = 50
"""Rows of a table where no limit is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column(Generic[R]):
    """One column of rows of a kind.

    Attributes:
        title: above it.
        value: what is sorted by; None sorts last.
        show: what stands in it.
        left: texts stand at the left, numbers at the right.
    """

    title: str
    value: Callable[[R], Number | str]
    show: Callable[[R], str]
    left: bool = False


def _figures(title: str, value: Callable[[R], Number], text: Callable[[float], str]) -> Column[R]:
    def show(row: R) -> str:
        found = value(row)
        return "-" if found is None else text(found)

    return Column(title=title, value=value, show=show)


def seconds(title: str, value: Callable[[R], Number], digits: int = 3) -> Column[R]:
    """Seconds with so many decimals; `-` where there are none."""
    return _figures(title, value, lambda found: f"{found:.{digits}f}")


def counts(title: str, value: Callable[[R], Number]) -> Column[R]:
    """Whole numbers; `-` where there is none."""
    return _figures(title, value, lambda found: str(round(found)))


def shares(title: str, value: Callable[[R], Number]) -> Column[R]:
    """Shares of 0 to 1 in percent; `-` where there is none."""
    return _figures(title, value, lambda found: f"{found * 100:.1f}%")


def texts(title: str, value: Callable[[R], str], most: int = 400) -> Column[R]:
    return Column(title=title, value=value, show=lambda row: printable(value(row), most), left=True)


def differences(title: str, of: Callable[[R], tuple[Number, Number]], digits: int = 0) -> Column[R]:
    """The difference between now and base; `-` where one of them is missing."""

    def value(row: R) -> Number:
        now, before = of(row)
        return None if now is None or before is None else now - before

    return _figures(title, value, lambda found: f"{found:+.{digits}f}")


def table_options(columns: Mapping[str, Column[R]], synonyms: Mapping[str, str]) -> tuple[Option, Option]:
    def column(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
        if value is None:
            return None
        name = synonyms.get(value, value)
        if name not in columns:
            raise click.BadParameter(f"no column {value!r}; there are {', '.join(columns)}")
        return name

    def several(context: click.Context, option: click.Parameter, value: str | None) -> list[str] | None:
        if value is None:
            return None
        found = (column(context, option, text.strip()) for text in value.split(",") if text.strip())
        return [name for name in found if name]

    return (
        click.option("--sort", default="sum", callback=column, help="A column; the largest first.", show_default=True),
        click.option(
            *("-o", "--output", "columns"), metavar="COLUMNS", callback=several, help=f"Of {', '.join(columns)}."
        ),
    )


def sort_rows(rows: Sequence[R], column: Column[R], ascending: bool, name: Callable[[R], tuple[str, str]]) -> list[R]:
    """The rows by a column, the largest first unless texts are sorted; what has no value comes last.

    Rows of equal value stand by their `name`: in one and the same order, whatever that of the file.
    """
    found = [(value, row) for row in rows if (value := column.value(row)) is not None]
    found.sort(key=lambda pair: name(pair[1]))
    # A column's values are all numbers or all texts, which no type says.
    found.sort(key=lambda pair: pair[0], reverse=not (ascending or column.left))  # type: ignore[arg-type, return-value]
    missing = sorted((row for row in rows if column.value(row) is None), key=name)
    return [row for _, row in found] + missing


def text_table(rows: Sequence[R], columns: Sequence[Column[R]]) -> str:
    titles = [terminal_table.Column(title=column.title, right=not column.left) for column in columns]
    return terminal_table.draw_table(titles, [[column.show(row) for column in columns] for row in rows])


def print_table(
    rows: Sequence[R],
    columns: Sequence[Column[R]],
    limit: int | None,
    logs: Sequence[L],
    headline: Callable[[L], str],
    remarks: Callable[[L], Sequence[str]],
) -> None:
    """The first rows below the headline of a log, and of what it is compared with; remarks go to standard error."""
    shown = ROWS if limit is None else limit or len(rows)
    echo("\ncompared with ".join(map(headline, logs)))
    echo()
    echo(text_table(rows[:shown], columns))
    if len(rows) > shown:
        echo(f"… and {len(rows) - shown} more; --limit 0 shows all")
    for log in logs:
        for remark in remarks(log):
            echo(remark, err=True)


QUANTILES = ("p50", "p95", "p99")
_SHARES = (0.5, 0.95, 0.99)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A fingerprint in a database.

    Attributes:
        sums: of this log; empty where the statement is gone.
        base: of the log that it is compared with; None without one, empty where the statement is new.
        whole, base_whole: time of all statements of each log, in seconds.
        quantiles: by name, in seconds; None where there are none. `base_quantiles`: those of `base`.
    """

    sums: StatementSum
    base: StatementSum | None
    whole: float
    base_whole: float
    quantiles: Mapping[str, float | None]
    base_quantiles: Mapping[str, float | None]

    @property
    def gone(self) -> bool:
        return not self.sums.times.count

    @property
    def new(self) -> bool:
        return self.base is not None and not self.base.times.count

    @property
    def share(self) -> float:
        """Of the time of all statements, 0 to 1."""
        return self.sums.times.sum / self.whole if self.whole else 0.0


def rows_of(sums: StatementSums, base: StatementSums | None) -> list[Row]:
    keys = dict.fromkeys((*sums.by_key(), *(base.by_key() if base else ())))
    whole, base_whole = sums.seconds, base.seconds if base else 0.0
    rows: list[Row] = []
    for key in keys:
        now = sums.by_key().get(key) or StatementSum(*key)
        before = None if base is None else base.by_key().get(key) or StatementSum(*key)
        rows.append(
            Row(
                sums=now,
                base=before,
                whole=whole,
                base_whole=base_whole,
                quantiles=_quantiles(now),
                base_quantiles={} if before is None else _quantiles(before),
            )
        )
    return rows


def document_of(rows: Sequence[Row]) -> dict[str, Any]:
    compared = any(row.base is not None for row in rows)
    gone = {"gone": [row.base.document(row.base_whole) for row in rows if row.gone and row.base is not None]}
    return {"statements": [_statement(row) for row in rows if not row.gone], **(gone if compared else {})}


def _statement(row: Row) -> dict[str, Any]:
    told = row.sums.document(row.whole)
    if row.base is not None:
        told["base"] = None if row.new else row.base.document(row.base_whole)
    return told


def _quantiles(sums: StatementSum) -> dict[str, float | None]:
    return dict(zip(QUANTILES, sums.times.quantiles(_SHARES), strict=True))


def _quantile(name: str) -> Column[Row]:
    return seconds(name.upper(), lambda row: row.quantiles[name], 6)


def _count(name: str, title: str) -> Column[Row]:
    return counts(title, lambda row: row.sums.counts[name])


_TITLES = {"rows_sent": "SENT", "rows_examined": "EXAMINED", "rows_affected": "AFFECTED"}
COLUMNS: Mapping[str, Column[Row]] = {
    "count": counts("COUNT", lambda row: row.sums.times.count),
    "share": shares("SHARE", lambda row: row.share),
    "sum": seconds("SUM", lambda row: row.sums.times.sum),
    "min": seconds("MIN", lambda row: row.sums.times.least, 6),
    "mean": seconds("MEAN", lambda row: row.sums.times.mean, 6),
    **{name: _quantile(name) for name in QUANTILES},
    "max": seconds("MAX", lambda row: row.sums.times.greatest, 6),
    "lock": seconds("LOCK", lambda row: row.sums.lock_seconds),
    **{name: _count(name, _TITLES.get(name, name.upper())) for name in COUNTS},
    "schema": texts("SCHEMA", lambda row: row.sums.schema, 64),
    "fingerprint": texts("STATEMENT", lambda row: row.sums.fingerprint),
    "count-change": differences(
        "+COUNT", lambda row: (row.sums.times.count, row.base.times.count if row.base else None)
    ),
    "sum-change": differences("+SUM", lambda row: (row.sums.times.sum, row.base.times.sum if row.base else None), 3),
    "p95-change": differences("+P95", lambda row: (row.quantiles["p95"], row.base_quantiles.get("p95")), 6),
    "since": texts("", lambda row: "gone" if row.gone else "new" if row.new else ""),
}
SYNONYMS: Mapping[str, str] = {
    **{"avg": "mean", "time": "sum", "calls": "count", "statement": "fingerprint", "database": "schema"},
    **{"examined": "rows_examined", "sent": "rows_sent", "affected": "rows_affected"},
}
USUAL = (
    *("count", "share", "sum", "mean", "p50", "p95", "p99", "max", "lock", "rows_sent", "rows_examined"),
    *("schema", "fingerprint"),
)
COMPARED = (
    *("count", "count-change", "share", "sum", "sum-change", "mean", "p95", "p95-change", "max", "rows_examined"),
    *("since", "schema", "fingerprint"),
)


_PIECE = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Summed:
    """Slow logs that were summed up together.

    Attributes:
        sums: by fingerprint.
        read, unreadable, cut: of `SlowLogReader`.
        remarks: what is to be known of them, in words, each with the name of its file.
    """

    sums: StatementSums
    read: int
    unreadable: int
    cut: int
    remarks: Sequence[str]


def read_files(files: Sequence[str]) -> Summed:
    """Sum up files as one log.

    Raises:
        click.ClickException: a file cannot be read, or is no slow log.
    """
    sums, remarks = StatementSums(), list[str]()
    read = unreadable = cut = 0
    for name in files:
        try:
            reader = _read_file(name, sums, remarks)
        except OSError as error:
            raise click.ClickException(f"{name}: {error.strerror or error}") from None
        read += reader.statements
        unreadable += reader.unreadable
        cut += reader.cut
    return Summed(sums=sums, read=read, unreadable=unreadable, cut=cut, remarks=remarks)


def _read_file(name: str, sums: StatementSums, remarks: list[str]) -> SlowLogReader:
    problems: list[str] = []
    with opened(name) as stream:
        reader = read_log(pieces(stream, _PIECE, problems), sums.add)
    if not reader.statements:
        damage = f" ({problems[0]})" if problems else ""
        raise click.ClickException(f"{name}: {NO_SLOW_LOG}{damage}")
    remarks += [f"{name}: {problem}" for problem in problems]
    return reader


_SORT, _OUTPUT = table_options(COLUMNS, SYNONYMS)


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--base", metavar="FILE", multiple=True, help="A log to compare with; again for several.")
@click.option(
    *("-m", "--match", "match"),
    metavar="PATTERN",
    callback=match_any_case,
    help="Only statements with this in their fingerprint, in small letters or capitals; shares stay those of all.",
)
@_SORT
@click.option("--ascending", is_flag=True, help="The smallest first.")
@_OUTPUT
@click.option("--limit", type=click.IntRange(min=0), help=f"Statements; 0 for all. {ROWS} in a table, all in JSON.")
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
    chosen = [COLUMNS[name] for name in columns or (COMPARED if before else USUAL)]
    print_table(rows, chosen, limit, [one for one in (summed, before) if one], _headline, _remarks)
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
