"""Answers questions about signals: the catalogue, values on one grid, headroom.

Made by the engine at each step of its grid: of values that are already reduced to the extrema of their buckets, which
lie at different times, no sum can be made. Pure.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from loadwatch_backend.catalogue.packs.library import Catalogue, Library
from loadwatch_backend.catalogue.signals.cadence import FACTS_LOOKBACK_MS, MAX_EVALUATED, Plan, plan_grid, tell_apart
from loadwatch_backend.catalogue.signals.interval import (
    WINDOW,
    IntervalDetector,
    Intervals,
    any_tree_of,
    cover_of,
    fill_window,
    lookback_of,
    settled_after,
    slowest,
    tree_of,
)
from loadwatch_backend.catalogue.signals.late import read_late, reduce_extrema
from loadwatch_backend.catalogue.signals.limits import SETTLED_MS, Limits
from loadwatch_backend.catalogue.signals.model import (
    Group,
    Orientation,
    Panel,
    Signal,
    Total,
    Unit,
    name_series,
)
from loadwatch_backend.catalogue.signals.schemas import (
    GroupOut,
    PanelOut,
    ResourceOut,
    SignalCatalogue,
    SignalDelivery,
    SignalOut,
    SignalQuery,
)
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.errors import InvalidError, LimitError, ProblemError
from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts.words import Words
from loadwatch_backend.series.promql.admission import Ticket
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.promql.parsing.expression import Expression
from loadwatch_backend.series.promql.parsing.parse import parse_expression
from loadwatch_backend.series.store.levels import Level
from loadwatch_backend.series.store.port import LevelledSelect, Matcher, Reading, Select, Selection, one_of

INSTANCE = "{{instance}}"
_ADDS_UP = (Unit.COUNT, Unit.BYTES, Unit.PER_SECOND, Unit.BYTES_PER_SECOND)
_OPERATORS = {Total.SUM: "sum", Total.MEAN: "avg", Total.HIGHEST: "max", Total.LOWEST: "min"}
_SPREAD = {
    "low": ("min without (instance) (", ")"),
    "middle": ("quantile without (instance) (0.5, ", ")"),
    "high": ("max without (instance) (", ")"),
}


def total_of(signal: Signal) -> Total | None:
    """What the series of several instances are together, as declared; None where nothing sensible.

    Where an agent measures each second: counts, bytes and rates add up, and of shares and times the worst stands for
    all. Of the most frequent ones that `topk` leaves over nothing can be told about all.
    """
    if signal.total is not None or signal.cadence is not None:
        return signal.total
    if INSTANCE not in signal.legend or "topk(" in signal.expression:
        return None
    if signal.unit in _ADDS_UP:
        return Total.SUM
    return {Orientation.MORE_IS_WORSE: Total.HIGHEST, Orientation.MORE_IS_BETTER: Total.LOWEST}.get(signal.orientation)


def together(signal: Signal) -> Sequence[Signal]:
    """Total and spread of a signal over its instances, a series for each set of the other labels."""
    total = total_of(signal)
    if total is None or signal.cadence is not None:
        return ()
    wraps = {"total": (f"{_OPERATORS[total]} without (instance) (", ")")} | _SPREAD
    legend = signal.legend.replace(INSTANCE, "").strip()
    return [
        signal.model_copy(
            update={
                "id": f"{signal.id}@{name}",
                "alternatives": (f"{head}{signal.expression}{tail}",),
                "legend": legend,
            }
        )
        for name, (head, tail) in wraps.items()
    ]


MOST_KEPT = 1_000_000
"""Samples that are kept for the other signals of a question: 16 MB."""


def matchers_of(filters: Mapping[str, Sequence[str]]) -> list[Matcher]:
    """Conditions for filters; a label without values filters nothing."""
    return [one_of(label, values) for label, values in sorted(filters.items()) if values]


def narrowed(select: Select, filters: Mapping[str, Sequence[str]]) -> Select:
    """`select` whose selections also meet the filters. For one request and one thread."""
    conditions = matchers_of(filters)
    read: dict[tuple[tuple[Matcher, ...], int, int, tuple[Level, ...]], Selection] = {}
    kept = 0
    # Asked for a level only where the store has some.
    levelled = cast("LevelledSelect", select)

    def narrow(
        matchers: Sequence[Matcher], start_ms: int, end_ms: int, reading: Reading | None = None, /, *level: Level
    ) -> Selection:
        # Signals of one page share many selectors.
        nonlocal kept
        key = (tuple(matchers), start_ms, end_ms, level)
        if key in read:
            return read[key]
        selection = levelled((*matchers, *conditions), start_ms, end_ms, reading, *level)
        kept += len(selection.timestamps)
        if kept <= MOST_KEPT:
            read[key] = selection
        return selection

    return narrow


FloatArray = npt.NDArray[np.float64]

DEFAULT_INTERVAL_MS = 1_000
AWAITED_UNTIL = (
    "min(max by (run) (timestamp(loadtest_request_duration_seconds))"
    " - max by (run) (max_over_time(loadtest_request_duration_seconds[10m])))"
)
"""The newest second of which the end of a request was told, less the longest that one of the last minutes took."""
LONGEST_AWAITED_MS = 40_000
"""Longer than most load tools wait for an answer; their live figures change no older second."""


class SignalSpanError(InvalidError, code="signal-span"):
    """The end lies before the start."""


class SignalPointsError(LimitError, code="signal-points"):
    """The step asked for makes too many points."""


def parse_with_window(expression: str, window_ms: int) -> Expression:
    return parse_expression(fill_window(expression, window_ms))


class SignalService:
    """Evaluates the catalogue's expressions; safe to use from any thread."""

    def __init__(self, engine: Engine, clock: Clock, library: Library) -> None:
        self._engine = engine
        self._clock = clock
        self._library = library
        self._intervals = IntervalDetector(engine.store, clock)
        self._limits = Limits(engine, clock, self._intervals, library)
        self._known: tuple[Catalogue, Mapping[str, tuple[Panel, Signal]]] | None = None

    @property
    def _signals(self) -> Mapping[str, tuple[Panel, Signal]]:
        return self._library.current().signals_by_id

    @property
    def _asked(self) -> Mapping[str, tuple[Panel, Signal]]:
        """The current signals by id, and those derived of them by `together`."""
        catalogue, known = self._library.current(), self._known
        if known is None or known[0] is not catalogue:
            signals = catalogue.signals_by_id.values()
            asked = {one.id: (panel, one) for panel, signal in signals for one in (signal, *together(signal))}
            known = self._known = (catalogue, asked)
        return known[1]

    def catalogue(self, language: Language) -> SignalCatalogue:
        known = self._library.current()
        return SignalCatalogue(
            groups=[
                GroupOut(id=group.id, title=group.title.read(language), optional=group.optional)
                for group in known.groups
            ],
            signals=[
                _signal_out(group, panel, signal, language)
                for group in known.groups
                for panel in group.panels
                for signal in panel.signals
            ],
            resources=[
                ResourceOut(
                    id=one.id,
                    title=one.title.read(language),
                    unit=one.unit,
                    help=one.help.read(language),
                    used=one.used,
                    limit=one.limit,
                    group=one.group,
                )
                for one in known.resources
            ],
        )

    def query(self, question: SignalQuery, ticket: Ticket) -> dict[str, Any]:
        """Values of signals on one grid, as in `SignalAnswer`, with numpy arrays for numbers.

        The ticket's memory holds what is answered.

        Raises:
            SignalSpanError, SignalPointsError: the question; what is wrong with one signal is in its result.
        """
        if question.end_ms < question.start_ms:
            raise SignalSpanError(f"end_ms {question.end_ms} lies before start_ms {question.start_ms}.")
        newest_ms = min(question.end_ms, self._engine.store.newest_ms() or 0)
        conditions = matchers_of(question.filters)
        intervals = {
            id: self._interval(id, question.start_ms, newest_ms, conditions)
            for id in question.signals
            if id in self._asked
        }
        plan = plan_grid(
            question.start_ms,
            question.end_ms,
            question.max_points,
            min((interval for interval in intervals.values() if interval), default=DEFAULT_INTERVAL_MS),
            question.step_ms,
        )
        if plan.fine_count > MAX_EVALUATED:
            raise SignalPointsError(
                f"A step of {plan.step_ms} ms makes {plan.count} points of this span; leave step_ms out, or shorten it."
            )
        engine = self._engine.bound(ticket, narrowed(self._engine.select, question.filters), conditions)
        results = [self._result(engine, id, plan, newest_ms, question) for id in question.signals]
        bucket = 2 * plan.step_ms
        settled_ms = newest_ms - max(
            (self._settled(result, intervals.get(result["signal"])) for result in results), default=SETTLED_MS
        )
        final_ms = self._final(engine) if any(self._is_awaited(id) for id in question.signals) else None
        if final_ms is not None and final_ms < newest_ms:
            settled_ms = min(settled_ms, final_ms)
            results = [
                result | {"final_ms": final_ms} if self._is_awaited(result["signal"]) else result for result in results
            ]
        return {
            "start_ms": plan.start_ms,
            "step_ms": plan.step_ms,
            "count": plan.count,
            "reduced": plan.reduced,
            "complete_ms": max(settled_ms // bucket * bucket, plan.start_ms),
            "results": results,
        }

    def definition(self, id: str) -> Signal | None:
        found = self._signals.get(id)
        return None if found is None else found[1]

    def full_title(self, id: str) -> Words:
        """The title of a signal where its chart does not stand around it: with the panel's."""
        panel, signal = self._signals[id]
        if panel.title == signal.title or len(panel.signals) == 1:
            return panel.title
        return Words(f"{panel.title.en}: {signal.title.en}", f"{panel.title.ja}: {signal.title.ja}")

    def definitions(self) -> Sequence[Signal]:
        return [signal for _, signal in self._signals.values()]

    def over(
        self, id: str, start_ms: int, end_ms: int, most_points: int
    ) -> Mapping[tuple[tuple[str, str], ...], FloatArray]:
        """Values of one signal over a past span, a series each by its labels, NaN where it has none; for statistics.

        Steps are the data's own interval, or longer to stay within `most_points`.

        Raises:
            KeyError: there is no such signal.
            ProblemError: the engine or the store refused.
        """
        _, signal = self._signals[id]
        interval = self._interval(id, start_ms, end_ms)
        span = max(end_ms - start_ms, 1_000)
        step = max(interval or DEFAULT_INTERVAL_MS, -(-span // most_points // 1_000) * 1_000, 1_000)
        # A late value stands for its own period only.
        if signal.cadence is not None:
            lookback, tree = step, parse_with_window(signal.expression, FACTS_LOOKBACK_MS)
        else:
            intervals = self._intervals_of(signal, start_ms, end_ms)
            lookback, tree = lookback_of(interval), tree_of(signal.expression, intervals, step)
        matrix = self._engine.range(tree, start_ms, max(end_ms, start_ms), step, lookback_ms=lookback)
        values = matrix.with_gaps
        return {tuple(sorted(labels.items())): values[row] for row, labels in enumerate(matrix.labels)}

    def headroom(self, at_ms: int | None, language: Language, ticket: Ticket) -> dict[str, Any]:
        return self._limits.headroom(at_ms, language, ticket)

    # One signal -----------------------------------------------------------------------------------------------

    def _interval(self, id: str, start_ms: int, end_ms: int, conditions: Sequence[Matcher] = ()) -> int | None:
        signal = self._asked[id][1]
        cadence = signal.cadence
        if cadence is None:
            return slowest(self._intervals_of(signal, start_ms, end_ms, conditions))
        if cadence.usual_ms is None:
            return cadence.period_ms
        found = self._intervals.detect_finest(any_tree_of(signal.expression), end_ms, conditions)
        return cadence.usual_ms if found is None else max(found, cadence.period_ms)

    def _intervals_of(
        self, signal: Signal, start_ms: int, end_ms: int, conditions: Sequence[Matcher] = ()
    ) -> Intervals:
        return self._intervals.detect(any_tree_of(signal.expression), start_ms, end_ms, conditions)

    def _is_awaited(self, id: str) -> bool:
        return id in self._asked and self._asked[id][1].awaited

    def _final(self, engine: Engine) -> int | None:
        """Up to when all requests of the runs under way are known; None without such a run."""
        now_ms = self._engine.store.newest_ms()
        if now_ms is None:
            return None
        try:
            found = engine.instant(AWAITED_UNTIL, now_ms).values
        except ProblemError:
            return None
        if not found.size or not np.isfinite(found).all():
            return None
        return min(max(round(float(found.min()) * 1_000), now_ms - LONGEST_AWAITED_MS), now_ms)

    def _settled(self, result: Mapping[str, Any], interval_ms: int | None) -> int:
        """How far back from the newest sample a result may still change."""
        found = self._asked.get(result["signal"])
        cadence = None if found is None or result["newest_ms"] is None else found[1].cadence
        if cadence is not None:
            return cadence.settled_ms
        return SETTLED_MS + (settled_after(interval_ms) if found is not None and WINDOW in found[1].expression else 0)

    def _result(self, engine: Engine, id: str, plan: Plan, newest_ms: int, question: SignalQuery) -> dict[str, Any]:
        if id not in self._asked:
            return _failed(id, "unknown-signal", f"There is no signal {id!r}; GET /api/signals lists all.")
        panel, signal = self._asked[id]
        newest_value_ms: int | None = None
        intervals: Intervals = {}
        try:
            if signal.cadence is None:
                filters = matchers_of(question.filters)
                intervals = self._intervals_of(signal, question.start_ms, newest_ms, filters)
                labels, values = self._values(engine, signal, intervals, plan, newest_ms)
            else:
                labels, values, newest_value_ms = read_late(
                    engine, signal, any_tree_of(self._asked[id][1].expression), plan, newest_ms, stacked=panel.stacked
                )
        except ProblemError as error:
            return _failed(id, error.code, error.detail)
        title = signal.title.read(question.lang)
        shared = len(panel.signals) > 1
        names = [name_series(title, signal.legend, one, shared=shared) for one in labels]
        series = [
            {
                "name": name,
                "labels": {name: value for name, value in one.items() if name != "__name__"},
                "values": values[row],
            }
            for row, (name, one) in enumerate(
                zip(names if signal.cadence is None else tell_apart(names, labels), labels, strict=True)
            )
        ]
        mean_ms = _mean_ms(signal, intervals, plan)
        return _EMPTY | {"signal": id, "series": series, "newest_ms": newest_value_ms, "mean_ms": mean_ms}

    def _values(
        self, engine: Engine, signal: Signal, intervals: Intervals, plan: Plan, newest_ms: int
    ) -> tuple[Sequence[Mapping[str, str]], FloatArray]:
        """Labels and the drawn points, [series, plan.count]; nothing after the newest sample."""
        # What a rate is at an instant lies before it: a bucket's last instant is its end, and its start another's.
        start_ms = plan.start_ms + (plan.fine_ms if plan.reduced else 0)
        evaluated = min((newest_ms - start_ms) // plan.fine_ms + 1, plan.fine_count)
        if evaluated <= 0:
            return [], np.empty((0, plan.count))
        matrix = engine.range(
            tree_of(signal.expression, intervals, plan.fine_ms),
            start_ms,
            start_ms + (evaluated - 1) * plan.fine_ms,
            plan.fine_ms,
            lookback_ms=lookback_of(slowest(intervals)),
        )
        fine = np.full((len(matrix.labels), plan.fine_count), np.nan)
        fine[:, :evaluated] = matrix.with_gaps
        return matrix.labels, reduce_extrema(fine, plan.per_bucket) if plan.reduced else fine


_EMPTY: dict[str, Any] = {
    "signal": "",
    "series": [],
    "error": None,
    "newest_ms": None,
    "final_ms": None,
    "mean_ms": None,
}


def _failed(id: str, code: str, detail: str) -> dict[str, Any]:
    return _EMPTY | {"signal": id, "series": [], "error": {"code": code, "detail": detail}}


def _mean_ms(signal: Signal, intervals: Intervals, plan: Plan) -> int | None:
    if signal.cadence is not None or WINDOW not in signal.expression:
        return None
    known = {interval for interval in intervals.values() if interval is not None} or {None}
    windows = {cover_of(interval, plan.fine_ms).window_ms for interval in known}
    # Of alternatives that come differently often it is not told which one is drawn.
    return windows.pop() if len(windows) == 1 else None


def _signal_out(group: Group, panel: Panel, signal: Signal, language: Language) -> SignalOut:
    return SignalOut(
        id=signal.id,
        title=signal.title.read(language),
        unit=signal.unit,
        help=signal.help.read(language),
        orientation=signal.orientation,
        expression=signal.expression,
        group=group.id,
        panel=PanelOut(
            id=panel.id, title=panel.title.read(language), split=panel.split, stacked=panel.stacked, table=panel.table
        ),
        legend=signal.legend,
        delivery=signal.cadence and SignalDelivery.model_validate(signal.cadence, from_attributes=True),
        total=total_of(signal),
        layers=list(signal.layers),
        limit=signal.limit,
    )
