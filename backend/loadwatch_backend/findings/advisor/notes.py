"""What there is to know beside the values: what is wrong now, what does not fit, what cannot be told. Pure."""

import statistics
from collections.abc import Sequence

from loadwatch_backend.findings.advisor.model import Note, PoolSeen, Seen, ServerSeen, Weight
from loadwatch_backend.findings.seen.numbers import count, duration, duration_ja, figure, share
from loadwatch_backend.findings.seen.peers import FAR, LEAST_PEERS
from loadwatch_backend.texts.words import Words

LEAST_CLOSED = 10.0
"""Connections that a pool closed in the window before it counts as churn."""
LOCKED_SHARE = 0.5
"""So much of what is in use waits for row locks: then more connections wait with it."""
CPU_FULL = 0.85
SETTINGS_LINES = """type shownPool struct { // in the place of sql.DBStats, in JSON
	sql.DBStats
	MaxIdleConnections int
	ConnMaxLifetime, ConnMaxIdleTime time.Duration
}"""
DBSTATS_CONFIG = "dbstats:\n  url: http://127.0.0.1:8080/debug/dbstats"
MYSQL_CONFIG = "mysql:\n  host: 127.0.0.1\n  user: loadwatch\n  password_file: /etc/loadwatch/mysql-password"


def overall_notes(
    seen: Seen, server: ServerSeen | None, room: int | None, total: float, full: Words | None
) -> list[Note]:
    """Notes on the database and all pools together; `total` is what all pools need, `full` see `why_full`."""
    notes: list[Note] = []
    if not seen.pools:
        notes.append(
            Note(
                id="no-pool",
                weight=Weight.UNKNOWN,
                text=Words(
                    "No pool was seen in this window: no target has a dbstats block, or none answered.",
                    "この期間に見えたプールはない。dbstatsを持つターゲットがないか、応答がない。",
                ),
                config=DBSTATS_CONFIG,
            )
        )
    if server is None or server.others is None:
        notes.append(_no_server(seen, server))
        return notes
    notes += _exceeding(seen, server)
    if room is not None and total > room:
        notes.append(_no_room(server, room, total))
    if full is not None:
        notes.append(
            Note(
                id="database-full",
                weight=Weight.WRONG,
                text=Words(
                    f"The database is what to change: while the pools were busiest, {full.en}. More connections would "
                    "wait there instead of in the pool.",
                    f"変えるべきはDB: プールが最も忙しい間、{full.ja}。接続を増やしても待つ場所がDBに移るだけ。",
                ),
            )
        )
    return notes


def why_full(server: ServerSeen, busy: float) -> Words | None:
    """Why the database has no strength for more connections, `busy` of the pools' being in use; None where it has."""
    if server.lock_waits is not None and busy >= 1 and server.lock_waits >= LOCKED_SHARE * busy:
        return Words(
            f"{figure(server.lock_waits)} of {figure(busy)} busy connections waited for row locks",
            f"使用中の{figure(busy)}接続のうち{figure(server.lock_waits)}が行ロック待ち",
        )
    if server.cores and server.cores_used is not None and server.cores_used >= CPU_FULL * server.cores:
        return Words(
            f"it used {figure(server.cores_used)} of its host's {server.cores} cores",
            f"DBがホストの{server.cores}コア中{figure(server.cores_used)}を使用",
        )
    return None


def _no_server(seen: Seen, server: ServerSeen | None) -> Note:
    if server is None and seen.servers:
        return Note(
            id="several-servers",
            weight=Weight.UNKNOWN,
            text=Words(
                f"{len(seen.servers)} database servers are seen; choose the one that these pools belong to.",
                f"DBサーバーが{len(seen.servers)}台見えている。これらのプールの接続先を選ぶこと。",
            ),
        )
    return Note(
        id="no-server",
        weight=Weight.UNKNOWN,
        text=Words(
            "Whether the database has room cannot be told: its max_connections and its other clients are not seen.",
            "DBに余裕があるかは判断できない。max_connectionsも他のクライアントも見えていない。",
        ),
        config=MYSQL_CONFIG,
    )


