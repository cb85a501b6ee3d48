"""A program's memory grows all the time, and the host's ends."""

from collections.abc import Mapping

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import clock_of, felt, focused, largest, selector, since_start, together
from loadwatch_backend.findings.seen.host_cpu import OWN_JOBS
from loadwatch_backend.findings.seen.hosts import AGENT, CPU, instance_of_host
from loadwatch_backend.findings.seen.numbers import duration, duration_ja, share, size
from loadwatch_backend.findings.window import Episode, Window, episodes, least_instants
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

RESIDENT = "process_resident_memory_bytes"
AVAILABLE, TOTAL = "node_memory_MemAvailable_bytes", "node_memory_MemTotal_bytes"
SWAPPED = "node_vmstat_pswpout"

PARTS = 6
"""Of the window: memory that grows does so from each part to the next, a cache that fills stops."""
LEAST_GROWTH = 0.1
"""Of the host's memory, over the window."""
LITTLE = 0.1
"""Share of the host's memory that is left, from which the kernel takes pages away."""
SWAPPING = 50.0

KIND = Kind(
    id="host-memory-growing",
    severity=Severity.CRITICAL,
    title=Words("Memory grows without end", "メモリの増加"),
    explanation=Words(
        "A program takes more memory all the time and gives none back: a queue or a cache without a bound, or a leak. "
        "When the host has none left it swaps, and then the kernel kills a process.",
        "プログラムのメモリが増え続け、戻らない。上限のないキューやキャッシュ、またはリーク。ホストのメモリが尽きると"
        "スワップが始まり、やがてカーネルがプロセスを停止する。",
    ),
    rule=Rule(
        text=Words(
            "MemAvailable is what can be given out without swapping; MemFree is not, for the page cache counts as "
            "taken there.",
            "スワップせずに渡せる量はMemAvailable。MemFreeはページキャッシュを使用中に数えるため目安にならない。",
        ),
        source="proc_meminfo(5)",
    ),
    refuted_by=Words(
        "Memory that stays flat, or falls, when this load goes on for longer.",
        "同じ負荷を続けるとメモリが横ばいになる、または減ること。",
    ),
)


def look(window: Window) -> Look:
    """One finding for each program that grows on a host whose memory ends."""
    findings: list[Finding] = []
    clear: list[Words] = []
    observations: list[Words] = []
    for labels, table in window[RESIDENT].by("job", "instance", "name"):
        if labels.get("job") in OWN_JOBS:
            continue
        place = instance_of_host(window, labels)
        total = float("nan") if place is None else largest(window[TOTAL].where(instance=place).max, window.focus)
        taken = table.sum
        first, last = _ends(window, taken)
        if place is None or not np.isfinite(first + last + total) or total <= 0:
            continue
        name = labels.get("name") or labels.get("instance", "the process")
        words = Words(
            f"{name} took {size(last)} at the end, {size(first)} at the beginning; the host has {size(total)}.",
            f"{name}のメモリは開始時{size(first)}、終了時{size(last)}(ホストは{size(total)})。",
        )
        if not _grows(window, taken, LEAST_GROWTH * total):
            clear.append(words)
            continue
        episode = _short(window, place, total)
        if episode is None:
            observations.append(words)
            continue
        findings.append(_finding(window, labels, place, taken, total, episode))
    return Look(findings=findings, clear=together(clear), observations=observations)


def _ends(window: Window, taken: FloatArray) -> tuple[float, float]:
    known = taken[window.focus][np.isfinite(taken[window.focus])]
    return (float(known[0]), float(known[-1])) if known.size else (float("nan"), float("nan"))


def _grows(window: Window, taken: FloatArray, least: float) -> bool:
    """Whether each part of the window has more than the one before, and all together at least so many bytes."""
    inside = taken[window.focus]
    parts = [part[np.isfinite(part)] for part in np.array_split(inside, PARTS)]
    if any(not part.size for part in parts):
        return False
    medians = np.array([np.median(part) for part in parts])
    grown = np.diff(medians)
    return bool((grown > 0).all() and medians[-1] - medians[0] >= least)


