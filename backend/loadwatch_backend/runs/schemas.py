"""Documents of the run endpoints. `RunOut` is a contract that scripts rely on: fields are added, never taken away."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from loadwatch_formats import own_figures, run_facts
from pydantic import ConfigDict, Field, create_model

from loadwatch_backend.core.schemas import LAST_MILLISECOND, Count, Milliseconds, Schema
from loadwatch_backend.findings.model import Certainty
from loadwatch_backend.findings.schemas import DiagnosisOut, FindingOut, TextOut
from loadwatch_backend.runs.analysis.schemas import (
    ClockOut,
    EndpointOut,
    FiguresOut,
    GeneratorCheck,
    KeyFigure,
    LatencyOut,
    OwnFigureOut,
    RampOut,
    ReconciliationOut,
    RemarkOut,
    ReportedFigure,
    ResourceReached,
    SteadyWindow,
    ThresholdOut,
)
from loadwatch_backend.runs.annotations.schemas import Text
from loadwatch_backend.runs.fields import (
    ID_PATTERN,
    Finite,
    Line,
    ReportedExitCode,
    RunId,
    RunState,
    Verdict,
    Window,
    asked,
    checked,
    facets,
    filtered,
    listed,
    patched,
)

MOST_TAGS = next(fact.most for fact in run_facts.FACTS if fact.name == "tags")
"""Most tags of a run; a filter by more would match none."""


class CheckedFacts(Schema, run_facts.RunFacts):  # pyright: ignore[reportGeneralTypeIssues] - frozen by its configuration
    """What people and tools say of a run, within bounds."""

    __annotations__ = checked(run_facts.RunFacts)


class CheckedFields(CheckedFacts, run_facts.RunFields):  # pyright: ignore[reportGeneralTypeIssues] - see above
    """These facts with what is expected of the run."""

    __annotations__ = checked(run_facts.RunFields)


class RunIn(CheckedFields):
    """A run that begins now, or began while the server was away."""

    id: RunId | None = None
    started_ms: Milliseconds | None = Field(default=None, description="By the sender's clock; now by default.")
    clock_ms: Milliseconds | None = Field(default=None, description="The sender's clock as it sends this.")


class RunPatch(create_model("RunPatch", __base__=Schema, **patched())):
    """Any subset of a run's fields; what is left out stays."""

    steady_window: Window | None = Field(default=None, description="null goes back to the one found automatically.")


class Generator(Schema):
    """What the load generator's host saw of itself; each is optional."""

    cpu_cores: Count | None = None
    cpu_mean: Finite | None = Field(default=None, description="Busy share of all its cores over the run, 0 to 1.")
    cpu_max: Finite | None = None
    process_cpu_seconds: Finite | None = Field(default=None, description="CPU time of the tool and its children.")
    thread_cpu: Finite | None = Field(default=None, description="Share of one core of its busiest thread, on average.")
    memory_max_bytes: Count | None = None
    dropped_iterations: Count | None = None
    retransmits: Count | None = None


class RunMarker(Schema):
    """A line of the command's output that was asked for."""

    at_ms: Milliseconds = Field(description="By the sender's clock.")
    text: Annotated[Text, Field(max_length=own_figures.LONGEST_MARKER)]


class RunFinish(Schema):
    """A run has ended."""

    ended_ms: Milliseconds = Field(description="By the sender's clock.")
    clock_ms: Milliseconds | None = None
    exit_code: ReportedExitCode = None
    aborted: bool = Field(default=False, description="Ended by a signal or by hand before its time.")
    reason: Line = Field(default="", description="Why it was aborted.")
    generator: Generator | None = None
    figures: list[ReportedFigure] = Field(default=[], max_length=own_figures.MOST)
    markers: list[RunMarker] = Field(
        default=[], max_length=own_figures.MOST_MARKERS, description="They become annotations of the run."
    )


class RunProgress(Schema):
    """A sign of life of a run under way."""

    at_ms: Milliseconds
    elapsed_seconds: Finite = Field(ge=0)
    requests: Count | None = None
    rate: Finite | None = None
    failures: Count | None = None


class ImportOut(Schema):
    """Which file the figures come from."""

    format: str
    filename: str
    bytes: int
    sha256: str
    has_records: bool
    imported_ms: Milliseconds
    seconds: float = Field(description="Time that the import took.")


class RunOut(CheckedFacts):
    """A run with all that is known of it; the figures at the top cover the whole run."""

    id: str
    state: RunState
    silent: bool = Field(description="Said to be running, without a sign of life for two minutes.")
    verdict: Verdict | None
    verdict_reasons: list[str]
    key_figures: list[KeyFigure] = Field(
        description="Those of one's own; good answers, a latency, failures, and what was stored or a second latency."
    )
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
    own_figures: list[OwnFigureOut]
    ramp: RampOut | None
    resources: list[ResourceReached]
    findings: list[FindingOut] = Field(
        description="What ran out: causes before consequences, then by when harm began. docs/reference/findings.md"
    )
    diagnosis: DiagnosisOut | None = Field(
        description="What was checked beside the findings, and what could not be; null before the run is analysed."
    )
    reconciliation: ReconciliationOut | None
    generator: GeneratorCheck | None
    clock: ClockOut
    source: ImportOut | None
    remarks: list[RemarkOut]
    sparkline: list[float | None]
    progress: RunProgress | None
    has_snapshots: bool


