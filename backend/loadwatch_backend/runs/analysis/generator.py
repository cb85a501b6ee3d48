"""Could the load generator send what it was asked to? Pure.

It is judged by evidence of its own: its CPU, its errors, sends that are late although answers are not. A tool that
waits for answers and falls short while they are slow was held back by the system, and its figures are the system's. How
busy its host was says nothing by itself: another process may use it, or the system under load, on the same machine.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.runs.analysis.schemas import GeneratorCheck

REACHED = 0.99
FAR_BELOW = 0.95
BUSY = 0.9
STARVED_CORES = 0.25
"""Of a host without CPU left, a tool that uses this much of a core is one of those that wanted more."""
QUICK_SECONDS = 0.02
"""Answers within this time hold no client back; on a host without CPU left they wait for the tool's own turn."""
SLOW_SECONDS, STALL_SECONDS = 0.2, 1.0
"""Usual answers, and those of the slowest second, that hold back clients of whom nobody said how many there are."""
SENDS_ON_TIME = frozenset({"vegeta", "artillery"})
"""Tools that wait for no answer, unless their clients are limited."""
OWN_ERRORS = re.compile(r"assign requested address|eaddrnotavail|too many open files|emfile|no buffer space", re.I)
"""Messages of a tool that ran out of ports or file descriptors."""
LATE_SECONDS = 1.0
CHANCE = 4.0
"""Standard deviations by which sends at random times (Poisson) are late by chance."""
FEW = 0.01
"""Share of requests: fewer dropped iterations, or errors of the tool's own, do not change the figures."""
GAP_SHARE = 0.5
"""A second with less than this share of the median rate is a gap in sending."""
LEAST_SECONDS = 3
LEAST_MISSING = 2.0
LEAST_USUAL = 10.0
"""Requests a second, below which an uneven clock looks like a gap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorEvidence:
    """What is known of the sending side; each is optional.

    Attributes:
        target_rate: asked for over the window, requests per second.
        reached_rate: requests started over the window, per second.
        sends: requests started in each second of the window.
        clients: how many wait for an answer at the same time at most.
        mean_seconds: mean time of an answer over the window.
        p95_seconds: 95th percentile over the window.
        slowest_seconds: 95th percentile of the window's slowest second.
        host_cpu: busy share of all cores of the generator's host at most, whoever used them; 0 to 1.
        process_cores: cores that the tool itself and its children used on average.
        thread_cpu: share of one core that its busiest thread used on average.
        host_cores: how many there are.
        own_errors: requests that failed for want of the tool's own ports or descriptors.
        tool: its name.
        requests: of the whole run, to weigh dropped iterations and errors.
        paced: sends follow a clock, so that a gap in them that answers do not explain is the generator's own.
    """

    target_rate: float | None
    reached_rate: float | None
    sends: FloatArray
    clients: float | None
    mean_seconds: float | None
    p95_seconds: float | None
    slowest_seconds: float | None
    dropped_iterations: int | None
    host_cpu: float | None
    process_cores: float | None
    thread_cpu: float | None
    host_cores: int | None
    own_errors: int
    tool: str
    requests: int
    paced: bool


def check_generator(evidence: GeneratorEvidence) -> GeneratorCheck:
    """The check with its reasons; `unknown` when there is nothing to judge by."""
    short = _shortfall(evidence)
    dropped = evidence.dropped_iterations or 0
    many_dropped = dropped > FEW * max(evidence.requests + dropped, 1)
    far = short > 1 - FAR_BELOW or many_dropped
    ceiling = None if not evidence.clients or not evidence.mean_seconds else evidence.clients / evidence.mean_seconds
    # k6 drops an iteration when all its users wait.
    waited = _is_slow(evidence) or many_dropped
    share = _own_share(evidence)
    starved = far and _is_starved(evidence)
    gaps, late = (_gaps(evidence.sends), _lateness(evidence.sends)) if evidence.paced and not waited else (0, 0.0)
    found: dict[str, str] = {}
    if short > 0:
        found["rate-not-reached"] = f"It sent {1 - short:.1%} of the {evidence.target_rate:g} requests/s asked for."
    if dropped:
        found["dropped-iterations"] = f"{dropped} iterations were dropped."
    if starved:
        found["cpu"] = f"Its host had no CPU left; of that it used {evidence.process_cores:.2f} cores itself."
    elif share is not None and share >= BUSY:
        found["cpu"] = f"Its own process used {share:.0%} of the CPU that it can use."
    if evidence.own_errors > FEW * evidence.requests:
        found["own-errors"] = f"{evidence.own_errors} requests failed for want of its own ports or descriptors."
    if gaps:
        found["gaps"] = f"In {gaps} s it sent less than half of its usual rate."
    if late:
        found["late-sends"] = f"Its sends were up to {late:.1f} s late."
    if waited and (short > 0 or many_dropped):
        most = "." if ceiling is None else f": {evidence.clients:g} can send {ceiling:.4g} requests/s at most."
        found["waited-for-answers"] = f"Its clients waited for answers{most}"
    judged = None if evidence.reached_rate is None else evidence.target_rate
    known = any(one is not None for one in (judged, evidence.dropped_iterations, share))
    host_busy = evidence.host_cpu is not None and evidence.host_cpu >= BUSY
    return GeneratorCheck(
        state=_state(evidence, list(found), far) if known or found else "unknown",
        reasons=list(found),
        target_rate=evidence.target_rate,
        reached_rate=evidence.reached_rate,
        dropped_iterations=evidence.dropped_iterations,
        clients=evidence.clients,
        ceiling_rate=ceiling,
        cpu_max=evidence.host_cpu,
        process_cores=evidence.process_cores,
        remarks=["host-busy"] if host_busy else [],
        detail=" ".join(found.values()),
    )


def _state(evidence: GeneratorEvidence, reasons: Sequence[str], far: bool) -> str:
    asked = bool(evidence.target_rate) and evidence.reached_rate is not None
    short = "rate-not-reached" in reasons or far
    # Without a rate nothing shows that it could have sent more; at the limit of its CPU it could not.
    if "own-errors" in reasons or ("cpu" in reasons and (short or not asked)):
        return "saturated"
    if "waited-for-answers" in reasons:
        return "held-back"
    own_clock = {"gaps", "late-sends"} & set(reasons) or (far and not _waits(evidence))
    if short and own_clock:
        return "saturated"
    return "suspect" if reasons else "ok"


def _waits(evidence: GeneratorEvidence) -> bool:
    """Whether its clients wait for an answer before they send again."""
    return evidence.tool not in SENDS_ON_TIME or evidence.clients is not None


def _is_slow(evidence: GeneratorEvidence) -> bool:
    if not _waits(evidence):
        return False
    usual, slowest = evidence.p95_seconds or evidence.mean_seconds or 0.0, evidence.slowest_seconds or 0.0
    if evidence.clients and evidence.target_rate:
        # The beat of one client: who waits longer for an answer skips the next one.
        return max(usual, slowest) >= evidence.clients / evidence.target_rate
    return usual >= SLOW_SECONDS or slowest >= STALL_SECONDS


def _is_starved(evidence: GeneratorEvidence) -> bool:
    return (
        (evidence.host_cpu or 0.0) >= BUSY
        and (evidence.process_cores or 0.0) >= STARVED_CORES
        and evidence.p95_seconds is not None
        and evidence.p95_seconds < QUICK_SECONDS
    )


def _shortfall(evidence: GeneratorEvidence) -> float:
    """Share of the target that was not sent, when it is more than the tolerance; else 0."""
    if not evidence.target_rate or evidence.reached_rate is None:
        return 0.0
    reached = evidence.reached_rate / evidence.target_rate
    missing = (evidence.target_rate - evidence.reached_rate) * max(len(evidence.sends), 1)
    # The clock cuts a request off at either end of the window; at low rates that is more than one in a hundred.
    return 0.0 if reached >= REACHED or missing < LEAST_MISSING else 1 - reached


def _own_share(evidence: GeneratorEvidence) -> float | None:
    """What the tool used of what it can use, 0 to 1: of all cores, or its busiest thread of one."""
    cores, used = evidence.host_cores, evidence.process_cores
    share = used / cores if cores and used is not None else None
    return max((one for one in (share, evidence.thread_cpu) if one is not None), default=None)


def _lateness(sends: FloatArray) -> float:
    """Seconds by which the sends fell back behind their own even rate at most; 0 where chance explains it."""
    usual = float(sends.mean()) if len(sends) >= LEAST_SECONDS else 0.0
    if usual < LEAST_USUAL:
        return 0.0
    ahead = np.concatenate([[0.0], np.cumsum(sends - usual)])
    late = float((np.maximum.accumulate(ahead) - ahead).max()) / usual
    by_chance = CHANCE * float(np.sqrt(sends.sum())) / usual
    return late if late > max(LATE_SECONDS, by_chance) else 0.0


def _gaps(sends: FloatArray) -> int:
    if len(sends) < LEAST_SECONDS:
        return 0
    usual = float(np.median(sends))
    return int((sends < GAP_SHARE * usual).sum()) if usual >= LEAST_USUAL else 0
