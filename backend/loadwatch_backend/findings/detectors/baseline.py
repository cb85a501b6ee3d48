"""A run against others: caches that were cold, memory and tables that grew, and more of a parameter that gave less."""

import re
import statistics
from collections.abc import Iterator, Mapping

import numpy as np

from loadwatch_backend.core.text import parse_number
from loadwatch_backend.core.texts.numbers import count, figure
from loadwatch_backend.core.texts.words import Words
from loadwatch_backend.findings.measures.against import labels_of, pairs, worse
from loadwatch_backend.findings.measures.costs import whole
from loadwatch_backend.findings.measures.facts import largest, usual
from loadwatch_backend.findings.measures.hosts import HOST_METRICS, host_of
from loadwatch_backend.findings.measures.outcomes import Clear, Draft, Outcome, detector
from loadwatch_backend.findings.messages import message
from loadwatch_backend.findings.model import Evidence, Finding
from loadwatch_backend.findings.window import Load, Sweep, Trial, Window

READS, REQUESTS = (
    "mysql_global_status_innodb_buffer_pool_reads",
    "mysql_global_status_innodb_buffer_pool_read_requests",
)
EMPTIER = 0.5
MISSES = 0.01
WARMER = 0.8
"""Answers that are no quicker with a warm cache were not slow for a cold one."""
LEAST_REQUESTS = 1_000.0

RESIDENT = "process_resident_memory_bytes"
AVAILABLE, TOTAL = "node_memory_MemAvailable_bytes", "node_memory_MemTotal_bytes"
SWAPPED = "node_vmstat_pswpout"
GROWN = 1.2
LEAST_BYTES = 50 * 1024.0**2
LITTLE = 0.15
EXPLAINS = 0.05
"""Of the host's memory, that the process must have grown by: less is not what the host is short of."""
SWAPPING_PAGES = 10.0
"""Pages a second that are written to swap: fewer are old pages that nobody needs."""

ROWS_GROWN = 1.5
SCANS = 1.5
"""A scan takes as many times longer as there are more rows, and some more where they no longer fit into memory."""
LEAST_ROWS = 10_000.0
ROWS, ESTIMATE = "table_rows", "mysql_info_schema_table_rows"

LESS = 0.9
"""Repeats of one setting differ by some 5 %."""
LEAST_VALUES = 3
SAME_TARGET = 0.05
CAPACITY = re.compile(
    r"(^|[^a-z])(node|instance|replica|worker|shard|server|pod|task|core|cpu|thread)s?([^a-z]|$)", re.IGNORECASE
)
"""Parameters that add capacity: that more of them served less is reported, too."""
Points = Mapping[float, float]
"""Value of the parameter to good answers per second, the median of its runs."""


@detector("cold-cache", needs=(READS, REQUESTS))
def cold_cache(window: Window) -> Iterator[Outcome]:
    """A finding for each database whose cache was cold, and whose run went worse than the baseline."""
    baseline = window.baseline
    if baseline is None:
        return
    effects = worse(window, baseline)
    for target, _, before, now in pairs(baseline, "buffer_pool_filled"):
        labels = labels_of(target)
        misses = _misses(window, labels)
        text = message("cold-cache.clear", name=labels.get("instance", target), now=now, before=before)
        if now > EMPTIER * before or misses is None or not effects:
            yield Clear(text)
            continue
        reads, asked = window[READS].where(**labels).rate, window[REQUESTS].where(**labels).rate
        missed = np.where(asked > 0, reads / np.where(asked > 0, asked, 1.0), np.nan)
        name, nothing = labels.get("instance", "the database"), np.full(window.grid.count, np.nan)
        draft = Draft(
            window, whole(window), labels, name=name, now=now, before=before, misses=misses, effect=effects[0].text
        )
        yield draft.finding(
            "cold-cache.sentence",
            [
                draft.show("cold-cache.filled", nothing, value=now, limit=before, text=text),
                draft.show("cold-cache.misses", missed, value=misses),
                *effects,
            ],
        )


