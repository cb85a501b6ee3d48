"""A statement spends its time waiting for locks."""

from loadwatch_backend.evidence.cost.model import Cost, StatementCost
from loadwatch_backend.findings.model import Detector, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.costs import callers, labels_of, of_digest, share_of, state, text_of, weighs, whole
from loadwatch_backend.findings.seen.facts import felt
from loadwatch_backend.findings.seen.numbers import count, duration, duration_ja, share
from loadwatch_backend.findings.window import Window
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

LEAST_PART = 0.3
"""Of its own time that a statement waits for locks."""
LEAST_CALLS = 20
MOST = 3

KIND = Kind(
    id="statement-lock-waits",
    severity=Severity.WARNING,
    title=Words("A statement waits for locks", "ロック待ちの多いSQL"),
    explanation=Words(
        "Most of what this statement takes is not work: it waits until somebody else lets go of a table or a row.",
        "このSQLの所要時間の多くは処理ではなく、他がテーブルや行のロックを手放すのを待つ時間。",
    ),
    rule=Rule(
        text=Words("Lock time of 30 % of a statement's time or more.", "ロック時間がSQLの時間の30 %以上。"),
        source="MySQL Reference Manual, performance_schema: SUM_LOCK_TIME (row locks are in it from 8.0.28 on)",
    ),
    refuted_by=Words(
        "The same load one request at a time, with the same time a call.",
        "同じ負荷を1件ずつ流しても、1回の時間が変わらないこと。",
    ),
)


def look(window: Window) -> Look:
    """One finding for each such statement that takes enough of the database's time."""
    cost = window.cost
    if cost is None or not any(one.statement.lock_seconds is not None for one in cost.statements):
        return Look()
    found = [one for one in cost.statements if _waits(cost, one)]
    if not found:
        return Look(
            clear=Words(
                "No statement that takes time waits for locks for a third of it.",
                "時間を使うSQLに、その3割以上がロック待ちのものはない。",
            )
        )
    return Look(findings=[_finding(window, cost, one) for one in found[:MOST]])


def _waits(cost: Cost, one: StatementCost) -> bool:
    of = one.statement
    return of.calls >= LEAST_CALLS and (of.lock_seconds or 0.0) >= LEAST_PART * of.seconds and weighs(cost, of.seconds)


def _finding(window: Window, cost: Cost, one: StatementCost) -> Finding:
    of, asked = one.statement, callers(one)
    waited = of.lock_seconds or 0.0
    part, of_all = share(min(waited / of.seconds, 1.0)), share(share_of(cost, of.seconds))
    return Finding(
        kind=KIND,
        sentence=Words(
            f"A statement waits for locks for {part} of its time, {duration(waited / of.calls)} a call, and takes "
            f"{of_all} of all database time{asked.en}. {text_of(of)}",
            f"時間の{part}(1回{duration_ja(waited / of.calls)})をロック待ちに使うSQLが、DB時間全体の{of_all}を占める"
            f"{asked.ja}。{text_of(of)}",
        ),
        from_ms=window.from_ms,
        to_ms=window.to_ms,
        labels=labels_of(of),
        evidence=[
            state(
                window,
                Words(
                    f"{count(of.calls)} calls waited {duration(waited)} for locks in all.",
                    f"{count(of.calls)}回の実行で、ロック待ちは計{duration_ja(waited)}。",
                ),
                link=Link.DEMAND,
                expression=of_digest(of, "lock_time_seconds_total"),
                unit=Unit.SECONDS,
                value=waited,
                limit=of.seconds,
            ),
            *felt(window, whole(window)),
        ],
        steps=[
            Step(
                text=Words(
                    "Take locks last, keep transactions short, and lock rows always in the same order.",
                    "ロックは最後に取り、トランザクションを短くし、行は常に同じ順でロックする。",
                )
            )
        ],
    )


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(),
    follows=("database-lock-waits", "database-deadlocks", "database-cpu-full", "database-iops-full"),
    usual=False,
)
