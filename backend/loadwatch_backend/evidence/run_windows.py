"""What costs ask of runs; the application passes it in."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWindow:
    """When a run was; `steady_ms` is its steady window, None without one."""

    id: str
    name: str
    from_ms: int
    to_ms: int
    steady_ms: tuple[int, int] | None = None


class RunWindows(Protocol):
    """Runs as they are kept; safe to use from any thread."""

    def window(self, run_id: str) -> RunWindow:
        """One run.

        Raises:
            NotFoundError: there is none.
        """
        ...

    def reference(self, run_id: str) -> str | None:
        """The run that it is held against: the pinned baseline of its scenario, else the run before it."""
        ...
