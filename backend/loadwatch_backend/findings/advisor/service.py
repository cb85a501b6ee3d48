"""Advice on pools from the samples of a window; safe to use from any thread."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.errors import InvalidError
from loadwatch_backend.findings.advisor.advise import advise
from loadwatch_backend.findings.advisor.documents import advice_out
from loadwatch_backend.findings.advisor.measure import HOST_CPU, METRICS, count_cores, measure
from loadwatch_backend.findings.advisor.schemas import PoolAdviceOut
from loadwatch_backend.findings.load import load_of_tables
from loadwatch_backend.findings.read import Span, grid_of, read_tables
from loadwatch_backend.findings.window import Window, empty_table
from loadwatch_backend.series.store.port import Reader

USUAL_MS = 900_000
"""What is looked at when nobody says which time."""
MOST_MS = 6 * 3_600_000
LEAST_MS = 5_000
MARGIN_MS = 15_000
MOMENT_MS = 60_000

RunSpan = Callable[[str], Span]
"""When a run was; raises a ProblemError for one that there is not."""


class TooLongError(InvalidError, code="invalid-window", title="Invalid window"):
    """A window that is empty, or too long to be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which time, which database, and how many instances; see `advise`. A run goes before times."""

    run: str = ""
    start_ms: int | None = None
    end_ms: int | None = None
    server: str = ""
    instances: Mapping[str, int]


class PoolAdvisor:
    """Says how large pools should be."""

    def __init__(self, store: Reader, clock: Clock, run_span: RunSpan) -> None:
        self._store = store
        self._clock = clock
        self._run_span = run_span

    def advise(self, asked: Asked) -> PoolAdviceOut:
        """The advice over a window.

        Raises:
            TooLongError: the window ends before it begins, or is longer than six hours.
            ProblemError: there is no such run; of the store.
        """
        span = self._span(asked)
        grid = grid_of(span, MARGIN_MS)
        tables = read_tables(self._store, METRICS, grid)
        window = Window(
            grid=grid, from_ms=span.from_ms, to_ms=span.to_ms, tables=tables, load=load_of_tables(tables, grid)
        )
        cores = self._cores(span.to_ms)
        return advice_out(advise(measure(window, cores), asked.server, asked.instances))

    def _cores(self, at_ms: int) -> dict[str, int]:
        grid = grid_of(Span(from_ms=max(at_ms - MOMENT_MS, 0), to_ms=at_ms), 0)
        return count_cores(read_tables(self._store, (HOST_CPU,), grid).get(HOST_CPU) or empty_table(grid))

    def _span(self, asked: Asked) -> Span:
        if asked.run:
            span = self._run_span(asked.run)
            # Of a run of a day the last hours: the rest is as much as can be read at once.
            return Span(from_ms=max(span.from_ms, span.to_ms - MOST_MS), to_ms=max(span.to_ms, span.from_ms + LEAST_MS))
        end_ms = asked.end_ms if asked.end_ms is not None else self._clock()
        start_ms = asked.start_ms if asked.start_ms is not None else max(end_ms - USUAL_MS, 0)
        if end_ms - start_ms > MOST_MS:
            raise TooLongError(f"The window may have at most {MOST_MS // 3_600_000} hours; ask for a shorter one.")
        if end_ms <= start_ms:
            raise TooLongError("The window ends before it begins: end_ms has to be more than start_ms.")
        return Span(from_ms=start_ms, to_ms=end_ms)
