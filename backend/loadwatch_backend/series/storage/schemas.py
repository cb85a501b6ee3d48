"""Documents of the store's figures."""

from pydantic import Field

from loadwatch_backend.core.schemas import Count, Milliseconds, Schema


class StoreTableOut(Schema):
    """Samples of one part of the store."""

    samples: Count
    bytes: Count


class StoreGroupOut(Schema):
    """Series that have one metric's name, or one job."""

    name: str = Field(description="Empty for series without that label.")
    series: Count
    samples: Count
    bytes: Count = Field(description="By estimate: the bytes of each part, shared among its samples.")


class StoreLabelOut(Schema):
    """A label and how many values it has."""

    name: str
    values: Count


class StoreLossOut(Schema):
    """What damage of the disk took of a table of the store."""

    table: str = Field(description="Of the file of samples; `contents` is what says where its tables are.")
    first_ms: Milliseconds | None = Field(description="None where the hours are not known, or there are none.")
    last_ms: Milliseconds | None
    samples: Count | None = Field(description="Minutes in `rollups`; None where it cannot be told.")


class StoreOut(Schema):
    """What the store of samples holds; lists begin with the largest."""

    read_ms: Milliseconds = Field(description="When this was read: within the last half minute.")
    file_bytes: Count = Field(description="The file of samples with its log.")
    free_bytes: Count = Field(description="Of that, dead space, which samples to come take first.")
    disk_free_bytes: Count = Field(description="Free on the disk of the data directory.")
    retention_ms: Count
    rollup_retention_ms: Count
    hot: StoreTableOut = Field(description="Samples in order of arrival, not sealed yet.")
    sealed: StoreTableOut = Field(description="Sorted and compressed samples.")
    rollups: StoreTableOut = Field(description="What each minute of each series was: `samples` are minutes here.")
    series: Count
    series_limit: Count
    oldest_ms: Milliseconds | None
    newest_ms: Milliseconds | None
    clock_jump_ms: int = Field(
        description="By how much this machine's clock has jumped, as long as that is not believed: nothing is deleted "
        "for its age meanwhile. Mostly 0."
    )
    metrics_total: Count
    metrics: list[StoreGroupOut] = Field(description="By bytes.")
    metrics_by_series: list[StoreGroupOut] = Field(description="By number of series.")
    jobs_total: Count
    jobs: list[StoreGroupOut] = Field(description="By bytes.")
    labels_total: Count
    labels: list[StoreLabelOut] = Field(description="By number of values.")
    losses: list[StoreLossOut] = Field(description="What damage of the disk took, by table and time; the oldest first.")
    salvage_command: str | None = Field(description="What copies what can be read, while the server is stopped.")


class StoreCompactedOut(Schema):
    """What compacting did."""

    sealed_samples: Count
    before_bytes: Count
    after_bytes: Count
