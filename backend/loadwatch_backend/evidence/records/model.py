"""The one form that every load tool's result is brought into.

Percentiles everywhere in Loadwatch are by nearest rank: the q-quantile of n values is the ceil(q * n)-th smallest,
so every stated latency was really measured (docs/decisions). Times are nanoseconds since the epoch inside
`records.parquet`, because vegeta's are, and milliseconds everywhere else. A request belongs to the second in which it
started.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import numpy.typing as npt
from loadwatch_formats.outcomes import OUTCOMES, Outcome

OUTCOME_CODES: Mapping[Outcome, int] = {outcome: code for code, outcome in enumerate(OUTCOMES)}

QUANTILES: tuple[tuple[str, float], ...] = (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99))
OTHER_ENDPOINTS = "(other)"
"""Where requests are counted whose endpoint came after the limit of distinct names."""

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Seconds; None where nothing tells."""

    min: float | None = None
    mean: float | None = None
    p50: float | None = None
    p90: float | None = None
    p95: float | None = None
    p99: float | None = None
    max: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Totals over a span of requests. `rate` is requests per second of `duration_seconds`.

    `duration_seconds` runs from the first start to the last start for a whole run, as in vegeta's report (so `rate` is
    None for a single request), and is the window's length for a window. Of tools that give only sums it is the tool's
    own, which ends with the last answer.

    `wait_seconds` is from the end of `duration_seconds` to the end of the last answer, `throughput` good answers per
    second of both together (vegeta's `wait` and `throughput`, lib/metrics.go); None where nothing tells.
    """

    requests: int
    duration_seconds: float
    rate: float | None = None
    success_ratio: float | None = None
    latency: Latency = Latency()
    outcomes: Mapping[Outcome, int] = field(default_factory=dict[Outcome, int])
    status_codes: Mapping[str, int] = field(default_factory=dict[str, int])
    bytes_in: int | None = None
    bytes_out: int | None = None
    wait_seconds: float | None = None
    throughput: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Figures of one endpoint over the whole run. Names are the tool's own labels, or method and URL without query."""

    name: str
    figures: Figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Seconds:
    """Per-second series of a run; row i covers `start_ms + i * 1000` up to the next, gaps included as zero requests.

    Attributes:
        start_ms: a whole second since the epoch.
        outcomes: requests started in each second, [second, outcome]; int64.
        latency: p50, p90, p95, p99, max in seconds, [second, 5]; NaN where there was no request. None where the tool
            gives none.
        bytes_in, bytes_out: sums; None where the tool does not tell.
        users: active users at the second, NaN where unknown; None where the tool does not tell.
        fastest: the quickest request of each second, in seconds; None where only percentiles are known.
        exact: whether the percentiles were computed from single requests.
    """

    start_ms: int
    outcomes: IntArray
    latency: FloatArray | None
    bytes_in: IntArray | None
    bytes_out: IntArray | None
    users: FloatArray | None
    exact: bool
    fastest: FloatArray | None = None

    @property
    def requests(self) -> IntArray:
        return self.outcomes.sum(axis=1)


class RemarkKind(StrEnum):
    DISTORTION = "distortion"
    """The tool's own report shows another figure, and why."""
    MISSING = "missing"
    """The file cannot tell this, so it is not shown or not counted."""
    DAMAGE = "damage"
    """A part of the file could not be read; `place` says where."""
    LIMIT = "limit"
    """A limit of ours was reached, such as distinct endpoint names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Something that the reader of the figures must know; `code` is stable, the page translates by it."""

    kind: RemarkKind
    code: str
    text: str
    place: str | None = None
    """`line 17`, `byte 4096`, `record 12`."""
    figures: Mapping[str, float] = field(default_factory=dict[str, float])
    """Such as {"ours_p95": 0.147, "tool_p95": 0.15, "skipped_bytes": 120}."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RampFacts:
    target_rate: float | None = None
    duration_seconds: float | None = None
    dropped_iterations: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadResult:
    """What an importer hands over. Files are in the run's directory: `records.parquet` (when `has_records`)."""

    format: str
    """The importer's name, such as `vegeta-csv`."""
    tool: str
    tool_version: str | None
    name: str | None
    start_ms: int | None
    """Start of the first request; None when the file has no wall clock (hey, wrk, oha's summary)."""
    end_ms: int | None
    figures: Figures
    endpoints: Sequence[Endpoint]
    """The largest by requests first, at most 1,000, the rest summed up as `(other)`."""
    errors: Sequence[tuple[str, int]]
    """The tool's error texts with their counts, the most frequent first, at most 50."""
    seconds: Seconds | None
    remarks: Sequence[Remark]
    has_records: bool
    facts: RampFacts = RampFacts()
