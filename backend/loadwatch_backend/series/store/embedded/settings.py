"""Settings of the embedded engine."""

from dataclasses import dataclass
from pathlib import Path

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedSettings:
    """Limits and places.

    Attributes:
        data_directory: where `samples.duckdb` and the lock file are.
        retention_ms: samples older than this are deleted.
        rollup_retention_ms: one-minute rollups older than this are deleted; as samples, when that is longer.
        head_bytes: memory for the newest samples, which live queries read without touching the disk.
        database_bytes: DuckDB's `memory_limit`.
        database_threads: DuckDB's `threads`; one of them per core is the most that helps.
        series_limit: series that the store may hold.
        label_bytes: names and values of the labels of all series, each counted in full.
        query_samples: samples that one select may load.
        queue_samples: samples that may wait for the disk before senders are told to come back later.
        commit_samples: samples that one commit takes at most.
        seal_rows: rows in arrival order at which they are sealed before the hour is over.
        seal_delay_ms: how long after its end an hour is left open for late samples.
        maintenance_ms: pause between two looks at what there is to seal or to delete.
    """

    data_directory: Path
    retention_ms: int = 15 * DAY_MS
    rollup_retention_ms: int = 400 * DAY_MS
    head_bytes: int = 256 * MEBIBYTE
    database_bytes: int = 512 * MEBIBYTE
    database_threads: int = 2
    series_limit: int = 500_000
    label_bytes: int = 256 * MEBIBYTE
    query_samples: int = 20_000_000
    queue_samples: int = 2_000_000
    commit_samples: int = 200_000
    seal_rows: int = 6_000_000
    seal_delay_ms: int = 5 * 60_000
    maintenance_ms: int = 15_000
