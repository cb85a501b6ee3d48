"""Which samples an expression needs, read from the store once each."""

from collections.abc import Callable

from loadwatch_backend.promql.evaluate import instant_span, range_span
from loadwatch_backend.promql.expression import Expression, RangeSelector, Selector, children
from loadwatch_backend.promql.samples import Samples, prepare
from loadwatch_backend.promql.value import Grid
from loadwatch_backend.store.port import Matcher, Selection

Span = tuple[int, int]
Key = tuple[tuple[Matcher, ...], Span]


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
    """The samples of all selectors of one query."""

    def __init__(self) -> None:
        self._samples: dict[Key, Samples] = {}
        self.sample_count = 0
        self.series_count = 0

    def load(
        self,
        spans: dict[tuple[Matcher, ...], list[Span]],
        select: Callable[[tuple[Matcher, ...], int, int], Selection],
        check: Callable[["Fetched"], None],
    ) -> None:
        """Read all spans; `check` may raise after each."""
        for matchers, parts in spans.items():
            for span in parts:
                samples = prepare(select(matchers, *span))
                self.sample_count += len(samples.timestamps)
                self.series_count += len(samples.labels)
                self._samples[matchers, span] = samples
                check(self)

    def get(self, selector: Selector, start_ms: int, end_ms: int) -> Samples:
        """The samples read for a selector whose span lies in one that was planned."""
        for (matchers, span), samples in self._samples.items():
            if matchers == selector.matchers and span[0] <= start_ms and end_ms <= span[1]:
                return samples
        raise KeyError((selector.matchers, start_ms, end_ms))
