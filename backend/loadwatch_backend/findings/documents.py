"""From a diagnosis to its document. Pure."""

import math

from loadwatch_backend.evidence.cost.model import Cost
from loadwatch_backend.findings.model import Checked, Diagnosis, Evidence, Finding, Kind, Missing
from loadwatch_backend.findings.schemas import (
    ChartOut,
    CheckedOut,
    EvidenceOut,
    FindingOut,
    FindingsOut,
    MissingOut,
    RouteFigure,
    RuleOfThumb,
    StepOut,
    TextOut,
)
from loadwatch_backend.texts.words import Words


def findings_out(
    diagnosis: Diagnosis, said_ms: int, requests: int | None = None, cost: Cost | None = None
) -> FindingsOut:
    """The document of a diagnosis that is said at `said_ms`, of so many requests."""
    return FindingsOut(
        state=diagnosis.state,
        engine=diagnosis.engine,
        from_ms=diagnosis.from_ms,
        to_ms=diagnosis.to_ms,
        said_ms=said_ms,
        requests=requests,
        observations=[_text(one) for one in diagnosis.observations],
        checked=[_checked(one) for one in diagnosis.checked],
        unjudged=[_checked(one) for one in diagnosis.unjudged],
        symptoms=[_text(one) for one in diagnosis.symptoms],
        missing=[_missing(one) for one in diagnosis.missing],
        routes=[] if cost is None else _routes(cost),
        findings=[_finding(one, list(diagnosis.because_of.get(one.key, ()))) for one in diagnosis.findings],
    )


def _routes(cost: Cost) -> list[RouteFigure]:
    """What is kept with the run, for whoever follows it over many: to find it again would take a fit for each."""
    return [
        RouteFigure(
            name=one.totals.key.name,
            requests=one.totals.requests,
            calls=one.calls.value,
            database_seconds=one.seconds.value,
        )
        for one in cost.routes
        if cost.reason is None and one.of_statement
    ]


def _finding(finding: Finding, because_of: list[str]) -> FindingOut:
    kind: Kind = finding.kind
    return FindingOut(
        id=finding.id,
        key=finding.key,
        title=_text(kind.title),
        sentence=_text(finding.sentence),
        severity=finding.weight,
        certainty=finding.certainty,
        from_ms=finding.from_ms,
        to_ms=max(finding.to_ms, finding.from_ms),
        labels=dict(finding.labels),
        instances=list(finding.instances),
        began_earlier=finding.began_earlier,
        because_of=because_of,
        evidence=[_evidence(one) for one in finding.evidence],
        explanation=_text(kind.explanation),
        steps=[
            StepOut(text=_text(step.text) if place else _without_or(step.text), code=step.code)
            for place, step in enumerate(finding.steps)
        ],
        rule_of_thumb=RuleOfThumb(text=_text(kind.rule.text), source=kind.rule.source),
        refuted_by=_text(kind.refuted_by),
    )


def _evidence(evidence: Evidence) -> EvidenceOut:
    chart = evidence.chart
    return EvidenceOut(
        text=_text(evidence.text),
        link=evidence.link,
        expression=evidence.expression,
        unit=evidence.unit,
        at_ms=evidence.at_ms,
        value=evidence.value,
        limit=evidence.limit,
        chart=None
        if chart is None
        else ChartOut(
            start_ms=max(chart.start_ms, 0),
            step_ms=chart.step_ms,
            values=[_rounded(float(value)) for value in chart.values],
        ),
    )


def _checked(one: Checked) -> CheckedOut:
    return CheckedOut(id=one.kind.id, title=_text(one.kind.title), text=_text(one.text))


def _missing(one: Missing) -> MissingOut:
    return MissingOut(
        id=one.kind.id, title=_text(one.kind.title), needs=list(one.needs), config=one.switched_on_by, usual=one.usual
    )


def _without_or(words: Words) -> TextOut:
    """The first step, where the one that it would be an alternative to is not there."""
    en = words.en.removeprefix("Or ")
    return TextOut(en=en[:1].upper() + en[1:], ja=words.ja.removeprefix("または"))


def _text(words: Words) -> TextOut:
    return TextOut(en=words.en, ja=words.ja)


def _rounded(value: float) -> float | None:
    return float(f"{value:.4g}") if math.isfinite(value) else None
