"""An application keeps so many connections that other clients of its database cannot log in, also after the load."""

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.databases import (
    DATABASE_METRICS,
    SWITCHED_ON_BY,
    Database,
    databases,
    holders_of,
    level_shown,
    most_around,
    refusals,
    refusals_shown,
    steps_for_growth,
    users,
)
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import POOL_METRICS, added, largest, pools, selector, since_start, together
from loadwatch_backend.findings.seen.numbers import count
from loadwatch_backend.findings.window import BoolArray, Episode, Window
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

FULL = 0.9
"""Of max_connections: a pool that does not dial leaves the level where it is."""
HELD_SHARE = 0.5
LEAST_KNOWN = 3
CLOSED = ("go_sql_max_idle_closed_total", "go_sql_max_idle_time_closed_total", "go_sql_max_lifetime_closed_total")

KIND = Kind(
    id="clients-locked-out",
    resource="db_connections",
    severity=Severity.CRITICAL,
    title=Words("Other clients are locked out", "他クライアントの締め出し"),
    explanation=Words(
        "The application holds nearly all connections that the database allows. Its own requests do not notice, they "
        "take a connection from the pool; a report, a batch job or you cannot log in (error 1040). A pool that keeps "
        "its idle connections goes on with it after the load.",
        "アプリがDBの接続をほぼすべて保持している。アプリ自身はプールの接続を使うため気づかないが、レポートやバッチ、"
        "人はログインできない(エラー1040)。アイドル接続を保持し続けるプールでは、負荷の後も続く。",
    ),
    rule=Rule(
        text=Words(
            "Idle connections count against max_connections as busy ones do: leave as many as other clients need.",
            "アイドル接続もmax_connectionsに数えられる。他クライアントが必要とする数を空けておく。",
        ),
        source="MySQL Reference Manual, Too many connections",
    ),
    refuted_by=Words(
        "Refused logins that are the application's own, or clients that are refused for a wrong password.",
        "拒否されたのがアプリ自身のログインであること、または拒否の理由がパスワード誤りであること。",
    ),
)


def look(window: Window) -> Look:
    """One finding for each database that refused others while an application's pool held most of it."""
    findings: list[Finding] = []
    clear: list[Words] = []
    rest = _pools_at_rest(window)
    for database in databases(window):
        most = largest(database.connected, window.focus)
        if not np.isfinite(database.bound + most) or database.bound <= 0:
            continue
        finding = _locked_out(window, database, rest)
        if finding is not None:
            findings.append(finding)
            continue
        left = max(database.bound - most, 0)
        clear.append(
            Words(
                f"{database.name} had {count(left)} connections left for other clients at least.",
                f"{database.name}には他クライアント用に少なくとも{count(left)}接続が残っていた。",
            )
        )
    return Look(findings=findings, clear=together(clear))


def _locked_out(window: Window, database: Database, rest: tuple[BoolArray, FloatArray, FloatArray]) -> Finding | None:
    full = most_around(database.connected) >= FULL * database.bound
    at_rest, held, used = rest
    hold_most = np.nan_to_num(held) >= HELD_SHARE * database.bound
    # After the load, too: what has no margin behind it ends with the grid.
    seen = slice(window.focus.start, None)
    others = _only(database.refusing & full & at_rest & hold_most, seen)
    episode = refusals(window, database, others)
    displaced = _displaced(window, database)
    if episode is None and displaced is None:
        return None
    if episode is None:
        episode = refusals(window, database, _only(database.refusing & full, seen))
    if episode is None:
        return None
    if displaced is not None and displaced[0] > episode.end:
        displaced = None
    return _finding(window.during(episode), database.during(episode), episode, held, used, displaced)


def _only(holds: BoolArray, span: slice) -> BoolArray:
    inside = np.zeros_like(holds)
    inside[span] = holds[span]
    return inside


def _pools_at_rest(window: Window) -> tuple[BoolArray, FloatArray, FloatArray]:
    """Where no pool dials: what is refused there is not theirs. And what they hold and use together."""
    seen = list(pools(window))
    if not seen:
        nothing = np.full(window.grid.count, np.nan)
        return np.zeros(window.grid.count, dtype=np.bool_), nothing, nothing
    closed = np.zeros(window.grid.count)
    for metric in CLOSED:
        closed += np.nan_to_num(window[metric].rate)
    rest = closed == 0
    for pool in seen:
        whole = (pool.limit > 0) & (pool.open >= pool.limit)
        idle = (pool.idle >= 1) & (pool.in_use <= 0.5 * pool.open)
        rest &= whole | idle | (pool.open == 0)
    return rest, added([pool.open for pool in seen]), added([pool.in_use for pool in seen])


