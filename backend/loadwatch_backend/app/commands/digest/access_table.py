"""The columns of `loadwatch digest access`, and the table made of them."""

from collections.abc import Mapping, Sequence

from loadwatch_formats.access_logs.document import QUANTILES

from loadwatch_backend.app.commands.digest.access_rows import Row
from loadwatch_backend.app.commands.digest.columns import (
    Column,
    Number,
    counts,
    differences,
    seconds,
    shares,
    sort_rows,
    text_table,
    texts,
)


def _quantile(name: str) -> Column[Row]:
    return seconds(name.upper(), lambda row: row.quantiles[name])


def _status(of: str) -> Column[Row]:
    return counts(of.upper(), lambda row: row.status_count(of))


def _sum(row: Row) -> tuple[Number, Number]:
    """Of a route that is new or gone, the other is 0: it took no time at all."""
    base = row.base
    if base is None or not (row.figures.durations.count or base.durations.count):
        return None, None
    return row.figures.durations.sum, base.durations.sum


def _since(row: Row) -> str:
    return "gone" if row.gone else "new" if row.new else ""


COLUMNS: Mapping[str, Column[Row]] = {
    "count": counts("COUNT", lambda row: row.figures.count),
    "share": shares("SHARE", lambda row: row.share),
    "sum": seconds("SUM", lambda row: row.figures.durations.sum if row.figures.durations.count else None),
    "min": seconds("MIN", lambda row: row.figures.durations.least),
    "mean": seconds("MEAN", lambda row: row.figures.durations.mean),
    **{name: _quantile(name) for name in QUANTILES},
    "max": seconds("MAX", lambda row: row.figures.durations.greatest),
    "stddev": seconds("STDDEV", lambda row: row.figures.durations.deviation),
    **{of: _status(of) for of in ("1xx", "2xx", "3xx", "304", "4xx", "499", "5xx")},
    "bytes": counts("BYTES", lambda row: row.figures.bytes if row.figures.sized else None),
    "mean-bytes": counts(
        "MEAN-BYTES", lambda row: row.figures.bytes / row.figures.sized if row.figures.sized else None
    ),
    "max-bytes": counts("MAX-BYTES", lambda row: row.figures.most_bytes),
    "method": texts("METHOD", lambda row: row.method),
    "route": texts("ROUTE", lambda row: row.route),
    "count-change": differences("+COUNT", lambda row: (row.figures.count, row.base.count if row.base else None)),
    "sum-change": differences("+SUM", _sum, 3),
    "p95-change": differences("+P95", lambda row: (row.quantiles["p95"], row.base_quantiles.get("p95")), 3),
    "since": texts("", _since),
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
    return sort_rows(rows, COLUMNS[by], ascending, lambda row: (row.route, row.method))


def table_of(rows: Sequence[Row], columns: Sequence[str]) -> str:
    """The table as text, with a line of titles."""
    return text_table(rows, [COLUMNS[name] for name in columns])
