"""What ran out in a run, kept beside it so that a list of runs reads no analyses. Pure."""

from collections.abc import Callable, Mapping, Sequence

from pydantic import Field

from loadwatch_backend.core.schemas import Milliseconds, Schema
from loadwatch_backend.findings.model import Certainty, DiagnosisState, Severity
from loadwatch_backend.findings.schemas import FindingOut, FindingsOut, TextOut
from loadwatch_backend.runs.analysis.schemas import ResourceReached
from loadwatch_backend.runs.schemas import FirstLimit, LimitState

MOST_KEPT = 20
"""Of a run that many things ran out in; the first is shown, and the others are counted."""

SAMPLE_MS = 1_000
IsMuted = Callable[[str, Mapping[str, str]], bool]
"""Whether a finding of this id and these labels is muted or marked wrong."""


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
    accusing = [one for one in said.findings if one.severity is not Severity.INFO][:MOST_KEPT]
    if accusing:
        found = [KeptLimit.model_validate(one, from_attributes=True) for one in accusing]
        return KeptLimits(state=LimitState.FOUND, found=found)
    cannot_tell = said.state is DiagnosisState.CANNOT_TELL
    return KeptLimits(state=LimitState.CANNOT_TELL if cannot_tell else LimitState.NONE)


def write_limits(kept: KeptLimits) -> str:
    """As `first_limit` reads it, and as `repository` looks into it."""
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


def limits_in_order(resources: Sequence[ResourceReached], findings: Sequence[FindingOut]) -> list[ResourceReached]:
    """Limits with their place, as every page and report has them.

    Those that were full and that a finding accuses, by when they were full; then the others that were full, then the
    rest, the fullest first: a host's CPU that was full while nobody waited is not what ran out first.
    """
    accused = [
        (one.resource, labels)
        for one in findings
        if not one.muted and one.severity is not Severity.INFO
        for labels in ([one.labels | {"instance": name} for name in one.instances] or [one.labels])
    ]
    full = sorted(
        (one for one in resources if one.first_full_ms is not None),
        key=lambda one: (one.first_full_ms or 0, -one.ratio_max),
    )
    others = sorted((one for one in resources if one.first_full_ms is None), key=lambda one: -one.ratio_max)
    harmful = [one for one in full if any(_is_about(one, resource, labels) for resource, labels in accused)]
    ordered: list[ResourceReached] = []
    for number, one in enumerate(harmful, 1):
        before = ordered[-1] if ordered else None
        # Times that are closer than samples come have no order.
        known = max(SAMPLE_MS, one.interval_ms or 0, 0 if before is None else before.interval_ms or 0)
        same = before is not None and (one.first_full_ms or 0) - (before.first_full_ms or 0) < known
        ordered.append(one.model_copy(update={"place": before.place if same and before is not None else number}))
    return [*ordered, *(one for one in [*full, *others] if one not in harmful)]


def _is_about(limit: ResourceReached, resource: str, labels: Mapping[str, str]) -> bool:
    """Whether a finding of these labels is about the limit; of a host, one of them may not name the job."""
    if resource and resource != limit.resource and not limit.resource.startswith("aws_"):
        return False
    names = limit.labels.keys() | labels.keys()
    if "job" in names and not ("job" in limit.labels and "job" in labels):
        names -= {"job"}
    return all(limit.labels.get(name) == labels.get(name) for name in names)
