"""Which samples an expression needs, read from the store once each."""

from collections.abc import Callable, Iterable, Sequence

from loadwatch_backend.series.promql.admission import READ_BYTES, Ticket, read_within
from loadwatch_backend.series.promql.errors import QueryMemoryError
from loadwatch_backend.series.promql.labels import METRIC_NAME
from loadwatch_backend.series.promql.levels import RAW, Choices, Levels, key_of, span_at, wanted_by
from loadwatch_backend.series.promql.parsing.expression import Expression, Selector
from loadwatch_backend.series.promql.samples import Samples, prepare
from loadwatch_backend.series.promql.value import Grid
from loadwatch_backend.series.store.levels import Level, Span, joined_spans
from loadwatch_backend.series.store.port import ManySelector, Matcher, MatchOperator, Reader, Reading, Selection

Source = tuple[tuple[Matcher, ...], Level]
Plan = dict[Source, list[Span]]


def plan_spans(
    expression: Expression, grid: Grid, lookback_ms: int, subquery_step_ms: int, levels: Levels | None = None
) -> tuple[Plan, Choices]:
    """For each distinct selector the spans of time to read: overlapping ones joined, in rising order.

    And how each is read; without `levels` all samples are.
    """
    reads = list(wanted_by(expression, grid, lookback_ms, subquery_step_ms))
    choices = levels.choose(reads) if levels is not None else {}
    wanted: Plan = {}
    for one in reads:
        level = choices.get(key_of(one.selector, one.function, is_aligned=one.is_aligned), RAW).level
        wanted.setdefault((one.matchers, level), []).append(span_at(one, level))
    return {source: joined_spans(spans) for source, spans in wanted.items()}, choices


Parts = dict[Source, list[tuple[Span, Samples]]]


def _covering(parts: Parts, source: Source, start_ms: int, end_ms: int) -> Samples | None:
    for (first, last), samples in parts.get(source, ()):
        if first <= start_ms and end_ms <= last:
            return samples
    return None


class Fetched:
    def __init__(self) -> None:
        self._parts: Parts = {}
        self.sample_count = 0
        self.series_count = 0

    def load(
        self, spans: Plan, select: Callable[[Source, int, int], Selection], check: Callable[["Fetched"], None]
    ) -> None:
        """Read all spans that are not here yet; `check` may raise after each."""
        for source, parts in spans.items():
            for span in parts:
                if _covering(self._parts, source, *span) is not None:
                    continue
                samples = prepare(select(source, *span))
                self.sample_count += len(samples.timestamps)
                self.series_count += len(samples.labels)
                self._parts.setdefault(source, []).append((span, samples))
                check(self)

    def get(self, selector: Selector, start_ms: int, end_ms: int, level: Level = Level.RAW) -> Samples:
        """What was read for a selector whose span lies in one that was planned."""
        samples = _covering(self._parts, (selector.matchers, level), start_ms, end_ms)
        if samples is None:
            raise KeyError((selector.matchers, start_ms, end_ms))
        return samples


class FetchedInstant:
    """The samples of many expressions at one instant; of instant selectors the newest of each series alone."""

    def __init__(self, store: Reader, lookback_ms: int, subquery_step_ms: int, ticket: Ticket) -> None:
        self._store = store
        self._ticket = ticket
        self._many: ManySelector | None = store if isinstance(store, ManySelector) else None
        self._lookback_ms = lookback_ms
        self._subquery_step_ms = subquery_step_ms
        self._newest: Parts = {}
        self._ranges: Parts = {}

    def load(self, expressions: Iterable[Expression], grid: Grid) -> tuple[int, int]:
        """Read what is not here yet, all selectors of one span in one go; how many samples and series that were.

        Raises:
            QueryLimitError: the store.
            QueryMemoryError, QueryBusyError: the ticket.
        """
        before = self._ticket.held_bytes
        wanted = list(expressions)
        try:
            return self._load(wanted, grid)
        except QueryMemoryError:
            if not before:
                raise
            # What others of this instant have read is there for their next use only.
            self._newest.clear()
            self._ranges.clear()
            self._ticket.give(self._ticket.held_bytes)
            return self._load(wanted, grid)

    def _load(self, expressions: Sequence[Expression], grid: Grid) -> tuple[int, int]:
        newest: dict[Span, dict[tuple[Matcher, ...], None]] = {}
        ranges: dict[Span, dict[tuple[Matcher, ...], None]] = {}
        for expression in expressions:
            for one in wanted_by(expression, grid, self._lookback_ms, self._subquery_step_ms):
                if one.newest_only:
                    # A newer sample would be newer than the instant, so that only this very span serves.
                    if not any(known == one.span for known, _ in self._newest.get((one.matchers, Level.RAW), ())):
                        newest.setdefault(one.span, {})[one.matchers] = None
                elif _covering(self._ranges, (one.matchers, Level.RAW), *one.span) is None:
                    ranges.setdefault(one.span, {})[one.matchers] = None
        samples = series = 0
        for parts, wanted, newest_only in ((self._newest, newest, True), (self._ranges, ranges, False)):
            for span, selectors in wanted.items():
                matchers = list(selectors)
                for one, selection in zip(matchers, self._select(matchers, span, newest_only=newest_only), strict=True):
                    found = prepare(selection)
                    parts.setdefault((one, Level.RAW), []).append((span, found))
                    samples += len(found.timestamps)
                    series += len(found.labels)
        return samples, series

    def newest(self, selector: Selector, start_ms: int, end_ms: int) -> Samples:
        """At least the newest sample of each series, of a selector that was loaded."""
        spans = self._newest.get((selector.matchers, Level.RAW), ())
        found = next((samples for span, samples in spans if span == (start_ms, end_ms)), None)
        assert found is not None, "every instant selector is loaded before it is evaluated"
        return found

    def range(self, selector: Selector, start_ms: int, end_ms: int) -> Samples:
        found = _covering(self._ranges, (selector.matchers, Level.RAW), start_ms, end_ms)
        assert found is not None, "every range is loaded before it is evaluated"
        return found

    def forget(self, metric: str) -> None:
        """Let go of what may hold series of this name: more of them are being written."""

        def may_hold(matchers: tuple[Matcher, ...]) -> bool:
            names = [one for one in matchers if one.label == METRIC_NAME and one.operator is MatchOperator.EQUAL]
            return all(one.value == metric for one in names)

        for parts in (self._newest, self._ranges):
            for key in [key for key in parts if may_hold(key[0])]:
                del parts[key]

    def _select(self, matchers: Sequence[tuple[Matcher, ...]], span: Span, *, newest_only: bool) -> Sequence[Selection]:
        many = self._many

        def read(reading: Reading) -> Sequence[Selection]:
            if many is None:
                return [self._store.select(one, *span, reading) for one in matchers]
            return (many.select_newest if newest_only else many.select_many)(matchers, *span, reading)

        return read_within(self._ticket, self._ticket.room_bytes // READ_BYTES, read)
