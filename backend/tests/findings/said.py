"""Findings as the interface says them, for tests of those who pass them on."""

from collections.abc import Mapping, Sequence

from loadwatch_backend.findings.model import ENGINE, Certainty, DiagnosisState, Severity
from loadwatch_backend.findings.schemas import FindingOut, FindingsOut, RuleOfThumb, TextOut


def finding(
    id: str = "pool-exhausted",
    *,
    labels: Mapping[str, str] | None = None,
    sentence: TextOut | None = None,
    severity: Severity = Severity.CRITICAL,
    certainty: Certainty = Certainty.CERTAIN,
    because_of: Sequence[str] = (),
    from_ms: int = 0,
    to_ms: int = 0,
    instances: Sequence[str] = (),
) -> FindingOut:
    """A finding without evidence."""
    at = dict(labels or {})
    words = TextOut(en=f"It was {id}.", ja=f"{id}だった。")
    return FindingOut(
        id=id,
        key="|".join([id, *(f"{name}={at[name]}" for name in sorted(at))]),
        title=words,
        sentence=sentence or words,
        severity=severity,
        certainty=certainty,
        from_ms=from_ms,
        to_ms=to_ms,
        labels=at,
        instances=list(instances),
        because_of=list(because_of),
        evidence=[],
        explanation=words,
        steps=[],
        rule_of_thumb=RuleOfThumb(text=words, source=""),
        refuted_by=words,
    )


def diagnosis(*findings: FindingOut, from_ms: int = 0, to_ms: int = 0) -> FindingsOut:
    """What is said of a window."""
    return FindingsOut(
        said_ms=0,
        state=DiagnosisState.FOUND if findings else DiagnosisState.NONE,
        engine=ENGINE,
        from_ms=from_ms,
        to_ms=to_ms,
        observations=[],
        checked=[],
        missing=[],
        findings=list(findings),
    )
