"""Documents of the run endpoints. `RunOut` is a contract that scripts rely on: fields are added, never taken away."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from loadwatch_backend.kit.schemas import Milliseconds, Schema

ID_PATTERN = r"^[a-z0-9][a-z0-9-]{2,39}$"
NAME_LENGTH = 200
TEXT_LENGTH = 20_000
LIST_COUNT = 100


def _printable(text: str) -> str:
    for character in text:
        if ord(character) < 32 and character not in "\n\t":
            raise ValueError(f"must not hold the control character U+{ord(character):04X}")
    return text


Line = Annotated[str, Field(max_length=NAME_LENGTH), AfterValidator(_printable)]
Name = Annotated[str, Field(min_length=1, max_length=NAME_LENGTH), AfterValidator(_printable)]
Text = Annotated[str, Field(max_length=TEXT_LENGTH), AfterValidator(_printable)]
RunId = Annotated[
    str, Field(pattern=ID_PATTERN, description="Made by the sender or the server.", examples=["20261121-142053-k7f3"])
]
Tag = Annotated[str, Field(min_length=1, max_length=50), AfterValidator(_printable)]
Tags = Annotated[list[Tag], Field(max_length=20)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
"""JSON's 1e999 is a number that no JSON can answer with."""
Parameters = Annotated[dict[Name, Line], Field(max_length=LIST_COUNT)]
Thresholds = Annotated[list[Annotated[str, Field(min_length=1, max_length=500)]], Field(max_length=50)]


class RunState(StrEnum):
    """How far a run is."""

    RUNNING = "running"
    FINISHED = "finished"
    ABORTED = "aborted"
    IMPORTED = "imported"


class Verdict(StrEnum):
    """By the thresholds of a run; `invalid` when figures cannot tell (no requests, generator saturated, aborted)."""

    PASSED = "passed"
    FAILED = "failed"
    INVALID = "invalid"


class Link(Schema):
    """An issue, a pull request, a dashboard."""

    url: Annotated[str, Field(pattern=r"^https?://\S+$", max_length=2_000)]
    title: Line = ""


class Window(Schema):
    """A part of a run, in seconds since its start."""

    from_seconds: Finite = Field(ge=0)
    to_seconds: Finite = Field(gt=0)


# What senders say -----------------------------------------------------------------------------------------------------


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

    cpu_cores: int | None = None
    cpu_mean: Finite | None = Field(default=None, description="Busy share of all its cores over the run, 0 to 1.")
    cpu_max: Finite | None = None
    process_cpu_seconds: Finite | None = Field(default=None, description="CPU time of the tool and its children.")
    memory_max_bytes: int | None = None
    dropped_iterations: int | None = None
    retransmits: int | None = None


class RunFinish(Schema):
    """A run has ended."""

    ended_ms: Milliseconds = Field(description="By the sender's clock.")
    clock_ms: Milliseconds | None = None
    exit_code: int | None = None
    aborted: bool = Field(default=False, description="Ended by a signal or by hand before its time.")
    reason: Line = Field(default="", description="Why it was aborted.")
    generator: Generator | None = None


class RunProgress(Schema):
    """A sign of life of a run under way."""

    at_ms: Milliseconds
    elapsed_seconds: Finite = Field(ge=0)
    requests: int | None = None
    rate: Finite | None = None
    failures: int | None = None


# Figures --------------------------------------------------------------------------------------------------------------


class LatencyOut(Schema):
    """Seconds, by nearest rank; null where nothing tells."""

    min: float | None
    mean: float | None
    p50: float | None
    p90: float | None
    p95: float | None
    p99: float | None
    max: float | None


class FiguresOut(Schema):
    """Totals over a span of requests."""

    requests: int
    duration_seconds: float
    rate: float | None
    success_ratio: float | None
    latency_seconds: LatencyOut
    outcomes: dict[str, int] = Field(
        description="ok, timeout, reset, refused, dns, http_4xx, http_5xx, assertion, other"
    )
    status_codes: dict[str, int]
    bytes_in: int | None
    bytes_out: int | None


class EndpointOut(FiguresOut):
    """Figures of one endpoint."""

    name: str


