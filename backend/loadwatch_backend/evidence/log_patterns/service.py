"""Log patterns of a run, out of the store."""

from typing import Protocol

from loadwatch_backend.evidence.log_patterns.counting import Spans, count_patterns
from loadwatch_backend.evidence.log_patterns.schemas import LogPatternList
from loadwatch_backend.store.port import Matcher, MatchOperator, Reader, Selection

LEAST_BEFORE_MS = 60_000
MOST_BEFORE_MS = 900_000
"""The time before a run that it is held against is as long as the run, within these bounds."""
MARGIN_MS = 30_000
"""Earlier than that is seen, too: a counter that did not move is sent every 15 s or so."""
MOST_PATTERNS = 200


class RunSpans(Protocol):
    """When runs were; the application passes it in."""

    def span(self, run_id: str) -> tuple[int, int]:
        """Start and end of a run in ms; the end of one under way is now.

        Raises:
            NotFoundError: there is none.
        """
        ...


class LogPatternService:
    """Safe to use from any thread."""

    def __init__(self, store: Reader, runs: RunSpans) -> None:
        self._store, self._runs = store, runs

    def of_run(self, run_id: str) -> LogPatternList:
        """What was logged in the time of a run, against the time before.

        Raises:
            NotFoundError: there is no such run.
            ProblemError: of the store.
        """
        from_ms, to_ms = self._runs.span(run_id)
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
