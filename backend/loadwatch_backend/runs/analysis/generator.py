"""Could the load generator send what it was asked to? Pure.

It is judged by what it failed to do, never by how busy its host was: another process may have been, or the system under
load itself, on the same machine.
"""

from dataclasses import dataclass

import numpy as np

from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.runs.analysis.schemas import GeneratorCheck

REACHED = 0.99
FAR_BELOW = 0.95
BUSY = 0.9
SINGLE_THREADED = frozenset({"locust", "artillery"})
"""Tools of which one process uses one core, however many there are."""
LATE_SECONDS = 1.0
CHANCE = 4.0
"""Standard deviations by which sends that come by chance (Poisson) are late anyway."""
DROPPED_SHARE = 0.01
GAP_SHARE = 0.5
"""A second with less than this share of the median rate is a gap in sending."""
CAPPED_SHARE = 0.9
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
        users: active users in each second of the window.
        host_cpu: busy share of all cores of the generator's host at most, whoever used them; 0 to 1.
        process_cores: cores that the tool itself and its children used on average.
        host_cores: how many there are.
        tool: its name.
        requests: of the whole run, to weigh dropped iterations.
        paced: sends follow a clock rather than the answers, so that a gap in them is the generator's own.
    """

    target_rate: float | None
    reached_rate: float | None
    sends: FloatArray
    users: FloatArray | None
    dropped_iterations: int | None
    host_cpu: float | None
    process_cores: float | None
    host_cores: int | None
    tool: str
    requests: int
    paced: bool


def check_generator(evidence: GeneratorEvidence) -> GeneratorCheck:
    """The check with its reasons; `unknown` when there is nothing to judge by."""
    reasons: list[str] = []
    details: list[str] = []
    short = _shortfall(evidence, reasons, details)
    dropped = evidence.dropped_iterations or 0
    if dropped:
        reasons.append("dropped-iterations")
        details.append(f"{dropped} iterations were dropped.")
    share = _own_share(evidence)
    if share is not None and share >= BUSY:
        reasons.append("cpu")
        details.append(f"Its own process used {share:.0%} of the CPU that it can use.")
    gaps = _gaps(evidence) if evidence.paced else 0
    if gaps:
        reasons.append("gaps")
        details.append(f"In {gaps} s it sent less than half of its usual rate.")
    late = _lateness(evidence.sends) if evidence.paced else 0.0
    if late:
        reasons.append("late-sends")
        details.append(f"Its sends were up to {late:.1f} s late.")
    if short > 0 and _is_capped(evidence.users):
        reasons.append("users-capped")
        details.append("All users were busy while the rate was short: they waited for answers.")
    judged = None if evidence.reached_rate is None else evidence.target_rate
    known = any(one is not None for one in (judged, evidence.dropped_iterations, share))
    host_busy = evidence.host_cpu is not None and evidence.host_cpu >= BUSY
    state = _state(evidence, short, reasons) if known or reasons else "unknown"
    return GeneratorCheck(
        state=state,
        reasons=reasons,
        target_rate=evidence.target_rate,
        reached_rate=evidence.reached_rate,
        dropped_iterations=evidence.dropped_iterations,
        cpu_max=evidence.host_cpu,
        process_cores=evidence.process_cores,
        remarks=["host-busy"] if host_busy else [],
        detail=" ".join(details),
    )


def _shortfall(evidence: GeneratorEvidence, reasons: list[str], details: list[str]) -> float:
    """Share of the target that was not sent, when it is more than the tolerance; else 0."""
    if not evidence.target_rate or evidence.reached_rate is None:
        return 0.0
    reached = evidence.reached_rate / evidence.target_rate
    missing = (evidence.target_rate - evidence.reached_rate) * max(len(evidence.sends), 1)
    # The clock cuts a request off at either end of the window; at low rates that is more than one in a hundred.
    if reached >= REACHED or missing < LEAST_MISSING:
        return 0.0
    reasons.append("rate-not-reached")
    details.append(f"It sent {reached:.1%} of the {evidence.target_rate:g} requests/s asked for.")
    return 1 - reached


def _state(evidence: GeneratorEvidence, short: float, reasons: list[str]) -> str:
    dropped = evidence.dropped_iterations or 0
    if dropped > DROPPED_SHARE * max(evidence.requests + dropped, 1):
        return "saturated"
    if "users-capped" in reasons and "cpu" not in reasons:
        # Users that wait for answers send less because the system is slow, and more users might send more.
        return "suspect"
    if short > 1 - FAR_BELOW or (short > 0 and len(reasons) > 1):
        return "saturated"
    if "cpu" in reasons and (not evidence.target_rate or evidence.reached_rate is None):
        # Without a rate nothing shows that it could have sent more; at its limit it could not.
        return "saturated"
    return "suspect" if reasons else "ok"


def _own_share(evidence: GeneratorEvidence) -> float | None:
    """What the tool used of what it can use, 0 to 1; several processes of a tool of one core each tell nothing."""
    cores, used = evidence.host_cores, evidence.process_cores
    if not cores or used is None:
        return None
    if evidence.tool in SINGLE_THREADED:
        return used if used <= 1 / BUSY else used / cores
    return used / cores


def _lateness(sends: FloatArray) -> float:
    """Seconds by which the sends fell back behind their own even rate at most; 0 where chance explains it."""
    usual = float(sends.mean()) if len(sends) >= LEAST_SECONDS else 0.0
    if usual < LEAST_USUAL:
        return 0.0
    ahead = np.concatenate([[0.0], np.cumsum(sends - usual)])
    late = float((np.maximum.accumulate(ahead) - ahead).max()) / usual
    by_chance = CHANCE * float(np.sqrt(sends.sum())) / usual
    return late if late > max(LATE_SECONDS, by_chance) else 0.0


def _gaps(evidence: GeneratorEvidence) -> int:
    if len(evidence.sends) < LEAST_SECONDS:
        return 0
    usual = float(np.median(evidence.sends))
    return int((evidence.sends < GAP_SHARE * usual).sum()) if usual >= LEAST_USUAL else 0


def _is_capped(users: FloatArray | None) -> bool:
    """Whether the number of users stood at its largest value nearly all the time."""
    if users is None:
        return False
    known = users[~np.isnan(users)]
    return bool(len(known) >= LEAST_SECONDS and float((known >= known.max()).mean()) >= CAPPED_SHARE)