def _short(window: Window, place: str, total: float) -> Episode | None:
    """Where the host had little memory left, or put some of it into swap."""
    available = window[AVAILABLE].where(instance=place)
    swapped = window[SWAPPED].where(instance=place).rate
    holds = focused(window, (available.max < LITTLE * total) | (swapped > SWAPPING))
    found = episodes(holds, least=least_instants(window.grid, available.slowest_ms), gap=5)
    return window.one_of(found) if found else None


def _finding(
    window: Window, labels: Mapping[str, str], place: str, taken: FloatArray, total: float, episode: Episode
) -> Finding:
    from_ms = window.grid.time_ms(episode.first)
    when, name = since_start(window, from_ms), labels.get("name") or labels.get("instance", "the process")
    first, last = _ends(window, taken)
    available = window[AVAILABLE].where(instance=place).max
    least = -largest(-available, episode.span)
    seconds = (window.to_ms - window.from_ms) / 1_000
    pace = (last - first) / seconds
    left = least / pace if pace > 0 else float("nan")
    now = Words("", "") if window.of_run else Words(f" from {clock_of(window.to_ms)}", f"{clock_of(window.to_ms)}から")
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{name} grew from {size(first)} to {size(last)} in {duration(seconds)}; {place} had {size(least)} of "
            f"{size(total)} left from {when.en}. At this pace that lasts for {duration(left)}{now.en}.",
            f"{name}のメモリは{duration_ja(seconds)}で{size(first)}から{size(last)}に増加。{place}の残りは{when.ja}から"
            f"{size(total)}中{size(least)}。この速さでは{now.ja}あと{duration_ja(left)}。",
        ),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=labels,
        evidence=[*_evidence(window, labels, place, taken, total, least), *felt(window, episode)],
        steps=[
            Step(
                text=Words(
                    "Find what holds it: a queue without a bound, a map that is only added to, goroutines that never "
                    "end.",
                    "何が保持しているか調べる(上限のないキュー、追加だけのmap、終わらないgoroutineなど)。",
                ),
                code="go tool pprof -top -inuse_space http://127.0.0.1:8080/debug/pprof/heap",
            ),
            Step(
                text=Words(
                    f"Bound it, and let Go collect in time: at most {size(0.6 * total)}.",
                    f"上限を設け、GoのGCを早めに働かせる(最大{size(0.6 * total)})。",
                ),
                code=f"GOMEMLIMIT={int(0.6 * total / 2**20)}MiB",
            ),
        ],
    )


def _evidence(
    window: Window, labels: Mapping[str, str], place: str, taken: FloatArray, total: float, least: float
) -> list[Evidence]:
    first, last = _ends(window, taken)
    return [
        show(
            window,
            Words(
                f"{size(least)} of {size(total)} left ({share(least / total)}).",
                f"残り{size(total)}中{size(least)}({share(least / total)})。",
            ),
            link=Link.LIMIT,
            expression=f'{AVAILABLE}{{instance="{place}"}}',
            unit=Unit.BYTES,
            values=window[AVAILABLE].where(instance=place).max,
            value=least,
            at=window.focus.stop - 1,
            limit=total,
        ),
        show(
            window,
            Words(
                f"Its memory grew by {size(last - first)}, all the time.", f"メモリが{size(last - first)}増え続けた。"
            ),
            link=Link.DEMAND,
            expression=f"sum({RESIDENT}{selector(labels)})",
            unit=Unit.BYTES,
            values=taken,
        ),
    ]


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(RESIDENT,),
    reads=(AVAILABLE, TOTAL, SWAPPED, AGENT, CPU),
    follows=("ingest-lag-growing", "queue-full", "database-cpu-full", "database-lock-waits", "app-lock-stall"),
    switched_on_by="host: {}\nprocess:\n  port: 8080",
)
