"""A pool ran out, and one route holds its connections longest."""

from loadwatch_backend.findings.model import Detector, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.costs import longest_holder, share_of, state, whole
from loadwatch_backend.findings.seen.facts import POOL_METRICS, felt, pools
from loadwatch_backend.findings.seen.numbers import count, duration, duration_ja, figure, share
from loadwatch_backend.findings.seen.pool_waits import exhausted
from loadwatch_backend.findings.window import Window
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

KIND = Kind(
    id="pool-holder",
    severity=Severity.INFO,
    title=Words("The route that holds the pool longest", "プールを最も長く占有するルート"),
    explanation=Words(
        "Requests waited for a connection, and most of the time in which connections were busy was of one route. What "
        "shortens its statements gives all other routes their connections sooner.",
        "接続待ちがあり、接続の使用時間の多くを1つのルートが占める。そのSQLが短くなれば他も早く接続を得る。",
    ),
    rule=Rule(
        text=Words(
            "A request holds a connection at least as long as its statements take; the sum over all requests of a "
            "route is the route's share of the pool.",
            "リクエストは少なくともSQLの実行時間だけ接続を保持する。ルートごとの合計がプールに占める割合となる。",
        ),
        source="docs/decisions/0116-the-cost-of-a-request.md",
    ),
    refuted_by=Words(
        "Another route that keeps its connections while it does something else, such as calls of other services within "
        "a transaction: the database does not see that time.",
        "トランザクション中に他サービスを呼ぶなど、DBの外で接続を保持している別のルートがあること(DBからは見えない)。",
    ),
)


def look(window: Window) -> Look:
    """At most one finding."""
    cost, holder = window.cost, longest_holder(window)
    if cost is None or holder is None:
        return Look()
    found = [(pool, episode) for pool in pools(window) if (episode := exhausted(window, pool)) is not None]
    if not found:
        return Look()
    pool, episode = min(found, key=lambda one: one[1].first)
    name, spent = holder.totals.key.name, holder.seconds.value
    of = share(share_of(cost, holder.total_seconds))
    return Look(
        findings=[
            Finding(
                kind=KIND,
                sentence=Words(
                    f"{name} holds connections of {pool.name} longest: {duration(spent)} of database time a request, "
                    f"{of} of all.",
                    f"{pool.name}の接続を最も長く占有しているのは{name}。1リクエストのDB時間は{duration_ja(spent)}、"
                    f"全体の{of}。",
                ),
                from_ms=window.grid.time_ms(episode.first),
                to_ms=window.grid.time_ms(episode.end - 1),
                labels={"route": name, **pool.labels},
                evidence=[
                    state(
                        window,
                        Words(
                            f"{count(holder.totals.requests)} requests of {duration(spent)} each "
                            f"({duration(holder.seconds.low)} to {duration(holder.seconds.high)}), "
                            f"{figure(holder.calls.value)} statements a request.",
                            f"リクエスト{count(holder.totals.requests)}件、各{duration_ja(spent)}"
                            f"({duration_ja(holder.seconds.low)}～{duration_ja(holder.seconds.high)})、"
                            f"1リクエストあたりSQL{figure(holder.calls.value)}回。",
                        ),
                        link=Link.DEMAND,
                        expression="sum(rate(mysql_perf_schema_events_statements_seconds_total[15s]))",
                        unit=Unit.SECONDS,
                        value=spent,
                    ),
                    *felt(window, whole(window)),
                ],
                steps=[
                    Step(
                        text=Words(
                            f"Shorten the statements of {name} first: the run's page lists them, the dearest first.",
                            f"まず{name}のSQLを短くする。実行のページに時間の長い順で並んでいる。",
                        )
                    )
                ],
            )
        ]
    )


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(),
    reads=POOL_METRICS,
    follows=("pool-exhausted",),
    usual=False,
)
