"""What is computed of a run: figures, windows, thresholds, ramp, limits, reconciliation, checks."""

from enum import StrEnum
from typing import Literal

from loadwatch_formats.own_figures import LONGEST_NAME, FigureSource, ReportProblem
from pydantic import Field

from loadwatch_backend.catalogue.signals.model import NEAR, Orientation
from loadwatch_backend.core.schemas import Count, Milliseconds, Schema
from loadwatch_backend.findings.schemas import FindingsOut
from loadwatch_backend.runs.fields import Verdict, Window


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
    wait_seconds: float | None = Field(
        default=None, description="From the end of duration_seconds to the end of the last answer."
    )
    throughput: float | None = Field(
        default=None, description="Good answers per second of duration_seconds and wait_seconds together."
    )

    @property
    def ok_rate(self) -> float | None:
        return self.outcomes.get("ok", 0) / self.duration_seconds if self.duration_seconds > 0 else None


class EndpointOut(FiguresOut):
    """Figures of one endpoint."""

    name: str


class PercentileValue(Schema):
    """A percentile in seconds; exact where `low` is `high`, otherwise between the two."""

    seconds: float
    low: float
    high: float


class PercentileOut(Schema):
    """One percentile of a run, by nearest rank."""

    name: str = Field(examples=["p99.9"])
    steady: PercentileValue | None = Field(description="Null where the run has no steady window, or nothing tells.")
    whole: PercentileValue | None


class EndpointPercentiles(Schema):
    """One endpoint's percentiles over the window that the run's endpoints cover."""

    name: str
    seconds: list[float] = Field(description="Exact; in the order asked for.")


class PercentilesOut(Schema):
    """Percentiles of a run that were asked for."""

    percentiles: list[PercentileOut] = Field(description="In the order asked for.")
    detail: str = Field(description="Why there are none: `no-requests`, `not-kept` (no latencies), or empty.")
    endpoints: list[EndpointPercentiles] = Field(description="Those with requests in the window.")
    endpoints_detail: str = Field(
        description="Why there are none of endpoints: `not-kept` (only single requests tell), or empty."
    )


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
    reason: str = Field(
        description="Stable code of why: such as `stable`, `too-short`, `too-few`, `ramp`, `trend`, `idle`, `by-hand`."
    )
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
    detail_ja: str = Field(default="", description="The same in Japanese; empty where it was kept in English only.")


class ReportedFigure(Schema):
    """What `loadwatch run` read in the command's output: the last value."""

    name: str = Field(max_length=LONGEST_NAME)
    value: float | None = Field(default=None, allow_inf_nan=False)
    problem: ReportProblem | Literal[""] = Field(default="", description="Why there is none.")


class OwnFigureOut(Schema):
    """A figure of the user's own, over the whole run."""

    name: str
    source: FigureSource
    value: float | None
    unit: str = Field(default="", description="Base unit; empty where the figure names none.")
    orientation: Orientation = Field(description="By the run's thresholds and expectations on it.")
    detail: str = Field(description="Why there is no value, and what to do.")
    detail_ja: str


class KeyFigure(Schema):
    """One of the few figures that a run is read by first; of a threshold it is what that one measured."""

    id: str = Field(
        description="The metric: `figure:` and the name of one's own, `ok_rate`, a latency, `error_rate`; `stored` "
        "counts rows of the database."
    )
    unit: str
    value: float | None = Field(description="null where it cannot be told; `note` says why.")
    window: str = Field(description="What it covers: `steady`, `whole`, or `60s..120s`.")
    against: float | None = Field(description="What `base` names.")
    base: str = Field(description="`target`, `threshold`, `accepted`, `answered_ok`, or nothing.")
    threshold: str = Field(description="The run's threshold on this very figure.")
    state: ThresholdState | None = Field(description="What became of that threshold.")
    kinds: list[str] = Field(description="Of failures: their outcomes, the most frequent first.")
    note: str = Field(
        description="A stable code: `no-result`, `not-measured`, `not-counted`, `mixed` (with a neighbouring run's)."
    )


class RemarkOut(Schema):
    """What the reader of the figures must know; see `records.model.Remark`."""

    kind: str
    code: str
    text: str
    place: str | None
    figures: dict[str, float]


def missing_remark(code: str, text: str, **figures: float) -> RemarkOut:
    return RemarkOut(kind="missing", code=code, text=text, place=None, figures=figures)


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
    near: float = Field(default=NEAR, description="used / limit from which it is near its limit.")
    at_ms: Milliseconds
    exhausted: bool
    first_full_ms: Milliseconds | None = Field(
        description="Since when it was at 98 % or more, for at least 5 s and three of its samples on end."
    )
    place: int | None = Field(
        default=None, description="1 for the first that was full and that a finding accuses; null of the others."
    )
    interval_ms: int | None = Field(
        default=None, description="How often it is known, where that is half a minute or more; null where more often."
    )


