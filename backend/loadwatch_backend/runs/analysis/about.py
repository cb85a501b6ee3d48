"""What the analysis of a run tells those who look for its limits. Pure."""

from loadwatch_backend.findings.read import Span
from loadwatch_backend.findings.service import About
from loadwatch_backend.findings.window import Counts, Generator
from loadwatch_backend.runs.analysis.own_rows import TABLE_ROWS
from loadwatch_backend.runs.analysis.phases.shape import Shape
from loadwatch_backend.runs.analysis.schemas import GeneratorCheck, ReconciliationOut, WindowSource
from loadwatch_backend.runs.analysis.subject import Subject


def about(subject: Subject, generator: GeneratorCheck, reconciliation: ReconciliationOut | None, shape: Shape) -> About:
    """The generator, the counts and the steady window of a run."""
    return About(
        generator=Generator(
            state=generator.state,
            reasons=generator.reasons,
            target_rate=generator.target_rate,
            reached_rate=generator.reached_rate,
            dropped=generator.dropped_iterations or 0,
            tool=subject.tool,
        ),
        counts=_counts(reconciliation),
        steady=_steady(shape),
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
    )


def _steady(shape: Shape) -> Span | None:
    """None where none was found: then the whole run is no steady window either."""
    if shape.window.source is WindowSource.WHOLE:
        return None
    return Span(from_ms=shape.steady.from_ms, to_ms=shape.steady.to_ms)
