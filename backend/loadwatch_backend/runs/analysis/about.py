"""What the analysis of a run tells those who look for its limits. Pure."""

from collections.abc import Sequence

from loadwatch_formats.outcomes import Outcome

from loadwatch_backend.core.texts.numbers import duration, figure, share
from loadwatch_backend.core.texts.words import message_of
from loadwatch_backend.evidence.records.model import Endpoint, Figures
from loadwatch_backend.findings.read import Span
from loadwatch_backend.findings.service import About
from loadwatch_backend.findings.window import Baseline, Counts, Generator, Start, Sweep, Totals, Trial
from loadwatch_backend.runs.analysis.counters import TABLE_ROWS
from loadwatch_backend.runs.analysis.own_figures import Subject
from loadwatch_backend.runs.analysis.phases import Shape
from loadwatch_backend.runs.analysis.schemas import (
    NOT_KNOWN_YET,
    GeneratorCheck,
    ReconciliationOut,
    ThresholdOut,
    ThresholdState,
    WindowSource,
)

_FIGURES = {"seconds": duration, "ratio": share}


def about(
    subject: Subject,
    generator: GeneratorCheck,
    reconciliation: ReconciliationOut | None,
    shape: Shape,
    whole: Figures | None = None,
    thresholds: Sequence[ThresholdOut] = (),
    endpoints: Sequence[Endpoint] = (),
) -> About:
    """The generator, the counts, the steady window and the baseline of a run; `whole`: figures of all of it."""
    return About(
        run=subject.id,
        generator=Generator(
            state=generator.state,
            reasons=generator.reasons,
            target_rate=generator.target_rate,
            reached_rate=generator.reached_rate,
            dropped=generator.dropped_iterations or 0,
            tool=subject.tool,
        ),
        counts=_counts(reconciliation),
        totals=_totals(whole, thresholds, endpoints),
        steady=_steady(shape),
        baseline=_baseline(subject, whole),
        sweep=_sweep(subject, whole),
    )


def _baseline(subject: Subject, whole: Figures | None) -> Baseline | None:
    other = subject.baseline
    if other is None:
        return None
    return Baseline(
        name=other.name,
        run=other.id,
        span_ms=other.span_ms,
        other=Start(facts=other.before, rate=other.rate, p95=other.p95_seconds, target=other.target_rate),
        own=Start(
            facts=subject.before,
            rate=None if whole is None else whole.rate,
            p95=None if whole is None else whole.latency.p95,
            target=subject.target_rate,
        ),
    )


def _sweep(subject: Subject, whole: Figures | None) -> Sweep | None:
    if not subject.parameters or not subject.trials:
        return None
    good = None
    if whole is not None and whole.rate is not None and whole.success_ratio is not None:
        good = whole.rate * whole.success_ratio
    own = Trial(name="", parameters=subject.parameters, good=good, target=subject.target_rate)
    return Sweep(own=own, others=subject.trials)


def _totals(whole: Figures | None, thresholds: Sequence[ThresholdOut], endpoints: Sequence[Endpoint]) -> Totals | None:
    failed = [one for one in thresholds if one.state is ThresholdState.FAILED and one.actual is not None]
    broken = [
        message_of("measured", "not-met", text=one.expression, value=_FIGURES.get(one.unit, figure)(one.actual or 0.0))
        for one in failed
    ]
    if whole is None:
        return Totals(broken=broken) if broken else None
    # A failure may be fast, and tells nothing of how long an answer takes.
    failed = whole.outcomes.get(Outcome.OK, 0) < whole.requests
    most = max((one.figures for one in endpoints), key=lambda figures: figures.requests, default=whole)
    return Totals(
        requests=whole.requests,
        fastest=None if failed else most.latency.min,
        median=most.latency.p50,
        p95=most.latency.p95,
        slowest=most.latency.max,
        outcomes={outcome.value: float(times) for outcome, times in whole.outcomes.items()},
        broken=broken,
    )


def _counts(reconciliation: ReconciliationOut | None) -> Counts:
    # Counts that hold requests of other runs, too, prove nothing of this one.
    steps = [] if reconciliation is None or reconciliation.mixed_with else reconciliation.steps
    counts = {step.id: step.count for step in steps}
    return Counts(
        sent=counts.get("sent"),
        answered=counts.get("answered_ok"),
        accepted=counts.get("accepted"),
        stored=counts.get("stored"),
        rows=next((step.count for step in steps if step.source == TABLE_ROWS), None),
        is_open=reconciliation is not None and reconciliation.place == NOT_KNOWN_YET,
    )


def _steady(shape: Shape) -> Span | None:
    """None where none was found: then the whole run is no steady window either."""
    if shape.window.source is WindowSource.WHOLE:
        return None
    return Span(from_ms=shape.steady.from_ms, to_ms=shape.steady.to_ms)
