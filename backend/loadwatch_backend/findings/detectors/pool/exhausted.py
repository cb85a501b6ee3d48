"""All connections of a pool are in use, and requests wait for one."""

import math

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Harm, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.costs import longest_holder, share_of
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import (
    POOL_METRICS,
    Pool,
    failures,
    felt,
    largest,
    pools,
    selector,
    since_start,
    spare_connections,
    together,
    usual,
)
from loadwatch_backend.findings.seen.lives import LIFE_METRICS
from loadwatch_backend.findings.seen.numbers import count, counted, duration, duration_ja, figure, share
from loadwatch_backend.findings.seen.pool_size import BURSTS, size_for
from loadwatch_backend.findings.seen.pool_waits import FULL, exhausted, mean_wait
from loadwatch_backend.findings.window import Episode, Window
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

KIND = Kind(
    id="pool-exhausted",
    resource="pool_connections",
    severity=Severity.CRITICAL,
    title=Words("Connection pool exhausted", "コネクションプールの枯渇"),
    explanation=Words(
        "Every connection that SetMaxOpenConns allows is in use, so a request that needs the database waits until "
        "another gives its connection back. The wait is part of the answer's time; who waits longer than the client's "
        "timeout has failed, and the work is done for nobody.",
        "SetMaxOpenConnsで許された接続がすべて使用中のため、DBを必要とするリクエストは他のリクエストが接続を返すまで"
        "待つ。待ち時間は応答時間に含まれ、クライアントのタイムアウトを超えると失敗となる。",
    ),
    rule=Rule(
        text=Words(
            "Little's law: connections in use = statements per second × seconds that each holds its connection. "
            f"A pool needs that many, and {BURSTS - 1:.0%} more for bursts.",
            "リトルの法則: 使用中の接続数 = 毎秒の文の数 × 1文が接続を保持する秒数。"
            f"これに{BURSTS - 1:.0%}の余裕を足す。",
        ),
        source="J. D. C. Little, A Proof for the Queuing Formula L = λW, Operations Research 9 (1961)",
    ),
    refuted_by=Words(
        "Waits (WaitCount) that do not grow while all connections are in use, or answers that are as slow with a pool "
        "twice the size.",
        "全接続が使用中でもWaitCountが増えないこと、またはプールを2倍にしても応答が同じだけ遅いこと。",
    ),
)


def look(window: Window) -> Look:
    """A finding for each pool that requests waited for."""
    findings: list[Finding] = []
    clear: list[Words] = []
    observations: list[Words] = []
    for pool in pools(window):
        bound = largest(pool.limit, window.focus)
        if not bound > 0:
            continue
        episode = exhausted(window, pool)
        if episode is not None:
            bound = largest(pool.limit, episode.span)
            findings.append(_finding(window.during(episode), pool, bound, episode))
            continue
        most, waits = largest(pool.in_use, window.focus), window.total(pool.waits)
        if not math.isfinite(most):
            continue
        words = Words(
            f"The pool of {pool.name} had {count(most)} of {count(bound)} connections in use at most; "
            f"{count(waits)} requests waited for one, {duration(mean_wait(window, pool))} on average.",
            f"{pool.name}のプールは最大{count(bound)}中{count(most)}接続を使用。待ち{count(waits)}件、"
            f"平均{duration_ja(mean_wait(window, pool))}。",
        )
        (observations if most >= FULL * bound else clear).append(words)
    return Look(
        findings=findings,
        clear=together(clear),
        observations=observations,
    )


