"""What the requests of runs cost; safe to use from any thread."""

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.core.language import Language
from loadwatch_backend.evidence.cost.documents import (
    CostFunction,
    CostFunctions,
    CostOut,
    CostWindow,
    CpuRoute,
    cost_out,
)
from loadwatch_backend.evidence.cost.model import (
    SUMS,
    Cost,
    CpuShare,
    Estimate,
    JobCpu,
    Reason,
    RouteCost,
    RouteTotals,
    Share,
    Statement,
    StatementCost,
    StatementKey,
)
from loadwatch_backend.evidence.cost.read import EARLIEST, LATEST, Counted, has_counts, read_window
from loadwatch_backend.evidence.cost.solve import LEAST_INTERVALS, Ground, Part, noise_of, solve
from loadwatch_backend.evidence.kept_digests import KeptDigests, read_content
from loadwatch_backend.evidence.missing import PROFILE_COLLECTORS, profile_remarks, read_faults
from loadwatch_backend.evidence.plans import read_plans
from loadwatch_backend.evidence.profiles.model import Kind, ProfilesDifferError
from loadwatch_backend.evidence.profiles.service import ProfileOut, Profiles, ProfileView, ViewAsk
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.evidence.routes import parse_seconds
from loadwatch_backend.evidence.runs import HeldRun, Normalised, RunWindow
from loadwatch_backend.evidence.series import BoolArray
from loadwatch_backend.series.store.port import Reader

HEAVIEST = 3
"""Number of the heaviest statements that determine how late requests are counted."""
CLEARLY_BETTER = 0.9
LONGER = 3
"""Half steps that one statement may precede its requests beyond the lateness of all routes."""


def cost_of(counted: Counted, from_ms: int, to_ms: int) -> Cost:
    reason = _reason(counted)
    late = 0 if reason else _lateness(counted)
    grounds = {one: _ground(counted, one) for one in range(late, min(late + 1 + (reason is None) * LONGER, LATEST + 1))}
    rows, ground = grounds[late]
    busy = bool(ground.busy[rows.inside].any()) if reason is None else False
    if reason is None and (not busy or int(ground.busy.sum()) < LEAST_INTERVALS):
        reason = Reason.TOO_SHORT
    statements = [
        StatementCost(statement=one) if reason else _statement(counted, place, one, *_best(counted, place, grounds))
        for place, one in enumerate(counted.statements.found)
    ]
    total = sum(one.seconds for one in counted.statements.found) + counted.statements.other_seconds
    return Cost(
        from_ms=from_ms,
        to_ms=to_ms,
        reason=reason,
        routes=_routes(counted, statements),
        statements=statements,
        database_seconds=total,
        step_seconds=counted.step_seconds,
        lag_seconds=late * counted.step_seconds / 2,
        coverage=counted.coverage,
        routes_job=counted.routes.job,
        requests=counted.requests_names,
        routes_left_out=counted.routes.left_out,
        statements_left_out=counted.statements.left_out,
        other_seconds=counted.statements.other_seconds,
        cpu=[_cpu(counted, job, late) for job in counted.cpu],
    )


def _cpu(counted: Counted, job: str, late: int) -> JobCpu:
    """Attributes CPU time to routes as statements are: CPU seconds take the place of calls."""
    cpu = counted.cpu[job]
    requests, known, exact = counted.requests(late, cpu)
    rows = _Rows(known, exact, counted.inside)
    ground = Ground(rows.sum(requests), rows.sum(counted.lengths))
    enough = int(ground.busy.sum()) >= LEAST_INTERVALS
    shares = [
        CpuShare(
            routes=tuple(counted.routes.found[column].key for column in part.columns),
            basis=part.basis,
            each=part.calls,
            total_seconds=part.calls.value * sum(counted.routes.found[column].requests for column in part.columns),
        )
        for part in (solve(ground, rows.sum(cpu.used)).parts if enough else ())
        if part.calls.low > 0
    ]
    told = {key for share in shares for key in share.routes}
    return JobCpu(
        job=job,
        seconds=float(cpu.used[counted.inside].sum()),
        shares=sorted(shares, key=lambda one: (-one.total_seconds, one.routes)),
        untold=[one.key for one in counted.routes.found if one.requests > 0 and one.key not in told],
    )


