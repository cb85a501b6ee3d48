"""Routes of runs; safe to use from any thread."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from loadwatch_backend.evidence.missing import ROUTE_COLLECTORS, Fault, read_faults
from loadwatch_backend.evidence.routes.documents import ENOUGH, routes_out
from loadwatch_backend.evidence.routes.kept_digest import MOST_BYTES, KeptLogs, parse_digest
from loadwatch_backend.evidence.routes.kept_seconds import read_seconds
from loadwatch_backend.evidence.routes.model import Source, Window, with_same_names
from loadwatch_backend.evidence.routes.samples import read_requests, read_window
from loadwatch_backend.evidence.routes.schemas import RoutesWindow, RunRoutes
from loadwatch_backend.evidence.run_windows import RunWindow, RunWindows
from loadwatch_backend.kit.language import Language
from loadwatch_backend.store.port import Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteTables:
    """Finds the routes of a run: a log that was imported for it comes first, since its lines have their own times."""

    store: Reader
    runs: RunWindows
    logs: KeptLogs

    def of_run(
        self,
        run_id: str,
        base: str | None = None,
        window: RoutesWindow | None = None,
        language: Language = Language.EN,
    ) -> RunRoutes:
        """The table of a run, held against another run; of the steady window where it has one.

        Raises:
            NotFoundError: there is no such run, or no such base.
            ProblemError: of the store.
        """
        run = self.runs.window(run_id)
        whole = window is RoutesWindow.WHOLE
        reference = base or self.runs.reference(run_id)
        other = None if reference is None or reference == run_id else self.runs.window(reference)
        counted = self._counted(run, whole=whole)
        before = None if other is None else self._counted(other, whole=whole)
        if before is not None:
            counted, before = with_same_names(counted, before)
        faults: Sequence[Fault] = ()
        if counted.source is Source.NONE:
            faults = read_faults(self.store, ROUTE_COLLECTORS, run.from_ms, run.to_ms)
        return routes_out(replace(run, steady_ms=None) if whole else run, counted, other, before, language, faults)

    def requests(self, run_id: str, *, steady: bool) -> float | None:
        """Requests of all routes together, of the steady window or the whole run; None where not all were counted.

        Raises:
            NotFoundError: there is no such run.
            ProblemError: of the store.
        """
        window = self._counted(self.runs.window(run_id), whole=not steady)
        if window.source is Source.NONE or window.known < ENOUGH or window.steady is not steady or window.whole_file:
            return None
        return sum(one.requests for one in window.routes)

    def counter(self, run_id: str) -> Callable[[int, int], float | None]:
        """Requests of all routes together, of any span of the run in ms; None where not all of it was counted.

        Raises:
            NotFoundError: there is no such run.
            ProblemError: of the store.
        """
        run = self.runs.window(run_id)
        path = self.logs.newest(run_id)
        kept = None if path is None else read_seconds(path)
        if kept is not None:
            return kept.requests
        counted = read_requests(self.store, run.from_ms, run.to_ms)
        return _nothing if counted is None else counted.between

    def _counted(self, run: RunWindow, *, whole: bool) -> Window:
        steady = None if whole else run.steady_ms
        path = self.logs.newest(run.id)
        if path is not None and path.stat().st_size <= MOST_BYTES:
            kept = parse_digest(path.read_bytes(), steady)
            if kept is not None:
                return kept
        found = read_window(self.store, *(steady or (run.from_ms, run.to_ms)))
        return replace(found, steady=steady is not None)


def _nothing(from_ms: int, to_ms: int) -> float | None:
    del from_ms, to_ms
    return None
