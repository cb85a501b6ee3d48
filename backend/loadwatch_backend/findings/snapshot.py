"""The active findings of a moment, as alerts need them, and what each follows from. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from loadwatch_backend.findings.schemas import FindingOut, FindingsOut

STANDS_MS = 60_000
"""A finding is active for so long after it was last found: what is sampled each minute is found each minute."""


ActiveFinding = FindingOut
"""One that is not muted."""


@dataclass(frozen=True, kw_only=True)
class FindingsSnapshot:
    """What was said of the window that ended at `at_ms`; causes come first."""

    at_ms: int
    findings: Sequence[ActiveFinding] = ()

    @cached_property
    def by_key(self) -> Mapping[str, ActiveFinding]:
        return {one.key: one for one in self.findings}

    def stands(self, one: ActiveFinding) -> bool:
        return one.to_ms >= self.at_ms - STANDS_MS

    def causes_of(self, one: ActiveFinding) -> list[ActiveFinding]:
        """Its direct and indirect causes, in the order of `findings`; never itself."""
        known: set[str] = set()
        waiting = list(one.because_of)
        while waiting:
            key = waiting.pop()
            if key not in known and key in self.by_key:
                known.add(key)
                waiting.extend(self.by_key[key].because_of)
        return [other for other in self.findings if other.key in known and other.key != one.key]


def snapshot_of(said: FindingsOut) -> FindingsSnapshot:
    return FindingsSnapshot(at_ms=said.to_ms, findings=[one for one in said.findings if not one.muted])
