"""A run held against its baseline: what stood before each, and whether it went worse. Pure."""

import math
from collections.abc import Iterator

from loadwatch_backend.findings.measures.evidence import evidence
from loadwatch_backend.findings.model import Evidence
from loadwatch_backend.findings.window import Baseline, Window

SLOWER = 1.3
LEAST_SLOWER_SECONDS = 0.005
LESS = 0.9
SAME_TARGET = 0.05


def pairs(baseline: Baseline, key: str) -> Iterator[tuple[str, str, float, float]]:
    """Target, rest of the key, value in the baseline and now, of all facts whose key is `key` or begins with it."""
    for (target, name), before in sorted(baseline.other.facts.items()):
        now = baseline.own.facts.get((target, name))
        if now is not None and (name == key or name.startswith(f"{key} ")):
            yield target, name.removeprefix(key).strip(), before, now


def labels_of(target: str) -> dict[str, str]:
    job, _, instance = target.partition(" ")
    return {"job": job, "instance": instance} if instance else {"job": job}


def worse(window: Window, baseline: Baseline, most: float = math.inf) -> list[Evidence]:
    """What shows that the run went worse than its baseline under the same load; nothing where it did not.

    Nothing either where it went worse by more than `most` times: that has another reason.
    """
    own, other = baseline.own, baseline.other
    load = window.load
    if load is None or not _same(own.target, other.target):
        return []
    if max(_times(own.p95, other.p95), _times(other.rate, own.rate)) > most:
        return []
    found: list[Evidence] = []
    if own.p95 is not None and other.p95 and own.p95 >= max(SLOWER * other.p95, other.p95 + LEAST_SLOWER_SECONDS):
        found.append(evidence(window, "against.slower", load.p95, value=own.p95, limit=other.p95, name=baseline.name))
    if own.rate is not None and other.rate and own.rate <= LESS * other.rate:
        found.append(evidence(window, "against.fewer", load.rate, value=own.rate, limit=other.rate, name=baseline.name))
    return found


def _times(some: float | None, other: float | None) -> float:
    return some / other if some and other else 1.0


def _same(own: float | None, other: float | None) -> bool:
    if own is None or other is None:
        return own is other
    return abs(own - other) <= SAME_TARGET * max(own, other)
