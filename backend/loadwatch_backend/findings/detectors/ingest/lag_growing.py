"""More is accepted than is stored, and what waits grows for as long as the load lasts."""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import focused, largest, since_start, together
from loadwatch_backend.findings.seen.flows import (
    ACCEPTED,
    FLOW_METRICS,
    PROBE,
    STORED,
    Flow,
    floor_of,
    flows,
    tolerance,
)
from loadwatch_backend.findings.seen.numbers import count, duration, duration_ja, figure
from loadwatch_backend.findings.window import Episode, Window, episodes, least_instants
from loadwatch_backend.records.model import FloatArray, IntArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

PAUSE_SECONDS = 10.0
"""A shorter pause of the load does not end it."""
BLIND_SECONDS = 5.0
"""Where nothing tells the lag, what a writer with an interval leaves in so long and longer is compared."""
STALLED_SECONDS = 45.0
BEHIND_SECONDS = 3.0
"""So many seconds of writing have to wait before they are worth a word by themselves."""
LEAST_SHARE = 0.05
"""Of what was accepted, not written in the meantime."""
GROWN = 1.5
LATER, LATER_SECONDS = 1.25, 0.4
"""By so much the lag has to rise."""
DIP, EACH = 0.05, 0.15
TOLD_SHARE = 0.5
EXPLAINED = 0.4
WRITE_SHARE = 0.02
"""Of the load's rate: slower writes are those of a probe."""
SPEED_SECONDS = 4.0
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
    """What waits, over an episode of load: `end` of `taken` requests at last; `accepted` and `stored` per second of it.

    Attributes:
        speed: rows per second while there was something to write; NaN where that is not known.
        until: what ended it, as a person says it; None while the load goes on.
    """

    episode: Episode
    backlog: FloatArray
    end: float
    taken: float
    accepted: float
    stored: float
    speed: float
    until: Words | None

    @property
    def rate(self) -> float:
        return self.stored if math.isnan(self.speed) else self.speed

    @property
    def per_second(self) -> float:
        return self.end / self.taken * self.accepted


def look(window: Window) -> Look:
    """A finding for each instance that falls behind."""
    looks = [one for flow in flows(window) if (one := _look(window, flow)) is not None]
    return Look(
        findings=[finding for one in looks for finding in one.findings],
        clear=together([one.clear for one in looks if one.clear is not None]),
        unjudged=together([one.unjudged for one in looks if one.unjudged is not None]),
    )


def _look(window: Window, flow: Flow) -> Look | None:
    """Of a run the first load in which an instance fell behind, of the present the last one; else the last load."""
    looks = [one for loaded in _loads(window, flow) if (one := _judge(window, flow, loaded)) is not None]
    found = [one for one in looks if one.findings] or looks[-1:]
    return found[0 if window.of_run else -1] if found else None


def _loads(window: Window, flow: Flow) -> list[Episode]:
    """Where requests were accepted, each by one process."""
    least = least_instants(window.grid, flow.interval_ms)
    gap = least_instants(window.grid, flow.interval_ms, seconds=PAUSE_SECONDS)
    found = episodes(focused(window, flow.accepted >= _least_rate(window, flow)), least=least, gap=gap)
    parts = ((one.first, *(at for at in flow.restarts.tolist() if one.first < at < one.end), one.end) for one in found)
    return [Episode(first, end) for part in parts for first, end in pairwise(part) if end - first >= least]


def _least_rate(window: Window, flow: Flow) -> float:
    """Requests per second that are load, and not those of a probe."""
    return max(1.0, 0.1 * float(np.nan_to_num(largest(flow.accepted, window.focus))))


