"""The host moves memory to and from disk while programs wait for it."""

from collections.abc import Mapping

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import felt, focused, largest, selector, since_start, together, usual
from loadwatch_backend.findings.seen.numbers import count, figure, share, size
from loadwatch_backend.findings.window import Episode, Window, episodes, least_instants
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

IN, OUT = "node_vmstat_pswpin", "node_vmstat_pswpout"
FAULTS = "node_vmstat_pgmajfault"
PRESSURE = "node_pressure_memory_waiting_seconds_total"

LEAST_PAGES = 50.0
"""A second: what lies in swap may lie there since yesterday, pages that move hurt now."""
LEAST_FAULTS = 20.0
LEAST_WAITING = 0.1
PAGE_BYTES = 4_096

KIND = Kind(
    id="host-swapping",
    resource="host_swap",
    severity=Severity.CRITICAL,
    title=Words("The host swaps", "スワップの発生"),
    explanation=Words(
        "Memory is used up and the disk stands in for it. Whoever touches a page that was moved waits for the disk, "
        "thousands of times longer than for memory; every figure of this time is off.",
        "メモリが足りず、ディスクで補っている。追い出されたページに触れるとディスク待ちになり、メモリの数千倍かかる。"
        "この間の数値はすべてその影響を受ける。",
    ),
    rule=Rule(
        text=Words(
            "Pages that come back from swap (pswpin, major faults) are waited for; pages that go out (pswpout) are "
            "not, but say what comes.",
            "スワップから戻るページ(pswpin、メジャーフォールト)は待ちになる。出ていくページ(pswpout)はその前触れ。",
        ),
        source="proc_vmstat(5); getrusage(2), ru_majflt",
    ),
    refuted_by=Words(
        "vmstat 1 with si and so at 0 while the answers are slow.",
        "応答が遅い間もvmstat 1のsiとsoが0であること。",
    ),
)


def look(window: Window) -> Look:
    """One finding for each host that swapped while somebody waited for it."""
    findings: list[Finding] = []
    clear: list[Words] = []
    observations: list[Words] = []
    for labels, table in window[IN].by("job", "instance"):
        moved = table.rate + np.nan_to_num(window[OUT].where(**labels).rate)
        most = largest(moved, window.focus)
        if not np.isfinite(most):
            continue
        name = labels.get("instance", "the host")
        words = Words(
            f"{name} moved {figure(most)} pages a second to and from swap at most.",
            f"{name}のスワップは最大毎秒{figure(most)}ページ。",
        )
        least = least_instants(window.grid, table.slowest_ms)
        found = episodes(focused(window, moved > LEAST_PAGES), least=least, gap=5)
        if not found:
            clear.append(words)
            continue
        episode = window.one_of(found)
        waits, effects = _waits(window, labels, episode), felt(window, episode)
        if not waits or (window.load is not None and not effects):
            observations.append(words)
            continue
        findings.append(_finding(window.during(episode), labels, moved, episode, [*waits, *effects]))
    return Look(findings=findings, clear=together(clear), observations=observations)


def _waits(window: Window, labels: Mapping[str, str], episode: Episode) -> list[Evidence]:
    """Somebody waited: faults that read from disk, or time that tasks stood still for memory."""
    chosen, found = selector(labels), list[Evidence]()
    faults = window[FAULTS].where(**labels).rate
    often = usual(faults, episode.span)
    if often >= LEAST_FAULTS:
        found.append(
            show(
                window,
                Words(
                    f"{figure(often)} page faults a second waited for the disk.",
                    f"毎秒{figure(often)}回のページフォールトがディスク待ち。",
                ),
                link=Link.DEMAND,
                expression=f"rate({FAULTS}{chosen}[5s])",
                unit=Unit.PER_SECOND,
                values=faults,
                value=often,
                at=episode.first,
            )
        )
    waiting = window[PRESSURE].where(**labels).rate
    stood = usual(waiting, episode.span)
    if stood >= LEAST_WAITING:
        found.append(
            show(
                window,
                Words(
                    f"Tasks waited for memory {share(min(stood, 1.0))} of the time.",
                    f"時間の{share(min(stood, 1.0))}でタスクがメモリ待ち。",
                ),
                link=Link.DEMAND,
                expression=f"rate({PRESSURE}{chosen}[5s])",
                unit=Unit.RATIO,
                values=waiting,
                value=stood,
                at=episode.first,
            )
        )
    return found


def _finding(
    window: Window, labels: Mapping[str, str], moved: FloatArray, episode: Episode, harm: list[Evidence]
) -> Finding:
    from_ms = window.grid.time_ms(episode.first)
    when, name = since_start(window, from_ms), labels.get("instance", "the host")
    pages = window.total(moved, episode.span)
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{name} swapped from {when.en}: {count(pages)} pages ({size(pages * PAGE_BYTES)}), up to "
            f"{figure(largest(moved, episode.span))} a second. {harm[-1].text.en}",
            f"{name}で{when.ja}からスワップが発生({count(pages)}ページ、{size(pages * PAGE_BYTES)}、最大毎秒"
            f"{figure(largest(moved, episode.span))})。{harm[-1].text.ja}",
        ),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=labels,
        evidence=[
            show(
                window,
                Words(f"{count(pages)} pages moved to and from swap.", f"スワップで{count(pages)}ページが移動。"),
                link=Link.LIMIT,
                expression=f"rate({IN}{selector(labels)}[5s]) + rate({OUT}{selector(labels)}[5s])",
                unit=Unit.PER_SECOND,
                values=moved,
            ),
            *harm,
        ],
        steps=[
            Step(
                text=Words("See who holds the memory.", "メモリを使っているプロセスを確認する。"),
                code="ps -eo pid,rss,args --sort=-rss | head",
            ),
            Step(
                text=Words(
                    "Give the largest a bound (GOMEMLIMIT, innodb_buffer_pool_size), or the host more memory; then "
                    "empty swap before the next run, for it slows that down too.",
                    "最大のものに上限を設けるか(GOMEMLIMIT、innodb_buffer_pool_size)、メモリを増やす。次の実行前に"
                    "スワップを空にする。残ると次の実行も遅くなる。",
                ),
                code="swapoff -a && swapon -a",
            ),
        ],
    )


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(IN,),
    reads=(OUT, FAULTS, PRESSURE),
    follows=("host-memory-growing", "ingest-lag-growing", "queue-full"),
    switched_on_by="host: {}",
)
