"""The statements of a run: one table, whichever database they were sent to and whoever counted them."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, cast

import numpy as np
from loadwatch_formats.metrics import mysql_statements, postgresql_statements
from loadwatch_formats.statements.fingerprint import Dialect, canonical, fingerprint
from loadwatch_formats.statements.sums import MOST_FINGERPRINTS
from pydantic import Field

from loadwatch_backend.core.language import Language
from loadwatch_backend.core.schemas import Milliseconds, Schema
from loadwatch_backend.core.texts.words import Texts
from loadwatch_backend.evidence.kept_digests import MALFORMED, Digest, KeptDigests, number
from loadwatch_backend.evidence.missing import STATEMENT_COLLECTORS, Fault, fault_remarks, read_faults
from loadwatch_backend.evidence.plans import PlanKey, StatementPlan, plan_of, read_plans
from loadwatch_backend.evidence.routes import RouteTables
from loadwatch_backend.evidence.runs import HeldRun, RequestCount, RequestsBy, RunWindow
from loadwatch_backend.evidence.series import BoolArray, Edges, Grown, read_grown, rhythm, sampled_edges
from loadwatch_backend.series.store.port import Matcher, MatchOperator, Reader


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

    @property
    def mean_seconds(self) -> float:
        return self.seconds / self.calls if self.calls else 0.0


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


class StatementsWindow(StrEnum):
    """What the figures cover."""

    STEADY = "steady"
    WHOLE = "whole"


class StatementBase(Schema):
    """The same statement in the run that this one is held against."""

    calls: float
    calls_per_request: float | None
    seconds: float
    mean_seconds: float
    share: float


class StatementOut(Schema):
    """One statement; what its source does not tell is null."""

    id: str = Field(description="The same for the same statement in every run.")
    fingerprint: str = Field(
        description="The text without values; `other` is all further ones, `prepared` executions without a known text."
    )
    database: str = Field(description="Database that it ran in; empty where unknown.")
    digests: list[str] = Field(description="The source's names for it.")
    calls: float
    calls_per_second: float
    calls_per_request: float | None = Field(description="Null where nobody counted requests.")
    seconds: float = Field(description="Time of all calls.")
    share: float = Field(description="Of the time of all statements.")
    mean_seconds: float
    p95_seconds: float | None
    lock_seconds: float | None = Field(description="Of all calls: waiting for locks of tables.")
    errors: float | None
    rows_affected: float | None
    rows_sent: float | None
    rows_examined: float | None
    rows_examined_per_row_sent: float | None = Field(description="Null where nothing was sent.")
    tmp_tables: float | None
    tmp_disk_tables: float | None
    no_index_used: float | None = Field(description="Calls that read a table without an index.")
    plan: StatementPlan | None = Field(description="How the database runs it; null where no agent asked (`plans`).")
    base: StatementBase | None = Field(description="Null where the other run has no such statement, or there is none.")


class StatementsOut(Schema):
    """All statements of a run, by time."""

    run: str
    window: StatementsWindow
    from_ms: Milliseconds
    to_ms: Milliseconds
    source: StatementSource
    known: float = Field(description="Share of the window in which somebody counted.")
    coverage: float | None = Field(description="Share of what was executed that is told apart by its text.")
    remarks: list[str] = Field(description="What is missing, and what to do, in words.")
    calls: float
    seconds: float
    requests: float | None = Field(description="Of the window; null where nobody counted.")
    requests_by: RequestsBy | None = Field(description="Who counted them.")
    statements: list[StatementOut]
    base: str | None = Field(description="Id of the run that this one is held against.")
    base_statements_gone: list[str] = Field(description="Fingerprints that the other run has and this one has not.")


ENOUGH = 0.95
MOST_GONE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The statements of one run; `requests` is None where nobody counted, `unread` a kept digest that is none.

    `moved`: a digest of the run's former steady window is kept. `faults`: of collectors that should have counted, where
    nobody did.
    """

    run: str
    span: tuple[int, int]
    steady: bool
    unread: bool
    moved: bool = False
    counted: Window
    lines: Sequence[Line]
    faults: Sequence[Fault] = ()
    requests: RequestCount | None
    plans: Mapping[PlanKey, StatementPlan] = field(default_factory=dict[PlanKey, StatementPlan])


