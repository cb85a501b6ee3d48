"""A pool without a limit opened so many connections that the database refused some, or that all became slow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.databases import (
    DATABASE_METRICS,
    Database,
    databases,
    level_shown,
    refusals,
    refusals_shown,
)
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import Pool, added, felt, focused, largest, pools, selector, together
from loadwatch_backend.findings.seen.hosts import HOST_METRICS, cores_of
from loadwatch_backend.findings.seen.numbers import count
from loadwatch_backend.findings.window import Episode, Window, episodes, least_instants
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

SHARE_OF_LIMIT = 0.5
"""Of max_connections, that the pools hold: with less it is others who fill the database."""
THREADS_PER_CORE = 4
THREADS_ANYWHERE = 64
"""Statements at work at once that are too many for most machines, where the cores are not known."""
LEAST_SECONDS = 5.0
NOTEWORTHY = 20
START_SIZE_PER_CORE = 4

KIND = Kind(
    id="pool-unlimited",
    severity=Severity.CRITICAL,
    title=Words("A pool without a limit", "上限のないプール"),
    explanation=Words(
        "SetMaxOpenConns was never called, or with 0: every request that finds no idle connection dials one. The queue "
        "then stands in the database instead of the application: its threads share the same cores and locks, each "
        "statement takes longer, still more connections are opened, and at max_connections all clients are refused.",
        "SetMaxOpenConnsが未設定(または0)のため、アイドル接続のないリクエストはすべて新たに接続する。待ち行列がアプリ"
        "ではなくDBにでき、スレッドがコアとロックを奪い合って各文が遅くなり、さらに接続が増え、max_connectionsで全"
        "クライアントが拒否される。",
    ),
    rule=Rule(
        text=Words(
            "By default there is no limit on the number of open connections. Begin with a few for each core of the "
            "database, and find the best number by a sweep.",
            "既定では接続数に上限がない。DBのコアあたり数接続から始め、負荷試験で最適値を探す。",
        ),
        source="Go, package database/sql, func (*DB) SetMaxOpenConns",
    ),
    refuted_by=Words(
        "Refusals that go on with a bounded pool, or connections at the database that another client holds.",
        "プールに上限を設けても拒否が続くこと、または接続の大半を別のクライアントが保持していること。",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unlimited:
    """The pools without a limit of one job: together they are what the database has to bear."""

    labels: Mapping[str, str]
    name: str
    open: FloatArray
    interval_ms: int


def look(window: Window) -> Look:
    """A finding for each job whose pools filled a database, or kept too many of its threads at work."""
    findings: list[Finding] = []
    clear: list[Words] = []
    observations: list[Words] = []
    known = [pool for pool in pools(window) if np.isfinite(largest(pool.limit, window.focus))]
    bounded = [pool for pool in known if -largest(-pool.limit, window.focus) > 0]
    clear += [
        Words(
            f"The pool of {pool.name} may open {count(largest(pool.limit, window.focus))} connections.",
            f"{pool.name}のプールの上限は{count(largest(pool.limit, window.focus))}接続。",
        )
        for pool in bounded
    ]
    for pool in _by_job([pool for pool in known if pool not in bounded]):
        most = largest(pool.open, window.focus)
        if not most > 0:
            continue
        finding = _refused(window, pool) or _crowded(window, pool)
        if finding is not None:
            findings.append(finding)
            continue
        words = Words(
            f"The pool of {pool.name} has no limit; it opened {count(most)} connections at most, which hurt nobody.",
            f"{pool.name}のプールには上限がないが、最大{count(most)}接続にとどまり、害はなかった。",
        )
        (observations if most >= NOTEWORTHY else clear).append(words)
    return Look(findings=findings, clear=together(clear), observations=observations)


def _by_job(unlimited: Sequence[Pool]) -> list[_Unlimited]:
    jobs: dict[str, list[Pool]] = {}
    for pool in unlimited:
        jobs.setdefault(pool.labels.get("job", ""), []).append(pool)
    return [
        _Unlimited(
            labels=group[0].labels if len(group) == 1 else {"job": job},
            name=group[0].name if len(group) == 1 else f"{job} ({len(group)} pools)",
            open=added([np.where(pool.limit > 0, np.nan, pool.open) for pool in group]),
            interval_ms=max(pool.interval_ms for pool in group),
        )
        for job, group in sorted(jobs.items())
    ]


def _refused(window: Window, pool: _Unlimited) -> Finding | None:
    for database in databases(window):
        episode = refusals(window, database, focused(window, database.refusing))
        if episode is None:
            continue
        database = database.during(episode)
        most = largest(pool.open, slice(max(episode.first - 3, 0), episode.end + 3))
        if not most >= SHARE_OF_LIMIT * database.bound:
            continue
        times = window.total(database.refused, episode.span)
        sentence = Words(
            f"The pool of {pool.name} has no limit (SetMaxOpenConns 0): it went up to {count(most)} connections where "
            f"{database.name} allows {count(database.bound)}, and {count(times)} logins were refused.",
            f"{pool.name}のプールには上限がなく(SetMaxOpenConns 0)、{database.name}の上限{count(database.bound)}に対し"
            f"最大{count(most)}接続を開こうとし、ログイン{count(times)}件が拒否された。",
        )
        during = window.during(episode)
        shown = [_open_shown(during, pool, database.bound), refusals_shown(during, database)]
        return _finding(during, pool, sentence, episode, database, [*shown, level_shown(during, database)])
    return None


def _crowded(window: Window, pool: _Unlimited) -> Finding | None:
    for database in databases(window):
        cores = cores_of(window, database.labels)
        many = THREADS_ANYWHERE if cores is None else max(THREADS_PER_CORE * cores, THREADS_PER_CORE * 2)
        holds = focused(window, (database.running >= many) & (pool.open >= many))
        least = least_instants(window.grid, max(database.interval_ms, pool.interval_ms), seconds=LEAST_SECONDS)
        found = episodes(holds, least=least, gap=3)
        if not found:
            continue
        episode = window.one_of(found)
        effects = felt(window, episode)
        if not effects:
            continue
        most, running = largest(pool.open, episode.span), largest(database.running, episode.span)
        on = Words(
            "" if cores is None else f" on {count(cores)} cores", "" if cores is None else f"({count(cores)}コア)"
        )
        sentence = Words(
            f"The pool of {pool.name} has no limit (SetMaxOpenConns 0): it opened up to {count(most)} connections, and "
            f"{database.name} worked on {count(running)} statements at once{on.en}. {effects[0].text.en}",
            f"{pool.name}のプールには上限がなく(SetMaxOpenConns 0)最大{count(most)}接続を開き、{database.name}では"
            f"{count(running)}文が同時に実行された{on.ja}。{effects[0].text.ja}",
        )
        during = window.during(episode)
        shown = [_open_shown(during, pool, None), _running_shown(during, database, many)]
        return _finding(during, pool, sentence, episode, database, shown, Severity.WARNING)
    return None


def _finding(
    window: Window,
    pool: _Unlimited,
    sentence: Words,
    episode: Episode,
    database: Database,
    shown: Sequence[Evidence],
    severity: Severity | None = None,
) -> Finding:
    cores = cores_of(window, database.labels)
    room = round(database.bound * 0.8) if np.isfinite(database.bound) else 30
    size = min(room, 30 if cores is None else max(round(cores * START_SIZE_PER_CORE), 4))
    return Finding(
        kind=KIND,
        severity=severity,
        sentence=sentence,
        from_ms=window.grid.time_ms(episode.first),
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=pool.labels,
        evidence=[*shown, *felt(window, episode)],
        steps=[
            Step(
                text=Words(
                    f"Bound the pool: {size} connections for all instances together to begin with, as many idle; then "
                    "look for the best number by a sweep.",
                    f"プールに上限を設ける。まず全インスタンス合計{size}接続(アイドルも同数)とし、負荷試験で最適値を探す。",
                ),
                code=f"db.SetMaxOpenConns({size})\ndb.SetMaxIdleConns({size})",
            )
        ],
    )


def _open_shown(window: Window, pool: _Unlimited, limit: float | None) -> Evidence:
    most = largest(pool.open, window.focus)
    return show(
        window,
        Words(
            f"{count(most)} connections open or being dialled; the pool's limit is 0, which means none.",
            f"オープン中または接続中の接続は最大{count(most)}。プールの上限は0(無制限)。",
        ),
        link=Link.LIMIT,
        expression=f"sum(go_sql_open_connections{selector(pool.labels)})",
        unit=Unit.COUNT,
        values=pool.open,
        limit=limit,
    )


def _running_shown(window: Window, database: Database, many: float) -> Evidence:
    most = largest(database.running, window.focus)
    return show(
        window,
        Words(
            f"Up to {count(most)} statements at work at once (Threads_running).",
            f"同時に実行された文は最大{count(most)}(Threads_running)。",
        ),
        link=Link.DEMAND,
        expression=f"mysql_global_status_threads_running{selector(database.labels)}",
        unit=Unit.COUNT,
        values=database.running,
        limit=many,
    )


DETECTOR = Detector(
    kind=KIND,
    look=look,
    least_seconds=LEAST_SECONDS,
    needs=("go_sql_max_open_connections",),
    reads=("go_sql_in_use_connections", "go_sql_open_connections", *DATABASE_METRICS, *HOST_METRICS),
    follows=("database-cpu-full", "database-lock-waits", "database-iops-full"),
    switched_on_by="dbstats:\n  url: http://127.0.0.1:8080/debug/dbstats",
)
