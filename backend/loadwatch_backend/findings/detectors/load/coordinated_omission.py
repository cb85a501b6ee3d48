"""Whoever sends waits for answers: little is sent while the system is slow, and latencies look too good."""

import numpy as np

from loadwatch_backend.findings.engine import look_of
from loadwatch_backend.findings.model import Detector, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import focused, since_start, usual
from loadwatch_backend.findings.seen.numbers import count, duration, duration_ja, figure
from loadwatch_backend.findings.window import BoolArray, Load, Window
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

CLOSED = frozenset({"hey", "wrk", "oha", "ab", "siege", "locust", "jmeter"})
"""Tools whose users wait for an answer before they send again, unless they are given a rate."""
SLOWER, LESS = 2.0, 0.7
LEAST_SECONDS = 5.0
LEAST_SLOWER_SECONDS = 0.05
CAPPED_SHARE = 0.9
SAME_USERS = 2.0
"""Users by Little's law in quick and in slow seconds differ by less than this in a closed system."""

KIND = Kind(
    id="coordinated-omission",
    severity=Severity.INFO,
    title=Words("Slow moments are under-represented in the latencies", "遅い時間帯の過小評価(coordinated omission)"),
    explanation=Words(
        "The users of the load tool wait for an answer before they send again. While the system is slow they send "
        "little, so few slow answers are counted; real clients would have gone on coming. Percentiles of such a run "
        "are lower than what clients would see.",
        "負荷ツールのユーザーは応答を待ってから次を送る。遅い間は送信が減り、遅い応答が少ししか数えられない。実際の"
        "クライアントは送り続けるため、実際の百分位はこの結果より悪い。",
    ),
    rule=Rule(
        text=Words(
            "To measure latency, send at a rate that does not depend on the answers (an open model).",
            "応答時間を測るときは、応答に依存しない一定のレートで送る(オープンモデル)。",
        ),
        source="B. Schroeder, A. Wierman, M. Harchol-Balter, Open Versus Closed: A Cautionary Tale, NSDI 2006",
    ),
    refuted_by=Words(
        "A run at a constant rate whose percentiles are the same.", "一定レートの試験でも百分位が同じであること。"
    ),
)


def look(window: Window) -> Look:
    """At most one finding, of the whole load."""
    load, generator = window.load, window.generator
    if load is None or np.isfinite(window.inside(load.target)).any():
        return Look()
    if generator is not None and generator.target_rate:
        return Look()
    tool = "" if generator is None else generator.tool
    if tool not in CLOSED and not _capped(window.inside(load.users)):
        return Look()
    slow = _slow(window, load)
    if slow is None:
        return Look(
            clear=Words("The rate did not fall while answers were slow.", "応答が遅い間も送信レートは落ちていない。")
        )
    return look_of(_finding(window, load, tool, slow), None)


def _capped(users: FloatArray) -> bool:
    known = users[np.isfinite(users)]
    return bool(known.size >= 3 and known.max() > 0 and float((known >= known.max()).mean()) >= CAPPED_SHARE)


def _slow(window: Window, load: Load) -> BoolArray | None:
    """Where answers were slow and little was sent; None where that is too short, or no sign of users that wait."""
    median, rate = load.p50, load.rate
    known = window.inside(median)
    known = known[np.isfinite(known)]
    if known.size < 2 * LEAST_SECONDS:
        return None
    quick = float(np.quantile(known, 0.25))
    slow = focused(window, median >= max(SLOWER * quick, quick + LEAST_SLOWER_SECONDS))
    fast = focused(window, median < SLOWER * quick)
    if int(slow.sum()) * window.step_seconds < LEAST_SECONDS or int(fast.sum()) * window.step_seconds < LEAST_SECONDS:
        return None
    sent_fast, sent_slow = float(np.nanmean(rate[fast])), float(np.nanmean(rate[slow]))
    if not (np.isfinite(sent_fast + sent_slow) and sent_fast > 0 and sent_slow <= LESS * sent_fast):
        return None
    users_fast, users_slow = (float(np.nanmean((rate * median)[part])) for part in (fast, slow))
    if not 1 / SAME_USERS <= users_slow / max(users_fast, 1e-9) <= SAME_USERS:
        return None
    return slow


def _finding(window: Window, load: Load, tool: str, slow: BoolArray) -> Finding:
    places = np.flatnonzero(slow)
    fast = focused(window, np.isfinite(load.p50) & ~slow)
    sent_fast, sent_slow = float(np.nanmean(load.rate[fast])), float(np.nanmean(load.rate[slow]))
    median = float(np.nanmedian(load.p50[slow]))
    unsent = (sent_fast - sent_slow) * int(slow.sum()) * window.step_seconds
    from_ms = window.grid.time_ms(int(places[0]))
    when = since_start(window, from_ms)
    name = tool or "the load tool"
    users = usual(load.users, window.focus)
    return Finding(
        kind=KIND,
        sentence=Words(
            f"From {when.en} on, while half of the answers took {duration(median)} or more, {name} sent "
            f"{figure(sent_slow)} requests/s instead of {figure(sent_fast)}: about {count(unsent)} requests that would "
            "have been slow were never sent, and the percentiles are too low.",
            f"{when.ja}から、応答の半分が{duration_ja(median)}以上かかる間、{tool or '負荷ツール'}の送信は毎秒"
            f"{figure(sent_fast)}件から{figure(sent_slow)}件に減った。遅くなるはずの約{count(unsent)}件が送られず、"
            "百分位は低く出ている。",
        ),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(int(places[-1])),
        labels={"tool": tool} if tool else {},
        evidence=[
            show(
                window,
                Words(
                    f"{figure(sent_slow)} requests/s while answers were slow, {figure(sent_fast)} else"
                    + (f", from {count(users)} users all the time." if np.isfinite(users) else "."),
                    f"遅い間は毎秒{figure(sent_slow)}件、それ以外は{figure(sent_fast)}件"
                    + (f"(ユーザー数は常に{count(users)})。" if np.isfinite(users) else "。"),
                ),
                link=Link.LIMIT,
                expression="sum(rate(loadtest_requests_total[5s]))",
                unit=Unit.PER_SECOND,
                values=load.rate,
                value=sent_slow,
                at=int(places[len(places) // 2]),
            ),
            show(
                window,
                Words(f"The median rose to {duration(median)}.", f"中央値は{duration_ja(median)}に上昇。"),
                link=Link.EFFECT,
                expression='max(loadtest_request_duration_seconds{quantile="0.5"})',
                unit=Unit.SECONDS,
                values=load.p50,
                value=median,
                at=int(places[len(places) // 2]),
            ),
        ],
        steps=[
            Step(
                text=Words(
                    f"Send at a constant rate, say {figure(sent_fast)}/s as in the quick part, and look at the "
                    "percentiles of that run.",
                    f"一定のレート(速い部分の毎秒{figure(sent_fast)}件など)で送り、その百分位を見る。",
                ),
                code=f"vegeta attack -rate={max(round(sent_fast), 1)}/s -duration=60s -targets=urls | vegeta report",
            )
        ],
    )


DETECTOR = Detector(kind=KIND, look=look, needs=())