def statements_out(table: Table, base: Table | None, language: Language) -> StatementsOut:
    others = by_id(() if base is None else base.lines)
    here = by_id(table.lines)
    compared = base is not None and base.counted.source is not StatementSource.NONE
    return StatementsOut(
        run=table.run,
        window=StatementsWindow.STEADY if table.steady else StatementsWindow.WHOLE,
        from_ms=table.span[0],
        to_ms=table.span[1],
        source=table.counted.source,
        known=table.counted.known,
        coverage=table.counted.coverage,
        remarks=[*_remarks(table, Texts("statements", language)), *fault_remarks(table.faults, language)],
        calls=sum(line.counted.calls for line in table.lines),
        seconds=sum(line.counted.seconds for line in table.lines),
        requests=None if table.requests is None else table.requests.requests,
        requests_by=None if table.requests is None else table.requests.by,
        statements=[_statement(line, table, base, others.get(line.id)) for line in table.lines],
        base=base.run if base is not None and compared else None,
        base_statements_gone=[
            line.fingerprint for line in (base.lines if base is not None and compared else ()) if line.id not in here
        ][:MOST_GONE],
    )


def _statement(line: Line, table: Table, base: Table | None, other: Line | None) -> StatementOut:
    counted = line.counted
    sent, examined = counted.rows_sent, counted.rows_examined
    return StatementOut(
        **{name: getattr(counted, name) for name in SUMMED},
        id=line.id,
        fingerprint=line.fingerprint,
        database=counted.schema,
        digests=[digest for digest in counted.digests if digest not in WITHOUT_TEXT],
        calls_per_second=counted.calls / max(table.counted.seconds * table.counted.known, 1e-9),
        calls_per_request=_per_request(counted.calls, table),
        share=line.share,
        mean_seconds=counted.mean_seconds,
        p95_seconds=counted.p95,
        rows_examined_per_row_sent=examined / sent if examined is not None and sent else None,
        plan=plan_of(table.plans, counted.schema, counted.digests),
        base=None
        if other is None or base is None
        else StatementBase(
            calls=other.counted.calls,
            calls_per_request=_per_request(other.counted.calls, base),
            seconds=other.counted.seconds,
            mean_seconds=other.counted.mean_seconds,
            share=other.share,
        ),
    )


def _per_request(calls: float, table: Table) -> float | None:
    """None too where only a part of the window was counted: the requests of the rest would make it too small."""
    requests = 0.0 if table.requests is None else table.requests.requests
    return calls / requests if requests and table.counted.known >= ENOUGH else None


def _remarks(table: Table, say: Texts) -> list[str]:
    counted = table.counted
    remarks = [say("unread")] if table.unread else []
    if counted.source is StatementSource.NONE:
        return [*remarks, say("nobody", run=table.run)]
    if counted.known < ENOUGH:
        remarks.append(say("partly", known=f"{counted.known:.0%}"))
    if counted.coverage is not None and counted.coverage < ENOUGH:
        named = "coverage_postgresql" if counted.source is StatementSource.POSTGRESQL else "coverage"
        remarks.append(say(named, coverage=f"{counted.coverage:.0%}"))
    elif counted.coverage is None and counted.source is StatementSource.MYSQL:
        remarks.append(say("coverage_unknown"))
    if any(line.fingerprint == "other" and line.share > 1 - ENOUGH for line in table.lines):
        remarks.append(say("others"))
    if counted.source is StatementSource.SLOW_LOG:
        of_run = say("slow_log_of_run", file=counted.file, outside=f"{counted.outside:,}")
        remarks.append(of_run if counted.file else say("slow_log"))
    if table.moved:
        remarks.append(say("moved"))
    return remarks


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


_IN_DIGEST = {
    **{name: name for name in ("p95", "rows_affected", "rows_sent", "rows_examined", "tmp_tables", "tmp_disk_tables")},
    **{"lock_seconds": "lock", "errors": "failed", "no_index_used": "no_index"},
}
"""The keys of a digest's row, by the fields of `Counted` that they fill."""


