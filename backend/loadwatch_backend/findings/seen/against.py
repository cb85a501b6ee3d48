"""A run held against its baseline: what stood before each, and whether it went worse. Pure."""

import math
from collections.abc import Iterator

from loadwatch_backend.findings.model import Evidence, Link
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.numbers import duration, duration_ja, figure
from loadwatch_backend.findings.window import Baseline, Window
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

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
    """Labels of a target as a snapshot names it: job, and instance."""
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
        found.append(
            show(
                window,
                Words(
                    f"p95 was {duration(own.p95)}, against {duration(other.p95)} in {baseline.name}.",
                    f"p95は{duration_ja(own.p95)}({baseline.name}では{duration_ja(other.p95)})。",
                ),
                link=Link.EFFECT,
                expression='max(loadtest_request_duration_seconds{quantile="0.95"})',
                unit=Unit.SECONDS,
                values=load.p95,
                value=own.p95,
                limit=other.p95,
            )
        )
    if own.rate is not None and other.rate and own.rate <= LESS * other.rate:
        found.append(
            show(
                window,
                Words(
                    f"{figure(own.rate)} requests/s, against {figure(other.rate)} in {baseline.name}.",
                    f"毎秒{figure(own.rate)}件({baseline.name}では{figure(other.rate)}件)。",
                ),
                link=Link.EFFECT,
                expression="sum(rate(loadtest_requests_total[5s]))",
                unit=Unit.PER_SECOND,
                values=load.rate,
                value=own.rate,
                limit=other.rate,
            )
        )
    return found


def _times(some: float | None, other: float | None) -> float:
    return some / other if some and other else 1.0


def _same(own: float | None, other: float | None) -> bool:
    if own is None or other is None:
        return own is other
    return abs(own - other) <= SAME_TARGET * max(own, other)
