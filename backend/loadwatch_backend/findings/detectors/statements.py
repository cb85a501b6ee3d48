"""What requests ask of the database, one statement at a time."""

from collections.abc import Iterator, Mapping

from loadwatch_backend.core.texts.words import SILENT
from loadwatch_backend.evidence.cost.model import SUMS, Cost, RouteCost, Share, StatementCost
from loadwatch_backend.evidence.cost.solve import MANY
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.measures.costs import (
    callers,
    labels_of,
    of_digest,
    repeated,
    share_of,
    text_of,
    weighs,
    whole,
)
from loadwatch_backend.findings.measures.facts import load_effects
from loadwatch_backend.findings.measures.outcomes import Clear, Draft, Outcome, detector
from loadwatch_backend.findings.messages import message
from loadwatch_backend.findings.model import Finding, Severity
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
    name, calls, spent, statement = route.totals.key.name, part.calls, part.seconds.value, one.statement
    of, heavy = share_of(cost, part.total_seconds), weighs(cost, part.total_seconds)
    draft = Draft(window, None, labels_of(statement, route), calls=calls, part=of)
    asked = of_digest(statement, "total" if not statement.key.digest.isdigit() else "calls_total")
    requests, timed = route.totals.requests, of_digest(statement, "seconds_total")
    shown = [
        draft.show("n-plus-one.limit", calls.value, limit=MANY, requests=requests, expression=asked),
        draft.show("n-plus-one.demand", spent, expression=timed),
        *(load_effects(window, whole(window)) if heavy else []),
    ]
    severity, text = None if heavy else Severity.INFO, text_of(statement)
    return draft.finding("n-plus-one.sentence", shown, severity=severity, name=name, spent=spent, statement=text)


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
    heavy, each = weighs(cost, of.seconds), of.seconds / of.calls
    scans = (of.no_index_used or 0.0) >= of.calls / 2
    without = message("statement-scans.without") if scans else SILENT
    draft = Draft(window, None, labels_of(of), per_row=per_row, part=part, asked=asked, calls=of.calls)
    examined, timed = of_digest(of, "rows_examined_total"), of_digest(of, "seconds_total")
    shown = [
        draft.show("statement-scans.limit", per_row, limit=ROWS_PER_ROW, expression=examined),
        draft.show("statement-scans.demand", each, expression=timed),
        *(load_effects(window, whole(window)) if heavy else []),
    ]
    severity, text = None if heavy else Severity.INFO, text_of(of)
    return draft.finding(
        "statement-scans.sentence", shown, severity=severity, rows=rows, without=without, statement=text
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
    part, of_all, timed = min(waited / of.seconds, 1.0), share_of(cost, of.seconds), "lock_time_seconds_total"
    draft, key = Draft(window, None, labels_of(of), calls=of.calls, part=part), "statement-lock-waits.demand"
    seen = draft.show(key, waited, limit=of.seconds, expression=of_digest(of, timed))
    shown, each, text = [seen, *load_effects(window, whole(window))], waited / of.calls, text_of(of)
    return draft.finding(
        "statement-lock-waits.sentence", shown, waited=each, of_all=of_all, asked=asked, statement=text
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
    draft = Draft(window, None, labels, name=name, prepared=prepared, executed=executed, each=each)
    return draft.finding(
        "prepared-twice.sentence",
        [
            draft.show(
                "prepared-twice.demand", prepares, value=each, part=part, target={**labels, "command": "stmt_prepare"}
            )
        ],
    )
