"""Statements of a window, counted and put together. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from loadwatch_formats.statements.tokens import Dialect


class Source(StrEnum):
    """Who counted."""

    MYSQL = "mysql"
    """`mysql_perf_schema_events_statements_*`, of the collector `mysql_statements` or of mysqld_exporter."""
    POSTGRESQL = "postgresql"
    """`pg_stat_statements_*`, of the collector `postgresql_statements` or of postgres_exporter."""
    SLOW_LOG = "slow_log"
    """The digest of a slow log that was kept with the run."""
    NONE = "none"


DIALECTS = {Source.POSTGRESQL: Dialect.POSTGRESQL}


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

    source: Source
    seconds: float
    known: float = 1.0
    coverage: float | None = None
    steady: bool = False
    file: str = ""
    outside: int = 0
    statements: Sequence[Counted] = field(default_factory=tuple[Counted, ...])
