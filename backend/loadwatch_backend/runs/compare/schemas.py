"""Documents of comparison, sweep and trend."""

from enum import StrEnum

from pydantic import Field

from loadwatch_backend.core.schemas import Milliseconds, Schema
from loadwatch_backend.runs.schemas import RunSummary
from loadwatch_backend.runs.snapshots import ConfigurationDifference


class Align(StrEnum):
    """What elapsed time zero means."""

    START = "start"
    STEADY = "steady"


class MetricInfo(Schema):
    """A figure of runs: of the result (`p95`), a signal's mean over the steady window, a route's time, one's own."""

    id: str = Field(examples=["p95", "signal:pool_wait_mean", "route:GET /timeline", "figure:score"])
    title: str
    unit: str
    orientation: str
    help: str


class MetricList(Schema):
    """All figures that can be swept and followed."""

    metrics: list[MetricInfo]


class ComparisonOpinion(StrEnum):
    """What a difference means."""

    BETTER = "better"
    """The whole interval lies beyond the margin, on the good side."""
    WORSE = "worse"
    SAME = "same"
    """The whole interval lies inside of the margin."""
    UNCLEAR = "unclear"
    """It cannot be told: the interval reaches over an edge of the margin, or there is too little data."""
    NEUTRAL = "neutral"
    """Differs, and neither way is better."""


class Grade(StrEnum):
    """How sure an opinion is."""

    REPEATS = "holds-over-repeats"
    """Three runs or more a side, whose own scatter tells it."""
    CLEAR = "clear"
    """Fewer runs: more than equal runs were seen, or are assumed, to differ by."""
    CANNOT_TELL = "cannot-tell"


class CompareGroup(Schema):
    """Runs with one scenario version, commit, dirty flag and parameters: repeats, taken together."""

    id: str = Field(description="The first run's id.")
    label: str
    runs: list[str]
    is_base: bool


class CompareCell(Schema):
    """A metric of one group."""

    value: float | None = Field(description="Geometric mean over the group's runs.")
    low: float | None = Field(description="95 % interval of the value.")
    high: float | None
    per_run: list[float | None] = Field(description="In the order of the group's runs.")
    spread: float | None = Field(description="Largest minus smallest of the repeats, over their mean.")
    delta: float | None = Field(description="Against the base group: (value - base) / base.")
    delta_low: float | None = Field(description="98 % interval of the difference; never below -1.")
    delta_high: float | None
    p_value: float | None
    opinion: ComparisonOpinion
    grade: Grade | None = Field(default=None, description="How sure the opinion is; null where nothing is judged.")
    remark: str = Field(
        description="Stable code: `few-repeats`, `short`, `no-data`, `single-run`, `limit-differs`, `far-from-limit`, "
        "`limit-unknown`, `no-direction` (of one's own: no threshold says which side is better), `below-zero` "
        "(differences are ratios), or empty. "
        "`far-from-limit` and `limit-unknown` are uses of a resource that are not judged."
    )


class CompareRow(Schema):
    """A metric over all groups."""

    metric: MetricInfo
    margin: float = Field(description="Relative difference up to which two figures are the same.", examples=[0.05])
    cells: list[CompareCell]


class CompareEndpoint(Schema):
    """An endpoint over all groups, a group's runs taken together; null where a group has none of that name."""

    name: str
    requests: list[int | None] = Field(description="Sum over the group's runs.")
    rate: list[float | None] = Field(description="Mean over the group's runs.")
    p95_seconds: list[float | None] = Field(description="Geometric mean over the group's runs.")
    failure_ratio: list[float | None]
    share: list[float | None] = Field(default=[], description="Of the group's requests; null where it tells none.")
    percentiles: dict[str, list[float | None]] = Field(
        default={}, description="Seconds of those that were asked for, as `p95_seconds`; null where they are not kept."
    )


class CompareSeries(Schema):
    """One run's seconds on the common axis of elapsed time."""

    run: str
    offset_seconds: float = Field(description="Seconds of the run before elapsed time zero.")
    rate: list[float | None]
    ok_rate: list[float | None]
    failures: list[float | None]
    p50: list[float | None]
    p95: list[float | None]
    p99: list[float | None]


class CompareHeadline(Schema):
    """What a group is against the base, in one sentence."""

    group: str = Field(description="Its id.")
    text: str = Field(description="Good answers, failures where they differ, p50, and the number of runs.")
    opinion: ComparisonOpinion = Field(description="Of the good answers.")
    grade: Grade | None


class FigureRepeats(Schema):
    """How well a figure repeats between equal runs: which one to trust."""

    metric: MetricInfo
    scatter: float = Field(description="Standard deviation between equal runs, as a share of the figure.")
    runs: int = Field(description="Equal runs that tell it.")


