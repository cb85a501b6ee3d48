"""The pools of all instances may open more connections than the database has, and it refused some."""

from collections.abc import Sequence

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.databases import (
    DATABASE_METRICS,
    Database,
    databases,
    holders_of,
    level_shown,
    refusals,
    refusals_shown,
)
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import Pool, added, felt, focused, largest, pools
from loadwatch_backend.findings.seen.numbers import count
from loadwatch_backend.findings.window import Episode, Window
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

HELD_SHARE = 0.5
"""Of max_connections, that the pools held when logins were refused."""
RESERVE = 0.1
"""Of max_connections, that stays for people and for what comes unannounced."""

KIND = Kind(
    id="pool-exceeds-server",
    resource="db_connections",
    severity=Severity.CRITICAL,
    title=Words("Pools larger than the database", "プール合計がDBの上限を超過"),
    explanation=Words(
        "Each instance keeps to its own SetMaxOpenConns, but all of them together may open more connections than "
        "max_connections leaves beside the other clients. Under load they do, and whoever logs in next is refused; "
        "each further instance makes it worse.",
        "各インスタンスは自身のSetMaxOpenConnsを守っていても、合計が、他クライアントの分を除いたmax_connectionsを超える。"
        "負荷がかかると実際に超え、次のログインが拒否される。インスタンスを増やすほど悪化する。",
    ),
    rule=Rule(
        text=Words(
            "Instances × MaxOpenConns + connections of other clients ≤ max_connections.",
            "インスタンス数 × MaxOpenConns + 他クライアントの接続数 ≦ max_connections。",
        ),
        source="MySQL Reference Manual, Too many connections: max_connections is shared by all clients",
    ),
    refuted_by=Words(
        "Pools that talk to different databases, or refused logins that are none of max_connections.",
        "プールの接続先が別々のDBであること、または拒否の理由がmax_connectionsではないこと。",
    ),
)


def look(window: Window) -> Look:
    """At most one finding: with several databases nobody knows which pool talks to which."""
    found = [database for database in databases(window) if database.bound > 0]
    if len(found) != 1:
        return Look()
    episode = refusals(window, found[0], focused(window, found[0].refusing))
    if episode is not None:
        window, found = window.during(episode), [found[0].during(episode)]
    bounded = [pool for pool in pools(window) if largest(pool.limit, window.focus) > 0]
    if not bounded:
        return Look()
    if any(largest(pool.limit, window.focus) == 0 and largest(pool.open, window.focus) > 0 for pool in pools(window)):
        return Look()
    database = found[0]
    may_open = sum(largest(pool.limit, window.focus) for pool in bounded)
    others = _others(window, database, bounded)
    room = database.bound - others
    equation = Words(
        f"{len(bounded)} pools may open {count(may_open)} connections; {database.name} has {count(database.bound)}, of "
        f"which other clients held {count(others)}.",
        f"{len(bounded)}個のプールの上限は合計{count(may_open)}接続。{database.name}は{count(database.bound)}接続まで、"
        f"うち他クライアントが{count(others)}。",
    )
    if may_open <= room:
        return Look(clear=equation)
    opened = added([pool.open for pool in bounded])
    # Pools that fit for themselves are not what is wrong where others take the rest.
    if (
        may_open <= database.bound
        or episode is None
        or not largest(opened, _around(episode)) >= HELD_SHARE * database.bound
    ):
        return Look(observations=[equation])
    return Look(findings=[_finding(window, database, bounded, may_open, others, opened, episode)])


def _others(window: Window, database: Database, bounded: Sequence[Pool]) -> float:
    """Connections of other clients: of all users but the one that holds most, else what the pools do not explain."""
    holders = holders_of(window, database, slice(None))
    if holders:
        return sum(held for _, held in holders[1:])
    beside = database.connected - added([pool.open for pool in bounded])
    known = beside[np.isfinite(beside)]
    return max(float(np.median(known)), 0.0) if known.size else 0.0


def _around(episode: Episode) -> slice:
    return slice(max(episode.first - 3, 0), episode.end + 3)


def _finding(
    window: Window,
    database: Database,
    bounded: Sequence[Pool],
    may_open: float,
    others: float,
    opened: FloatArray,
    episode: Episode,
) -> Finding:
    times = window.total(database.refused, episode.span)
    beside = Words(
        f" of which other clients held {count(others)}," if others >= 1 else "",
        f"(うち他クライアントが{count(others)})" if others >= 1 else "",
    )
    size = max(int((database.bound * (1 - RESERVE) - others) // len(bounded)), 1)
    jobs = {pool.labels.get("job") for pool in bounded}
    labels = bounded[0].labels if len(bounded) == 1 else {} if len(jobs) > 1 else {"job": str(jobs.pop())}
    return Finding(
        kind=KIND,
        sentence=Words(
            f"The {_pools(len(bounded)).en} may open {count(may_open)} connections, and {database.name} has "
            f"{count(database.bound)},{beside.en} so {count(times)} logins were refused.",
            f"{_pools(len(bounded)).ja}の上限は合計{count(may_open)}接続だが、{database.name}は{count(database.bound)}"
            f"接続{beside.ja}までのため、ログイン{count(times)}件が拒否された。",
        ),
        from_ms=window.grid.time_ms(episode.first),
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=labels,
        evidence=[
            _opened_shown(window, opened, may_open),
            level_shown(window, database),
            refusals_shown(window, database),
            *felt(window, episode),
        ],
        steps=[
            Step(
                text=Words(
                    f"Give each of the {len(bounded)} pools {size} connections at most: together "
                    f"{count(size * len(bounded))}, which leaves room for the others and a tenth for people.",
                    f"{len(bounded)}個のプールを各{size}接続までにする。合計{count(size * len(bounded))}で、"
                    "他クライアントの分と1割の余裕が残る。",
                ),
                code=f"db.SetMaxOpenConns({size})\ndb.SetMaxIdleConns({size})",
            )
        ],
    )


def _pools(number: int) -> Words:
    return Words(
        "pool" if number == 1 else f"{number} pools together", "プール" if number == 1 else f"{number}個のプール"
    )


def _opened_shown(window: Window, opened: FloatArray, may_open: float) -> Evidence:
    most = largest(opened, window.focus)
    return show(
        window,
        Words(
            f"The pools had {count(most)} connections open at most, of {count(may_open)} that they may.",
            f"プールが開いた接続は最大{count(most)}(上限の合計{count(may_open)})。",
        ),
        link=Link.LIMIT,
        expression="sum(go_sql_open_connections)",
        unit=Unit.COUNT,
        values=opened,
        limit=may_open,
    )


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=("go_sql_max_open_connections",),
    reads=("go_sql_in_use_connections", "go_sql_open_connections", *DATABASE_METRICS),
    follows=("database-cpu-full", "database-lock-waits", "database-iops-full"),
    switched_on_by="dbstats:\n  url: http://127.0.0.1:8080/debug/dbstats",
)
