"""Where costs of requests get what they must know of runs."""

from dataclasses import dataclass

from loadwatch_backend.evidence.run_windows import RunWindow
from loadwatch_backend.kit.clock import Clock
from loadwatch_backend.runs.analysis.schemas import WindowSource
from loadwatch_backend.runs.service import RunServices


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRuns:
    """`evidence.run_windows.RunWindows` over the registry."""

    runs: RunServices
    clock: Clock

    def window(self, run_id: str) -> RunWindow:
        """The run."""
        run = self.runs.registry.read(run_id)
        steady = run.steady_window
        return RunWindow(
            id=run.id,
            name=run.name or run.id,
            from_ms=run.started_ms,
            to_ms=self.clock() if run.ended_ms is None else run.ended_ms,
            steady_ms=None if steady is None or steady.source is WindowSource.WHOLE else (steady.from_ms, steady.to_ms),
        )

    def span(self, run_id: str) -> tuple[int, int]:
        """When the run was; `evidence.log_patterns.service.RunSpans`."""
        run = self.runs.registry.summary(run_id)
        return run.started_ms, self.clock() if run.ended_ms is None else run.ended_ms

    def reference(self, run_id: str) -> str | None:
        """The run that it is held against."""
        return self.runs.registry.reference(run_id)
