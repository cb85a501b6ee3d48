"""What requests ask of the database, one statement at a time."""

from collections.abc import Iterator, Mapping

from loadwatch_backend.core.texts.words import SILENT
from loadwatch_backend.evidence.cost.model import SUMS, Cost, RouteCost, Share, StatementCost
from loadwatch_backend.evidence.cost.solve import MANY
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.measures.costs import (
    callers,
    evidence_of_whole,
    labels_of,
    of_digest,
    repeated,
    share_of,
    text_of,
    weighs,
    whole,
)
from loadwatch_backend.findings.measures.evidence import evidence
from loadwatch_backend.findings.measures.facts import load_effects
from loadwatch_backend.findings.measures.outcomes import Clear, Outcome, detector, finding
from loadwatch_backend.findings.messages import message, step
from loadwatch_backend.findings.model import Evidence, Finding, Severity
from loadwatch_backend.findings.window import Window

REPEATED_MOST = 5


@detector("n-plus-one")
def n_plus_one(window: Window) -> Iterator[Outcome]:
    """A route asks the same statement again and again in each request: N+1.

    One finding for each route and statement, the dearest first.
    """
    cost = window.cost
    if cost is None or cost.reason is not None:
        return
    found = repeated(cost)
    if not found:
        told = [one for one in cost.routes if one.of_statement]
        if not told:
            return
        most = max(told, key=lambda one: one.calls.value)
        yield Clear(message("n-plus-one.clear", many=MANY, name=most.totals.key.name, value=most.calls.value))
        return
    yield from (_repeated_finding(window, cost, *one) for one in found[:REPEATED_MOST])


def _repeated_finding(window: Window, cost: Cost, route: RouteCost, one: StatementCost, part: Share) -> Finding:
    name, times, spent = route.totals.key.name, part.calls.value, part.seconds.value
    of = share_of(cost, part.total_seconds)
    heavy = weighs(cost, part.total_seconds)
    statement = one.statement
    return finding(
        window,
        None,
        "n-plus-one.sentence",
        labels=labels_of(statement, route),
        evidence=[
            evidence_of_whole(
                window,
                "n-plus-one.limit",
                part.calls.value,
                limit=MANY,
                times=times,
                low=part.calls.low,
                high=part.calls.high,
                requests=route.totals.requests,
                expression=of_digest(statement, "total" if not statement.key.digest.isdigit() else "calls_total"),
            ),
            evidence_of_whole(
                window, "n-plus-one.demand", spent, part=of, expression=of_digest(statement, "seconds_total")
            ),
            *(load_effects(window, whole(window)) if heavy else []),
        ],
        steps=[step("n-plus-one.step"), step("n-plus-one.step-2")],
        severity=None if heavy else Severity.INFO,
        name=name,
        times=times,
        spent=spent,
        part=of,
        statement=text_of(statement),
    )


ROWS_PER_ROW = 1_000.0
"""Rows examined per row sent."""
LEAST_ROWS = 1_000.0
"""Rows that a call reads: a scan of a small table costs nothing."""
LEAST_CALLS = 20
LEAST_SHARE = 0.05
SCAN_MOST = 5


@detector("statement-scans")
def scans(window: Window) -> Iterator[Outcome]:
    """A statement reads far more rows than it gives: no index serves it.

    One finding for each such statement, the dearest first.
    """
    cost = window.cost
    if cost is None or not any(one.statement.rows_examined is not None for one in cost.statements):
        return
    found = [one for one in cost.statements if _scans(cost, one)]
    if not found:
        yield Clear(message("statement-scans.clear"))
        return
    yield from (_scan_finding(window, cost, one) for one in found[:SCAN_MOST])


def _per_row(one: StatementCost) -> float | None:
    of = one.statement
    if of.rows_examined is None:
        return None
    # Nothing found is one answer, too: an empty result has cost what it has cost.
    useful = max((of.rows_sent or 0.0) + (of.rows_affected or 0.0), of.calls)
    return of.rows_examined / useful if useful > 0 else None


def _scans(cost: Cost, one: StatementCost) -> bool:
    of = one.statement
    if of.key.digest in SUMS or of.calls < LEAST_CALLS or share_of(cost, of.seconds) < LEAST_SHARE:
        return False
    unindexed = (of.no_index_used or 0.0) >= of.calls / 2 and (of.rows_examined or 0.0) / of.calls >= LEAST_ROWS
    return unindexed or (_per_row(one) or 0.0) >= ROWS_PER_ROW


