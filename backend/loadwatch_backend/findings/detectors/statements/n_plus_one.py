"""A route asks the same statement again and again in each request: N+1."""

from loadwatch_backend.evidence.cost.model import Cost, RouteCost, Share, StatementCost
from loadwatch_backend.evidence.cost.solve import MANY
from loadwatch_backend.findings.model import Detector, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.costs import (
    labels_of,
    of_digest,
    repeated,
    share_of,
    state,
    text_of,
    weighs,
    whole,
)
from loadwatch_backend.findings.seen.facts import felt
from loadwatch_backend.findings.seen.numbers import count, duration, duration_ja, figure, share
from loadwatch_backend.findings.window import Window
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

MOST = 5

KIND = Kind(
    id="n-plus-one",
    severity=Severity.WARNING,
    title=Words("A statement for each row (N+1)", "行ごとのSQL(N+1)"),
    explanation=Words(
        "A request reads a list, then asks the database once more for each row of it. Each of them is quick; together "
        "they hold a connection for all the round trips, and their number grows with the data.",
        "一覧を読んだ後、1行ごとにDBへ問い合わせている。1回は速くても、往復の間ずっと接続を占有し、回数はデータとともに増える。",
    ),
    rule=Rule(
        text=Words(
            "Five calls of one statement in each request, at the least; reckoned from how requests and calls move "
            "together, second by second.",
            "同じSQLが1リクエストで少なくとも5回。リクエスト数とSQL回数の秒ごとの動きから算出。",
        ),
        source="docs/decisions/0116-the-cost-of-a-request.md",
    ),
    refuted_by=Words(
        "The application's log of statements for one request of this route, with fewer of them.",
        "このルートの1リクエスト分のSQLログで、回数がこれより少ないこと。",
    ),
)


def look(window: Window) -> Look:
    """One finding for each route and statement, the dearest first."""
    cost = window.cost
    if cost is None or cost.reason is not None:
        return Look()
    found = repeated(cost)
    if not found:
        told = [one for one in cost.routes if one.of_statement]
        if not told:
            return Look()
        most = max(told, key=lambda one: one.calls.value)
        return Look(
            clear=Words(
                f"No route asks one statement {MANY:.0f} times a request; {most.totals.key.name} asks "
                f"{figure(most.calls.value)} in all.",
                f"1リクエストで同じSQLを{MANY:.0f}回以上実行するルートはない。最多は{most.totals.key.name}の計"
                f"{figure(most.calls.value)}回。",
            )
        )
    return Look(findings=[_finding(window, cost, *one) for one in found[:MOST]])


def _finding(window: Window, cost: Cost, route: RouteCost, one: StatementCost, part: Share) -> Finding:
    name, times, spent = route.totals.key.name, figure(part.calls.value), part.seconds.value
    of = share(share_of(cost, part.total_seconds))
    heavy = weighs(cost, part.total_seconds)
    statement = one.statement
    return Finding(
        kind=KIND,
        severity=None if heavy else Severity.INFO,
        sentence=Words(
            f"{name} asks the same statement {times} times a request: {duration(spent)} of database time each, {of} of "
            f"all database time. {text_of(statement)}",
            f"{name}は1リクエストで同じSQLを{times}回実行し、DB時間{duration_ja(spent)}、全体の{of}を占める。"
            f"{text_of(statement)}",
        ),
        from_ms=window.from_ms,
        to_ms=window.to_ms,
        labels=labels_of(statement, route),
        evidence=[
            state(
                window,
                Words(
                    f"{times} calls a request ({figure(part.calls.low)} to {figure(part.calls.high)}), over "
                    f"{count(route.totals.requests)} requests.",
                    f"1リクエストあたり{times}回({figure(part.calls.low)}～{figure(part.calls.high)})、"
                    f"リクエスト{count(route.totals.requests)}件。",
                ),
                link=Link.LIMIT,
                expression=of_digest(statement, "total" if not statement.key.digest.isdigit() else "calls_total"),
                unit=Unit.COUNT,
                value=part.calls.value,
                limit=MANY,
            ),
            state(
                window,
                Words(
                    f"{duration(spent)} of database time a request, {of} of all database time.",
                    f"1リクエストのDB時間{duration_ja(spent)}、全体の{of}。",
                ),
                link=Link.DEMAND,
                expression=of_digest(statement, "seconds_total"),
                unit=Unit.SECONDS,
                value=spent,
            ),
            *(felt(window, whole(window)) if heavy else []),
        ],
        steps=[
            Step(
                text=Words(
                    "Ask for all rows at once: a join, or one statement with the ids of the list.",
                    "結合するか、一覧のIDをまとめた1回のSQLにする。",
                ),
                code="SELECT ... FROM users WHERE id IN (?, ?, ...)  -- sqlx.In, WHERE id = ANY($1) in PostgreSQL",
            ),
            Step(
                text=Words(
                    "Or keep what seldom changes in memory for some seconds.",
                    "変化の少ないデータなら、数秒間メモリに保持する。",
                )
            ),
        ],
    )


DETECTOR = Detector(kind=KIND, look=look, needs=(), usual=False)
