"""More is accepted than is stored, and what waits grows for as long as the load lasts."""

import math
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import focused, largest, since_start, together
from loadwatch_backend.findings.seen.flows import ACCEPTED, FLOW_METRICS, QUEUE, STORED, Flow, floor_of, flows, waits
from loadwatch_backend.findings.seen.numbers import count, duration, duration_ja, figure
from loadwatch_backend.findings.window import Episode, Window, episodes, least_instants
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

PROBE = "probe_ingest_lag_seconds"
LEAST_SECONDS = 10.0
"""A writer with an interval falls back and catches up: what counts is what it never catches up with in so long."""
STALLED_SECONDS = 45.0
BEHIND_SECONDS = 3.0
"""So many seconds of writing have to wait before they are worth a word."""
LEAST_SHARE = 0.05
"""Of what was accepted, not written in the meantime."""
GROWN = 1.5
FULL = 0.95
GRAVE_SECONDS = 60.0

KIND = Kind(
    id="ingest-lag-growing",
    severity=Severity.WARNING,
    title=Words("Rows fall further and further behind", "DB書き込みの遅れが拡大"),
    explanation=Words(
        "The application accepts requests faster than it writes them, so they pile up in memory. The load tool sees "
        "fast answers all the while; whoever reads the database sees older and older data, and what waits is lost when "
        "the process dies.",
        "書き込みより速くリクエストを受け付けているため、メモリーに溜まり続ける。負荷ツールからは速く見えるが、"
        "DBのデータは古くなる一方で、プロセスが落ちれば待っている分は失われる。",
    ),
    rule=Rule(
        text=Words(
            "A queue that gets more than it gives away has no steady state: it grows until it is full or load ends.",
            "到着が処理を上回る待ち行列に定常状態はない。満杯になるか負荷が終わるまで伸び続ける。",
        ),
        source="L. Kleinrock, Queueing Systems, Volume 1: Theory (1975)",
    ),
    refuted_by=Words(
        "A queue that falls back to zero under the same load, as one does that is flushed at long intervals.",
        "同じ負荷の下で待ちが0まで戻ること(長い間隔でまとめて書く場合など)。",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Growth:
    """What waits, over an episode of load: `begin` requests at first, `end` at last, `stored` per second."""

    episode: Episode
    queue: FloatArray
    begin: float
    end: float
    accepted: float
    stored: float
    per_second: float


def look(window: Window) -> Look:
    """A finding for each instance that falls behind."""
    findings: list[Finding] = []
    clear: list[Words] = []
    for flow in flows(window):
        loaded = _loaded(window, flow)
        if loaded is None:
            continue
        growth = _growth(window, flow, loaded)
        if growth is not None:
            findings.append(_finding(window, flow, growth))
            continue
        most = largest(flow.lag, loaded.span)
        held = largest(waits(flow, window), loaded.span)
        if not math.isfinite(held):
            continue
        late = (
            Words(f", {duration(most)} late at most", f"、遅れ最大{duration_ja(most)}") if math.isfinite(most) else None
        )
        clear.append(
            Words(
                f"At {flow.name} up to {count(held)} requests waited to be written{late.en if late else ''}, "
                "and did not grow in number.",
                f"{flow.name}の書き込み待ちは最大{count(held)}件{late.ja if late else ''}で、増え続けてはいない。",
            )
        )
    return Look(findings=findings, clear=together(clear))


def _loaded(window: Window, flow: Flow) -> Episode | None:
    """Where requests were accepted, all of it together."""
    most = largest(flow.accepted, window.focus)
    if not most > 0:
        return None
    holds = focused(window, flow.accepted >= max(1.0, 0.1 * most))
    least = least_instants(window.grid, flow.interval_ms, seconds=LEAST_SECONDS)
    found = episodes(holds, least=least, gap=least)
    return found[0].joined(found[-1]) if found else None


def _growth(window: Window, flow: Flow, loaded: Episode) -> _Growth | None:
    step, seconds = window.step_seconds, len(loaded) * window.step_seconds
    accepted, stored = (window.total(rates, loaded.span) / seconds for rates in (flow.accepted, flow.stored))
    failed = window.total(flow.failed, loaded.span) / seconds
    if not bool(np.isfinite(flow.stored[loaded.span]).any()) or accepted - stored - failed < LEAST_SHARE * accepted:
        return None
    queue = waits(flow, window)
    if stored > 0:
        # A flush may be long in coming: only what is left after one says that the writer cannot follow.
        pause = _longest_pause(flow.stored[loaded.span])
        saw = max(round(LEAST_SECONDS / step), 3 * flow.interval_ms // window.grid.step_ms, math.ceil(1.5 * pause))
    else:
        saw = max(round(STALLED_SECONDS / step), 1)
    if len(loaded) < (2 * saw if stored > 0 else saw):
        return None
    floor = floor_of(queue, saw if stored > 0 else 1)
    places = np.linspace(loaded.first + (saw if stored > 0 else 0), loaded.end - 1, 4).astype(np.int64)
    levels: FloatArray = floor[places]
    if not np.isfinite(levels).all():
        return None
    limit = largest(flow.queue_limit, loaded.span)
    rises = bool((np.diff(levels) > 0).all()) and levels[-1] >= GROWN * levels[0]
    full = limit > 0 and levels[-1] >= FULL * limit
    if not (rises or full) or levels[-1] < BEHIND_SECONDS * stored:
        return None
    small = max(stored, 1.0)
    short = np.flatnonzero(~(queue[loaded.span] > small))
    first = loaded.first + (int(short[-1]) + 1 if len(short) else 0)
    if first >= loaded.end - 1:
        return None
    return _Growth(
        episode=Episode(first, loaded.end),
        queue=queue,
        begin=float(levels[0]),
        end=float(queue[loaded.end - 1]),
        accepted=accepted,
        stored=stored,
        per_second=accepted - stored - failed,
    )


def _longest_pause(stored: FloatArray) -> int:
    """Instants between two at which rows were written, at most."""
    wrote = np.flatnonzero(stored > 0)
    return int(np.diff(np.concatenate([[-1], wrote, [len(stored)]])).max()) if len(wrote) else len(stored)


def _finding(window: Window, flow: Flow, growth: _Growth) -> Finding:
    episode = growth.episode
    from_ms = window.grid.time_ms(episode.first)
    behind = growth.end / growth.stored if growth.stored > 0 else len(episode) * window.step_seconds
    lag = largest(flow.lag, episode.span)
    limit = largest(flow.queue_limit, episode.span)
    left = (limit - growth.end) / growth.per_second if limit > growth.end else math.nan
    en = (
        f"{flow.name} accepts {figure(growth.accepted)} requests/s and stores {figure(growth.stored)}; "
        f"{count(growth.end)} wait"
    )
    ja = (
        f"{flow.name}は毎秒{figure(growth.accepted)}件を受け付け、保存は毎秒{figure(growth.stored)}件。"
        f"{count(growth.end)}件が待機"
    )
    if growth.stored > 0:
        en += f", {duration(behind)} of writing"
        ja += f"(書き込み{duration_ja(behind)}分)"
    if math.isfinite(left):
        en += f", and its queue of {count(limit)} is full in {duration(left)}"
        ja += f"し、{count(limit)}件のキューは{duration_ja(left)}後に満杯になる"
    when = since_start(window, from_ms, "at ")
    grave = math.isfinite(lag) and lag >= GRAVE_SECONDS
    return Finding(
        kind=KIND,
        sentence=Words(f"{en}. It began {when.en}.", f"{ja}。{when.ja}に始まった。"),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=flow.labels,
        evidence=_evidence(window, flow, growth, lag),
        steps=_steps(growth, limit),
        severity=Severity.CRITICAL if grave else None,
    )


def _evidence(window: Window, flow: Flow, growth: _Growth, lag: float) -> list[Evidence]:
    span = growth.episode.span
    found = [
        show(
            window,
            Words(
                f"The writer stored {figure(growth.stored)} rows/s while work waited for it.",
                f"仕事が待っている間の保存は毎秒{figure(growth.stored)}行。",
            ),
            link=Link.LIMIT,
            expression=f"rate({STORED}{flow.chosen}[5s])",
            unit=Unit.PER_SECOND,
            values=flow.stored,
            value=growth.stored,
            at=growth.episode.end - 1,
            limit=growth.accepted,
        ),
        show(
            window,
            Words(
                f"What waits grew by {figure(growth.per_second)} a second, to {count(growth.end)}.",
                f"待ちは毎秒{figure(growth.per_second)}件増え、{count(growth.end)}件になった。",
            ),
            link=Link.DEMAND,
            expression=f"{QUEUE}{flow.chosen} or ({ACCEPTED}{flow.chosen} - {STORED}{flow.chosen})",
            unit=Unit.COUNT,
            values=growth.queue,
            value=growth.end,
            at=growth.episode.end - 1,
        ),
    ]
    if lag >= BEHIND_SECONDS:
        found.append(
            show(
                window,
                Words(
                    f"Rows came up to {duration(lag)} after their requests.",
                    f"行はリクエストから最大{duration_ja(lag)}遅れ。",
                ),
                link=Link.EFFECT,
                expression=f'ingest_lag_seconds{flow.chosen[:-1]},stat="max"}} or ingest_oldest_seconds{flow.chosen}',
                unit=Unit.SECONDS,
                values=flow.lag,
            )
        )
    probe = window[PROBE].max
    seen = largest(probe, span)
    if seen >= BEHIND_SECONDS:
        found.append(
            show(
                window,
                Words(
                    f"Seen from outside, a probe's row took {duration(seen)}.",
                    f"外から見ると、プローブの行が現れるまで{duration_ja(seen)}。",
                ),
                link=Link.EFFECT,
                expression=f"max({PROBE})",
                unit=Unit.SECONDS,
                values=probe,
            )
        )
    return found


def _steps(growth: _Growth, limit: float) -> list[Step]:
    factor = f" ({growth.accepted / growth.stored:.1f} ×)" if growth.stored > 0 else ""
    steps = [
        Step(
            text=Words(
                f"The writer has to reach {figure(growth.accepted)} rows/s{factor}: write larger batches, or with "
                "several writers side by side.",
                f"書き込みは毎秒{figure(growth.accepted)}行{factor}が必要。1回の行数を増やすか、並列に書く。",
            )
        ),
        Step(
            text=Words(
                f"Until then this instance bears {figure(growth.stored)} requests/s, not {figure(growth.accepted)}.",
                f"それまでこのインスタンスの限界は毎秒{figure(growth.accepted)}件ではなく{figure(growth.stored)}件。",
            )
        ),
    ]
    if not limit > 0:
        bound = max(round(growth.stored * 10), 1)
        steps.append(
            Step(
                text=Words(
                    f"Bound what waits, at ten seconds of writing ({count(bound)}), and answer 503 beyond.",
                    f"待ちの上限を書き込み10秒分({count(bound)}件)とし、超えたら503を返す。",
                )
            )
        )
    return steps


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(ACCEPTED, STORED),
    reads=(*FLOW_METRICS, PROBE),
    follows=(
        "pool-exhausted",
        "pool-per-request",
        "database-connections-exhausted",
        "database-cpu-full",
        "database-lock-waits",
        "database-deadlocks",
        "database-iops-full",
        "database-storage-full",
        "database-memory-low",
        "file-descriptors-exhausted",
        "app-cpu-full",
        "container-throttled",
        "app-lock-stall",
        "cold-cache",
        "tables-grown",
    ),
    usual=False,
    switched_on_by=(
        "dbstats:\n  url: http://127.0.0.1:8080/debug/dbstats  # with ingest.accepted, ingest.stored, ingest.queue"
    ),
)