def _judge(window: Window, flow: Flow, loaded: Episode) -> Look | None:
    backlog = flow.backlog(window, loaded)
    known = loaded.first + np.flatnonzero(np.isfinite(backlog[loaded.span]))
    if not len(known):
        return None
    last, seconds = int(known[-1]), len(loaded) * window.step_seconds
    taken = window.total(flow.accepted, loaded.span)
    accepted = taken / seconds
    # A request without an answer is late for its client, not behind its answer.
    behind = float((backlog - np.nan_to_num(flow.in_flight))[last])
    writes = _writes(window, flow, loaded)
    falls, needed = False, 0.0
    if behind >= min(max(LEAST_SHARE * taken, LATER_SECONDS * accepted), BEHIND_SECONDS * accepted):
        falls, needed = _falls_behind(window, flow, loaded, writes, behind)
    if falls is None:
        return Look(
            unjudged=Words(
                f"Needs {duration(needed)} of load to tell whether the writer of {flow.name} cannot follow or waits "
                f"for its interval; there were {duration(seconds)}, and {count(behind)} of {count(taken)} requests "
                "were not stored at their end.",
                f"{flow.name}の書き込みが追いつかないのか間隔待ちなのかの判断には{duration_ja(needed)}の負荷が必要"
                f"(今回は{duration_ja(seconds)}、終了時に{count(taken)}件中{count(behind)}件が未保存)。",
            )
        )
    if not falls:
        most, late = largest(backlog, loaded.span), largest(flow.lag, loaded.span)
        told = ("", "") if math.isnan(late) else (f", {duration(late)} late at most", f"、遅れ最大{duration_ja(late)}")
        return Look(
            clear=Words(
                f"At {flow.name} up to {count(most)} requests were not stored yet{told[0]}, with no clear rise.",
                f"{flow.name}の未保存は最大{count(most)}件{told[1]}で、明らかな増加はない。",
            )
        )
    small = np.flatnonzero(~(backlog[loaded.span] > accepted))
    first = loaded.first + (int(small[-1]) + 1 if len(small) else 0)
    growth = _Growth(
        episode=Episode(min(first, loaded.end - 1), loaded.end),
        backlog=backlog,
        end=float(backlog[last]),
        taken=taken,
        accepted=accepted,
        stored=window.total(flow.stored, loaded.span) / seconds,
        speed=_speed(window, flow, writes),
        until=_until(window, flow, loaded),
    )
    return Look(findings=[_finding(window, flow, growth)])


def _until(window: Window, flow: Flow, loaded: Episode) -> Words | None:
    if loaded.end in flow.restarts:
        return Words("when its process ends", "プロセス終了時に")
    is_over = (flow.accepted[loaded.end : loaded.end + 2] < _least_rate(window, flow)).any()
    return Words("when the load ends", "負荷終了時に") if is_over else None


def _writes(window: Window, flow: Flow, loaded: Episode) -> IntArray:
    """Instants at which rows were stored, up to the next load."""
    busy = np.flatnonzero(flow.accepted[loaded.end :] >= _least_rate(window, flow))
    end = loaded.end + int(busy[0]) if len(busy) else window.grid.count
    least = WRITE_SHARE * largest(flow.accepted, loaded.span)
    return loaded.first + np.flatnonzero(flow.stored[loaded.first : end] > least)


def _speed(window: Window, flow: Flow, writes: IntArray) -> float:
    """Rows per second from the first write to the last one; NaN where these are too near to tell."""
    if not len(writes):
        return 0.0
    between = slice(int(writes[0]) + 1, int(writes[-1]) + 1)
    seconds = (between.stop - between.start) * window.step_seconds
    return window.total(flow.stored, between) / seconds if seconds >= SPEED_SECONDS else math.nan