def _scan_finding(window: Window, cost: Cost, one: StatementCost) -> Finding:
    of, asked = one.statement, callers(one)
    rows, per_row = (of.rows_examined or 0.0) / of.calls, _per_row(one) or 0.0
    part = share_of(cost, of.seconds)
    heavy = weighs(cost, of.seconds)
    scans = (of.no_index_used or 0.0) >= of.calls / 2
    without = message("statement-scans.without") if scans else SILENT
    return finding(
        window,
        None,
        "statement-scans.sentence",
        labels=labels_of(of),
        evidence=[
            evidence_of_whole(
                window,
                "statement-scans.limit",
                per_row,
                limit=ROWS_PER_ROW,
                expression=of_digest(of, "rows_examined_total"),
            ),
            _time(window, one, part),
            *(load_effects(window, whole(window)) if heavy else []),
        ],
        steps=[step("statement-scans.step", statement=text_of(of))],
        severity=None if heavy else Severity.INFO,
        rows=rows,
        without=without,
        per_row=per_row,
        part=part,
        asked=asked,
        statement=text_of(of),
    )


def _time(window: Window, one: StatementCost, part: float) -> Evidence:
    of = one.statement
    each = of.seconds / of.calls
    return evidence_of_whole(
        window, "statement-scans.demand", each, calls=of.calls, part=part, expression=of_digest(of, "seconds_total")
    )


LOCK_LEAST_PART = 0.3
"""Of its own time that a statement waits for locks."""
LOCK_MOST = 3


@detector("statement-lock-waits")
def lock_waits(window: Window) -> Iterator[Outcome]:
    """A statement spends its time waiting for locks.

    One finding for each such statement that takes enough of the database's time.
    """
    cost = window.cost
    if cost is None or not any(one.statement.lock_seconds is not None for one in cost.statements):
        return
    found = [one for one in cost.statements if _waits(cost, one)]
    if not found:
        yield Clear(message("statement-lock-waits.clear"))
        return
    yield from (_lock_finding(window, cost, one) for one in found[:LOCK_MOST])


def _waits(cost: Cost, one: StatementCost) -> bool:
    of = one.statement
    return (
        of.calls >= LEAST_CALLS
        and (of.lock_seconds or 0.0) >= LOCK_LEAST_PART * of.seconds
        and weighs(cost, of.seconds)
    )


def _lock_finding(window: Window, cost: Cost, one: StatementCost) -> Finding:
    of, asked = one.statement, callers(one)
    waited = of.lock_seconds or 0.0
    part, of_all = min(waited / of.seconds, 1.0), share_of(cost, of.seconds)
    return finding(
        window,
        None,
        "statement-lock-waits.sentence",
        labels=labels_of(of),
        evidence=[
            evidence_of_whole(
                window,
                "statement-lock-waits.demand",
                waited,
                limit=of.seconds,
                calls=of.calls,
                expression=of_digest(of, "lock_time_seconds_total"),
            ),
            *load_effects(window, whole(window)),
        ],
        steps=[step("statement-lock-waits.step")],
        part=part,
        waited=waited / of.calls,
        of_all=of_all,
        asked=asked,
        statement=text_of(of),
    )


COMMANDS = "mysql_global_status_commands_total"
LEAST_PREPARED = 500.0
LEAST_RATE = 10.0
"""A second on average: fewer are not worth a change."""
PREPARED_LEAST_PART = 0.7
"""Prepared for each execution: a statement that is kept is prepared once for each connection."""


@detector("prepared-twice", needs=(COMMANDS,))
def prepared_twice(window: Window) -> Iterator[Outcome]:
    """Statements are prepared for one execution each: two round trips in place of one.

    One note for each database where about as much is prepared as executed.
    """
    for labels, table in window[COMMANDS].by("job", "instance"):
        prepares = table.where(command="stmt_prepare").rate
        executes = table.where(command="stmt_execute").rate
        found = _prepared_finding(window, labels, prepares, executes)
        if found is not None:
            yield found


def _prepared_finding(
    window: Window, labels: Mapping[str, str], prepares: FloatArray, executes: FloatArray
) -> Finding | None:
    prepared, executed = window.total(prepares), window.total(executes)
    each = prepared / max((window.to_ms - window.from_ms) / 1_000, 1.0)
    if prepared < LEAST_PREPARED or each < LEAST_RATE or executed <= 0 or prepared < PREPARED_LEAST_PART * executed:
        return None
    name = labels.get("instance", labels.get("job", "?"))
    part = min(prepared / executed, 1.0)
    return finding(
        window,
        None,
        "prepared-twice.sentence",
        labels=labels,
        evidence=[
            evidence(
                window,
                "prepared-twice.demand",
                prepares,
                value=each,
                part=part,
                target={**labels, "command": "stmt_prepare"},
            )
        ],
        steps=[step("prepared-twice.step"), step("prepared-twice.step-2")],
        name=name,
        prepared=prepared,
        executed=executed,
        each=each,
    )
