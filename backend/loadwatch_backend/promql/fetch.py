"""Which samples an expression needs, read from the store once each."""

from collections.abc import Callable

from loadwatch_backend.promql.evaluate import instant_span, range_span
from loadwatch_backend.promql.expression import Expression, RangeSelector, Selector, children
from loadwatch_backend.promql.labels import METRIC_NAME
from loadwatch_backend.promql.samples import Samples, prepare
from loadwatch_backend.promql.value import Grid
from loadwatch_backend.store.port import Matcher, MatchOperator, Selection

Span = tuple[int, int]


def plan_spans(expression: Expression, grid: Grid, lookback_ms: int) -> dict[tuple[Matcher, ...], list[Span]]:
    """For each distinct selector the spans of time to read: overlapping ones joined, in rising order."""
    wanted: dict[tuple[Matcher, ...], list[Span]] = {}

    def visit(node: Expression) -> None:
        match node:
            case Selector():
                wanted.setdefault(node.matchers, []).append(instant_span(node, grid, lookback_ms))
            case RangeSelector():
                wanted.setdefault(node.selector.matchers, []).append(range_span(node, grid))
            case _:
                for child in children(node):
                    visit(child)

    visit(expression)
    return {matchers: _joined(spans) for matchers, spans in wanted.items()}


def _joined(spans: list[Span]) -> list[Span]:
    result: list[Span] = []
    for start, end in sorted(spans):
        if result and start <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


class Fetched:
    """The samples of all selectors of one query, or of several at one instant."""

    def __init__(self) -> None:
        self._parts: dict[tuple[Matcher, ...], list[tuple[Span, Samples]]] = {}
        self.sample_count = 0
        self.series_count = 0

    def load(
        self,
        spans: dict[tuple[Matcher, ...], list[Span]],
        select: Callable[[tuple[Matcher, ...], int, int], Selection],
        check: Callable[["Fetched"], None],
    ) -> None:
        """Read all spans that are not here yet; `check` may raise after each."""
        for matchers, parts in spans.items():
            for span in parts:
                if self._find(matchers, *span) is not None:
                    continue
                samples = prepare(select(matchers, *span))
                self.sample_count += len(samples.timestamps)
                self.series_count += len(samples.labels)
                self._parts.setdefault(matchers, []).append((span, samples))
                check(self)

    def get(self, selector: Selector, start_ms: int, end_ms: int) -> Samples:
        """The samples read for a selector whose span lies in one that was planned."""
        samples = self._find(selector.matchers, start_ms, end_ms)
        if samples is None:
            raise KeyError((selector.matchers, start_ms, end_ms))
        return samples

    def forget(self, metric: str) -> None:
        """Let go of what may hold series of this name: more of them are being written."""

        def may_hold(matchers: tuple[Matcher, ...]) -> bool:
            names = [one for one in matchers if one.label == METRIC_NAME and one.operator is MatchOperator.EQUAL]
            return all(one.value == metric for one in names)

        for key in [key for key in self._parts if may_hold(key)]:
            del self._parts[key]

    def _find(self, matchers: tuple[Matcher, ...], start_ms: int, end_ms: int) -> Samples | None:
        for (first, last), samples in self._parts.get(matchers, ()):
            if first <= start_ms and end_ms <= last:
                return samples
        return None