class _Rows:
    """Intervals as they are fitted: those in which a sample was missed are one with all of the gap.

    What grew in a gap is spread over it evenly, on one side alone where only one agent was late: calls would seem to
    follow no requests. From edge to edge of the gap both are known.
    """

    def __init__(self, known: BoolArray, exact: BoolArray, inside: BoolArray) -> None:
        self._known = known
        before, gap = np.zeros_like(known), known & ~exact
        before[1:] = gap[:-1] & (inside[1:] == inside[:-1])
        self._starts = np.flatnonzero((known & ~(gap & before))[known])
        self.inside: BoolArray = inside[known][self._starts]

    def sum(self, values: FloatArray) -> FloatArray:
        """[row, …] of [interval, …]."""
        chosen = values[self._known]
        return np.add.reduceat(chosen, self._starts, axis=0) if len(self._starts) else chosen


def _reason(counted: Counted) -> Reason | None:
    if not counted.routes.found:
        return Reason.NO_ROUTES
    if not counted.statements.found:
        return Reason.NO_STATEMENTS
    return None if sum(one.requests for one in counted.routes.found) > 0 else Reason.NO_REQUESTS


def _lateness(counted: Counted) -> int:
    """Half steps by which requests are counted later than their statements: where least noise is left."""
    heaviest = np.argsort(-counted.statements.calls.sum(axis=0))[:HEAVIEST]
    shifts = range(EARLIEST, LATEST + 1)
    found = {late: counted.requests(late) for late in shifts}
    known = np.logical_and.reduce([one[1] for one in found.values()])
    exact = np.logical_and.reduce([one[2] for one in found.values()])
    rows = _Rows(known, exact, counted.inside)
    if len(rows.inside) < LEAST_INTERVALS:
        return 0
    lengths = rows.sum(counted.lengths)
    noise: dict[int, float] = {}
    for late, (requests, _, _) in found.items():
        ground = Ground(rows.sum(requests), lengths)
        noise[late] = sum(noise_of(ground, rows.sum(counted.statements.calls[:, place])) for place in heaviest)
    best = min(noise, key=lambda late: (noise[late], abs(late)))
    return best if noise[best] < CLEARLY_BETTER * noise[0] else 0


def _ground(counted: Counted, late: int) -> tuple["_Rows", Ground]:
    requests, known, exact = counted.requests(late)
    rows = _Rows(known, exact, counted.inside)
    return rows, Ground(rows.sum(requests), rows.sum(counted.lengths))


def _best(counted: Counted, place: int, grounds: Mapping[int, tuple["_Rows", Ground]]) -> tuple["_Rows", Ground]:
    """Rows and ground of the lateness that fits the statement best: slow routes are counted late."""
    noise = {
        late: noise_of(ground, rows.sum(counted.statements.calls[:, place])) for late, (rows, ground) in grounds.items()
    }
    usual, best = min(noise), min(noise, key=lambda late: (noise[late], late))
    return grounds[best if noise[best] < CLEARLY_BETTER * noise[usual] else usual]


def _statement(counted: Counted, place: int, statement: Statement, rows: "_Rows", ground: Ground) -> StatementCost:
    requests, calls, times = (
        ground.requests,
        rows.sum(counted.statements.calls[:, place]),
        rows.sum(counted.statements.times[:, place]),
    )
    found = solve(ground, calls)
    inside = rows.inside
    asked = np.column_stack(
        [
            *(requests[:, list(part.columns)].sum(axis=1) * part.calls.value for part in found.parts),
            ground.lengths * found.background,
        ]
    )
    # What was asked in an interval is shared out among those who asked; more than they can have asked is nobody's.
    explained = asked.sum(axis=1)
    made = np.maximum(calls, explained)
    burst = np.zeros(len(calls), dtype=np.bool_)
    burst[list(found.bursts)] = True
    made = np.where(burst, made, explained)
    shares = np.divide(asked, made[:, None], out=np.zeros_like(asked), where=made[:, None] > 0)
    spent = shares * times[:, None]
    scale = _scale(asked[inside].sum(), calls[inside].sum(), burst_calls=(calls - explained)[inside & burst].sum())
    parts = [
        _share(
            counted,
            statement,
            part,
            requests[inside],
            total_calls=float(asked[inside, at].sum()) * scale,
            total_seconds=float(spent[inside, at].sum()) * scale,
        )
        for at, part in enumerate(found.parts)
    ]
    parts = [one for one in parts if one.total_calls > 0]
    background = float(spent[inside, -1].sum()) * scale
    return StatementCost(
        statement=statement,
        shares=sorted(parts, key=lambda one: (-one.total_seconds, one.routes)),
        background_seconds=background,
        unexplained_seconds=max(statement.seconds - background - sum(one.total_seconds for one in parts), 0.0),
    )


def _scale(asked: float, made: float, burst_calls: float) -> float:
    """At most 1: a fit never explains more calls of the window than were made in it."""
    return min(1.0, max(made - max(burst_calls, 0.0), 0.0) / asked) if asked > 0 else 1.0