def _finding(window: Window, pool: Pool, bound: float, episode: Episode) -> Finding:
    waits = window.total(pool.waits, episode.span)
    mean = window.total(pool.waiting, episode.span) / max(waits, 1)
    # Waits that never ended tell no time: then nothing says that something else held the requests up.
    delay = mean if window.total(pool.waiting, episode.span) > 0 else math.inf
    effects = felt(window, episode, delay)
    explained = any('outcome="timeout"' in one.expression for one in effects)
    gave_up = failures(window, episode, "timeout") if explained else 0.0
    spare = spare_connections(window, episode.span)
    from_ms = window.grid.time_ms(episode.first)
    when = since_start(window, from_ms, "at ")
    full = spare is not None and spare[0] < 1
    en, ja = "", ""
    if spare is not None and full:
        en = f"The database had none of its {count(spare[1])} connections to spare, and more would be refused: "
        ja = f"DBの{count(spare[1])}接続に余裕はなく、プールを増やしても拒否される。"
    en += f"{'the' if full else 'The'} pool of {count(bound)} connections of {pool.name} ran out {when.en}; "
    ja += f"{pool.name}の{count(bound)}接続のプールが{when.ja}に枯渇。"
    longest = largest(window.load.p99, episode.span) if window.load is not None else float("nan")
    if gave_up >= 1:
        en += f"{counted(gave_up, 'request', 'requests')} gave up"
        en += f" (slowest answers {duration(longest)})" if math.isfinite(longest) else ""
        en += f" and {count(waits)} waited {duration(mean)} on average"
        ja += f"{count(gave_up)}件が諦め、{count(waits)}件が平均{duration_ja(mean)}待った"
    else:
        en += f"{counted(waits, 'request', 'requests')} waited {duration(mean)} on average"
        ja += f"{count(waits)}件が平均{duration_ja(mean)}待った"
    if spare is None:
        en += "; whether the database has room for more is not known"
        ja += "。DBに余裕があるかは不明"
    elif not full:
        en += f"; the database had {count(spare[0])} connections to spare"
        ja += f"。DBにはあと{count(spare[0])}接続の余裕があった"
    return Finding(
        kind=KIND,
        sentence=Words(en + ".", ja + "。"),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=pool.labels,
        evidence=[*_evidence(window, pool, bound, waits), *effects],
        severity=_severity(
            window.total(pool.waiting, episode.span) / (len(episode) * window.step_seconds),
            felt=bool(effects),
            full=full,
        ),
        steps=_steps(window, pool, bound, episode, spare),
        harm=Harm(
            # Waits that never end are told by their number only.
            lost=window.total(pool.waiting, episode.span) + waits / 1_000_000,
            seconds=mean if math.isfinite(delay) else math.nan,
            words=Words("waits {} for a connection", "接続待ちは{}"),
        ),
    )


def _severity(waiting: float, *, felt: bool, full: bool) -> Severity | None:
    """Less than a request that waits at a time, and nothing that suffers from it, is worth a note."""
    if felt:
        return Severity.WARNING if full else None
    return Severity.INFO if waiting < 1 else Severity.WARNING


def _evidence(window: Window, pool: Pool, bound: float, waits: float) -> list[Evidence]:
    chosen = selector(pool.labels)
    most = largest(pool.in_use, window.focus)
    queue = largest(pool.waiting, window.focus)
    return [
        show(
            window,
            Words(
                f"{count(most)} of {count(bound)} connections in use.", f"{count(bound)}接続中{count(most)}が使用中。"
            ),
            link=Link.LIMIT,
            expression=f"go_sql_in_use_connections{chosen}",
            unit=Unit.COUNT,
            values=pool.in_use,
            limit=bound,
        ),
        show(
            window,
            Words(
                f"{count(waits)} waits began; up to {figure(queue)} requests waited at once.",
                f"待ちが{count(waits)}件発生。同時に最大{figure(queue)}件が待機。",
            ),
            link=Link.DEMAND,
            expression=f"rate(go_sql_wait_duration_seconds_total{chosen}[5s])",
            unit=Unit.COUNT,
            values=pool.waiting,
        ),
    ]


