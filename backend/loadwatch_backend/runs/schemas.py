"""Documents of the run endpoints. `RunOut` is a contract that scripts rely on: fields are added, never taken away."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from loadwatch_backend.kit.schemas import Count, Milliseconds, Schema
from loadwatch_backend.runs.analysis.schemas import (
    ClockOut,
    EndpointOut,
    FiguresOut,
    GeneratorCheck,
    LatencyOut,
    RampOut,
    ReconciliationOut,
    RemarkOut,
    ResourceReached,
    SteadyWindow,
    ThresholdOut,
)
from loadwatch_backend.runs.fields import (
    Finite,
    Line,
    Link,
    Parameters,
    ReportedExitCode,
    RunId,
    RunState,
    Tags,
    Thresholds,
    Verdict,
    Window,
)
from loadwatch_backend.runs.imports.schemas import ImportOut


class RunFacts(Schema):
    """What people and tools say of a run."""

    name: Line = ""
    scenario: Line = Field(default="", description="Runs of one scenario and version are compared with each other.")
    scenario_version: Line = ""
    tool: Line = ""
    target_rate: Finite | None = Field(default=None, ge=0, description="Requests per second asked for.")
    target_duration_seconds: Finite | None = Field(default=None, ge=0)
    parameters: Parameters = Field(default_factory=dict[str, str], description="Numeric ones can be swept.")
    commit: Line = ""
    branch: Line = ""
    dirty: bool | None = Field(default=None, description="Whether the tree had changes that are in no commit.")
    links: Annotated[list[Link], Field(max_length=20)] = Field(default_factory=list[Link])
    tags: Tags = Field(default_factory=list[str])
    author: Line = Field(default="", description="Who ran it.")
    host: Line = Field(default="", description="Where the load generator ran.")
    command: Annotated[list[str], Field(max_length=1_000)] = Field(default_factory=list[str])


class RunFields(RunFacts):
    """The facts with what is expected of the run."""

    thresholds: Thresholds = Field(default_factory=list[str], examples=[["p95<300ms", "error_rate<0.1%"]])
    expectations: Annotated[list[str], Field(max_length=20)] = Field(
        default_factory=list[str], description="As thresholds; what the team expects, shown beside what was measured."
    )


class RunIn(RunFields):
    """A run that begins now, or began while the server was away."""

    id: RunId | None = None
    started_ms: Milliseconds | None = Field(default=None, description="By the sender's clock; now by default.")
    clock_ms: Milliseconds | None = Field(default=None, description="The sender's clock as it sends this.")


class RunPatch(Schema):
    """Any subset of a run's fields; what is left out stays."""

    name: Line | None = None
    scenario: Line | None = None
    scenario_version: Line | None = None
    tool: Line | None = None
    target_rate: Finite | None = Field(default=None, ge=0)
    target_duration_seconds: Finite | None = Field(default=None, ge=0)
    parameters: Parameters | None = None
    commit: Line | None = None
    branch: Line | None = None
    dirty: bool | None = None
    links: list[Link] | None = None
    tags: Tags | None = None
    author: Line | None = None
    host: Line | None = None
    thresholds: Thresholds | None = None
    expectations: list[str] | None = None
    steady_window: Window | None = Field(default=None, description="null goes back to the one found automatically.")


class Generator(Schema):
    """What the load generator's host saw of itself; each is optional."""

    cpu_cores: Count | None = None
    cpu_mean: Finite | None = Field(default=None, description="Busy share of all its cores over the run, 0 to 1.")
    cpu_max: Finite | None = None
    process_cpu_seconds: Finite | None = Field(default=None, description="CPU time of the tool and its children.")
    memory_max_bytes: Count | None = None
    dropped_iterations: Count | None = None
    retransmits: Count | None = None


class RunFinish(Schema):
    """A run has ended."""

    ended_ms: Milliseconds = Field(description="By the sender's clock.")
    clock_ms: Milliseconds | None = None
    exit_code: ReportedExitCode = None
    aborted: bool = Field(default=False, description="Ended by a signal or by hand before its time.")
    reason: Line = Field(default="", description="Why it was aborted.")
    generator: Generator | None = None


class RunProgress(Schema):
    """A sign of life of a run under way."""

    at_ms: Milliseconds
    elapsed_seconds: Finite = Field(ge=0)
    requests: Count | None = None
    rate: Finite | None = None
    failures: Count | None = None


