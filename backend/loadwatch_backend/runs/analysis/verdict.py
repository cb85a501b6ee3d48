"""Passed, failed or invalid. Pure."""

from collections.abc import Sequence

from loadwatch_backend.runs.analysis.schemas import ThresholdOut, ThresholdState
from loadwatch_backend.runs.analysis.thresholds import is_latency
from loadwatch_backend.runs.fields import RunState, Verdict

GENERATOR_METRICS = frozenset({"rate", "ok_rate", "throughput"})
"""Besides response times; see `leans_on_generator`."""


def leans_on_generator(metric: str) -> bool:
    """Whether a figure says nothing of the system when the generator itself was the limit."""
    return metric in GENERATOR_METRICS or is_latency(metric)


def decide_verdict(
    state: RunState, requests: int | None, thresholds: Sequence[ThresholdOut], generator: str
) -> tuple[Verdict | None, list[str]]:
    """The verdict with its reasons: texts of the thresholds that fail, then stable codes.

    A threshold that fails decides, whatever else is wrong: a gate must not open because the run was a bad one too.

    Args:
        state: of the run; one under way has no verdict yet.
        requests: of the whole run, None where nothing tells.
        thresholds: measured.
        generator: the state of the generator check.
    """
    if not thresholds or state is RunState.RUNNING:
        return None, []
    broken = [one.expression for one in thresholds if one.state is ThresholdState.FAILED]
    doubts: list[str] = []
    if state is RunState.ABORTED:
        doubts.append("aborted")
    if requests == 0:
        doubts.append("no-requests")
    if generator == "saturated" and any(leans_on_generator(one.metric) for one in thresholds):
        doubts.append("generator-saturated")
    if any(one.state is ThresholdState.UNKNOWN for one in thresholds):
        doubts.append("not-measured")
    if broken:
        return Verdict.FAILED, broken + doubts
    return (Verdict.INVALID if doubts else Verdict.PASSED), doubts
