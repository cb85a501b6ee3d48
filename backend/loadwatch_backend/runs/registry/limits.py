"""What ran out in a run, kept beside it so that a list of runs reads no analyses. Pure."""

from collections.abc import Callable, Mapping

from pydantic import Field

from loadwatch_backend.findings.model import Certainty, DiagnosisState, Severity
from loadwatch_backend.findings.schemas import FindingOut, FindingsOut, TextOut
from loadwatch_backend.kit.schemas import Milliseconds, Schema
from loadwatch_backend.runs.schemas import FirstLimit, LimitState

MOST_KEPT = 20
"""Of a run that many things ran out in; the first is shown, and the others are counted."""

IsMuted = Callable[[str, Mapping[str, str]], bool]
"""Whether a finding of this id and these labels is muted."""


class KeptLimit(Schema):
    """A finding that accuses, without its evidence."""

    id: str
    title: TextOut
    certainty: Certainty
    labels: dict[str, str]
    from_ms: Milliseconds


class KeptLimits(Schema):
    """What the row of a run holds; causes before consequences."""

    state: LimitState
    found: list[KeptLimit] = Field(default_factory=list[KeptLimit])


def kept_limits(said: FindingsOut | None) -> KeptLimits:
    """What is kept of findings; None where there are none to read, of an older version or without samples."""
    if said is None:
        return KeptLimits(state=LimitState.UNKNOWN)
    found = [_kept(one) for one in said.findings if one.severity is not Severity.INFO]
    if found:
        return KeptLimits(state=LimitState.FOUND, found=found[:MOST_KEPT])
    cannot_tell = said.state is DiagnosisState.CANNOT_TELL
    return KeptLimits(state=LimitState.CANNOT_TELL if cannot_tell else LimitState.NONE)


def write_limits(kept: KeptLimits) -> str:
    """As `first_limit` reads it, and as `filter.repository` looks into it."""
    return kept.model_dump_json()


def first_limit(kept: str | None, started_ms: int, is_muted: IsMuted) -> FirstLimit | None:
    """What a list says, as the run's page does: the first that is not muted; None before the run is analysed."""
    if kept is None:
        return None
    limits = KeptLimits.model_validate_json(kept)
    said = [one for one in limits.found if not is_muted(one.id, one.labels)]
    if not said:
        return FirstLimit(state=LimitState.MUTED if limits.found else limits.state)
    first = said[0]
    return FirstLimit(
        state=LimitState.FOUND,
        id=first.id,
        title=first.title,
        certainty=first.certainty,
        after_seconds=(first.from_ms - started_ms) / 1_000,
        more=len(said) - 1,
    )


def _kept(finding: FindingOut) -> KeptLimit:
    return KeptLimit(
        id=finding.id,
        title=finding.title,
        certainty=finding.certainty,
        labels=finding.labels,
        from_ms=finding.from_ms,
    )
