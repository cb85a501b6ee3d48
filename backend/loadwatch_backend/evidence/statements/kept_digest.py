"""The statements of a slow log's digest that is kept with a run. Pure."""

from collections.abc import Mapping
from typing import Any, cast

from loadwatch_formats.statements.sums import MOST_FINGERPRINTS

from loadwatch_backend.evidence.kept_digests import MALFORMED, Digest, number
from loadwatch_backend.evidence.statements.model import Counted, StatementSource, Window


def parse_digest(content: bytes, seconds: float, steady_ms: tuple[int, int] | None = None) -> Window | None:
    """The statements of a digest: of the steady window if that is asked and in it, else of all.

    None where it is none, or more than `loadwatch digest` tells apart. `seconds` is how long the run took, where the
    digest says no times.
    """
    try:
        digest = Digest(content, steady_ms)
        rows: Any = digest.rows("statements")
        if len(rows) > MOST_FINGERPRINTS + 1:
            return None
        span = digest.span()
        return Window(
            source=StatementSource.SLOW_LOG,
            seconds=seconds if span is None else max((span[1] - span[0]) / 1_000, 1.0),
            steady=digest.steady is not None,
            file=digest.file,
            outside=digest.outside,
            statements=[_counted(cast(Mapping[str, Any], row)) for row in rows],
        )
    except MALFORMED:
        return None


def _counted(row: Mapping[str, Any]) -> Counted:
    text = str(row["fingerprint"])
    return Counted(
        schema=str(row.get("schema", "")),
        text=text,
        digests=("other",) if text == "other" else (),
        calls=number(row["count"]),
        seconds=number(row["sum"]),
        p95=_known(row, "p95"),
        lock_seconds=_known(row, "lock"),
        errors=_known(row, "failed"),
        rows_affected=_known(row, "rows_affected"),
        rows_sent=_known(row, "rows_sent"),
        rows_examined=_known(row, "rows_examined"),
        tmp_tables=_known(row, "tmp_tables"),
        tmp_disk_tables=_known(row, "tmp_disk_tables"),
        no_index_used=_known(row, "no_index"),
    )


def _known(row: Mapping[str, Any], name: str) -> float | None:
    value = row.get(name)
    return None if value is None else number(value)
