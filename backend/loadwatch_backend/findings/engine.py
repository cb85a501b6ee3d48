"""From a window to what is said of it: detectors, causes, order, and what nobody watches. Pure and deterministic."""

import heapq
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

import numpy as np

from loadwatch_backend.catalogue.signals.model import Pack
from loadwatch_backend.core.texts.words import Words
from loadwatch_backend.findings.detectors.saturation import saturation_detectors
from loadwatch_backend.findings.fleet import merge_fleets
from loadwatch_backend.findings.measures.log_lines import TEXTS, with_log_lines
from loadwatch_backend.findings.messages import kind, message
from loadwatch_backend.findings.model import (
    Checked,
    Detector,
    Diagnosis,
    DiagnosisState,
    Finding,
    Kind,
    Link,
    Look,
    Missing,
    Severity,
)
from loadwatch_backend.findings.symptoms import find_symptoms
from loadwatch_backend.findings.window import APART_MS, Window

EARLIER_MS = 3_000
"""A cause may be seen this much later than what follows from it: each is sampled at its own instants."""
TOGETHER_MS = 1_500
"""What begins so shortly after something else may as well have begun before: each is sampled at its own instants."""
MOST_ALIKE = 2
MOST_TRIED = 50
"""Targets that are tried one by one where a detector fails."""
LEAST_SECONDS = 3.0
"""A shorter load clears nothing: collectors look each second, and what they see needs a moment to come."""
LASTS_MS = 15_000
"""What follows may begin this long after its cause has ended."""


def diagnose(window: Window, detectors: Sequence[Detector]) -> Diagnosis:
    detectors = [*detectors, *saturation_detectors(window, detectors)]
    findings: list[Finding] = []
    observations: list[Words] = []
    checked: list[Checked] = []
    unjudged: list[Checked] = []
    missing: list[Missing] = []
    failed: dict[str, Exception] = {}
    seconds = (window.to_ms - window.from_ms) / 1_000
    for detector in detectors:
        if not any(window.has(metric) for metric in detector.needs) and detector.needs:
            missing.append(
                Missing(
                    kind=detector.kind,
                    needs=detector.needs,
                    switched_on_by=detector.switched_on_by,
                    usual=detector.usual,
                )
            )
            continue
        try:
            look = _with_beginnings(detector.look(window), detector, window)
        except Exception as error:
            failed[detector.kind.id] = error
            look = _without_failing(detector, window)
        findings.extend(with_log_lines(window, one) for one in look.findings)
        observations.extend(_few(look.observations))
        reason = look.unjudged
        least = max(LEAST_SECONDS, detector.least_seconds)
        if look.clear is not None and seconds < least:
            reason = reason or too_short(least, seconds)
        if reason is not None and not look.findings:
            unjudged.append(Checked(kind=detector.kind, text=reason))
        elif look.clear is not None and not look.findings:
            checked.append(Checked(kind=detector.kind, text=look.clear))
    symptoms = find_symptoms(window)
    unwatched = find_unwatched(window)
    missing = [*unwatched, *(_as_usual(one, window, unwatched) for one in missing)]
    # Others know the load alone: what it did, and not what it met.
    measuring = {detector.kind.id for detector in detectors if detector.needs or detector.measures}
    follows: dict[str, list[str]] = {}
    for detector in detectors:
        follows.setdefault(detector.kind.id, []).extend(detector.follows)
    because_of = link_causes(findings, follows)
    findings, because_of = merge_fleets(window, findings, because_of)
    return Diagnosis(
        state=_state(findings, symptoms, any(one.kind.id in measuring for one in checked), unjudged),
        from_ms=window.from_ms,
        to_ms=window.to_ms,
        findings=put_in_order(findings, because_of),
        because_of=because_of,
        observations=observations,
        checked=checked,
        unjudged=unjudged,
        symptoms=symptoms,
        missing=missing,
        failed=failed,
    )


def _as_usual(one: Missing, window: Window, unwatched: Sequence[Missing]) -> Missing:
    """What only MySQL or Go could tell is not usual where another database, or another pool, is used."""
    seen = {one.kind.id for one in unwatched}
    for pack in window.packs:
        kinds = {each.kind for each in pack.resources}
        family = ("mysql_", "aws_rds_") if "connections" in kinds else ("go_sql_",) if "pool" in kinds else ()
        own = all(metric.startswith(family) for metric in pack.there_when) if family else True
        if own or not (pack.id in seen or window.names.intersection(pack.there_when)):
            continue
        if all(metric.startswith(family) for metric in one.needs):
            return replace(one, usual=False)
    return one