def _steps(window: Window, pool: Pool, bound: float, episode: Episode, spare: tuple[float, float] | None) -> list[Step]:
    steps: list[Step] = []
    if spare is None:
        steps.append(
            Step(
                text=Words(
                    "First see how many connections the database has left: only then can a size be named.",
                    "まずDBの残り接続数を確認する。それが分かるまで適切なサイズは決められない。",
                ),
                code="mysql:\n  host: 127.0.0.1\n  user: loadwatch",
            )
        )
    served, asked = _throughput(window, pool, episode)
    # A pool that is full in bursts is empty at most instants: then the mean tells how long a connection is held.
    busy = usual(pool.in_use, episode.span) or window.total(pool.in_use, episode.span) / window.step_seconds / len(
        episode
    )
    hold = busy / served if served > 0 else 0.0
    if hold > 0:
        wanted = size_for(max(asked, served) * hold)
        size = 0 if spare is None else min(wanted, math.floor((bound + spare[0]) * 0.9))
        if size > bound:
            steps.append(
                Step(
                    text=Words(
                        f"Raise the pool to {size}: {figure(max(asked, served))} requests/s that hold a connection for "
                        f"{duration(hold)} each keep {figure(max(asked, served) * hold)} busy."
                        + (" The database leaves no room for more." if size < wanted else ""),
                        f"プールを{size}に増やす。毎秒{figure(max(asked, served))}件が各{duration_ja(hold)}接続を"
                        f"保持すると{figure(max(asked, served) * hold)}接続が必要。"
                        + ("DB側にこれ以上の余裕はない。" if size < wanted else ""),
                    ),
                    code=f"db.SetMaxOpenConns({size})\ndb.SetMaxIdleConns({size})",
                )
            )
        steps.append(
            Step(
                text=Words(
                    f"Or shorten what holds a connection ({duration(hold)} each now): half of it needs half the pool.",
                    f"または接続の保持時間(現在{duration_ja(hold)})を短くする。半分になれば必要なプールも半分になる。",
                )
            )
        )
    holder = longest_holder(window)
    if holder is not None and window.cost is not None:
        name, spent = holder.totals.key.name, holder.seconds.value
        of = share(share_of(window.cost, holder.total_seconds))
        steps.append(
            Step(
                text=Words(
                    f"Begin with {name}: its requests keep a connection busy for {duration(spent)} each, {of} of all "
                    "database time.",
                    f"まず{name}から。1リクエストで接続を{duration_ja(spent)}使い、DB時間全体の{of}を占める。",
                )
            )
        )
    return steps


def _throughput(window: Window, pool: Pool, episode: Episode) -> tuple[float, float]:
    """Requests per second that this instance served, and that it was asked for; 0 where nothing tells."""
    labels = {name: pool.labels[name] for name in ("job", "instance") if name in pool.labels}

    def of(metric: str) -> float:
        values: FloatArray = window[metric].where(**labels).rate
        return float(np.nan_to_num(usual(values, episode.span)))

    served, asked = of("ingest_stored_total"), of("ingest_accepted_total")
    if window.load is None:
        return served, asked
    # Clients that wait for answers send less than they would: what was asked for is the target.
    instances = max(sum(1 for _ in pools(window)), 1)
    sent, target, good = (
        float(np.nan_to_num(usual(values, episode.span))) / instances
        for values in (window.load.rate, window.load.target, window.load.outcomes.get("ok", window.load.rate))
    )
    return served or good, max(asked, sent, target)


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=("go_sql_in_use_connections",),
    reads=(*POOL_METRICS, *LIFE_METRICS, "ingest_stored_total", "ingest_accepted_total"),
    follows=(
        "database-cpu-full",
        "database-lock-waits",
        "database-deadlocks",
        "database-connections-exhausted",
        "database-iops-full",
        "app-cpu-full",
        "n-plus-one",
        "statement-scans",
        "statement-lock-waits",
    ),
    switched_on_by="dbstats:\n  url: http://127.0.0.1:8080/debug/dbstats",
)
