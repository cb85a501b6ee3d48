"""The columns of `loadwatch digest access`, and the table made of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from loadwatch_backend.commands.digest.access_rows import QUANTILES, Row
from loadwatch_backend.commands.digest.files import printable

Number = float | int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column.

    Attributes:
        title: above it.
        value: what is sorted by; None sorts last.
        show: what stands in it.
        left: texts stand at the left, numbers at the right.
    """

    title: str
    value: Callable[[Row], Number | str]
    show: Callable[[Row], str]
    left: bool = False


def _seconds(title: str, value: Callable[[Row], Number]) -> Column:
    return Column(title=title, value=value, show=lambda row: _decimal(value(row)))


def _counts(title: str, value: Callable[[Row], Number]) -> Column:
    def show(row: Row) -> str:
        found = value(row)
        return "-" if found is None else str(round(found))

    return Column(title=title, value=value, show=show)


def _quantile(name: str) -> Column:
    return _seconds(name.upper(), lambda row: row.quantiles[name])


def _status(of: str) -> Column:
    return _counts(of.upper(), lambda row: row.status_count(of))


def _text(title: str, value: Callable[[Row], str]) -> Column:
    return Column(title=title, value=value, show=lambda row: printable(value(row), 400), left=True)


def _decimal(value: Number) -> str:
    return "-" if value is None else f"{value:.3f}"


def _share(value: Number) -> str:
    return "-" if value is None else f"{value * 100:.1f}%"


def _difference(title: str, of: Callable[[Row], tuple[Number, Number]], show: Callable[[float], str]) -> Column:
    """Of now and base: what came or went; a route that is new or gone says so in its own column."""

    def value(row: Row) -> Number:
        now, before = of(row)
        return None if now is None or before is None else now - before

    def text(row: Row) -> str:
        found = value(row)
        return "-" if found is None else show(found)

    return Column(title=title, value=value, show=text)


def _sum(row: Row) -> tuple[Number, Number]:
    """Of a route that is new or gone, the other is 0: it took no time at all."""
    base = row.base
    if base is None or not (row.figures.durations.count or base.durations.count):
        return None, None
    return row.figures.durations.sum, base.durations.sum


def _since(row: Row) -> str:
    return "gone" if row.gone else "new" if row.new else ""


COLUMNS: Mapping[str, Column] = {
    "count": _counts("COUNT", lambda row: row.figures.count),
    "share": Column(title="SHARE", value=lambda row: row.share, show=lambda row: _share(row.share)),
    "sum": _seconds("SUM", lambda row: row.figures.durations.sum if row.figures.durations.count else None),
    "min": _seconds("MIN", lambda row: row.figures.durations.least),
    "mean": _seconds("MEAN", lambda row: row.figures.durations.mean),
    **{name: _quantile(name) for name in QUANTILES},
    "max": _seconds("MAX", lambda row: row.figures.durations.greatest),
    "stddev": _seconds("STDDEV", lambda row: row.figures.durations.deviation),
    **{of: _status(of) for of in ("1xx", "2xx", "3xx", "304", "4xx", "499", "5xx")},
    "bytes": _counts("BYTES", lambda row: row.figures.bytes if row.figures.sized else None),
    "mean-bytes": _counts(
        "MEAN-BYTES", lambda row: row.figures.bytes / row.figures.sized if row.figures.sized else None
    ),
    "max-bytes": _counts("MAX-BYTES", lambda row: row.figures.most_bytes),
    "method": _text("METHOD", lambda row: row.method),
    "route": _text("ROUTE", lambda row: row.route),
    "count-change": _difference(
        "+COUNT", lambda row: (row.figures.count, row.base.count if row.base else None), lambda value: f"{value:+.0f}"
    ),
    "sum-change": _difference("+SUM", _sum, lambda value: f"{value:+.3f}"),
    "p95-change": _difference(
        "+P95", lambda row: (row.quantiles["p95"], row.base_quantiles.get("p95")), lambda value: f"{value:+.3f}"
    ),
    "since": _text("", _since),
}
"""By the names that `--sort` and `--output` take."""
SYNONYMS: Mapping[str, str] = {"avg": "mean", "uri": "route", "path": "route", "body": "bytes", "sum-body": "bytes"}
"""Names of alp's."""
USUAL = ("count", "share", "sum", "mean", "p50", "p95", "p99", "max", "304", "4xx", "5xx", "bytes", "method", "route")
COMPARED = (
    *("count", "count-change", "share", "sum", "sum-change", "mean", "p95", "p95-change", "max", "304", "5xx"),
    *("since", "method", "route"),
)


def sorted_rows(rows: Sequence[Row], by: str, ascending: bool) -> list[Row]:
    """The rows by a column, the largest first unless texts are sorted; what has no value comes last."""
    column = COLUMNS[by]
    found = [(value, row) for row in rows if (value := column.value(row)) is not None]
    # One and the same order for equal values, whatever the order of the log.
    found.sort(key=lambda pair: (pair[1].route, pair[1].method))
    found.sort(key=lambda pair: pair[0], reverse=not (ascending or column.left))  # type: ignore[arg-type, return-value]
    missing = sorted((row for row in rows if column.value(row) is None), key=lambda row: (row.route, row.method))
    return [row for _, row in found] + missing


def table_of(rows: Sequence[Row], columns: Sequence[str]) -> str:
    """The table as text, with a line of titles."""
    chosen = [COLUMNS[name] for name in columns]
    lines = [[column.title for column in chosen], *([column.show(row) for column in chosen] for row in rows)]
    widths = [max(map(len, texts)) for texts in zip(*lines, strict=True)]
    # A column without any text, such as that of new and gone routes where there are none.
    shown = [at for at, width in enumerate(widths) if width]
    return "\n".join(
        "  ".join(
            line[at].ljust(widths[at]) if chosen[at].left else line[at].rjust(widths[at]) for at in shown
        ).rstrip()
        for line in lines
    )