NOT_KNOWN_YET = "not-known-yet"


class ReconciliationStep(Schema):
    """One of the numbers that should be equal."""

    id: str = Field(description="sent, answered_ok, accepted, stored, failed")
    count: float | None
    source: str = Field(description="The metric or file it comes from.")
    missing: float | None = Field(description="Against the step before; negative when more arrived.")


class InstanceCounts(Schema):
    """What one instance of the application counted, Loadwatch's own probes included."""

    job: str
    instance: str
    accepted: float | None
    stored: float | None
    failed: float | None
    missing: float | None = Field(
        description="Accepted, and neither stored nor known to have failed; null where a counter began again at zero, "
        "which loses what it had counted, or accepted or stored is not counted."
    )


class ReconciliationOut(Schema):
    """Sent by the generator, accepted by the application, stored in the database."""

    steps: list[ReconciliationStep]
    place: str = Field(
        description="Where the difference likely lies, a stable code: `none`, `network-or-client`, `application`, "
        "`application-buffer`, `database`, `counter-reset`, `unknown`; `stopped-writing`: the application's "
        "counters end while it was still writing; `not-known-yet` where rows are neither stored "
        "nor known to be lost: it is known at `again_ms`."
    )
    detail: str
    probes: Count = Field(default=0, description="Loadwatch's own requests, which are not among these counts.")
    again_ms: Milliseconds | None = Field(
        default=None, description="When it is known: the run is analysed again then. Null unless `not-known-yet`."
    )
    mixed_with: list[str] = Field(
        default=[],
        description="`previous`, `next`: neighbouring runs so near that their requests may be among these counts, or "
        "this run's among theirs. A table that was not counted between the runs has no count.",
    )
    instances: list[InstanceCounts] = Field(
        default=[], description="The application's counts of each instance, where it has several."
    )


class GeneratorCheck(Schema):
    """Could the generator send what it was asked to?"""

    state: str = Field(
        description="ok, suspect, saturated (by evidence of its own), held-back (its clients waited for answers: the "
        "figures are the system's), unknown"
    )
    reasons: list[str] = Field(
        description="Stable codes: rate-not-reached, dropped-iterations, cpu (of its own process), own-errors (ports, "
        "descriptors), gaps, late-sends, waited-for-answers."
    )
    remarks: list[str] = Field(
        default_factory=list[str], description="Stable codes of what is no failure of it: `host-busy`."
    )
    target_rate: float | None
    reached_rate: float | None
    dropped_iterations: int | None
    clients: float | None = Field(default=None, description="How many of them wait for an answer at the same time.")
    ceiling_rate: float | None = Field(
        default=None,
        description="Clients / mean time of an answer: the highest rate that they can send (Little's law).",
    )
    cpu_max: float | None = Field(description="Busy share of its host at most, whoever used it; 0 to 1.")
    process_cores: float | None = Field(default=None, description="Cores that the tool itself used on average.")
    detail: str


class ClockOut(Schema):
    """Both clocks; samples are the server's and the agents', records are the generator's."""

    skew_seconds: float | None = Field(description="Generator's clock minus the server's, at the start.")
    skew_end_seconds: float | None
    jumped: bool = Field(description="The generator's clock moved by more than 2 s against the server's.")


class Analysis(Schema):
    """All that is computed of a run; kept, so that a page opens without reading records."""

    figures: FiguresOut | None
    steady: FiguresOut | None
    steady_window: SteadyWindow | None
    endpoints: list[EndpointOut]
    endpoints_window: str = Field(
        default="whole", description="What the endpoints' figures cover: `steady`, or `whole` where nothing else tells."
    )
    errors: list[tuple[str, int]]
    thresholds: list[ThresholdOut]
    expectations: list[ThresholdOut]
    own_figures: list[OwnFigureOut] = Field(default_factory=list[OwnFigureOut])
    verdict: Verdict | None
    verdict_reasons: list[str] = Field(description="Stable codes and threshold texts.")
    ramp: RampOut | None
    resources: list[ResourceReached]
    reconciliation: ReconciliationOut | None
    generator: GeneratorCheck
    sparkline: list[float | None] = Field(description="Requests per second over the run, at most 60 values.")
    p95_sparkline: list[float | None] = Field(
        default_factory=list[float | None],
        description="Of the 95th percentiles of its seconds the highest of each of these parts, seconds.",
    )
    remarks: list[RemarkOut] = Field(
        default_factory=list[RemarkOut], description="Of the analysis itself; shown after those of the result."
    )
    findings: FindingsOut | None = Field(default=None, description="Null where an older version analysed the run.")
    again_ms: Milliseconds | None = Field(
        default=None, description="When to analyse again, because the application had not stored everything yet."
    )
    analysed_ms: Milliseconds
