"""Whether what was expected of an action came true in a later run. Pure.

A run under another load is no fair judge: less load makes some expectations easier and others harder to meet, so that a
score stands only where the other load would not have changed it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from loadwatch_backend.findings.schemas import FindingsOut
from loadwatch_backend.runs.analysis.schemas import ThresholdOut, ThresholdState
from loadwatch_backend.runs.analysis.thresholds import METRICS, is_latency
from loadwatch_backend.runs.analysis.verdict import leans_on_generator
from loadwatch_backend.runs.fields import RunState
from loadwatch_backend.runs.reviews.actions.schemas import LoadChange, LoadKind, ScoreReason, ScoreState
from loadwatch_backend.texts.words import SILENT, Words

SAME_LOAD = 0.05
"""Loads that differ by no more than this share are the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A run as a score sees it.

    Attributes:
        requests: of the whole run; None where nothing tells.
        loads: over the steady window, as far as known.
        generator: state of the generator check.
        targets: whose configuration is known from before the run, such as `mysql 10.0.0.5:3306`.
    """

    state: RunState
    requests: int | None
    loads: dict[LoadKind, float]
    generator: str
    findings: FindingsOut | None
    targets: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A score without its figures."""

    state: ScoreState
    reason: ScoreReason = ScoreReason.NONE
    detail: Words = SILENT
    load: LoadChange | None = None


def score_threshold(measured: ThresholdOut, before: Side, now: Side) -> Judgement:
    """Judge a threshold that was measured on a later run.

    Args:
        measured: on the later run.
        before: the run of the action.
        now: the later run.
    """
    load = compare_loads(before, now)
    unfit = _unfit(before, now)
    if unfit is not None:
        return _cannot(unfit, load)
    if measured.state is ThresholdState.UNKNOWN:
        reason = ScoreReason.NO_REQUESTS if now.requests == 0 else ScoreReason.NOT_MEASURED
        return _cannot(reason, load, _said(measured))
    if now.generator == "saturated" and leans_on_generator(measured.metric):
        return _cannot(ScoreReason.GENERATOR_SATURATED, load, _said(measured))
    held = measured.state is ThresholdState.PASSED
    doubt = doubt_of(load, easier_with_less(measured), held=held)
    if doubt is not None:
        return _cannot(doubt, load, _said(measured))
    return Judgement(state=ScoreState.HELD if held else ScoreState.MISSED, detail=_said(measured), load=load)


def score_gone(finding: str, before: Side, now: Side) -> Judgement:
    """Judge whether a finding of the action's run is gone in a later run."""
    load = compare_loads(before, now)
    unfit = _unfit(before, now)
    if unfit is not None:
        return _cannot(unfit, load)
    if before.findings is None or not _has(before.findings, finding):
        return _cannot(ScoreReason.NOT_THERE_BEFORE, load)
    if now.findings is None:
        return _cannot(ScoreReason.NOT_CHECKED, load)
    gone = not _has(now.findings, finding)
    if gone and not any(one.id == finding for one in now.findings.checked):
        return _cannot(ScoreReason.NOT_CHECKED, load, _needs(now.findings, finding))
    doubt = doubt_of(load, True, held=gone)
    if doubt is not None:
        return _cannot(doubt, load)
    return Judgement(state=ScoreState.HELD if gone else ScoreState.MISSED, load=load)


def compare_loads(before: Side, now: Side) -> LoadChange | None:
    """Both loads by the surest that is known of both; None without any."""
    for kind in LoadKind:
        if before.loads.get(kind) and now.loads.get(kind):
            return LoadChange(kind=kind, before=before.loads[kind], now=now.loads[kind])
    return None


def easier_with_less(measured: ThresholdOut) -> bool | None:
    """Whether less load makes a threshold easier to meet; None where nobody can say."""
    if measured.operator == "==" or not (is_latency(measured.metric) or measured.metric in METRICS):
        return None
    wants_little = measured.operator in ("<", "<=")
    # What is asked for as a share of the target falls with it, and is the easier to reach.
    falls = measured.metric != "success_ratio" and "target" not in measured.expression
    return wants_little if falls else not wants_little


def doubt_of(load: LoadChange | None, easier: bool | None, *, held: bool) -> ScoreReason | None:
    """Why a score may be due to the load; None where it is not."""
    if load is None:
        return ScoreReason.LOAD_UNKNOWN if easier is None or easier is held else None
    ratio = load.now / load.before
    if ratio < 1 - SAME_LOAD:
        return ScoreReason.LOAD_LOWER if easier is None or easier is held else None
    # More requests that were sent may be what the action brought; more that were asked for are not.
    if ratio > 1 + SAME_LOAD and load.kind is not LoadKind.RATE:
        return ScoreReason.LOAD_HIGHER if easier is None or (easier and not held) else None
    return None


def _unfit(before: Side, now: Side) -> ScoreReason | None:
    if now.state is RunState.ABORTED:
        return ScoreReason.ABORTED
    if before.targets and now.targets and not before.targets & now.targets:
        return ScoreReason.OTHER_TARGETS
    return None


def _cannot(reason: ScoreReason, load: LoadChange | None, detail: Words = SILENT) -> Judgement:
    return Judgement(state=ScoreState.CANNOT_TELL, reason=reason, detail=detail, load=load)


def _has(found: FindingsOut, finding: str) -> bool:
    return any(one.id == finding for one in found.findings)


def _needs(found: FindingsOut, finding: str) -> Words:
    needs: Sequence[str] = next((one.needs for one in found.missing if one.id == finding), ())
    names = ", ".join(needs)
    return Words(names, names)


def _said(measured: ThresholdOut) -> Words:
    return Words(measured.detail, measured.detail_ja or measured.detail)
