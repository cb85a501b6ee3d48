"""A statement reads far more rows than it gives: no index serves it."""

from loadwatch_backend.evidence.cost.model import SUMS, Cost, StatementCost
from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.costs import callers, labels_of, of_digest, share_of, state, text_of, weighs, whole
from loadwatch_backend.findings.seen.facts import felt
from loadwatch_backend.findings.seen.numbers import count, duration, duration_ja, share
from loadwatch_backend.findings.window import Window
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

ROWS_PER_ROW = 1_000.0
"""Rows examined per row sent."""
LEAST_ROWS = 1_000.0
"""Rows that a call reads: a scan of a small table costs nothing."""
LEAST_CALLS = 20
LEAST_SHARE = 0.05
MOST = 5

KIND = Kind(
    id="statement-scans",
    severity=Severity.WARNING,
    title=Words("A statement reads far more rows than it gives", "返す行より桁違いに多くの行を読むSQL"),
    explanation=Words(
        "The database reads row after row to find the few that are asked for. It costs CPU and buffer pool with each "
        "call, and grows with the table.",
        "目的の行を探すために多数の行を読んでいる。呼び出しのたびにCPUとバッファプールを使い、テーブルとともに重くなる。",
    ),
    rule=Rule(
        text=Words(
            "1,000 rows examined per row sent or changed; or most calls without an index, at 1,000 rows a call.",
            "返す行または変更する行あたり1,000行以上を読む、または大半がインデックスなしで1回に1,000行以上を読む。",
        ),
        source="MySQL Reference Manual, performance_schema: SUM_ROWS_EXAMINED, SUM_NO_INDEX_USED",
    ),
    refuted_by=Words(
        "An aggregate that has to read them all: then a sum that is kept, not an index, is what helps.",
        "全行を読む必要のある集計であること。その場合に効くのはインデックスではなく、集計結果の保持。",
    ),
)


def look(window: Window) -> Look:
    """One finding for each such statement, the dearest first."""
    cost = window.cost
    if cost is None or not any(one.statement.rows_examined is not None for one in cost.statements):
        return Look()
    found = [one for one in cost.statements if _scans(cost, one)]
    if not found:
        return Look(
            clear=Words(
                "No statement that takes time reads 1,000 rows for each row that it gives.",
                "時間を使うSQLに、返す行あたり1,000行以上を読むものはない。",
            )
        )
    return Look(findings=[_finding(window, cost, one) for one in found[:MOST]])


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


def _finding(window: Window, cost: Cost, one: StatementCost) -> Finding:
    of, asked = one.statement, callers(one)
    rows, per_row = (of.rows_examined or 0.0) / of.calls, _per_row(one) or 0.0
    part = share(share_of(cost, of.seconds))
    heavy = weighs(cost, of.seconds)
    scans = (of.no_index_used or 0.0) >= of.calls / 2
    without = Words(" without an index", "(インデックスなし)") if scans else Words("", "")
    return Finding(
        kind=KIND,
        severity=None if heavy else Severity.INFO,
        sentence=Words(
            f"A statement reads {count(rows)} rows a call{without.en}, {count(per_row)} for each that it gives, and "
            f"takes {part} of all database time{asked.en}. {text_of(of)}",
            f"1回に{count(rows)}行{without.ja}、結果1行あたり{count(per_row)}行を読むSQLが、DB時間全体の{part}を占める"
            f"{asked.ja}。{text_of(of)}",
        ),
        from_ms=window.from_ms,
        to_ms=window.to_ms,
        labels=labels_of(of),
        evidence=[
            state(
                window,
                Words(
                    f"{count(per_row)} rows read for each that was given or changed.",
                    f"結果または変更の1行あたり{count(per_row)}行を読んだ。",
                ),
                link=Link.LIMIT,
                expression=of_digest(of, "rows_examined_total"),
                unit=Unit.COUNT,
                value=per_row,
                limit=ROWS_PER_ROW,
            ),
            _time(window, one, part),
            *(felt(window, whole(window)) if heavy else []),
        ],
        steps=[
            Step(
                text=Words(
                    "See how it is run, and give it an index on what it filters and sorts by.",
                    "実行計画を確認し、絞り込みと並び替えの列にインデックスを張る。",
                ),
                code=f"EXPLAIN {text_of(of)};\nALTER TABLE ... ADD INDEX (filtered_column, sorted_column);",
            )
        ],
    )


def _time(window: Window, one: StatementCost, part: str) -> Evidence:
    of = one.statement
    each = of.seconds / of.calls
    return state(
        window,
        Words(
            f"{count(of.calls)} calls of {duration(each)} each: {part} of all database time.",
            f"{count(of.calls)}回、1回{duration_ja(each)}。DB時間全体の{part}。",
        ),
        link=Link.DEMAND,
        expression=of_digest(of, "seconds_total"),
        unit=Unit.SECONDS,
        value=each,
    )


DETECTOR = Detector(kind=KIND, look=look, needs=(), usual=False)