def _exceeding(seen: Seen, server: ServerSeen) -> list[Note]:
    limits = [pool.max_open for pool in seen.pools if pool.max_open]
    left = server.max_connections - (server.others or 0.0)
    if server.others is None or not limits or sum(limits) <= left:
        return []
    return [
        Note(
            id="exceeds-server",
            weight=Weight.WRONG,
            text=Words(
                f"As they are set now, the pools may open {count(sum(limits))} connections; beside "
                f"{count(server.others)} of other clients the server takes {count(left)}. Whoever comes last is "
                "refused.",
                f"現在の設定ではプール全体で最大{count(sum(limits))}接続。他のクライアントの{count(server.others)}を"
                f"除くとサーバーが受けるのは{count(left)}で、超えた接続は拒否される。",
            ),
        )
    ]


def _no_room(server: ServerSeen, room: int, total: float) -> Note:
    need, others = total - room + server.max_connections, server.others or 0.0
    return Note(
        id="no-room",
        weight=Weight.WRONG,
        text=Words(
            f"The pools need {count(total)} connections and the database leaves {count(room)}, so larger pools alone "
            f"will not do: what holds a connection has to get {share(1 - room / total)} shorter, or max_connections "
            f"{count(need)}, or other clients fewer than their {count(others)} connections.",
            f"プールに必要な{count(total)}接続に対し、DBに残るのは{count(room)}。プールを大きくするだけでは足りない。"
            f"接続の保持時間を{share(1 - room / total)}短くする、max_connectionsを{count(need)}にする、"
            f"または他のクライアントの{count(others)}接続を減らす。",
        ),
    )


def group_notes(members: Sequence[PoolSeen]) -> list[Note]:
    """Notes on the pools of one name."""
    found = [
        _per_request(members),
        _unlimited(members),
        _short(members),
        _idle_churn(members),
        _age_churn(members),
        _unequal(members),
        _untold(members),
        _hold(members),
    ]
    return [note for note in found if note is not None]


def _per_request(members: Sequence[PoolSeen]) -> Note | None:
    unused = [one.instance for one in members if one.unused_under_load]
    if not unused:
        return None
    return Note(
        id="pool-per-request",
        weight=Weight.WRONG,
        text=Words(
            f"The pool of {', '.join(unused)} stayed empty while requests were served: each request opens one of its "
            "own. Open one pool at the start, and pass it on.",
            f"{'、'.join(unused)}はリクエスト処理中もプールが空のまま。リクエストごとにプールを開いている。起動時に1つ開いて渡すこと。",
        ),
    )


def _unlimited(members: Sequence[PoolSeen]) -> Note | None:
    if not any(one.max_open == 0 for one in members) or all(one.unused_under_load for one in members):
        return None
    most = max(one.most_open for one in members)
    return Note(
        id="pool-unlimited",
        weight=Weight.WRONG,
        text=Words(
            f"The pool has no limit; up to {count(most)} connections were open. In a burst it takes whatever the "
            "database has, also from its other clients.",
            f"プールに上限がない(最大{count(most)}接続)。負荷が集中するとDBの接続を他のクライアントの分まで使い切る。",
        ),
    )


def _short(members: Sequence[PoolSeen]) -> Note | None:
    waits, seconds = sum(one.waits for one in members), sum(one.wait_seconds for one in members)
    if not any(one.demand is not None and one.demand.short for one in members):
        if waits < 1:
            return None
        return Note(
            id="few-waits",
            weight=Weight.INFO,
            text=Words(
                f"{count(waits)} requests waited for a connection, {duration(seconds / waits)} on average: too little "
                "to count.",
                f"接続待ちは{count(waits)}件、平均{duration_ja(seconds / waits)}。問題になるほどではない。",
            ),
        )
    return Note(
        id="pool-too-small",
        weight=Weight.WRONG,
        text=Words(
            f"{count(waits)} requests waited for a connection, {duration(seconds / max(waits, 1))} on average.",
            f"{count(waits)}件が接続待ち、平均{duration_ja(seconds / max(waits, 1))}。",
        ),
    )