def _share(
    counted: Counted,
    statement: Statement,
    part: Part,
    requests: FloatArray,
    *,
    total_calls: float,
    total_seconds: float,
) -> Share:
    asked = float(requests[:, list(part.columns)].sum())
    a_call = total_seconds / total_calls if total_calls > 0 else 0.0
    return Share(
        routes=tuple(
            counted.routes.found[column].key for column in part.columns if counted.routes.found[column].requests > 0
        ),
        basis=part.basis,
        calls=part.calls,
        seconds=part.calls.times(a_call),
        total_calls=total_calls if asked else 0.0,
        total_seconds=total_seconds if asked else 0.0,
        least_calls=0.0 if statement.key.digest in SUMS else part.least,
    )


def _routes(counted: Counted, statements: list[StatementCost]) -> list[RouteCost]:
    found = [_route(one, statements) for one in counted.routes.found if one.requests > 0]
    return sorted(found, key=lambda one: (-one.total_seconds, -(one.totals.seconds or 0.0), one.totals.key))


def _route(totals: RouteTotals, statements: list[StatementCost]) -> RouteCost:
    own: dict[StatementKey, Share] = {
        one.statement.key: share for one in statements for share in one.shares if share.routes == (totals.key,)
    }
    return RouteCost(
        totals=totals,
        calls=_sum([share.calls for share in own.values()]),
        seconds=_sum([share.seconds for share in own.values()]),
        total_seconds=sum(share.total_seconds for share in own.values()),
        of_statement=own,
    )


def _sum(estimates: list[Estimate]) -> Estimate:
    """Of independent estimates: their distances to the bounds add up as the sides of a right angle."""
    value = sum(one.value for one in estimates)
    below = sum((one.value - one.low) ** 2 for one in estimates) ** 0.5
    above = sum((one.high - one.value) ** 2 for one in estimates) ** 0.5
    return Estimate(value, max(value - below, 0.0), value + above)


MOST_FILES = 8
MOST_FUNCTIONS = 20
MOST_ROUTES = 10
ROUTE_KEYS = ("route", "http.route", "http_route", "endpoint", "handler", "path")
"""Label keys under which applications name the route of a stack."""
_SECONDS = {"nanoseconds": 1e-9, "microseconds": 1e-6, "milliseconds": 1e-3, "seconds": 1.0}


def cpu_functions(profiles: Profiles, held: HeldRun, language: Language) -> CostFunctions | None:
    """Functions of the processor; None without a profile that can be read."""
    try:
        files = cpu_files(profiles.of_run(held.run.id), held.run)
        if not files:
            return None
        other = () if held.base is None else cpu_files(profiles.of_run(held.base.id), held.base)
        view, before = _views(profiles, files, other, language)
    except ProblemError:
        return None
    return functions_out(view, before, len(files))


def _views(
    profiles: Profiles, files: tuple[str, ...], other: tuple[str, ...], language: Language
) -> tuple[ProfileView, ProfileView | None]:
    """The view, against the base where they are comparable; and the base alone, for its labels."""

    def view(base: tuple[str, ...], of: tuple[str, ...] = files) -> ProfileView:
        return profiles.view(ViewAsk(files=of, base=base, sample_type=None, language=language))

    if not other:
        return view(()), None
    try:
        now = view(other)
    except ProfilesDifferError:
        return view(()), None
    return now, view((), other) if _route_values(now) else None


def cpu_files(profiles: Sequence[ProfileOut], run: RunWindow) -> tuple[str, ...]:
    """CPU profiles that overlap the run, at most `MOST_FILES`; those of another time are left out."""
    cpu = (one for one in profiles if one.kind == Kind.CPU)
    within = (
        one.id for one in cpu if one.at_ms <= run.to_ms and one.at_ms + 1_000 * (one.seconds or 0.0) >= run.from_ms
    )
    return tuple(within)[:MOST_FILES]


