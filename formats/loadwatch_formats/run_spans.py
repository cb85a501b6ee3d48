"""When a run was, for what reads logs of it."""

from dataclasses import dataclass

LONGEST_RUN_DAYS = 31
"""Of a run: what lies further apart is no run, but a clock that was set."""


@dataclass(frozen=True, slots=True)
class Span:
    """From the first to the last moment, ms since the epoch."""

    from_ms: int
    to_ms: int

    def has(self, at_ms: int) -> bool:
        """Whether a line of that time belongs to it: most logs write whole seconds, so the first one counts whole."""
        return self.from_ms // 1_000 * 1_000 <= at_ms <= self.to_ms

    def document(self) -> dict[str, int]:
        return {"from_ms": self.from_ms, "to_ms": self.to_ms}