def _misses(window: Window, labels: dict[str, str]) -> float | None:
    """Share of reads that went to disk in the first third of the run, where it is high and then falls as p95 does."""
    reads, asked = window[READS].where(**labels).rate, window[REQUESTS].where(**labels).rate
    third = max((window.focus.stop - window.focus.start) // 3, 1)
    first = slice(window.focus.start, window.focus.start + third)
    last = slice(window.focus.stop - third, window.focus.stop)
    parts: list[float] = []
    for span in (first, last):
        whole = window.total(asked, span)
        if whole < LEAST_REQUESTS:
            return None
        parts.append(window.total(reads, span) / whole)
    warmed = parts[0] >= MISSES and parts[1] <= 0.5 * parts[0]
    quicker = window.load is not None and usual(window.load.p95, last) <= WARMER * usual(window.load.p95, first)
    return parts[0] if warmed and quicker else None


@detector("memory-grown", needs=(RESIDENT,), reads=(AVAILABLE, TOTAL, SWAPPED, *HOST_METRICS))
def memory_grown(window: Window) -> Iterator[Outcome]:
    """A finding for each process that began with more memory, on a host with little left or that swaps."""
    baseline = window.baseline
    if baseline is None:
        return
    for target, part, before, now in pairs(baseline, "resident_memory"):
        labels = labels_of(target)
        name = part or labels.get("instance", target)
        text = message("memory-grown.clear", name=name, now=now, before=before, baseline=baseline.name)
        grown = now >= GROWN * before and now - before >= LEAST_BYTES
        yield (_grown(window, labels, name, text, now, before) if grown else None) or Clear(text)


def _grown(window: Window, labels: dict[str, str], name: str, text: Words, now: float, before: float) -> Finding | None:
    host = host_of(window, labels)
    if host is None:
        return None
    total = largest(window[TOTAL].where(**host.labels).max, window.focus)
    available, swapped = window[AVAILABLE].where(**host.labels).max, window[SWAPPED].where(**host.labels).rate
    least = -largest(-available, window.focus)
    swapping = window.total(swapped) >= SWAPPING_PAGES * (window.focus.stop - window.focus.start) * window.step_seconds
    little = total > 0 and least < LITTLE * total
    if not (little or swapping) or now - before < EXPLAINS * total:
        return None
    resident = window[RESIDENT].where(**labels).max
    draft = Draft(window, whole(window), labels, name=name, now=now, before=before)
    shown = [draft.show("memory-grown.resident", resident, value=now, limit=before, text=text)]
    if little:
        key, share = "memory-grown.left", least / total
        shown.append(draft.show(key, available, labels=host.labels, value=least, limit=total, share=share))
    if swapping:
        shown.append(draft.show("memory-grown.swapped", swapped, labels=host.labels))
    left = message("memory-grown.host_swapped")
    if np.isfinite(least + total):
        left = message("memory-grown.host_left", least=least, total=total)
    return draft.finding("memory-grown.sentence", shown, left=left)


@detector("tables-grown", needs=(ROWS, ESTIMATE))
def tables_grown(window: Window) -> Iterator[Outcome]:
    """One finding for each database of which a table grew, where the run went worse than the baseline."""
    baseline = window.baseline
    if baseline is None:
        return
    grown: dict[str, list[tuple[str, float, float]]] = {}
    rest: list[Words] = []
    tables = list(pairs(baseline, "rows"))
    counted = {table for _, table, _, _ in tables if "." not in table}
    for target, table, before, now in tables:
        if "." in table and table.rsplit(".", 1)[1] in counted:
            continue  # MySQL's own estimate of a table whose rows are counted
        many = now >= ROWS_GROWN * before and now - before >= LEAST_ROWS
        if many and worse(window, baseline, SCANS * now / max(before, 1.0)):
            grown.setdefault(target, []).append((table, before, now))
        else:
            rest.append(message("tables-grown.clear", table=table, now=now, before=before, baseline=baseline.name))
    effects = worse(window, baseline)
    for target, of_target in sorted(grown.items()):
        yield _larger(window, baseline.name, target, of_target, effects)
    for text in rest[:3]:
        yield Clear(text)


def _larger(
    window: Window, baseline: str, target: str, tables: list[tuple[str, float, float]], effects: list[Evidence]
) -> Finding:
    tables = sorted(tables, key=lambda one: one[1] - one[2])
    table, before, now = tables[0]
    nothing = np.full(window.grid.count, np.nan)
    draft, shown = Draft(window, whole(window), labels_of(target), now=now, before=before), list[Evidence]()
    for one, first, after in tables[:5]:
        rows = Words(count(after), f"{count(first)}→{count(after)}")
        shown.append(draft.show("tables-grown.rows", nothing, value=after, limit=first, table=one, rows=rows))
    effect = effects[0].text
    return draft.finding("tables-grown.sentence", [*shown, *effects], table=table, baseline=baseline, effect=effect)


@detector("negative-scaling")
def negative_scaling(window: Window) -> Iterator[Outcome]:
    """A finding for each parameter of which less served more; a generator that was the limit itself proves nothing."""
    sweep, load = window.sweep, window.load
    if sweep is None or load is None or sweep.own.good is None:
        return
    if window.generator is not None and window.generator.state == "saturated":
        return
    for name, text in sorted(sweep.own.parameters.items()):
        own = parse_number(text)
        points = _points(sweep, name)
        if own is None or len(points) < LEAST_VALUES:
            continue
        best = max((value for value in points if value < own), key=points.__getitem__, default=None)
        if best is not None and _falls(name, points, best, own):
            yield _scales_down(window, load, name, points, best, own)
        else:
            yield Clear(message("negative-scaling.clear", name=name, points=_listed(points)))


def _points(sweep: Sweep, name: str) -> Points:
    found: dict[float, list[float]] = {}
    for trial in (sweep.own, *sweep.others):
        value = parse_number(trial.parameters.get(name, ""))
        if value is not None and trial.good is not None and _comparable(sweep.own, trial, name):
            found.setdefault(value, []).append(trial.good)
    return {value: statistics.median(found[value]) for value in sorted(found)}


def _comparable(own: Trial, other: Trial, name: str) -> bool:
    if {**own.parameters, name: ""} != {**other.parameters, name: ""}:
        return False
    if own.target is None or other.target is None:
        return own.target is other.target
    return abs(own.target - other.target) <= SAME_TARGET * max(own.target, other.target)


def _falls(name: str, points: Points, best: float, own: float) -> bool:
    """It falls from the best to here without coming back, and rose to the best or is something one adds to get more."""
    rose = any(value < best and points[value] <= LESS * points[best] for value in points)
    beyond = all(points[value] < points[best] for value in points if best < value <= own)
    return points[own] <= LESS * points[best] and beyond and (rose or CAPACITY.search(name) is not None)


def _listed(points: Points) -> str:
    return ", ".join(f"{figure(value)}: {figure(points[value])}/s" for value in points)


def _scales_down(window: Window, load: Load, name: str, points: Points, best: float, own: float) -> Finding:
    rate, good, most = load.outcomes.get("ok", load.rate), points[own], points[best]
    draft = Draft(window, whole(window), {"parameter": name}, name=name, own=own, best=best, good=good, most=most)
    return draft.finding(
        "negative-scaling.sentence",
        [
            draft.show("negative-scaling.good", rate, value=good, limit=most),
            draft.show("negative-scaling.alone", rate, value=good, limit=most, points=_listed(points)),
        ],
    )
