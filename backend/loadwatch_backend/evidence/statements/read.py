"""Reads what statements of a window counted: the edge to the store."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from loadwatch_formats.metrics import mysql_statements, postgresql_statements

from loadwatch_backend.evidence.series import BoolArray, Edges, Grown, edges_of, read_grown, rhythm
from loadwatch_backend.evidence.statements.model import Counted, StatementSource, Window
from loadwatch_backend.series.store.port import Matcher, MatchOperator, Reader

MOST_INTERVALS = 1_200
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
            edges = _edges(from_ms, to_ms, *found)
            return _read(store, names, edges, (from_ms, to_ms))
    return Window(source=StatementSource.NONE, seconds=seconds, known=0.0)


def _edges(from_ms: int, to_ms: int, interval_ms: int, phase_ms: int) -> Edges:
    least = -(-(to_ms - from_ms) // MOST_INTERVALS)
    step = -(-max(interval_ms, least) // interval_ms) * interval_ms
    return edges_of(from_ms, to_ms, step, phase_ms)


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
    for field, metric in names.fields.items():
        if field not in counts and kept:
            counts[field] = _totals(read_grown(store, metric, edges, [matcher]), names, inside)
    texts = _texts(store, names, calls, matcher) if kept else {}
    statements = [
        Counted(
            schema=key[0],
            text=texts.get(key[1], ""),
            digests=(key[1],),
            **{field: values[key] for field, values in counts.items() if key in values},  # pyright: ignore[reportArgumentType] - every field of `fields` is a float
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
    """By digest."""
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