def _falls_behind(
    window: Window, flow: Flow, loaded: Episode, writes: IntArray, behind: float
) -> tuple[bool | None, float]:
    """Whether it does, None where that cannot be told; and how many seconds of load it takes to tell."""
    step, tail = window.step_seconds, max([loaded.end, *(writes[-1:] + 1).tolist()])
    # The first write may come early or late in an interval: where there are several, it tells nothing of the pauses.
    known = np.array([*writes, *([] if tail > loaded.end else [loaded.end])])
    pauses = np.diff(known if len(writes) > 2 else [loaded.first - 1, *known])
    pause = int(max(*pauses, flow.interval_ms // window.grid.step_ms, 1))
    saw = max(math.ceil(1.5 * pause), 2)
    backlog = flow.backlog(window, loaded)
    lag = flow.lag if _is_told(flow.lag[writes]) else flow.probe
    needed = math.inf
    if _is_told(lag[writes]):
        # What is left when the load has ended is written in less time.
        first = int(known[1 + int(np.argmax(np.diff(known) > 2))]) if len(known) > 1 else tail
        worst = -floor_of(-lag, saw)[first:tail]
        needed = first - loaded.first + 2 * saw
        late = window.total(flow.accepted, loaded.span) / (len(loaded) * step) * largest(worst, slice(None))
        # Of a probe's row that was lost the age grows, too, and faster than what waits.
        is_late = lag is flow.lag or EXPLAINED * late <= behind <= late / EXPLAINED
        if len(worst) >= 2 * saw and np.isfinite(late) and is_late:
            last = int(np.nanargmax(worst)) + 1
            if first + last <= loaded.end - saw:
                return False, 0.0
            return _rises(worst[:last], LATER, LATER_SECONDS, BEHIND_SECONDS), 2 * len(loaded) * step
    blind = saw = round(STALLED_SECONDS / step)
    levels = backlog[loaded.span]
    if len(writes):
        first = int(writes[0]) - loaded.first
        saw = max(math.ceil(1.5 * max(pause, first)), round(BLIND_SECONDS / step), 2)
        blind = first + 2 * saw
        levels = floor_of(backlog, saw)[loaded.first + first + saw : loaded.end]
    if len(loaded) >= blind:
        rises = _rises(levels, GROWN, least=1.0, enough=math.inf)
        if not rises or _stays(backlog, behind, tail, saw):
            return False if rises else rises, 2 * len(loaded) * step
        waits = float(levels[-1]) / max(window.total(flow.stored, loaded.span), 1.0)
        enough = BEHIND_SECONDS / waits
        return (True if enough <= len(loaded) * step else None), enough
    caught_up = backlog[loaded.end : loaded.end + pause] <= tolerance(behind)
    return (False if caught_up.any() else None), min(needed, blind) * step


def _stays(backlog: FloatArray, behind: float, tail: int, saw: int) -> bool:
    """Whether most of what was behind is still missing when nothing has been written for long: it is lost, not late."""
    later = backlog[tail + saw :]
    return bool((later > behind / 2).any())


def _is_told(lag: FloatArray) -> bool:
    return len(lag) > 0 and bool(np.isfinite(lag).mean() >= TOLD_SHARE)


def _rises(values: FloatArray, factor: float, least: float, enough: float) -> bool | None:
    """Whether it rises from the first to the last of four places, by a factor and at least so much, or by `enough`.

    What begins at zero and comes to rest does not: it has to rise at last, too. None where it is higher at last, and
    did not rise all the time.
    """
    known = values[np.isfinite(values)]
    if not len(known):
        return False
    levels: FloatArray = known[np.linspace(0, len(known) - 1, 4).astype(np.int64)]
    grown = levels[-1] - levels[0]
    steps = np.diff(levels)
    if grown < least or (levels[-1] < factor * levels[0] and grown < enough):
        return False
    least_step = -DIP * levels[-1] if grown >= enough else EACH * grown
    return True if steps.min() >= least_step and steps[2] >= EACH * grown else None


def _finding(window: Window, flow: Flow, growth: _Growth) -> Finding:
    episode = growth.episode
    from_ms = window.grid.time_ms(episode.first)
    lag = largest(flow.lag, episode.span)
    limit = largest(flow.queue_limit, episode.span)
    left = (limit - growth.end) / growth.per_second if limit > growth.end and growth.until is None else math.nan
    en = f"{flow.name} accepts {figure(growth.accepted)} requests/s and stores {figure(growth.rate)}; "
    ja = f"{flow.name}は毎秒{figure(growth.accepted)}件を受け付け、保存は毎秒{figure(growth.rate)}件。"
    if growth.until is None:
        en += f"{count(growth.end)} wait"
        ja += f"{count(growth.end)}件が待機"
    else:
        en += f"{count(growth.end)} of {count(growth.taken)} are not stored {growth.until.en}"
        ja += f"{growth.until.ja}{count(growth.taken)}件中{count(growth.end)}件が未保存"
    if growth.speed > 0:
        en += f": {duration(growth.end / growth.speed)} of writing"
        ja += f"(書き込み{duration_ja(growth.end / growth.speed)}分)"
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
                f"The writer stored {figure(growth.rate)} rows/s while work waited for it.",
                f"仕事が待っている間の保存は毎秒{figure(growth.rate)}行。",
            ),
            link=Link.LIMIT,
            expression=f"rate({STORED}{flow.chosen}[5s])",
            unit=Unit.PER_SECOND,
            values=flow.stored,
            value=growth.rate,
            at=growth.episode.end - 1,
            limit=growth.accepted,
        ),
        show(
            window,
            Words(
                f"What is accepted and not stored grew by {figure(growth.per_second)}/s, to {count(growth.end)}.",
                f"受付済みで未保存の件数は毎秒{figure(growth.per_second)}件増え、{count(growth.end)}件になった。",
            ),
            link=Link.DEMAND,
            expression=f"{ACCEPTED}{flow.chosen} - {STORED}{flow.chosen}",
            unit=Unit.COUNT,
            values=growth.backlog,
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
    seen = largest(flow.probe, span)
    if seen >= BEHIND_SECONDS:
        found.append(
            show(
                window,
                Words(
                    f"Seen from outside, a probe's row took {duration(seen)}.",
                    f"外から見ると、プローブの行が現れるまで{duration_ja(seen)}。",
                ),
                link=Link.EFFECT,
                expression=f"{PROBE}{flow.chosen}",
                unit=Unit.SECONDS,
                values=flow.probe,
            )
        )
    return found


def _steps(growth: _Growth, limit: float) -> list[Step]:
    factor = f" ({growth.accepted / growth.speed:.1f} ×)" if growth.speed > 0 else ""
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
                f"Until then this instance bears {figure(growth.rate)} requests/s, not {figure(growth.accepted)}.",
                f"それまでこのインスタンスの限界は毎秒{figure(growth.accepted)}件ではなく{figure(growth.rate)}件。",
            )
        ),
    ]
    if growth.speed > 0 and not limit > 0:
        bound = max(round(growth.speed * 10), 1)
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
    reads=FLOW_METRICS,
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
