"""A process ended while the load needed it."""

from dataclasses import replace

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import LEAST_FAILED, felt, selector, since_start
from loadwatch_backend.findings.seen.hosts import AGENT, CPU, instance_of_host
from loadwatch_backend.findings.seen.lives import LIFE_METRICS, START, Death, deaths, gone, lost_requests, torn
from loadwatch_backend.findings.seen.numbers import count, duration, duration_ja
from loadwatch_backend.findings.window import Episode, Window
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

KILLS = "node_vmstat_oom_kill"

KIND = Kind(
    id="process-died",
    severity=Severity.CRITICAL,
    title=Words("A process ended", "プロセスの終了"),
    explanation=Words(
        "The process is gone, or another one runs in its place. The requests that it was answering were reset, those "
        "that came next were refused, and what it held in memory is lost.",
        "プロセスが終了した、または別のプロセスに替わった。処理中のリクエストはリセットされ、続くリクエストは拒否され、"
        "メモリ上のデータは失われる。",
    ),
    rule=Rule(
        text=Words(
            "A process that ends on purpose finishes its requests first: clients are refused, but not reset.",
            "意図した終了では処理中のリクエストを終えてから止まる。拒否はあってもリセットはない。",
        ),
        source="Go, package net/http, func (*Server) Shutdown",
    ),
    refuted_by=Words(
        "The journal shows that it was stopped on purpose at that time (a deployment).",
        "その時間に意図して停止した記録(デプロイなど)がジャーナルにあること。",
    ),
)


def look(window: Window) -> Look:
    """One finding for each process that ended while requests failed; a planned restart accuses nobody."""
    findings: list[Finding] = []
    observations: list[Words] = []
    seen = deaths(window)
    for death in seen:
        episode = gone(window, death)
        effects = felt(window, episode)
        failed = lost_requests(window, death)
        if failed >= LEAST_FAILED and effects:
            findings.append(_finding(window, death, episode, failed, effects))
        else:
            observations.append(_ended(window, death))
    return Look(findings=findings, clear=None if seen else _clear(window), observations=observations)


def _clear(window: Window) -> Words | None:
    names = sorted({one.get("instance", one.get("job", "")) for one in window[START].labels})
    words = Words(f"No process ended ({len(names)} watched).", f"終了したプロセスなし(監視対象{len(names)})。")
    return words if names else None


def _ended(window: Window, death: Death) -> Words:
    when = since_start(window, window.grid.time_ms(death.at), "at ")
    return Words(
        f"The process of {death.name} ended {when.en}" + (" and was started anew." if death.back else "."),
        f"{death.name}のプロセスが{when.ja}に終了" + ("し、再起動した。" if death.back else "した。"),
    )


def _finding(window: Window, death: Death, episode: Episode, failed: float, effects: list[Evidence]) -> Finding:
    from_ms = window.grid.time_ms(death.at)
    when = since_start(window, from_ms, "at ")
    killed = _killed(window, death)
    planned = death.back is not None and not torn(window, death) and not killed
    away = Words("and did not come back", "したまま戻らなかった")
    if death.back == death.at:
        away = Words("and another one ran in its place", "し、別のプロセスに替わった")
    elif death.back is not None:
        seconds = (death.back - death.at) * window.step_seconds
        away = Words(f"and ran again {duration(seconds)} later", f"し、{duration_ja(seconds)}後に再び動いた")
    by = Words(" (the kernel killed a process for lack of memory)", "(カーネルがメモリ不足でプロセスを停止)")
    return Finding(
        kind=KIND,
        sentence=Words(
            f"The process of {death.name} ended {when.en}{by.en if killed else ''} {away.en}; {count(failed)} requests "
            "failed meanwhile.",
            f"{death.name}のプロセスが{when.ja}に終了{by.ja if killed else ''}{away.ja}。"
            f"その間にリクエスト{count(failed)}件が失敗した。",
        ),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=death.labels,
        evidence=[
            show(
                window,
                _ended(window, death),
                link=Link.LIMIT,
                expression=f"up{selector({**death.labels, 'collector': 'process'})}",
                unit=Unit.COUNT,
                values=death.running,
                value=0.0,
                at=death.at,
            ),
            *killed,
            *(replace(one, link=Link.DEMAND) if 'outcome="refused"' in one.expression else one for one in effects),
        ],
        steps=[
            Step(
                text=Words("See why it ended.", "終了の理由を確認する。"),
                code="journalctl -u <unit> -n 100\ndmesg -T | grep -i -E 'oom|killed process|segfault'",
            )
        ],
        severity=Severity.INFO if planned else None,
    )


def _killed(window: Window, death: Death) -> list[Evidence]:
    """The kernel killed a process of this host for lack of memory, about then."""
    place = instance_of_host(window, death.labels)
    if place is None:
        return []
    kills = window[KILLS].where(**{"instance": place}).rate
    around = slice(max(death.at - 5, 0), min(death.at + 5, window.grid.count))
    if window.total(kills, around) < 0.5:
        return []
    return [
        show(
            window,
            Words(
                "The kernel killed a process of this host for lack of memory.",
                "カーネルがこのホストのプロセスをメモリ不足で停止した。",
            ),
            link=Link.DEMAND,
            expression=f'increase({KILLS}{{instance="{place}"}}[1m])',
            unit=Unit.PER_SECOND,
            values=np.asarray(kills),
        )
    ]


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(START,),
    reads=(*LIFE_METRICS, KILLS, AGENT, CPU),
    follows=("host-memory-growing", "host-swapping", "file-descriptors-exhausted"),
    switched_on_by="process:\n  port: 8080",
)
