"""Log patterns of a run, out of the store."""

from loadwatch_backend.evidence.log_patterns.counting import Spans, count_patterns
from loadwatch_backend.evidence.log_patterns.schemas import LogPatternList
from loadwatch_backend.series.store.port import Matcher, MatchOperator, Reader, Selection

LEAST_BEFORE_MS = 60_000
MOST_BEFORE_MS = 900_000
"""The time before a run that it is held against is as long as the run, within these bounds."""
MARGIN_MS = 30_000
"""Earlier than that is seen, too: a counter that did not move is sent every 15 s or so."""
MOST_PATTERNS = 200


class LogPatternService:
    """Safe to use from any thread."""

    def __init__(self, store: Reader) -> None:
        self._store = store

    def of_span(self, from_ms: int, to_ms: int) -> LogPatternList:
        """What was logged in the time of a run, against the time before.

        Raises:
            ProblemError: of the store.
        """
        length_ms = min(max(to_ms - from_ms, LEAST_BEFORE_MS), MOST_BEFORE_MS)
        spans = Spans(before_ms=max(from_ms - length_ms, 0), from_ms=from_ms, to_ms=to_ms)
        patterns, lines, followed = count_patterns(
            self._select("log_messages_total", spans),
            self._select("log_pattern_info", spans),
            self._select("log_lines_total", spans),
            spans,
        )
        return LogPatternList(
            patterns=patterns[:MOST_PATTERNS],
            lines=lines,
            from_ms=from_ms,
            to_ms=to_ms,
            before_from_ms=spans.before_ms,
            followed=followed,
        )

    def _select(self, metric: str, spans: Spans) -> Selection:
        matcher = Matcher("__name__", MatchOperator.EQUAL, metric)
        return self._store.select([matcher], max(spans.before_ms - MARGIN_MS, 0), spans.to_ms)
