"""The analysis of a run: what is computed of it once and kept."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from loadwatch_formats.metrics.loadtest import TARGET_RATE
from loadwatch_formats.outcomes import Outcome

from loadwatch_backend.catalogue.packs.library import Library
from loadwatch_backend.catalogue.signals.headroom import (
    FULL,
    full_spans,
    join_limits,
    least_full_ms,
    ratios_of,
    within_limit,
)
from loadwatch_backend.catalogue.signals.model import Resource, Sighting, Unit, render_legend
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.core.texts.numbers import duration, figure, share
from loadwatch_backend.core.texts.words import message_of
from loadwatch_backend.evidence.records.figures import endpoints_over, percentiles_over
from loadwatch_backend.evidence.records.files import RunFiles
from loadwatch_backend.evidence.records.model import OTHER_ENDPOINTS, Endpoint, Figures, FloatArray, LoadResult
from loadwatch_backend.evidence.series import LARGEST_VALUE
from loadwatch_backend.findings import read as findings_read
from loadwatch_backend.findings.detectors.ingest import rows_lost
from loadwatch_backend.findings.schemas import FindingsOut
from loadwatch_backend.findings.service import About, Findings, RunLoad
from loadwatch_backend.findings.window import Baseline, Counts, Generator, Start, Sweep, Totals, Trial
from loadwatch_backend.runs.analysis.counters import TABLE_ROWS, Neighbours, SeriesReader, Values
from loadwatch_backend.runs.analysis.generator import OWN_ERRORS, GeneratorEvidence, check_generator
from loadwatch_backend.runs.analysis.load import (
    SECOND_MS,
    Load,
    Origin,
    Span,
    WindowLoad,
    endpoint_out,
    figures_out,
    figures_over,
    sparkline,
    summarise_seconds,
    worst_sparkline,
)
from loadwatch_backend.runs.analysis.measure import Measurer, read_percentiles
from loadwatch_backend.runs.analysis.own_figures import SETTLED_MS, Subject, check_figures, oriented, read_figures
from loadwatch_backend.runs.analysis.phases import P95, OfferedBy, Shape, describe_ramp, find_shape
from loadwatch_backend.runs.analysis.reconciliation import again_ms, reconcile
from loadwatch_backend.runs.analysis.schemas import (
    NOT_KNOWN_YET,
    Analysis,
    GeneratorCheck,
    PercentilesOut,
    RampOut,
    ReconciliationOut,
    RemarkOut,
    ResourceReached,
    ThresholdOut,
    ThresholdState,
    WindowSource,
    missing_remark,
)
from loadwatch_backend.runs.analysis.stream import read_gauge, read_k6, read_stream, without_tail
from loadwatch_backend.runs.analysis.thresholds import Scope, check_thresholds, decide_verdict, parse_threshold
from loadwatch_backend.runs.fields import RunState
from loadwatch_backend.series.promql.engine import Engine

BY_THE_MINUTE_MS = 30_000
"""Values sampled at this interval or a longer one are marked beside those of each second."""
MOST = 200


def reached_limits(series: SeriesReader, resources: Sequence[Resource], span: Span) -> list[ResourceReached]:
    """Every resource of every target: what ran out first, then second; after those the nearest to its limit.

    A resource whose expression the store cannot answer (too many series, say) is left out: the others still count.
    """
    rows: list[_Row] = []
    for resource in resources:
        try:
            used, limit = series.read(resource.used, span), series.read(resource.limit, span)
        except ProblemError:
            continue
        places = join_limits(used.labels, limit.labels)
        for row, (labels, place) in enumerate(zip(used.labels, places, strict=True)):
            reached = None if place is None else describe(resource, labels, used, used.values[row], limit.values[place])
            if reached is not None:
                rows.append(
                    _Row(
                        resource=resource,
                        labels=reached.labels,
                        interval_ms=used.interval_ms or 0,
                        sparse=bool(np.isfinite(used.values[row]).mean() < 0.5),
                        reached=reached,
                    )
                )
    things = series.sightings(span).by_thing(rows)
    return sorted((row.reached for row, *_ in things), key=_order)[:MOST]


@dataclass(slots=True, kw_only=True)
class _Row(Sighting):
    reached: ResourceReached


def describe(
    resource: Resource, labels: Mapping[str, str], grid: Values, used: FloatArray, limit: FloatArray
) -> ResourceReached | None:
    """One resource of one target; None where there was no limit, or nothing to hold against it.

    Args:
        resource: what it is.
        labels: of the used series.
        grid: whose instants the arrays are on.
        used: [instant], NaN where there is none.
        limit: [instant], likewise.
    """
    used, ratios = within_limit(resource, used, limit), ratios_of(resource, used, limit)
    if np.isnan(ratios).all():
        return None
    top = int(np.nanargmax(ratios))
    interval_ms = max(grid.interval_ms or 0, resource.cadence.period_ms if resource.cadence else 0)
    full = next(iter(full_spans(ratios >= FULL, -(-least_full_ms(interval_ms) // grid.step_ms))), None)
    kept = {name: value for name, value in labels.items() if name != "__name__"}
    return ResourceReached(
        resource=resource.id,
        title=resource.title.en,
        title_ja=resource.title.ja,
        unit=resource.unit.value,
        name=render_legend(resource.legend, kept),
        labels=kept,
        used_max=float(used[top]),
        limit=float(limit[top]),
        ratio_max=float(ratios[top]),
        near=resource.near,
        at_ms=grid.time_ms(top),
        exhausted=full is not None,
        first_full_ms=None if full is None else grid.time_ms(full[0]),
        interval_ms=interval_ms if interval_ms >= BY_THE_MINUTE_MS else None,
    )


def _order(entry: ResourceReached) -> tuple[float, float, str, str]:
    first = float("inf") if entry.first_full_ms is None else float(entry.first_full_ms)
    return first, -entry.ratio_max, entry.resource, entry.name


HOST_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?")
BUSY = (
    '1 - sum by (instance) (rate(node_cpu_seconds_total{{mode=~"idle|iowait",instance=~"{host}"}}[$window]))'
    ' / count by (instance) (node_cpu_seconds_total{{mode="idle",instance=~"{host}"}})'
)
"""The headroom strip defines a busy core in the same way."""


def read_host_cpu(series: SeriesReader, host: str, span: Span) -> tuple[float, float] | None:
    """Mean and largest busy share of all cores, 0 to 1; None where nobody watched the host."""
    if not HOST_NAME.fullmatch(host):
        return None
    pattern = host.replace(".", "[.]") + "(:[0-9]+)?"
    try:
        found = series.read(BUSY.format(host=pattern), span)
    except ProblemError:
        return None
    known = found.values[np.abs(found.values) <= LARGEST_VALUE]
    return (float(known.mean()), float(known.max())) if len(known) else None


FiguresOf = Callable[[RunFiles, int, int], Figures]
"""Exact figures of the records of a run that started in [from_ns, to_ns)."""

SAME_END_MS = 1_000
"""Findings whose end is further from the run's than this were made before its end was known."""


