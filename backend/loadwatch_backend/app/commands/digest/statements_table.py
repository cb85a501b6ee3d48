"""What is said of each statement: its sums beside those of another log, as columns and for JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loadwatch_formats.statements.sums import COUNTS, StatementSum, StatementSums

from loadwatch_backend.app.commands.digest.columns import Column, Number, counts, differences, seconds, shares, texts

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
        """Whether it is in the base only."""
        return not self.sums.times.count

    @property
    def new(self) -> bool:
        """Whether it is not in the base that there is."""
        return self.base is not None and not self.base.times.count

    @property
    def share(self) -> float:
        """Of the time of all statements, 0 to 1."""
        return self.sums.times.sum / self.whole if self.whole else 0.0


def rows_of(sums: StatementSums, base: StatementSums | None) -> list[Row]:
    """All statements of both, in no order."""
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
    """For `--json`: statements in the order given, and those that are gone apart."""
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


def _sum_difference(row: Row) -> tuple[Number, Number]:
    return row.sums.times.sum, row.base.times.sum if row.base else None


def _since(row: Row) -> str:
    return "gone" if row.gone else "new" if row.new else ""


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
    "sum-change": differences("+SUM", _sum_difference, 3),
    "p95-change": differences("+P95", lambda row: (row.quantiles["p95"], row.base_quantiles.get("p95")), 6),
    "since": texts("", _since),
}
"""By the names that `--sort` and `--output` take."""
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