def _displaced(window: Window, database: Database) -> tuple[int, str, float, FloatArray] | None:
    """A user that had connections, and had none while another one held most: when, who, how many before, [instant]."""
    by_user = users(window, database)
    holders = holders_of(window, database, slice(None))
    if len(holders) < 2 or holders[0][1] < HELD_SHARE * database.bound:
        return None
    known: BoolArray = np.isfinite(added(list(by_user.values())))
    crowded = known & (np.nan_to_num(by_user[holders[0][0]]) >= HELD_SHARE * database.bound) & database.refusing
    if int(crowded.sum()) < LEAST_KNOWN:
        return None
    first = int(np.flatnonzero(crowded)[0])
    for user, _ in holders[1:]:
        level = np.where(known, np.nan_to_num(by_user[user]), np.nan)
        before = level[:first][known[:first]]
        if before.size < LEAST_KNOWN or not np.median(before) >= 1:
            continue
        gone = np.flatnonzero(crowded & (level == 0))
        if len(gone) >= LEAST_KNOWN:
            return int(gone[0]), user, float(np.median(before)), level
    return None


def _finding(
    window: Window,
    database: Database,
    episode: Episode,
    held: FloatArray,
    used: FloatArray,
    displaced: tuple[int, str, float, FloatArray] | None,
) -> Finding:
    times = window.total(database.refused, episode.span)
    from_ms = window.grid.time_ms(episode.first)
    holders = holders_of(window, database, episode.span)
    names = [pool.labels.get("instance", pool.name) for pool in pools(window)]
    by = holders[0][0] if holders else names[0] if len(names) == 1 else Words("the pools", "プール").en
    most = holders[0][1] if holders else largest(held, episode.span)
    busy = largest(used, episode.span)
    after = from_ms >= window.to_ms
    when = Words("after the load had ended", "負荷の終了後") if after else since_start(window, from_ms, "at ")
    use = Words(
        f", which used {count(busy)} of them" if np.isfinite(busy) else "",
        f"(使用中は{count(busy)})" if np.isfinite(busy) else "",
    )
    gone = Words("", "")
    if displaced is not None:
        gone = Words(
            f" {displaced[1]} fell from {count(displaced[2])} connections to none.",
            f"{displaced[1]}は{count(displaced[2])}接続から0になった。",
        )
    return Finding(
        kind=KIND,
        sentence=Words(
            f"Other clients were locked out of {database.name} {when.en}: {by} held {count(most)} of "
            f"{count(database.bound)} connections{use.en}, and {count(times)} logins were refused.{gone.en}",
            f"{when.ja}、{database.name}から他クライアントが締め出された。{by}が{count(database.bound)}接続中"
            f"{count(most)}を保持し{use.ja}、ログイン{count(times)}件が拒否された。{gone.ja}",
        ),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=database.labels,
        evidence=_evidence(window, database, episode, held, used, displaced),
        steps=[*steps_for_growth(window, database, episode), *_steps(database, len(names))],
    )


def _evidence(
    window: Window,
    database: Database,
    episode: Episode,
    held: FloatArray,
    used: FloatArray,
    displaced: tuple[int, str, float, FloatArray] | None,
) -> list[Evidence]:
    found = [level_shown(window, database), refusals_shown(window, database)]
    most, busy = largest(held, episode.span), largest(used, episode.span)
    if np.isfinite(most + busy):
        found.append(
            show(
                window,
                Words(
                    f"The pools kept {count(most)} connections open and used {count(busy)} meanwhile.",
                    f"その間プールは{count(most)}接続を開いたまま、{count(busy)}を使用。",
                ),
                link=Link.LIMIT,
                expression="sum(go_sql_open_connections)",
                unit=Unit.COUNT,
                values=held,
                value=most,
                at=episode.first,
            )
        )
    if displaced is not None:
        at, user, before, level = displaced
        found.append(
            show(
                window,
                Words(
                    f"{user} had {count(before)} connections before, and then none.",
                    f"{user}は以前{count(before)}接続、その後0。",
                ),
                link=Link.EFFECT,
                expression="mysql_info_schema_processlist_processes_by_user"
                + selector({**database.labels, "mysql_user": user}),
                unit=Unit.COUNT,
                values=level,
                at=at,
            )
        )
    return found


def _steps(database: Database, number: int) -> list[Step]:
    size = max(int(database.bound * 0.8 // max(number, 1)), 1)
    return [
        Step(
            text=Words(
                f"Bound each of the {max(number, 1)} pools to {size} connections, and let idle ones go.",
                f"{max(number, 1)}個のプールを各{size}接続までにし、アイドル接続を解放する。",
            ),
            code=f"db.SetMaxOpenConns({size})\ndb.SetMaxIdleConns({size})\ndb.SetConnMaxIdleTime(30 * time.Second)",
        ),
        Step(
            text=Words(
                "Keep a door for administrators that max_connections does not close (MariaDB: extra_port; MySQL: "
                "admin_address).",
                "管理者用に、max_connectionsに左右されない入口を用意する(MariaDB: extra_port、MySQL: admin_address)。",
            ),
        ),
    ]


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=DATABASE_METRICS[:1],
    reads=(*DATABASE_METRICS, *POOL_METRICS, *CLOSED),
    follows=("database-connections-exhausted", "pool-exceeds-server", "pool-unlimited", "pool-per-request"),
    switched_on_by=SWITCHED_ON_BY,
)