class WindowSource(StrEnum):
    """Where a steady window comes from."""

    FOUND = "found"
    ADJUSTED = "adjusted"
    WHOLE = "whole"
    """No steady part was found, or the run is too short: figures cover all of it."""


class SteadyWindow(Schema):
    """The part of a run that figures and thresholds cover unless they say otherwise."""

    from_seconds: float
    to_seconds: float
    from_ms: Milliseconds
    to_ms: Milliseconds
    source: WindowSource
    reason: str = Field(description="Stable code of why: such as `stable`, `too-short`, `ramp`, `trend`, `by-hand`.")
    found: Window | None = Field(description="What was found automatically, where `source` is `adjusted`.")


class ThresholdState(StrEnum):
    """What became of one threshold."""

    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "unknown"
    """It could not be measured; `detail` says why."""


class ThresholdOut(Schema):
    """One threshold with what was measured."""

    expression: str
    metric: str
    operator: str
    limit: float | None
    unit: str
    actual: float | None
    window: str = Field(description="`steady`, `whole`, or `60s..120s`.")
    state: ThresholdState
    detail: str


class RemarkOut(Schema):
    """What the reader of the figures must know; see `records.model.Remark`."""

    kind: str
    code: str
    text: str
    place: str | None
    figures: dict[str, float]


class RampStep(Schema):
    """One level of a ramp."""

    from_seconds: float
    to_seconds: float
    offered_rate: float
    ok_rate: float
    p95_seconds: float | None
    failure_ratio: float
    held: bool


class RampOut(Schema):
    """For a run whose rate grows: what was held, and from where on it was not."""

    sustained_rate: float | None = Field(description="Highest rate of good answers that was held.")
    knee_rate: float | None = Field(description="Offered rate beyond which latency or failures rise sharply.")
    knee_seconds: float | None
    steps: list[RampStep]


class ResourceReached(Schema):
    """How near a resource came to its limit during the run."""

    resource: str
    title: str
    title_ja: str
    unit: str
    name: str
    labels: dict[str, str]
    used_max: float
    limit: float
    ratio_max: float
    at_ms: Milliseconds
    exhausted: bool
    first_full_ms: Milliseconds | None = Field(description="First instant at 98 % or more.")


class ReconciliationStep(Schema):
    """One of the numbers that should be equal."""

    id: str = Field(description="sent, answered_ok, accepted, stored, failed")
    count: float | None
    source: str = Field(description="The metric or file it comes from.")
    missing: float | None = Field(description="Against the step before; negative when more arrived.")


class ReconciliationOut(Schema):
    """Sent by the generator, accepted by the application, stored in the database."""

    steps: list[ReconciliationStep]
    place: str = Field(
        description="Where the difference likely lies, a stable code: `none`, `network-or-client`, `application`, "
        "`application-buffer`, `database`, `counter-reset`, `unknown`."
    )
    detail: str


class GeneratorCheck(Schema):
    """Could the generator send what it was asked to?"""

    state: str = Field(description="ok, suspect, saturated, unknown")
    reasons: list[str] = Field(
        description="Stable codes: rate-not-reached, dropped-iterations, cpu, gaps, users-capped."
    )
    target_rate: float | None
    reached_rate: float | None
    dropped_iterations: int | None
    cpu_max: float | None
    detail: str


class ClockOut(Schema):
    """Both clocks; samples are the server's and the agents', records are the generator's."""

    skew_seconds: float | None = Field(description="Generator's clock minus the server's, at the start.")
    skew_end_seconds: float | None
    jumped: bool = Field(description="The generator's clock moved by more than 2 s against the server's.")


class ImportOut(Schema):
    """Which file the figures come from."""

    format: str
    filename: str
    bytes: int
    sha256: str
    has_records: bool
    imported_ms: Milliseconds
    seconds: float = Field(description="Time that the import took.")


