"""Moments for tests: what stands, as the live diagnosis says it."""

from collections.abc import Sequence

from loadwatch_backend.alerting.notify.causes import explained_by
from loadwatch_backend.alerting.rules.files import RuleFiles
from loadwatch_backend.findings.model import Certainty, Severity
from loadwatch_backend.findings.snapshot import ActiveFinding, FindingsSnapshot, snapshot_of

from backend.tests.findings.said import diagnosis, finding

AT_MS = 1_800_000_000_000
RULES = RuleFiles([], lambda: AT_MS).current()
EXPLAINED = explained_by(lambda: RULES.explained)
APP = {"job": "shop", "instance": "app-1"}
OTHER_APP = {"job": "shop", "instance": "app-2"}
DB = {"job": "mysql", "instance": "db-1"}


def standing(
    id: str,
    labels: dict[str, str] | None = None,
    *,
    because_of: Sequence[ActiveFinding] = (),
    severity: Severity = Severity.CRITICAL,
    certainty: Certainty = Certainty.CERTAIN,
    from_ms: int = AT_MS - 20_000,
    to_ms: int = AT_MS,
    instances: Sequence[str] = (),
) -> ActiveFinding:
    """A finding that began 20 s ago and is seen now."""
    given = finding(
        id,
        labels=labels,
        severity=severity,
        certainty=certainty,
        because_of=[one.key for one in because_of],
        from_ms=from_ms,
        to_ms=to_ms,
        instances=instances,
    )
    return snapshot_of(diagnosis(given, to_ms=AT_MS)).findings[0]


def moment(*findings: ActiveFinding, at_ms: int = AT_MS) -> FindingsSnapshot:
    """In the order given: causes first."""
    return FindingsSnapshot(at_ms=at_ms, findings=findings)