def too_short(least: float, seconds: float) -> Words:
    return message("check.too-short", least=least, seconds=seconds)


def _few(words: Sequence[Words]) -> list[Words]:
    different = list(dict.fromkeys(words))
    more = len(different) - MOST_ALIKE
    return different[:MOST_ALIKE] + ([message("check.more-alike", more=more)] if more > 0 else [])


def _without_failing(detector: Detector, window: Window) -> Look:
    targets = {
        (labels.get("job", ""), labels.get("instance", ""))
        for metric in detector.needs
        for labels in window[metric].labels
    }
    failing = [one for one in sorted(targets)[:MOST_TRIED] if _look_at(detector, window, {one}) is None]
    look = _look_at(detector, window, targets - set(failing)) if len(failing) < len(targets) else None
    names = ", ".join(f"{job} {instance}".strip() for job, instance in failing[:3]) if look is not None else ""
    return replace(
        Look() if look is None else look,
        unjudged=message("check.failed-at", names=names) if names else message("check.failed"),
    )


def _look_at(detector: Detector, window: Window, targets: Set[tuple[str, str]]) -> Look | None:
    """What is said where of the metrics that it needs only these targets are there; None where it fails."""
    tables = {
        metric: table.take(
            [
                row
                for row, labels in enumerate(table.labels)
                if metric not in detector.needs or (labels.get("job", ""), labels.get("instance", "")) in targets
            ]
        )
        for metric, table in window.tables.items()
    }
    try:
        return detector.look(replace(window, tables=tables))
    except Exception:
        return None


def _with_beginnings(look: Look, detector: Detector, window: Window) -> Look:
    """With the whole of each episode that may have begun before the window."""
    cut = [one for one in look.findings if one.from_ms < window.from_ms + APART_MS and not one.kind.is_fact]
    earlier = window.earlier(detector, cut) if window.earlier is not None and cut else None
    if earlier is None:
        return look
    keys = {one.key for one in cut}
    whole = {
        one.key: replace(one, began_earlier=earlier.is_open and one.from_ms <= earlier.from_ms + APART_MS)
        for one in detector.look(earlier).findings
        if one.key in keys
    }
    return replace(look, findings=[whole.get(one.key, one) for one in look.findings])


