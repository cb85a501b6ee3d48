"""Where the files of a run are: `<data>/runs/<run id>/`."""

from dataclasses import dataclass
from pathlib import Path

RECORDS = "records.parquet"
RESULT = "result.json"
SECONDS = "seconds.npz"


@dataclass(frozen=True, slots=True)
class RunFiles:
    directory: Path

    @property
    def records(self) -> Path:
        """Single requests, in `parquet.record_schema`."""
        return self.directory / RECORDS

    @property
    def result(self) -> Path:
        """Everything of `LoadResult` but the records and the per-second arrays, as JSON."""
        return self.directory / RESULT

    @property
    def seconds(self) -> Path:
        """The arrays of `Seconds`."""
        return self.directory / SECONDS
