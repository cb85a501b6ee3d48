"""The active findings of a moment, as alerts need them, and what each follows from. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from loadwatch_backend.core.texts.words import Words
from loadwatch_backend.findings.model import Certainty, Severity
from loadwatch_backend.findings.schemas import FindingsOut, TextOut

STANDS_MS = 60_000
"""A finding is active for so long after it was last found: what is sampled each minute is found each minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveFinding:
    """One finding; see `model.Finding`. `because_of` are keys of its causes."""

    id: str
    key: str
    sentence: TextOut
    severity: Severity
    certainty: Certainty
    labels: Mapping[str, str]
    from_ms: int
    to_ms: int
    because_of: Sequence[str]
    step: Words | None = None
    """What to do first."""
    instances: Sequence[str] = ()

    def labels_for(self, instance: str | None) -> Mapping[str, str]:
        """Its labels; those of a fleet with this instance where it is one of them, else with the worst."""
        if not self.instances:
            return self.labels
        return {**self.labels, "instance": instance if instance and instance in self.instances else self.instances[0]}

    @property
    def accuses(self) -> bool:
        """Whether it is worth a message: it says that something is wrong, and more than one sign says so."""
        return self.severity is not Severity.INFO and self.certainty is not Certainty.POSSIBLE


@dataclass(frozen=True, kw_only=True)
class FindingsSnapshot:
    """What was said of the window that ended at `at_ms`; causes come first."""

    at_ms: int
    findings: Sequence[ActiveFinding] = ()

    @cached_property
    def by_key(self) -> Mapping[str, ActiveFinding]:
        """Each by its key."""
        return {one.key: one for one in self.findings}

    def stands(self, one: ActiveFinding) -> bool:
        """Whether it was seen of late."""
        return one.to_ms >= self.at_ms - STANDS_MS

    def causes_of(self, one: ActiveFinding) -> list[ActiveFinding]:
        """What it follows from, near and far, in the order of the moment; never itself."""
        known: set[str] = set()
        waiting = list(one.because_of)
        while waiting:
            key = waiting.pop()
            if key not in known and key in self.by_key:
                known.add(key)
                waiting.extend(self.by_key[key].because_of)
        return [other for other in self.findings if other.key in known and other.key != one.key]


def snapshot_of(said: FindingsOut) -> FindingsSnapshot:
    """From what the interface says, without what is muted."""
    return FindingsSnapshot(
        at_ms=said.to_ms,
        findings=[
            ActiveFinding(
                id=one.id,
                key=one.key,
                sentence=one.sentence,
                severity=one.severity,
                certainty=one.certainty,
                labels=one.labels,
                from_ms=one.from_ms,
                to_ms=one.to_ms,
                because_of=tuple(one.because_of),
                step=None if not one.steps else Words(one.steps[0].text.en, one.steps[0].text.ja),
                instances=tuple(one.instances),
            )
            for one in said.findings
            if not one.muted
        ],
    )