def link_causes(findings: Sequence[Finding], follows: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Keys of the causes of each finding that has any.

    A cause is of a kind that can bring the other about, began no later, had not ended long before, and is no
    contradiction in place: where both name an instance of the same job, it is the same instance.
    """
    links: dict[str, list[str]] = {}
    for one in findings:
        causes = [
            other.key
            for other in findings
            if other.id in (follows.get(one.id, ()) if one.follows is None else one.follows)
            and other.key != one.key
            and other.weight is not Severity.INFO
            and other.from_ms <= one.from_ms + EARLIER_MS
            and one.from_ms <= other.to_ms + LASTS_MS
            and _same_place(one, other)
        ]
        if causes:
            links[one.key] = causes
    return links


def put_in_order(findings: Sequence[Finding], because_of: Mapping[str, Sequence[str]]) -> list[Finding]:
    """Causes before consequences, else by when harm began; warnings without an effect and then notes come last."""
    by_key = {one.key: one for one in findings}
    ready: list[tuple[tuple[bool, bool, int, int, int], str]] = []
    position = {one.key: place for place, one in enumerate(findings)}
    waiting = {key: {cause for cause in because_of.get(key, ()) if cause in by_key} for key in by_key}

    begun = _begun_together(findings)

    def rank(key: str) -> tuple[bool, bool, int, int, int]:
        one = by_key[key]
        has_effect = any(evidence.link is Link.EFFECT for evidence in one.evidence)
        harmless = not has_effect and one.weight is not Severity.CRITICAL
        severity = list(Severity).index(one.weight)
        return one.weight is Severity.INFO, harmless, begun[key], severity, position[key]

    ordered: list[Finding] = []
    for key in list(waiting):
        if not waiting[key]:
            heapq.heappush(ready, (rank(key), key))
            del waiting[key]
    while ready or waiting:
        if not ready:
            # Two that are said to follow from each other: the earlier one first.
            first = min(waiting, key=rank)
            heapq.heappush(ready, (rank(first), first))
            del waiting[first]
        key = heapq.heappop(ready)[1]
        ordered.append(by_key[key])
        for other in list(waiting):
            waiting[other].discard(key)
            if not waiting[other]:
                heapq.heappush(ready, (rank(other), other))
                del waiting[other]
    return ordered


def _begun_together(findings: Sequence[Finding]) -> dict[str, int]:
    """When each began, as far as can be told: those that began within `TOGETHER_MS` of the first share its time."""
    first: int | None = None
    begun: dict[str, int] = {}
    for one in sorted(findings, key=lambda one: one.from_ms):
        if first is None or one.from_ms > first + TOGETHER_MS:
            first = one.from_ms
        begun[one.key] = first
    return begun


def _same_place(one: Finding, other: Finding) -> bool:
    same_job = one.labels.get("job") == other.labels.get("job")
    instances = {finding.labels.get("instance") for finding in (one, other)} - {None}
    return not (same_job and len(instances) > 1)


def _state(
    findings: Sequence[Finding], symptoms: Sequence[Words], measured: bool, unjudged: Sequence[Checked]
) -> DiagnosisState:
    """Nothing ran out only where systems were measured, all could be judged and the load had no symptom."""
    if any(one.weight is not Severity.INFO for one in findings):
        return DiagnosisState.FOUND
    return DiagnosisState.CANNOT_TELL if symptoms or unjudged or not measured else DiagnosisState.NONE


PEERS = "tcp_peer_connections"
"""The sockets collector tells which processes talk to which ports; a pack says by which of them it is recognised."""
OWN = "loadwatch"
POOLED = 2
"""Connections of one program to a database from which it has a pool."""


def find_unwatched(window: Window) -> list[Missing]:
    """Packs that are recognised and of which there is no series, then the pools of programs that use a database."""
    packs, names = window.packs, window.names
    found: list[Missing] = []
    databases: set[str] = set()
    for pack in packs:
        if not (pack.detect.ports or pack.detect.processes or pack.detect.logs):
            continue
        seen = next(_places_of(window, pack), None)
        if seen is None:
            continue
        if pack.entity is not None and pack.entity.kind == "database":
            databases |= {seen[1], *(str(port) for port in pack.detect.ports)}
        if names.isdisjoint(pack.there_when):
            host, port = seen
            place = f"{pack.title.en} ({host}:{port})" if port else pack.title.en
            lines = pack.watch_with.replace("{host}", host).replace("{port}", port)
            found.append(_missing(pack.id, Words(place, place.replace(pack.title.en, pack.title.ja)), pack, lines))
    pools = [pack for pack in packs if any(one.kind == "pool" for one in pack.resources)]
    if all(names.isdisjoint(pack.there_when) for pack in pools):
        for program in _programs_of(window, databases):
            title = message("unwatched.pool", program=program)
            lines = next((one.watch_with for one in pools if one.watch_with), "")
            found.append(_missing("pool", title, None, lines.replace("{host}", "127.0.0.1").replace("{port}", "8000")))
    return found


def _missing(id: str, title: Words, pack: Pack | None, lines: str) -> Missing:
    general: Kind = kind("unwatched")
    needs = () if pack is None else pack.there_when[:1]
    return Missing(kind=replace(general, id=id, title=title), needs=needs, switched_on_by=lines.strip(), unwatched=True)


def _places_of(window: Window, pack: Pack) -> Iterator[tuple[str, str]]:
    """Host and port at which a pack's technology is used; both empty where only a log speaks of it."""
    ports = {str(port) for port in pack.detect.ports}
    for labels, values in _peers(window):
        port, is_local = labels.get("port", ""), labels.get("side") == "local"
        if port in ports or (is_local and labels.get("process") in pack.detect.processes):
            host = "127.0.0.1" if is_local else labels.get("peer", "")
            if values > 0 and port.isdecimal():
                yield host, port
    for pattern in pack.detect.logs:
        if any(re.search(pattern, one.get("pattern", "")) for one in window[TEXTS].labels):
            yield "127.0.0.1", next(iter(sorted(ports)), "")


def _programs_of(window: Window, ports: set[str]) -> list[str]:
    held: dict[str, float] = {}
    for labels, values in _peers(window):
        program = labels.get("process", "")
        if labels.get("side") == "remote" and labels.get("port") in ports and program not in ("", OWN, "unknown"):
            held[program] = held.get(program, 0.0) + values
    return sorted(program for program, times in held.items() if times >= POOLED)


def _peers(window: Window) -> Iterator[tuple[dict[str, str], float]]:
    table = window[PEERS]
    for row, labels in enumerate(table.labels):
        values = table.values[row, window.focus]
        known = values[np.isfinite(values)]
        if known.size:
            yield dict(labels), float(known.max())
