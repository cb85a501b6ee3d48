"""Documents of the targets endpoint."""

from pydantic import Field

from loadwatch_backend.core.schemas import Milliseconds, Schema


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


class TargetName(Schema):
    """Which target."""

    job: str = Field(max_length=4_096)
    instance: str = Field(max_length=4_096)


class TargetOut(Schema):
    """A thing observed."""

    job: str
    instance: str
    collectors: list[CollectorOut]
    sent_ms: Milliseconds | None = Field(description="When it was last sent, by whichever collector.")
    gone: bool = Field(description="Nobody has sent it for 15 minutes.")
    kept_by: str | None = Field(description="Who said that it was not taken away, since it was last sent.")


class TargetAnswerIn(Schema):
    """Whether silent targets were taken away."""

    targets: list[TargetName] = Field(min_length=1, max_length=2_000)
    taken_away: bool = Field(description="They leave the list until they are sent again; else they stay, as gone.")


class TargetList(Schema):
    """Every target heard of within the last seven days that nobody took away."""

    now_ms: Milliseconds
    targets: list[TargetOut]