class CompareOut(Schema):
    """2 to 8 runs side by side; the first group is the base."""

    align: Align
    headlines: list[CompareHeadline] = Field(description="Of each group but the base, over the steady windows.")
    runs: list[RunSummary]
    groups: list[CompareGroup]
    from_seconds: float = Field(description="Elapsed time of the first value of every series.")
    step_seconds: float
    count: int
    series: list[CompareSeries]
    rows: list[CompareRow]
    endpoints: list[CompareEndpoint]
    configuration: list[ConfigurationDifference] = Field(description="Of each group's first run against the base's.")
    remarks: list[str] = Field(
        description="Stable codes: `scenario-differs`, `version-differs`, `duration-differs`, `tool-differs`, "
        "`target-differs`, `mix-differs` (a twentieth of the requests or more went to other endpoints), "
        "`no-seconds:<run>`."
    )
    repeats: list[FigureRepeats] = Field(
        default=[],
        description="How well figures repeat between equal runs of these scenarios, the best first; empty where there "
        "are no three equal runs, and it cannot be told.",
    )


class LeftOutRun(Schema):
    """A run that does not count for the best value: invalid, aborted, or the load generator was the limit."""

    run: str
    name: str
    x: float | None
    y: float | None
    verdict: str | None


class SweepPoint(Schema):
    """All runs with one value of the parameter."""

    value: float
    runs: list[str]
    left_out: list[LeftOutRun] = Field(description="Those of `runs` that do not count, each with its own figures.")
    x: float | None = Field(description="Geometric mean of the first metric; null where no run that counts has it.")
    x_low: float | None
    x_high: float | None
    y: float | None
    y_low: float | None
    y_high: float | None
    verdict: str | None


class NextReason(StrEnum):
    """How the value to try next was chosen, or why there is none."""

    BEYOND = "beyond"
    """The best is the last that was measured."""
    BELOW = "below"
    """The best is the first that was measured."""
    BETWEEN = "between"
    """In the wider gap beside the best."""
    FINE = "fine"
    """The gaps beside the best are too small to matter."""
    PLATEAU = "plateau"
    """Several cannot be told from the best: the lowest of them is enough."""
    FLAT = "flat"
    """None can be told from the others."""
    FEW_VALUES = "few-values"
    NO_DIRECTION = "no-direction"
    """Neither way of the figure is better."""


class SweepNext(Schema):
    """Which value to measure next."""

    value: float | None = Field(description="Null where none is named.")
    reason: NextReason
    beside: float | None = Field(default=None, description="The other end of the gap that it lies in.")


class SweepOut(Schema):
    """One scenario by one parameter."""

    scenario: str
    scenario_version: str | None
    parameter: str
    first: MetricInfo
    second: MetricInfo
    own: list[MetricInfo] = Field(description="Figures of the user's own that these runs have, too.")
    points: list[SweepPoint] = Field(description="By rising value of the parameter.")
    best: float | None = Field(
        description="Lowest value of the parameter that cannot be told from the best of the first metric; null below "
        "three values, and where none can be told from the others."
    )
    tied: list[float] = Field(description="All values that cannot be told from the best one, itself included.")
    next: SweepNext
    diminishing: float | None = Field(
        description="Value from which on more brings less than 5 % of the whole gain; null where none beyond was tried."
    )
    remarks: list[str] = Field(
        description="Stable codes: `few-values`, `single-runs`, `not-numeric:<runs>`, `left-out:<runs>`, "
        "`best-is-last`, `best-is-first`, "
        "`negative-scaling:<value from which on more is worse>`, `mixed:<what differs between runs of one value>`."
    )


class TrendSeries(Schema):
    """Runs that may be joined: of one tool, target rate and set of parameters."""

    id: str
    label: str = Field(description="What tells it from the others; empty where it is the only one.")
    runs: int


class TrendPoint(Schema):
    """One run."""

    run: str
    series: str
    started_ms: Milliseconds
    name: str
    value: float | None
    commit: str
    branch: str
    dirty: bool | None
    verdict: str | None
    is_baseline: bool


class ChangePoint(Schema):
    """Where the level of a series changes."""

    series: str
    run: str = Field(description="The first run of the new level.")
    previous_run: str
    commit: str
    previous_commit: str
    before: float
    after: float
    change: float = Field(description="(after - before) / before.")
    p_value: float
    opinion: ComparisonOpinion


class TrendOut(Schema):
    """A metric over the runs of a scenario."""

    scenario: str
    scenario_version: str | None
    versions: list[str]
    metric: MetricInfo
    routes: list[MetricInfo] = Field(description="Figures of routes that can be followed over these runs, too.")
    own: list[MetricInfo] = Field(description="Figures of the user's own that these runs have, too.")
    series: list[TrendSeries] = Field(description="In the order of their first run.")
    points: list[TrendPoint]
    changes: list[ChangePoint] = Field(description="Of each series by itself; runs that are invalid take no part.")
    remark: str = Field(description="Stable code: `too-few-runs` where no series has as many as can tell, or empty.")
