"""Statements of a window, counted and put together. Pure."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from loadwatch_formats.statements.fingerprint import Dialect, canonical, fingerprint


class StatementSource(StrEnum):
    """Who counted."""

    MYSQL = "mysql"
    """`mysql_perf_schema_events_statements_*`, of the collector `mysql_statements` or of mysqld_exporter."""
    POSTGRESQL = "postgresql"
    """`pg_stat_statements_*`, of the collector `postgresql_statements` or of postgres_exporter."""
    SLOW_LOG = "slow_log"
    """The digest of a slow log that was kept with the run."""
    NONE = "none"


DIALECTS = {StatementSource.POSTGRESQL: Dialect.POSTGRESQL}


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """One statement as its source counted it; times in seconds, None where the source does not tell.

    `digests` are the source's names for it; `p95` is of all executions.
    """

    schema: str
    text: str
    digests: Sequence[str] = ()
    calls: float
    seconds: float
    lock_seconds: float | None = None
    errors: float | None = None
    rows_affected: float | None = None
    rows_sent: float | None = None
    rows_examined: float | None = None
    tmp_tables: float | None = None
    tmp_disk_tables: float | None = None
    no_index_used: float | None = None
    p95: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """All statements of a window.

    Attributes:
        seconds: length of the window.
        known: share of the window in which somebody counted, 0 to 1.
        coverage: share of what was executed that has a text, of PostgreSQL the most that it can be; None where nobody
            can tell.
        steady: whether a kept digest is of the run's steady window.
        file: of which log it was made for the run, of which so many executions were `outside`; empty where it is of
            its whole file, whatever the run's window.
    """

    source: StatementSource
    seconds: float
    known: float = 1.0
    coverage: float | None = None
    steady: bool = False
    file: str = ""
    outside: int = 0
    statements: Sequence[Counted] = field(default_factory=tuple[Counted, ...])


SUMMED = (
    *("calls", "seconds", "lock_seconds", "errors", "rows_affected", "rows_sent", "rows_examined", "tmp_tables"),
    *("tmp_disk_tables", "no_index_used"),
)
WITHOUT_TEXT = ("other", "prepared")
"""Digests that stand for many statements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One statement of the table.

    Attributes:
        id: the same for the same statement in every run.
        fingerprint: its text without values; `other` and `prepared` stand for many.
        share: of the time of all statements, 0 to 1.
        counted: its sums; digests of all that are the same statement.
    """

    id: str
    fingerprint: str
    share: float
    counted: Counted


def lines_of(window: Window) -> list[Line]:
    """The statements of a window by their time, the dearest first.

    A statement that was sent as text and prepared, or by several digests that differ in spaces or in the length of a
    list, is one. A text that was cut off says no more than it holds: its digest belongs to its name.
    """
    merged: dict[str, tuple[str, list[Counted]]] = {}
    for one in window.statements:
        id, shown = name_of(window.source, one.schema, one.text, one.digests)
        merged.setdefault(id, (shown, []))[1].append(one)
    whole = sum(one.seconds for one in window.statements)
    lines = [
        Line(
            id=id,
            fingerprint=shown,
            share=sum(one.seconds for one in same) / whole if whole > 0 else 0.0,
            counted=_together(same),
        )
        for id, (shown, same) in merged.items()
    ]
    return sorted(lines, key=lambda line: (line.fingerprint == "other", -line.counted.seconds, line.id))


def name_of(source: StatementSource, schema: str, text: str, digests: Sequence[str]) -> tuple[str, str]:
    """The id of a statement's line, and the text that it shows."""
    dialect = DIALECTS.get(source, Dialect.MYSQL)
    special = next((digest for digest in digests if digest in WITHOUT_TEXT), None)
    if special is not None or not text:
        same = shown = special or f"({digests[0] if digests else 'other'})"
    elif source is StatementSource.SLOW_LOG:
        same, shown = canonical(text), text
    else:
        cut = f" ({digests[0][:8]})" if text.endswith("...") and digests else ""
        same, shown = canonical(text, dialect) + cut, fingerprint(text, dialect) + cut
    return hashlib.blake2b(f"{schema}\0{same}".encode("utf-8", "replace"), digest_size=8).hexdigest(), shown


def by_id(lines: Sequence[Line]) -> Mapping[str, Line]:
    """The lines, to be looked up in another run's table."""
    return {line.id: line for line in lines}


def _together(same: Sequence[Counted]) -> Counted:
    if len(same) == 1:
        return same[0]
    sums: dict[str, float] = {}
    for name in SUMMED:
        known = [value for one in same if (value := getattr(one, name)) is not None]
        if known:
            sums[name] = sum(known)
    return Counted(
        schema=same[0].schema,
        text=same[0].text,
        digests=tuple(digest for one in same for digest in one.digests),
        **sums,  # pyright: ignore[reportArgumentType] - all of them are numbers, and calls and seconds are always known
    )