class Analyst:
    """Analyses runs; safe to use from any thread.

    Args:
        engine: over the store with the run's samples.
        clock: now.
        figures_of: reads records.
        findings: says what ran out.
        library: signals that thresholds may name, and resources whose headroom is told.
    """

    def __init__(
        self, engine: Engine, clock: Clock, figures_of: FiguresOf, findings: Findings, library: Library | None = None
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._figures_of = figures_of
        self._findings = findings
        self._library = Library() if library is None else library
        self._series = SeriesReader(engine, clock)

    def check(self, expressions: Sequence[str], figures: Sequence[str] = ()) -> None:
        """Refuse figures of the user's own, and thresholds and expectations on these and others, that cannot be read.

        Raises:
            OwnFigureError: 422; a figure.
            ThresholdError: 422; names the text, the column and what may stand there.
        """
        check_thresholds(expressions, self._units(), check_figures(figures))

    def _units(self) -> Mapping[str, Unit]:
        return {one.id: one.unit for one in self._library.current().signals}

    def analyse(self, subject: Subject) -> Analysis:
        """All that is computed of a run; a run without any data has an analysis, too.

        Raises:
            ThresholdError: a threshold or an expectation cannot be read.
        """
        load = self.load(subject)
        shape = find_shape(subject, load)
        measurer = self._measurer(subject, load, shape.steady)
        steady = measurer.over(shape.steady)
        thresholds = self._measure(measurer, subject.thresholds)
        expectations = self._measure(measurer, subject.expectations)
        generator = _check_generator(subject, load, shape, steady, self._host_cpu(subject))
        requests = None if load.whole is None else load.whole.requests
        verdict, reasons = decide_verdict(subject.state, requests, thresholds, generator.state)
        now_ms = self._clock()
        reconciliation = self._reconcile(subject, load, now_ms)
        result = subject.load
        endpoints = _steady_endpoints(subject, load, shape, steady)
        return Analysis(
            figures=None if load.whole is None else figures_out(load.whole),
            steady=None if steady is None else figures_out(steady.figures),
            steady_window=shape.window,
            endpoints=[] if result is None else [endpoint_out(endpoint) for endpoint in endpoints or result.endpoints],
            endpoints_window=Scope.WHOLE if endpoints is None else Scope.STEADY,
            errors=[] if result is None else list(result.errors),
            thresholds=thresholds,
            expectations=expectations,
            own_figures=oriented(measurer.own, [*thresholds, *expectations]),
            verdict=verdict,
            verdict_reasons=reasons,
            ramp=_describe_ramp(subject, load, shape),
            resources=reached_limits(self._series, self._library.current().resources, _span(subject)),
            reconciliation=reconciliation,
            generator=generator,
            sparkline=[] if load.seconds is None else sparkline(load.seconds.requests.astype(np.float64)),
            p95_sparkline=_p95_sparkline(load),
            remarks=_remarks(load, steady),
            findings=self._find(
                subject, load, shape, generator, reconciliation, thresholds, result.endpoints if result else ()
            ),
            again_ms=again_ms(reconciliation, _span(subject), now_ms),
            analysed_ms=now_ms,
        )

    def measure(self, expressions: Sequence[str], subject: Subject) -> list[ThresholdOut]:
        """Measure expressions on a run, as its thresholds are: for reviews and baselines.

        Raises:
            ThresholdError: one cannot be read.
        """
        load = self.load(subject)
        return self._measure(self._measurer(subject, load, find_shape(subject, load).steady), expressions)

    def percentiles(self, names: Sequence[str], subject: Subject) -> PercentilesOut:
        load = self.load(subject)
        return read_percentiles(subject, load, find_shape(subject, load), names)

    def load(self, subject: Subject) -> Load:
        """The load of a run from its result, else from what was streamed while it was under way."""
        span = _span(subject)
        if subject.load is not None:
            return self._of_result(subject, subject.load)
        store = self._engine.store
        for origin, read in ((Origin.STREAM, read_stream), (Origin.K6, read_k6)):
            try:
                seconds = read(store, subject.id, span.from_ms, span.to_ms)
            except ProblemError:
                # More samples than one query may load: k6 makes a series for each URL unless it is told not to.
                continue
            if seconds is not None:
                seconds = without_tail(seconds, span.to_ms)
                count = len(seconds.outcomes)
                end_ms = seconds.start_ms + SECOND_MS * count
                return Load(
                    origin=origin,
                    span=Span(min(span.from_ms, seconds.start_ms), max(span.to_ms, end_ms)),
                    whole=summarise_seconds(seconds, slice(0, count), float(count)).figures,
                    seconds=seconds,
                    target=read_gauge(store, TARGET_RATE, subject.id, seconds.start_ms, count),
                )
        return Load(origin=Origin.NONE, span=span, whole=None, seconds=None)

    def _of_result(self, subject: Subject, result: LoadResult) -> Load:
        span, seconds = _span(subject), result.seconds
        offset = 0
        if result.start_ms is None and seconds is not None:
            offset = span.from_ms // SECOND_MS * SECOND_MS - seconds.start_ms
        target: FloatArray | None = None
        if seconds is not None:
            store, count = self._engine.store, len(seconds.outcomes)
            target = read_gauge(store, TARGET_RATE, subject.id, seconds.start_ms + offset, count)
        if result.start_ms is not None:
            # The run's times are on the server's clock, the result's (and its series in the store) on the generator's.
            offset = -subject.skew_ms
        records = percentiles = None
        if result.has_records and subject.files is not None:
            records = partial(self._figures_of, subject.files)
            percentiles = partial(percentiles_over, subject.files)
        return Load(
            origin=Origin.RESULT,
            span=_with_requests(span, result, offset),
            whole=result.figures,
            seconds=seconds,
            offset_ms=offset,
            target=target,
            records=records,
            percentiles=percentiles,
        )

    def _reconcile(self, subject: Subject, load: Load, now_ms: int) -> ReconciliationOut | None:
        neighbours = Neighbours(previous_ms=subject.previous_ms, next_ms=subject.next_ms)
        try:
            found = reconcile(self._engine.store, load, _span(subject), now_ms, neighbours)
        except ProblemError:
            return None
        if found is None or subject.state is not RunState.RUNNING or found.place != NOT_KNOWN_YET:
            return found
        # While requests come, some are always between being accepted and being stored.
        return found.model_copy(update={"place": "application-buffer", "again_ms": None})

    def _find(
        self,
        subject: Subject,
        load: Load,
        shape: Shape,
        generator: GeneratorCheck,
        reconciliation: ReconciliationOut | None,
        thresholds: Sequence[ThresholdOut],
        endpoints: Sequence[Endpoint],
    ) -> FindingsOut | None:
        said = subject.said
        requests = None if load.whole is None else load.whole.requests
        if load.seconds is not None:
            requests = int(load.seconds.requests.sum())
        # What could not be told, because it was still to come.
        awaited = {one.finding_id for one in self._library.current().resources if one.cadence is not None}
        awaited.add(rows_lost.kind.id)
        if said is not None and (
            self._findings.is_fresh(said)
            if subject.state is RunState.RUNNING
            # What was said of a run stays, as long as the time and the load that it was said of are the same.
            else said.said_ms >= subject.ended_ms + SETTLED_MS
            and said.requests == requests
            and abs(said.to_ms - subject.ended_ms) <= SAME_END_MS
            and not any(one.id in awaited for one in said.unjudged)
        ):
            return said
        told = None
        if load.seconds is not None:
            told = RunLoad(seconds=load.seconds, start_ms=load.start_ms, target=load.target)
        span = _span(subject)
        try:
            return self._findings.of_run(
                findings_read.Span(from_ms=span.from_ms, to_ms=span.to_ms),
                told,
                about(subject, generator, reconciliation, shape, load.whole, thresholds, endpoints),
            )
        except ProblemError:
            return said

    def _host_cpu(self, subject: Subject) -> float | None:
        """Highest busy share of the generator's host: as `loadwatch run` measured it, else as an agent did."""
        told = subject.generator
        if told is not None and (told.cpu_mean is not None or told.cpu_max is not None):
            return told.cpu_mean if told.cpu_max is None else told.cpu_max
        found = read_host_cpu(self._series, subject.host, _span(subject))
        return None if found is None else found[1]

    def _measurer(self, subject: Subject, load: Load, steady: Span) -> Measurer:
        return Measurer(
            whole=load.span,
            # Of nine million records a pass takes a second, and most thresholds cover the same window.
            over=cache(partial(figures_over, load)),
            steady=steady,
            started_ms=subject.started_ms,
            target_rate=_target_rate(subject),
            series=self._series,
            expressions={one.id: one.expression for one in self._library.current().signals},
            own=read_figures(subject, _span(subject), self._engine),
        )

    def _measure(self, measurer: Measurer, expressions: Sequence[str]) -> list[ThresholdOut]:
        own = {name: Unit(one.unit or Unit.COUNT) for name, one in measurer.own.items()}
        return [measurer.measure(text, parse_threshold(text, self._units(), own, kept=True)) for text in expressions]


def _span(subject: Subject) -> Span:
    """The run by the registry's clock."""
    return Span(subject.started_ms, max(subject.ended_ms, subject.started_ms))


def _with_requests(span: Span, result: LoadResult, offset_ms: int) -> Span:
    """The span widened to all requests: a file may be of another time than its run says."""
    if result.start_ms is None:
        return span
    last_ms = result.start_ms if result.end_ms is None else result.end_ms
    return Span(min(span.from_ms, result.start_ms + offset_ms), max(span.to_ms, last_ms + offset_ms))


def _steady_endpoints(
    subject: Subject, load: Load, shape: Shape, steady: WindowLoad | None
) -> Sequence[Endpoint] | None:
    """Endpoints over the steady window; None where there is no such window, or nothing tells of it."""
    result, window = subject.load, shape.window
    if result is None or not result.endpoints or window.source is WindowSource.WHOLE:
        return None
    if subject.files is None or not result.has_records or steady is None:
        return None
    if len(result.endpoints) == 1:
        return [Endpoint(name=result.endpoints[0].name, figures=steady.figures)]
    names = [endpoint.name for endpoint in result.endpoints if endpoint.name != OTHER_ENDPOINTS]
    try:
        found = endpoints_over(subject.files, names, *load.records_ns(shape.steady))
    except (ProblemError, OSError):
        # The records are gone or damaged; the whole run's figures, which the result has, are still there.
        return None
    titles = [*names, OTHER_ENDPOINTS]
    # What was named at the import is all there is: the rest is empty unless the import had one.
    return [
        Endpoint(name=name, figures=figures)
        for name, figures in zip(titles, found, strict=True)
        if name != OTHER_ENDPOINTS or figures.requests
    ]


def _describe_ramp(subject: Subject, load: Load, shape: Shape) -> RampOut | None:
    if load.seconds is None or shape.offered is None or shape.rising is None:
        return None
    start_seconds = (load.start_ms - subject.started_ms) / SECOND_MS
    return describe_ramp(load.seconds, shape.offered, shape.rising, start_seconds)


# The generator --------------------------------------------------------------------------------------------------------


def _target_rate(subject: Subject) -> float | None:
    facts = None if subject.load is None else subject.load.facts.target_rate
    return subject.target_rate if subject.target_rate is not None else facts


def _check_generator(
    subject: Subject, load: Load, shape: Shape, steady: WindowLoad | None, host_cpu: float | None
) -> GeneratorCheck:
    told = subject.generator
    facts = None if subject.load is None else subject.load.facts.dropped_iterations
    errors = () if subject.load is None else subject.load.errors
    dropped = facts if told is None or told.dropped_iterations is None else told.dropped_iterations
    target = _target_over(subject, load, shape)
    seconds, rows = load.seconds, load.rows(shape.steady)
    latency = None if steady is None else steady.figures.latency
    # Of tools that tell the number of their users it is the number of clients.
    told_users = None if seconds is None or seconds.users is None else seconds.users[rows]
    users = None if told_users is None or np.isnan(told_users).all() else float(np.nanmax(told_users))
    slowest = None if seconds is None or seconds.latency is None else seconds.latency[rows, P95]
    return check_generator(
        GeneratorEvidence(
            target_rate=target,
            reached_rate=None if steady is None else steady.figures.rate,
            sends=np.empty(0) if seconds is None else seconds.requests[rows].astype(np.float64),
            clients=subject.concurrency or users,
            mean_seconds=None if latency is None else latency.mean,
            p95_seconds=None if latency is None else latency.p95,
            slowest_seconds=None if slowest is None or np.isnan(slowest).all() else float(np.nanmax(slowest)),
            dropped_iterations=dropped,
            host_cpu=host_cpu,
            process_cores=_process_cores(subject),
            thread_cpu=None if told is None else told.thread_cpu,
            host_cores=None if told is None else told.cpu_cores,
            own_errors=sum(count for text, count in errors if OWN_ERRORS.search(text)),
            tool=subject.tool,
            requests=0 if load.whole is None else load.whole.requests,
            paced=target is not None and shape.rising is None,
        )
    )


def _process_cores(subject: Subject) -> float | None:
    """Cores that the tool used on average between start and end; None where nothing told or it was too short."""
    told = subject.generator
    seconds = _span(subject).seconds
    if told is None or told.process_cpu_seconds is None or seconds < 1:
        return None
    return told.process_cpu_seconds / seconds


def _target_over(subject: Subject, load: Load, shape: Shape) -> float | None:
    """Rate asked for over the steady window; a ramp's one figure is that of its top, so only a series will do."""
    if load.target is not None:
        asked = load.target[load.rows(shape.steady)]
        if len(asked) and not np.isnan(asked).any():
            return float(asked.mean())
    if shape.rising is not None and shape.offered is not None and shape.offered.by is not OfferedBy.TARGET:
        return None
    return _target_rate(subject)


# Remarks --------------------------------------------------------------------------------------------------------------

_STREAMED: Mapping[Origin, tuple[str, str]] = {
    Origin.STREAM: (
        "live-figures",
        "No result file: these figures come from the series that were sent while the run was under way.",
    ),
    Origin.K6: (
        "live-figures-k6",
        "No result file: these figures come from k6's own series; its latencies are cumulative and left out.",
    ),
}


def _p95_sparkline(load: Load) -> list[float | None]:
    if load.seconds is None or load.seconds.latency is None:
        return []
    return worst_sparkline(load.seconds.latency[:, P95])


def _remarks(load: Load, steady: WindowLoad | None) -> list[RemarkOut]:
    found: list[RemarkOut] = []
    if load.origin in _STREAMED:
        found.append(missing_remark(*_STREAMED[load.origin]))
    bounds = None if steady is None else steady.bounds
    if bounds is not None and any(bound.low < bound.high for bound in bounds.values()):
        edges = {f"{name}_{edge}": getattr(bound, edge) for name, bound in bounds.items() for edge in ("low", "high")}
        text = "Percentiles of the steady window are estimates from those of its seconds: single requests are not kept."
        found.append(missing_remark("estimated-percentiles", text, **edges))
    return found


_FIGURES = {"seconds": duration, "ratio": share}


def about(
    subject: Subject,
    generator: GeneratorCheck,
    reconciliation: ReconciliationOut | None,
    shape: Shape,
    whole: Figures | None = None,
    thresholds: Sequence[ThresholdOut] = (),
    endpoints: Sequence[Endpoint] = (),
) -> About:
    return About(
        run=subject.id,
        generator=Generator(
            state=generator.state,
            reasons=generator.reasons,
            target_rate=generator.target_rate,
            reached_rate=generator.reached_rate,
            dropped=generator.dropped_iterations or 0,
            tool=subject.tool,
        ),
        counts=_counts(reconciliation),
        totals=_totals(whole, thresholds, endpoints),
        steady=_steady(shape),
        baseline=_baseline(subject, whole),
        sweep=_sweep(subject, whole),
    )


def _baseline(subject: Subject, whole: Figures | None) -> Baseline | None:
    other = subject.baseline
    if other is None:
        return None
    return Baseline(
        name=other.name,
        run=other.id,
        span_ms=other.span_ms,
        other=Start(facts=other.before, rate=other.rate, p95=other.p95_seconds, target=other.target_rate),
        own=Start(
            facts=subject.before,
            rate=None if whole is None else whole.rate,
            p95=None if whole is None else whole.latency.p95,
            target=subject.target_rate,
        ),
    )


def _sweep(subject: Subject, whole: Figures | None) -> Sweep | None:
    if not subject.parameters or not subject.trials:
        return None
    good = None
    if whole is not None and whole.rate is not None and whole.success_ratio is not None:
        good = whole.rate * whole.success_ratio
    own = Trial(name="", parameters=subject.parameters, good=good, target=subject.target_rate)
    return Sweep(own=own, others=subject.trials)


def _totals(whole: Figures | None, thresholds: Sequence[ThresholdOut], endpoints: Sequence[Endpoint]) -> Totals | None:
    failed = [one for one in thresholds if one.state is ThresholdState.FAILED and one.actual is not None]
    broken = [
        message_of("measured", "not-met", text=one.expression, value=_FIGURES.get(one.unit, figure)(one.actual or 0.0))
        for one in failed
    ]
    if whole is None:
        return Totals(broken=broken) if broken else None
    # A failure may be fast, and tells nothing of how long an answer takes.
    failed = whole.outcomes.get(Outcome.OK, 0) < whole.requests
    most = max((one.figures for one in endpoints), key=lambda figures: figures.requests, default=whole)
    return Totals(
        requests=whole.requests,
        fastest=None if failed else most.latency.min,
        median=most.latency.p50,
        p95=most.latency.p95,
        slowest=most.latency.max,
        outcomes={outcome.value: float(times) for outcome, times in whole.outcomes.items()},
        broken=broken,
    )


def _counts(reconciliation: ReconciliationOut | None) -> Counts:
    # Counts that hold requests of other runs, too, prove nothing of this one.
    steps = [] if reconciliation is None or reconciliation.mixed_with else reconciliation.steps
    counts = {step.id: step.count for step in steps}
    return Counts(
        sent=counts.get("sent"),
        answered=counts.get("answered_ok"),
        accepted=counts.get("accepted"),
        stored=counts.get("stored"),
        rows=next((step.count for step in steps if step.source == TABLE_ROWS), None),
        is_open=reconciliation is not None and reconciliation.place == NOT_KNOWN_YET,
    )


def _steady(shape: Shape) -> findings_read.Span | None:
    """None where none was found: then the whole run is no steady window either."""
    if shape.window.source is WindowSource.WHOLE:
        return None
    return findings_read.Span(from_ms=shape.steady.from_ms, to_ms=shape.steady.to_ms)