def _idle_churn(members: Sequence[PoolSeen]) -> Note | None:
    closed = sum(one.closed_idle for one in members)
    if closed < LEAST_CLOSED:
        return None
    return Note(
        id="pool-churn",
        weight=Weight.WRONG,
        text=Words(
            f"{count(closed)} connections were closed because enough were idle, and dialled again when needed: "
            "MaxIdleConns is below what the load uses (2, where nobody sets it).",
            f"待機数の上限超過で{count(closed)}接続が閉じられ、必要になるたび接続し直した。MaxIdleConns(未設定なら2)が"
            "負荷に対して小さい。",
        ),
    )


def _age_churn(members: Sequence[PoolSeen]) -> Note | None:
    worst = max((one for one in members if one.lifetime_seconds), key=_replaced, default=None)
    if worst is None or _replaced(worst) <= 2 or sum(one.closed_old for one in members) < LEAST_CLOSED:
        return None
    return Note(
        id="pool-lifetime-churn",
        weight=Weight.WRONG,
        text=Words(
            f"A lifetime of {duration(worst.lifetime_seconds or 0)} replaces about {figure(_replaced(worst))} "
            "connections a second.",
            f"寿命{duration_ja(worst.lifetime_seconds or 0)}では毎秒約{figure(_replaced(worst))}接続が入れ替わる。",
        ),
    )


def _replaced(pool: PoolSeen) -> float:
    """Connections a second that end by age when all that were open are kept open."""
    return pool.most_open / pool.lifetime_seconds if pool.lifetime_seconds else 0.0


def _unequal(members: Sequence[PoolSeen]) -> Note | None:
    sizes = sorted({one.max_open for one in members if one.max_open is not None})
    if len(sizes) < 2:
        return None
    listed = ", ".join(count(size) for size in sizes)
    return Note(
        id="unequal",
        weight=Weight.INFO,
        text=Words(
            f"Instances have different limits: {listed} connections.", f"インスタンスごとに上限が異なる: {listed}接続。"
        ),
    )


def _untold(members: Sequence[PoolSeen]) -> Note | None:
    if not any(None in (one.max_idle, one.lifetime_seconds, one.idle_seconds) for one in members):
        return None
    return Note(
        id="settings-untold",
        weight=Weight.UNKNOWN,
        text=Words(
            "MaxIdleConns, lifetime or idle time are not known: sql.DBStats lacks them, and the application does not "
            "show them beside it.",
            "MaxIdleConns、寿命、アイドル時間が不明。sql.DBStatsには含まれず、アプリも示していない。",
        ),
        config=SETTINGS_LINES,
    )


def _hold(members: Sequence[PoolSeen]) -> Note | None:
    holds = {one.instance: one.demand.hold_seconds for one in members if one.demand and one.demand.hold_seconds}
    if not holds:
        return None
    middle, longest = statistics.median(holds.values()), max(holds, key=holds.__getitem__)
    far = len(holds) >= LEAST_PEERS and holds[longest] >= FAR * middle
    sick = f"; {longest} for {duration(holds[longest])}" if far else ""
    sick_ja = f"、{longest}のみ{duration_ja(holds[longest])}" if far else ""
    return Note(
        id="hold",
        weight=Weight.INFO,
        text=Words(
            f"Each request holds its connection for {duration(middle)} (in use ÷ requests stored per second){sick}. "
            "Half of that needs half the pool.",
            f"1リクエストの接続保持時間は{duration_ja(middle)}(使用中÷毎秒の処理件数){sick_ja}。半分にすれば必要なプールも半分。",
        ),
    )
