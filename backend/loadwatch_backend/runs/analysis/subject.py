"""What is known of a run when it is analysed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from loadwatch_backend.evidence.records.files import RunFiles
from loadwatch_backend.evidence.records.model import LoadResult
from loadwatch_backend.findings.schemas import FindingsOut
from loadwatch_backend.findings.window import Trial
from loadwatch_backend.runs.analysis.schemas import ReportedFigure
from loadwatch_backend.runs.fields import RunState, Window
from loadwatch_backend.runs.schemas import Generator

SETTLED_MS = 75_000
"""What is found this long after the end has seen what a run leaves behind, and stays as it was said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Another run of the scenario: its id and name, when it was, and as in `findings.window.Start`."""

    id: str
    name: str
    span_ms: tuple[int, int] | None
    before: Mapping[tuple[str, str], float]
    rate: float | None
    p95_seconds: float | None
    target_rate: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A run as the analysis sees it.

    Attributes:
        ended_ms: the newest sign of life of a run that is still running.
        steady: a window set by hand; None to find it.
        load: the imported result; None before there is one: figures then come from the store's `loadtest_*` and
            `k6_*` series of this run, as far as there are any.
        files: where the records are.
        previous_ms: end of the run before; None without one.
        next_ms: start of the next run; None without one.
        skew_ms: the generator's clock minus the server's, on which `started_ms` and `ended_ms` are.
        said: findings that were said before; None without any.
        before: numbers of the configuration before its load, by target and key.
        baseline: the run that it is held against; None without one.
        trials: runs of the same scenario and commit before it, with `parameters` of their own; newest first.
        own_figures: as they were given; `reported` is what was read of them in the output.
        concurrency: clients of the load tool that each wait for an answer; None where nobody said.
        host: name of the generator's host, to find its CPU where `generator` tells none.
    """

    id: str
    state: RunState
    tool: str
    started_ms: int
    ended_ms: int
    target_rate: float | None
    target_duration_seconds: float | None
    thresholds: tuple[str, ...]
    expectations: tuple[str, ...]
    steady: Window | None
    generator: Generator | None
    load: LoadResult | None
    files: RunFiles | None
    concurrency: float | None = None
    host: str = ""
    said: FindingsOut | None = None
    previous_ms: int | None = None
    next_ms: int | None = None
    skew_ms: int = 0
    before: Mapping[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])
    baseline: Reference | None = None
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])
    trials: Sequence[Trial] = ()
    own_figures: Sequence[str] = ()
    reported: Sequence[ReportedFigure] = ()
