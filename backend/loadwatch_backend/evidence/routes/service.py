"""Routes of runs; safe to use from any thread."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from loadwatch_backend.core.language import Language
from loadwatch_backend.evidence.kept_digests import KeptDigests
from loadwatch_backend.evidence.missing import ROUTE_COLLECTORS, Fault, read_faults
from loadwatch_backend.evidence.routes.documents import ENOUGH, routes_out
from loadwatch_backend.evidence.routes.kept_digest import parse_digest, parse_seconds
from loadwatch_backend.evidence.routes.model import RouteSource, Window, with_same_names
from loadwatch_backend.evidence.routes.samples import read_requests, read_window
from loadwatch_backend.evidence.routes.schemas import RunRoutes
from loadwatch_backend.evidence.runs import HeldRun, RunWindow
from loadwatch_backend.series.store.port import Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteTables:
    """Finds the routes of a run: a log that was imported for it comes first, since its lines have their own times.

    Every call raises ProblemError of the store.
    """

    store: Reader
    logs: KeptDigests

    def of_run(self, held: HeldRun, language: Language) -> RunRoutes:
        """The table of a run, held against another run; of the steady window where it has one."""
        run, other = held.run, held.base
        counted = self._counted(run, whole=held.whole)
        before = None if other is None else self._counted(other, whole=held.whole)
        if before is not None:
            counted, before = with_same_names(counted, before)
        faults: Sequence[Fault] = ()
        if counted.source is RouteSource.NONE:
            faults = read_faults(self.store, ROUTE_COLLECTORS, *run.span)
        shown = replace(run, steady_ms=None) if held.whole else run
        return routes_out(shown, counted, other, before, language, faults)

    def requests(self, run: RunWindow, *, steady: bool) -> float | None:
        """Requests of all routes together, of the steady window or the whole run; None where not all were counted."""
        window = self._counted(run, whole=not steady)
        if (
            window.source is RouteSource.NONE
            or window.known < ENOUGH
            or window.steady is not steady
            or window.whole_file
        ):
            return None
        return sum(one.requests for one in window.routes)

    def counter(self, run: RunWindow) -> Callable[[int, int], float | None]:
        """Requests of all routes together, of any span of the run in ms; None where not all of it was counted."""
        content = self.logs.content(run.id)
        kept = None if content is None else parse_seconds(content)
        if kept is not None:
            return kept.requests
        counted = read_requests(self.store, *run.span)
        return _nothing if counted is None else counted.between

    def _counted(self, run: RunWindow, *, whole: bool) -> Window:
        steady = None if whole else run.steady_ms
        content = self.logs.content(run.id)
        kept = None if content is None else parse_digest(content, steady)
        if kept is not None:
            return kept
        return replace(read_window(self.store, *(steady or run.span)), steady=steady is not None)


def _nothing(from_ms: int, to_ms: int) -> float | None:
    del from_ms, to_ms
    return None