class LimitState(StrEnum):
    """What is known of the first limit of a run."""

    FOUND = "found"
    MUTED = "muted"
    """Something ran out, and people have muted it."""
    NONE = "none"
    """Looked for and not found."""
    CANNOT_TELL = "cannot-tell"
    UNKNOWN = "unknown"
    """Nobody looked: the samples could not be read, or an older version analysed the run."""


class FirstLimit(Schema):
    """What ran out first, as it is kept with the run."""

    state: LimitState
    id: str = Field(default="", description="Of the finding; docs/reference/findings.md lists all.")
    title: TextOut | None = None
    certainty: Certainty | None = None
    after_seconds: float | None = Field(default=None, description="From the run's start until harm began.")
    more: int = Field(default=0, description="Further findings that accuse.")


class RunSummary(create_model("RunSummary", __base__=Schema, **listed())):
    """A line of the list."""

    id: str
    state: RunState
    silent: bool
    verdict: Verdict | None
    is_baseline: bool
    started_ms: Milliseconds
    ended_ms: Milliseconds | None
    requests: int | None
    rate: float | None
    success_ratio: float | None
    p95_seconds: float | None
    sparkline: list[float | None]
    p95_sparkline: list[float | None] | None = Field(
        description="The highest 95th percentile of a second in each part, seconds; null where an older version "
        "analysed the run, until its page is opened."
    )
    first_limit: FirstLimit | None = Field(description="Null before the run is analysed.")
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


class RunQuery(create_model("RunQuery", **filtered())):
    """Which runs of the list are asked for, and in which order; what is left out filters nothing."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    q: str = Field(
        default="",
        max_length=200,
        description="Words in name, scenario, tool, commit, branch, author, id, tags and parameters (`pool=8`).",
    )
    state: RunState | None = None
    verdict: Verdict | Literal["none"] | None = None
    finding: str | None = Field(
        default=None,
        max_length=100,
        description="Runs with a finding whose id begins like this; or `none`, `cannot-tell`.",
    )
    tag: list[str] = Field(default_factory=list[str], max_length=MOST_TAGS, description="Runs that have all of these.")
    commit: str | None = Field(default=None, description="Begins with this.")
    open_actions: bool = Field(default=False, description="Runs whose review has actions that are open.")
    start_ms: Milliseconds = Field(default=0, description="Runs that overlap the span.")
    end_ms: Milliseconds = LAST_MILLISECOND
    sort: RunSort = RunSort.STARTED
    descending: bool = True
    limit: int = Field(default=50, ge=1, le=500)
    offset: int = Field(default=0, ge=0, le=1_000_000_000)


class FacetValue(Schema):
    """A value to filter by, with how many runs have it."""

    value: str
    count: int


class RunFacets(create_model("RunFacets", __base__=Schema, **facets(list[FacetValue]))):
    """What the list can be filtered by."""


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
    markers: int = Field(description="Annotations that lines of its output made and nobody has changed since.")
    evidence_files: int = 0
    evidence_bytes: int = 0
    was_baseline: bool


class ImportState(StrEnum):
    """How far an import is."""

    READING = "reading"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class ImportRequest(create_model("ImportRequest", **asked())):
    """What the sender says of a file."""

    model_config = ConfigDict(frozen=True)

    filename: str | None = Field(default=None, max_length=500, description="A hint; the content decides.")
    run: str | None = Field(default=None, pattern=ID_PATTERN, description="Add it to this run instead.")
    started_ms: Milliseconds | None = Field(default=None, description="For files without a wall clock.")
    format: str | None = Field(default=None, description="An importer's name, to skip recognition.")


class ImportJob(Schema):
    """An import under way or over; kept for an hour after its end."""

    id: str
    state: ImportState
    filename: str
    bytes_read: int
    bytes_total: int
    records: int
    run: str | None = Field(description="The run's id, once there is one.")
    error: dict[str, Any] | None = Field(description="Problem details, when it failed.")


class SettingOut(Schema):
    """One fact of one target's configuration."""

    target: str = Field(description="job and instance, as `mysql 10.0.0.5:3306`.")
    section: str = Field(description="pool, database, process, kernel, host, cloud, instances, versions, cache, tables")
    key: str
    value: str
    number: float | None
    unit: str
    deliberate: bool = Field(description="Somebody sets this; otherwise it drifts by itself, as a table's size.")
    important: bool = Field(description="Shown at once; the others on demand.")


class SnapshotWhen(StrEnum):
    """When a snapshot was taken."""

    BEFORE = "before"
    AFTER = "after"


class SnapshotOut(Schema):
    """The configuration of all targets at one time."""

    when: SnapshotWhen
    at_ms: Milliseconds
    settings: list[SettingOut]
