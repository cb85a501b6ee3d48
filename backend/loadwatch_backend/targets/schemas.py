"""Documents of the targets endpoint."""

from pydantic import Field

from loadwatch_backend.kit.schemas import Milliseconds, Schema


class CollectorOut(Schema):
    """Health of one collector on one target."""

    collector: str = Field(description="Empty where another sender pushes, such as Prometheus or vmagent.")
    up: bool | None = Field(description="Whether the last look worked; null while nothing fresh is known.")
    last_sample_ms: Milliseconds | None
    lag_seconds: float | None = Field(description="Age of the newest sample.")
    duration_seconds: float | None = Field(description="How long the last look took.")
    cpu_ratio: float | None = Field(description="CPU that the collector costs, in cores.")
    samples: int | None = Field(description="Samples of the last look.")
    error: str | None = Field(description="Why the last look failed.")
    agents: list[str] = Field(
        description="Agents that read it at this moment, as HOST[PROCESS] START; two are one too many."
    )


class TargetOut(Schema):
    """A thing observed."""

    job: str
    instance: str
    collectors: list[CollectorOut]


class TargetList(Schema):
    """Every target heard of within the last day."""

    now_ms: Milliseconds
    targets: list[TargetOut]