def functions_out(view: ProfileView, before: ProfileView | None, profiles: int) -> CostFunctions | None:
    """The table; `before` is the baseline alone. None of profiles in which nothing ran. Pure."""
    if view.total <= 0:
        return None
    factor = _SECONDS.get(view.type.unit)
    scale, per = 1.0 if factor is None else factor, view.normalised
    # Held against nothing, a view is of all the time: a request is what it is to be read by.
    if view.base_total is None and view.requests:
        scale, per = scale / view.requests, Normalised.REQUEST
    functions = sorted((one for one in view.functions if one.flat > 0), key=lambda one: (-one.flat, -one.cum, one.name))

    def scaled(value: float | None) -> float | None:
        return None if value is None else value * scale

    return CostFunctions(
        profiles=profiles,
        unit=view.type.unit if factor is None else "seconds",
        per=per,
        requests_by=view.requests_by if per is Normalised.REQUEST else None,
        total=view.total * scale,
        base_total=scaled(view.base_total),
        functions=[
            CostFunction(
                name=one.name,
                file=one.file,
                words=one.words,
                share=one.flat / view.total,
                cum_share=one.cum / view.total,
                flat=one.flat * scale,
                cum=one.cum * scale,
                base_flat=scaled(one.base_flat),
                base_cum=scaled(one.base_cum),
            )
            for one in functions[:MOST_FUNCTIONS]
        ],
        by_route=_by_route(view, before),
    )


def _by_route(view: ProfileView, before: ProfileView | None) -> list[CpuRoute]:
    earlier = {} if before is None or before.total <= 0 else _route_values(before)
    found = [
        CpuRoute(
            name=name,
            share=value / view.total,
            # A label that the other run had not at all says nothing of its routes.
            base_share=earlier.get(name, 0.0) / before.total if before is not None and earlier else None,
        )
        for name, value in _route_values(view).items()
    ]
    return sorted(found, key=lambda one: (-one.share, one.name))[:MOST_ROUTES]


def _route_values(view: ProfileView) -> dict[str, float]:
    by_key = {one.key: one for one in view.labels}
    found = next((by_key[key] for key in ROUTE_KEYS if key in by_key), None)
    return {} if found is None else {one.text: one.value for one in found.values}


KEPT = 32
FRESH_MS = 15_000
"""A kept result is reused for so long, then computed again until settled: samples may come late."""
SETTLED_MS = 600_000


class Costs:
    def __init__(self, store: Reader, clock: Clock, logs: KeptDigests | None = None) -> None:
        """`logs`: access logs that were imported for runs."""
        self._store, self._clock, self._logs = store, clock, logs
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[int, int, int, int, Path | None], tuple[int, Cost]] = OrderedDict()

    def of_span(self, span: tuple[int, int], figures_ms: tuple[int, int] | None = None, run_id: str = "") -> Cost:
        """What the requests of a time cost, ms; totals are of `figures_ms` or of all of it.

        Where nobody counted requests then, they are those of the log that was imported for the run.

        Raises:
            ProblemError: of the store.
        """
        first, last = figures_ms or span
        log = self._log(run_id)
        key = (*span, first, last, log)
        now_ms = self._clock()
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None and (now_ms - kept[0] < FRESH_MS or kept[0] - span[1] > SETTLED_MS):
                self._kept.move_to_end(key)
                return kept[1]
        seconds = None if log is None else parse_seconds(read_content(log))
        cost = cost_of(read_window(self._store, span, (first, last), seconds), first, last)
        with self._lock:
            self._kept[key] = (now_ms, cost)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return cost

    def counted(self, span: tuple[int, int], run_id: str = "") -> Cost | None:
        """The same; None where nobody counted requests or statements.

        Raises:
            ProblemError: of the store.
        """
        if not has_counts(self._store, *span) and self._log(run_id) is None:
            return None
        cost = self.of_span(span, run_id=run_id)
        return cost if cost.statements or cost.routes else None

    def _log(self, run_id: str) -> Path | None:
        return self._logs.newest(run_id) if self._logs is not None and run_id else None


class RunCosts:
    def __init__(self, costs: Costs, profiles: Profiles, store: Reader) -> None:
        self._costs, self._profiles, self._store = costs, profiles, store

    def of_run(self, held: HeldRun, language: Language) -> CostOut:
        """What the requests of a run cost; the steady window where it has one.

        Raises:
            ProblemError: of the store.
        """
        run, other = held.run, held.base
        covered = CostWindow.WHOLE if held.whole or run.steady_ms is None else CostWindow.STEADY
        functions = cpu_functions(self._profiles, held, language)
        faults = [] if functions else read_faults(self._store, PROFILE_COLLECTORS, *run.span)
        return cost_out(
            held,
            covered,
            self._cost(run, covered),
            None if other is None else self._cost(other, covered),
            functions,
            [] if functions else profile_remarks(faults, language),
            read_plans(self._store, *run.span),
        )

    def _cost(self, run: RunWindow, window: CostWindow) -> Cost:
        figures = run.steady_ms if window is CostWindow.STEADY else None
        return self._costs.of_span((run.from_ms, max(run.to_ms, run.from_ms + 1_000)), figures, run.id)
