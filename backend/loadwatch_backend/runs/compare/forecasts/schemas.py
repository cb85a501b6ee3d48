"""Documents of forecasts."""

from pydantic import Field

from loadwatch_backend.core.schemas import Milliseconds, Schema
from loadwatch_backend.findings.schemas import TextOut


class PointOut(Schema):
    """A step of a run: while the rate stood still, so much was in use."""

    run: str
    rate: float = Field(description="Good answers per second.")
    use: float
    seconds: float


class LawOut(Schema):
    """use = idle + rate * demand."""

    rate: float = Field(description="Good answers per second at which the resource is full.")
    low: float = Field(description="90 % interval of the rate.")
    high: float
    demand: float = Field(description="Use for each request per second.")
    idle: float = Field(description="Use without load.")
    curved: bool = Field(description="What a request needs changes with the load; the interval is as wide as that.")
    top_rate: float = Field(description="Of the step with the highest rate.")
    top_use: float
    reached: float | None = Field(description="Rate at which it was full in one of these runs.")


class ForecastResource(Schema):
    """What is said of one resource."""

    key: str = Field(description="What it is known by in all forecasts of the scenario.")
    resource: str
    title: TextOut
    name: str = Field(description="What tells it from others of its kind, such as an instance.")
    unit: str
    limit: float
    law: LawOut | None = Field(description="null where there is no number; then `refused` says why.")
    refused: str | None = Field(
        description="Stable code: `few-steps`, `narrow`, `underloaded`, `flat`, `drifts`, `stock`, `not-constant`."
    )
    text: TextOut = Field(description="Why there is no number, or what is special about it; may be empty.")
    points: list[PointOut]


class LeftOutPart(Schema):
    """Seconds of a run that are in no point."""

    reason: str = Field(
        description="Stable code: `warm-up`, `ramp-down`, `failures`, `transient`, `others`, `no-data`."
    )
    text: TextOut
    seconds: float


class ForecastRun(Schema):
    """A run that the forecast rests on."""

    run: str
    name: str
    started_ms: Milliseconds
    commit: str
    top_rate: float = Field(description="Highest rate of a step; 0 without any.")
    left_out: list[LeftOutPart] = Field(description="Of the resource with most of them.")
    little: float | None = Field(description="Rate times mean time over users at work; 1 where the figures agree.")
    little_text: TextOut | None


class PeakOut(Schema):
    """The Universal Scalability Law."""

    rate: float = Field(description="Highest good answers per second.")
    low: float = Field(description="90 % interval of the rate.")
    high: float
    users: float = Field(description="Users at work that bring it.")


class ScoreOut(Schema):
    """A forecast of one resource against a later run that went higher."""

    key: str
    title: TextOut
    run: str
    result: str = Field(description="`hit`, `too-high`: it promised too much, `too-low`.")
    rate: float = Field(description="What was said.")
    low: float
    high: float
    truth: float | None = Field(description="Rate at which it was full; null where it was not full at `top_rate`.")
    top_rate: float
    error: float | None = Field(description="(said - truth) / truth.")


class PastForecast(Schema):
    """A forecast that was shown before."""

    id: int
    created_ms: Milliseconds
    sentence: TextOut
    runs: list[str]
    scores: list[ScoreOut] = Field(description="Each resource once, by the first later run that tells.")


class RecordOut(Schema):
    """How forecasts of the scenario did so far."""

    hits: int
    too_high: int
    too_low: int
    bias: float | None = Field(description="Median of the errors; above zero they promise too much.")


class ForecastFacts(Schema):
    """What is said; this is what is kept."""

    engine: str = Field(description="Version of the method.")
    sentence: TextOut
    runs: list[ForecastRun]
    other_runs: int = Field(description="Runs that were left out: with other parameters, invalid, or without seconds.")
    resources: list[ForecastResource] = Field(description="The first to be full first, those without a number last.")
    peak: PeakOut | None
    peak_text: TextOut


class ForecastOut(Schema):
    """A scenario's capacity, as its runs tell."""

    scenario: str
    scenario_version: str
    now: ForecastFacts
    past: list[PastForecast] = Field(description="Earlier forecasts, the newest first.")
    record: RecordOut
