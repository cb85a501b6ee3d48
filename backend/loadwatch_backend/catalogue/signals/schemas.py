"""Documents of the signals and headroom endpoints."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from loadwatch_backend.catalogue.signals.model import Orientation, Total, Unit
from loadwatch_backend.core.language import Language
from loadwatch_backend.core.schemas import Milliseconds, Schema

MIN_POINTS = 2
MAX_POINTS = 2_000
DEFAULT_POINTS = 600


class GroupOut(Schema):
    """A section of the page."""

    id: str
    title: str
    optional: bool = Field(
        default=False, description="True when it is not shown at all while none of its signals has data."
    )


class PanelOut(Schema):
    """The chart that a signal is drawn in."""

    id: str
    title: str
    split: str | None = Field(default=None, description="A label whose values are drawn side by side, on one axis.")
    stacked: bool = Field(
        default=False,
        description="True when its signals and their layers are parts of a whole, put on top of each other.",
    )
    table: bool = Field(
        default=False, description="True for a stack that is read as rows: its layers by their mean over the range."
    )


class SignalDelivery(Schema):
    """Where late values come from. A value at T covers the period before T."""

    source: str
    period_ms: int = Field(description="The shortest there is; each series tells its own.")
    events: bool = Field(description="Whether a value is written only when something happened.")


class SignalOut(Schema):
    """A named expression with its meaning."""

    id: str
    title: str
    unit: Unit
    help: str
    orientation: Orientation
    expression: str = Field(description="PromQL; `$window` stands for the range that rates look back over.")
    group: str
    panel: PanelOut
    legend: str = Field(description="Template of a series' name, such as `{{instance}}`.")
    delivery: SignalDelivery | None = Field(
        default=None, description="Present where values come late and cover a period."
    )
    total: Total | None = Field(default=None, description="What the series are together; null where nothing sensible.")
    layers: list[str] = Field(
        default=[], description="Labels by which one instance has several series, each a part of its whole."
    )
    limit: bool = Field(default=False, description="True when it is the bound of its panel's other signals.")


class ResourceOut(Schema):
    """Something that can run out: how much is used, and how much there is."""

    id: str
    title: str
    unit: Unit
    help: str
    used: str = Field(description="PromQL for what is used.")
    limit: str = Field(description="PromQL for what there is.")
    group: str


class SignalCatalogue(Schema):
    """All groups in page order, signals and resources."""

    groups: list[GroupOut]
    signals: list[SignalOut]
    resources: list[ResourceOut]


class SignalQuery(Schema):
    """Which signals, over which span, at most how many points, narrowed to which labels."""

    signals: Annotated[list[str], Field(min_length=1, max_length=200)] = Field(
        description="Ids of the catalogue. Of a signal that has a total and no delivery `ID@total` is the total of its "
        "instances, and `ID@low`, `ID@middle` and `ID@high` are their spread: a series for each set of other labels."
    )
    start_ms: Milliseconds
    end_ms: Milliseconds
    max_points: Annotated[int, Field(ge=MIN_POINTS, le=MAX_POINTS)] = DEFAULT_POINTS
    step_ms: Annotated[int, Field(ge=100, le=365 * 86_400_000)] | None = Field(
        default=None,
        description="Step of an earlier answer that this one is to join; then max_points is not looked at.",
    )
    filters: dict[str, list[str]] = Field(
        default_factory=dict, description="Only series whose label has one of the values; every label must match."
    )
    lang: Language = Field(default=Language.EN, description="Language of the names of series.")


class SeriesOut(Schema):
    """One line of a chart."""

    name: str
    labels: dict[str, str]
    values: list[float | None] = Field(description="values[i] belongs to start_ms + i * step_ms; null is a gap.")


class SignalError(Schema):
    """Why one signal has no answer while others have."""

    code: str
    detail: str


class SignalResult(Schema):
    """The series of one signal."""

    signal: str
    series: list[SeriesOut]
    error: SignalError | None
    newest_ms: Milliseconds | None = Field(
        default=None,
        description="Time of the newest value that was delivered, also before the span; null without a delivery.",
    )
    final_ms: Milliseconds | None = Field(
        default=None,
        description="Where load tools tell of requests when they end, and some still wait: points after this time are "
        "short of those. Null where nothing is awaited.",
    )
    mean_ms: int | None = Field(
        default=None,
        description="Each point is the mean of so much time before it, by how often samples come and by the step; null "
        "where points are values of an instant, come late with a period of their own, or are of sources that differ.",
    )


class SignalAnswer(Schema):
    """One grid of times for all results."""

    start_ms: int = Field(description="A multiple of 2 * step_ms.")
    step_ms: int
    count: int
    reduced: bool = Field(
        description="True when each pair of points holds the first and the second extremum of its bucket."
    )
    complete_ms: int = Field(description="Points at or after this time may still change.")
    results: list[SignalResult]


class State(StrEnum):
    """How close a resource is to its limit."""

    OK = "ok"
    NEAR = "near"
    EXHAUSTED = "exhausted"


class HeadroomEntry(Schema):
    """One resource of one target."""

    resource: str
    title: str
    unit: Unit
    group: str
    name: str
    labels: dict[str, str]
    used: float
    limit: float
    headroom: float = Field(description="1 - used / limit.")
    exhaustion_seconds: float | None = Field(
        description="Until the limit at the present slope, above half of it and within an hour."
    )
    history: list[float | None] = Field(description="used / limit, 60 values, one each `history_step_ms`.")
    history_step_ms: int = 5_000
    state: State
    near: float = Field(description="used / limit from which the state is `near`.")
    demand: bool | None = Field(
        default=None,
        description="Whether somebody waited for more of it, or was refused, within the last 15 s; null where nothing "
        "tells, and where it is not near its limit.",
    )
    as_of_ms: Milliseconds | None = Field(
        default=None, description="Time of the value where it came late or is the last one; null where it is of now."
    )
    late: bool = Field(
        default=False, description="True where nothing newer came than `as_of_ms`, though it should have."
    )
    source: str | None = Field(default=None, description="Where a value comes from that is delivered late.")


class Headroom(Schema):
    """Every resource: what somebody waits for, then the nearest limit; hosts' full CPU and swap without demand last."""

    at_ms: Milliseconds
    resources: list[HeadroomEntry]