class Analysis(Schema):
    """All that is computed of a run; kept, so that a page opens without reading records."""

    figures: FiguresOut | None
    steady: FiguresOut | None
    steady_window: SteadyWindow | None
    endpoints: list[EndpointOut]
    errors: list[tuple[str, int]]
    thresholds: list[ThresholdOut]
    expectations: list[ThresholdOut]
    verdict: Verdict | None
    verdict_reasons: list[str] = Field(description="Stable codes and threshold texts.")
    ramp: RampOut | None
    resources: list[ResourceReached]
    reconciliation: ReconciliationOut | None
    generator: GeneratorCheck
    sparkline: list[float | None] = Field(description="Requests per second over the run, at most 60 values.")
    remarks: list[RemarkOut] = Field(
        default_factory=list[RemarkOut], description="Of the analysis itself; shown after those of the result."
    )
    again_ms: Milliseconds | None = Field(
        default=None, description="When to analyse again, because the application had not stored everything yet."
    )
    analysed_ms: Milliseconds


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
    endpoints: list[EndpointOut]
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


# Imports, deletion, archives ------------------------------------------------------------------------------------------


class ImportState(StrEnum):
    """How far an import is."""

    READING = "reading"
    DONE = "done"
    FAILED = "failed"


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


# Configuration --------------------------------------------------------------------------------------------------------


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


class SnapshotList(Schema):
    """Before and after, as far as there are."""

    snapshots: list[SnapshotOut]


class Change(Schema):
    """A fact that differs."""

    target: str
    section: str
    key: str
    before: str | None
    after: str | None
    unit: str
    deliberate: bool
    important: bool


class ConfigurationDifference(Schema):
    """From one run to another; what was changed on purpose comes first."""

    base: str
    run: str
    changes: list[Change]
    missing: str | None = Field(description="Why one side has no snapshot.")


# Review ---------------------------------------------------------------------------------------------------------------


class ExpectedImpact(Schema):
    """A signal with a figure, such as `p95<300ms`."""

    expression: Line
    note: Line = ""


class ReviewFields(Schema):
    """What the team writes about a run."""

    approach: Text = ""
    expected: Annotated[list[ExpectedImpact], Field(max_length=20)] = Field(default_factory=list[ExpectedImpact])
    monitored: Annotated[list[Line], Field(max_length=50)] = Field(
        default_factory=list[str], description="Ids of signals or of run metrics."
    )
    outcome: Text = ""
    next_action: Text = ""
    feedback: Text = ""
    attendees: Annotated[list[Line], Field(max_length=50)] = Field(default_factory=list[str])


class ReviewIn(ReviewFields):
    """A review as it is typed; `version` is the one that was read, so that nobody's words are lost."""

    version: int = Field(ge=0, description="0 for the first.")
    author: Line = ""


class MeasuredImpact(Schema):
    """What became of an expectation, or of a monitored signal."""

    expression: str
    expected: float | None
    actual: float | None
    unit: str
    baseline: float | None = Field(description="The same in the scenario's baseline.")
    state: ThresholdState
    detail: str


class ReviewOut(ReviewFields):
    """A review with what was measured."""

    version: int
    author: str
    updated_ms: Milliseconds | None
    measured: list[MeasuredImpact]


class ReviewVersion(ReviewFields):
    """A review as it was."""

    version: int
    author: str
    updated_ms: Milliseconds


class ReviewHistory(Schema):
    """All versions, the newest first."""

    versions: list[ReviewVersion]


class Meeting(Schema):
    """The runs since the last review meeting, in order of their start."""

    since_ms: Milliseconds | None
    runs: list[str]


class MeetingIn(Schema):
    """A meeting has ended: the next one begins after the newest run of now."""

    attendees: Annotated[list[Line], Field(max_length=50)] = Field(default_factory=list[str])


# Sharing --------------------------------------------------------------------------------------------------------------


class ShareIn(Schema):
    """A link that shows the report of one run to whoever has it, until it expires."""

    days: Finite = Field(default=7, gt=0, le=365)
    note: Line = ""


class ShareOut(Schema):
    """A link; its secret is shown once, when it is made."""

    id: str
    run: str
    note: str
    created_ms: Milliseconds
    expires_ms: Milliseconds
    path: str | None = Field(description="Path of the page, such as /share/…; only in the answer that made it.")


class ShareList(Schema):
    """Links of a run that have not expired."""

    shares: list[ShareOut]