def _counted(row: Mapping[str, Any]) -> Counted:
    text = str(row["fingerprint"])
    return Counted(
        schema=str(row.get("schema", "")),
        text=text,
        digests=("other",) if text == "other" else (),
        calls=number(row["count"]),
        seconds=number(row["sum"]),
        **{name: None if row.get(key) is None else number(row[key]) for name, key in _IN_DIGEST.items()},
    )


MOST_STATEMENTS = 300
"""By time; the rest is one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """Under which a source counts.

    Attributes:
        fields: metrics by the field of `Counted`.
        schema, digest, text: labels.
        info: metrics with the text as a label, where the counters have none.
        executed, explained: how many there were by the server, and how many have a text.
        at_least: what the server counts are transactions, each of which has one statement or more.
        coverage: the share of single minutes, where somebody says it.
    """

    source: StatementSource
    fields: Mapping[str, str]
    schema: str
    digest: str
    text: str
    info: Sequence[str] = ()
    executed: str
    explained: str
    at_least: bool = False
    coverage: str


SOURCES: Sequence[Names] = (
    Names(
        source=StatementSource.MYSQL,
        fields=mysql_statements.FIELDS,
        schema="schema",
        digest="digest",
        text="digest_text",
        executed=mysql_statements.EXECUTED,
        explained=mysql_statements.EXPLAINED,
        coverage=mysql_statements.COVERAGE,
    ),
    Names(
        source=StatementSource.POSTGRESQL,
        fields=postgresql_statements.FIELDS,
        schema="datname",
        digest="queryid",
        text="query",
        info=("pg_stat_statements_query_info", "pg_stat_statements_query_id"),
        executed=postgresql_statements.EXECUTED,
        explained=postgresql_statements.EXPLAINED,
        at_least=True,
        coverage=postgresql_statements.COVERAGE,
    ),
)
"""The first that has samples is read."""

_Key = tuple[str, str]


def read_window(store: Reader, from_ms: int, to_ms: int) -> Window:
    """The statements of a window, ms since the epoch.

    Raises:
        ProblemError: of the store.
    """
    to_ms = max(to_ms, from_ms + 1_000)
    seconds = (to_ms - from_ms) / 1_000
    for names in SOURCES:
        found = rhythm(store, names.fields["calls"], from_ms, to_ms)
        # Calls without their time, or the other way around, are no table.
        if found is not None and rhythm(store, names.fields["seconds"], from_ms, to_ms) is not None:
            return _read(store, names, sampled_edges(from_ms, to_ms, *found), (from_ms, to_ms))
    return Window(source=StatementSource.NONE, seconds=seconds, known=0.0)


def _read(store: Reader, names: Names, edges: Edges, span: tuple[int, int]) -> Window:
    slack = edges.step_ms / 2
    inside = (edges.times[:-1] >= span[0] - slack) & (edges.times[1:] <= span[1] + slack)
    calls = read_grown(store, names.fields["calls"], edges)
    counts = {"calls": _totals(calls, names, inside)}
    counts["seconds"] = _totals(read_grown(store, names.fields["seconds"], edges), names, inside)
    by_time = sorted(
        (key for key, value in counts["calls"].items() if value > 0 and key in counts["seconds"]),
        key=lambda key: (-counts["seconds"][key], key),
    )
    kept, rest = by_time[:MOST_STATEMENTS], by_time[MOST_STATEMENTS:]
    matcher = Matcher(names.digest, MatchOperator.REGEX, "|".join(sorted({re.escape(digest) for _, digest in kept})))
    for name, metric in names.fields.items():
        if name not in counts and kept:
            counts[name] = _totals(read_grown(store, metric, edges, [matcher]), names, inside)
    texts = _texts(store, names, calls, matcher) if kept else {}
    statements = [
        Counted(
            schema=key[0],
            text=texts.get(key[1], ""),
            digests=(key[1],),
            **{name: values[key] for name, values in counts.items() if key in values},  # pyright: ignore[reportArgumentType] - every field of `fields` is a float
        )
        for key in kept
    ]
    if rest:
        statements.append(
            Counted(
                schema="",
                text="",
                digests=("other",),
                calls=sum(counts["calls"][key] for key in rest),
                seconds=sum(counts["seconds"][key] for key in rest),
            )
        )
    asked = int(inside.sum())
    return Window(
        source=names.source,
        seconds=(span[1] - span[0]) / 1_000,
        known=float(calls.seen[inside].sum()) / asked if asked else 0.0,
        coverage=_coverage(store, names, edges, inside, span),
        statements=statements,
    )


def _totals(grown: Grown, names: Names, inside: BoolArray) -> dict[_Key, float]:
    def key(labels: Mapping[str, str]) -> _Key | None:
        digest = labels.get(names.digest, "")
        return (labels.get(names.schema, ""), digest) if digest else None

    return {one: float(values[inside].sum()) for one, values in grown.by(key).items()}


def _texts(store: Reader, names: Names, calls: Grown, matcher: Matcher) -> dict[str, str]:
    found: list[Mapping[str, str]] = list(calls.labels)
    for metric in names.info:
        found += store.series([[Matcher("__name__", MatchOperator.EQUAL, metric), matcher]], 0, 2**62)
    return {one[names.digest]: one[names.text] for one in found if names.digest in one and names.text in one}


def _coverage(store: Reader, names: Names, edges: Edges, inside: BoolArray, span: tuple[int, int]) -> float | None:
    """Of the window by the two counts; by the shares of single minutes where only those are there.

    Where the server counts transactions, a share below 1 is the most that it can be, and above it nobody can tell.
    """
    executed = read_grown(store, names.executed, edges)
    if len(executed.labels):
        explained = read_grown(store, names.explained, edges)
        total = float(executed.values[:, inside].sum())
        share = float(explained.values[:, inside].sum()) / total if total > 0 else None
        return None if share is None or (names.at_least and share >= 1) else min(share, 1.0)
    if names.at_least:
        return None
    selection = store.select([Matcher("__name__", MatchOperator.EQUAL, names.coverage)], *span)
    values = selection.values[np.isfinite(selection.values)]
    return float(np.median(values)) if len(values) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementTables:
    store: Reader
    routes: RouteTables
    digests: KeptDigests

    def of_run(self, held: HeldRun, language: Language) -> StatementsOut:
        """The table of a run, held against another run; of the steady window where it has one.

        Raises:
            ProblemError: of the store.
        """
        run, other = held.run, held.base
        steady = run.steady_ms is not None and not held.whole
        return statements_out(
            self._table(run, steady=steady),
            None if other is None else self._table(other, steady=steady and other.steady_ms is not None),
            language,
        )

    def _table(self, run: RunWindow, *, steady: bool) -> Table:
        span = run.steady_ms if steady and run.steady_ms is not None else run.span
        content = self.digests.content(run.id)
        kept = None
        if content is not None:
            kept = parse_digest(content, (run.to_ms - run.from_ms) / 1_000, run.steady_ms if steady else None)
        moved = False
        if kept is not None and not kept.steady:
            # No part of a digest can be told apart, but for the window for which it was made.
            moved = steady and bool(kept.file)
            steady, span = False, run.span
        counted = kept or read_window(self.store, *span)
        nobody = counted.source is StatementSource.NONE
        return Table(
            run=run.id,
            span=span,
            steady=steady,
            unread=content is not None and kept is None,
            moved=moved,
            counted=counted,
            lines=lines_of(counted),
            faults=read_faults(self.store, STATEMENT_COLLECTORS, *span) if nobody else (),
            requests=self._requests(run, steady=steady),
            plans=read_plans(self.store, *run.span),
        )

    def _requests(self, run: RunWindow, *, steady: bool) -> RequestCount | None:
        """Requests counted by the load tool, else by whoever counted by route."""
        sent = run.steady_requests if steady else run.requests
        if sent is not None:
            return RequestCount(sent, RequestsBy.LOAD_TOOL)
        counted = self.routes.requests(run, steady=steady)
        return None if counted is None else RequestCount(counted, RequestsBy.ROUTES)