class RunOut(RunFacts):
    """A run with all that is known of it; the figures at the top cover the whole run."""

    id: str
    state: RunState
    silent: bool = Field(description="Said to be running, without a sign of life for two minutes.")
    verdict: Verdict | None
    verdict_reasons: list[str]
    is_baseline: bool = Field(description="The pinned baseline of its scenario.")
    baseline: str | None = Field(description="Id of the pinned baseline of its scenario.")
    started_at: str = Field(description="RFC 3339, UTC.", examples=["2026-11-21T14:20:53.123Z"])
    ended_at: str | None
    started_ms: Milliseconds
    ended_ms: Milliseconds | None
    created_ms: Milliseconds
    updated_ms: Milliseconds
    exit_code: int | None
    abort_reason: str
    requests: int | None
    success_ratio: float | None
    rate: float | None
    latency_seconds: LatencyOut
    outcomes: dict[str, int]
    status_codes: dict[str, int]
    bytes_in: int | None
    bytes_out: int | None
    wait_seconds: float | None = Field(default=None, description="From the last start to the end of the last answer.")
    throughput: float | None = Field(
        default=None, description="Good answers per second from the first start to the end of the last answer."
    )
    endpoints: list[EndpointOut]
    endpoints_window: str = Field(
        default="whole", description="What the endpoints' figures cover: `steady`, or `whole` where nothing else tells."
    )
    errors: list[tuple[str, int]]
    steady_window: SteadyWindow | None
    steady: FiguresOut | None
    thresholds: list[ThresholdOut]
    expectations: list[ThresholdOut]
    ramp: RampOut | None
    resources: list[ResourceReached]
    reconciliation: ReconciliationOut | None
    generator: GeneratorCheck | None
    clock: ClockOut
    source: ImportOut | None
    remarks: list[RemarkOut]
    sparkline: list[float | None]
    progress: RunProgress | None
    has_snapshots: bool


class RunSummary(Schema):
    """A line of the list."""

    id: str
    name: str
    scenario: str
    scenario_version: str
    tool: str
    state: RunState
    silent: bool
    verdict: Verdict | None
    is_baseline: bool
    started_ms: Milliseconds
    ended_ms: Milliseconds | None
    target_rate: float | None
    parameters: dict[str, str]
    commit: str
    branch: str
    dirty: bool | None
    tags: list[str]
    author: str
    requests: int | None
    rate: float | None
    success_ratio: float | None
    p95_seconds: float | None
    sparkline: list[float | None]
    reviewed: bool


class RunList(Schema):
    """A page of runs."""

    runs: list[RunSummary]
    total: int = Field(description="All that match, on all pages.")


class RunSort(StrEnum):
    """Orders of the list."""

    STARTED = "started"
    NAME = "name"
    SCENARIO = "scenario"
    TOOL = "tool"
    RATE = "rate"
    SUCCESS = "success_ratio"
    P95 = "p95"
    REQUESTS = "requests"
    VERDICT = "verdict"


class FacetValue(Schema):
    """A value to filter by, with how many runs have it."""

    value: str
    count: int


class RunFacets(Schema):
    """What the list can be filtered by."""

    scenarios: list[FacetValue]
    tools: list[FacetValue]
    tags: list[FacetValue]
    branches: list[FacetValue]
    authors: list[FacetValue]
    parameters: list[FacetValue]


class SecondsOut(Schema):
    """Per-second series for charts: at most `max_points` of them, minima and maxima kept (see `reduced`)."""

    start_ms: Milliseconds
    step_ms: int
    count: int
    reduced: bool
    exact: bool
    outcomes: dict[str, list[float | None]] = Field(
        description="Requests per second by outcome; only those that occur."
    )
    rate: list[float | None]
    latency_seconds: dict[str, list[float | None]] = Field(description="p50, p90, p95, p99, max.")
    bytes_in: list[float | None] | None
    bytes_out: list[float | None] | None
    users: list[float | None] | None


class Deletion(Schema):
    """What goes when a run is deleted."""

    run: str
    record_bytes: int
    records: int
    window_from_ms: Milliseconds
    window_to_ms: Milliseconds
    samples_past_retention: bool = Field(description="Samples of its window are older than the retention and go too.")
    reviews: int
    snapshots: int
    shares: int
    was_baseline: bool
