"""What comparison asks of the registry of runs; the application passes it in."""

from collections.abc import Sequence
from typing import Protocol

from loadwatch_backend.records.model import Seconds
from loadwatch_backend.runs.analysis.schemas import PercentilesOut
from loadwatch_backend.runs.schemas import RunOut, RunSummary
from loadwatch_backend.runs.snapshots.schemas import ConfigurationDifference


class RunSource(Protocol):
    """Runs as they are kept; safe to use from any thread."""

    def read(self, run_id: str) -> RunOut:
        """One run.

        Raises:
            NotFoundError: there is none.
        """
        ...

    def summary(self, run_id: str) -> RunSummary:
        """The run's line of the list; raises as `read`."""
        ...

    def raw_seconds(self, run_id: str) -> Seconds | None:
        """Its per-second series; None before there is a result."""
        ...

    def percentile(self, run_id: str, name: str) -> float | None:
        """Such as `p70`, over the steady window, seconds; an estimate where single requests are not kept."""
        ...

    def percentiles(self, run_id: str, names: Sequence[str]) -> PercentilesOut:
        """Any percentiles of a run and of its endpoints, each by its shortest name."""
        ...

    def of_scenario(self, scenario: str, version: str | None) -> Sequence[RunOut]:
        """Ended runs of a scenario in order of their start, the newest 500; of all versions for None."""
        ...

    def difference(self, run_id: str, base: str) -> ConfigurationDifference:
        """Configuration of a run against another's."""
        ...
