"""Statements of runs; safe to use from any thread."""

from dataclasses import dataclass

from loadwatch_backend.core.language import Language
from loadwatch_backend.evidence.kept_digests import KeptDigests
from loadwatch_backend.evidence.missing import STATEMENT_COLLECTORS, read_faults
from loadwatch_backend.evidence.plans.read import read_plans
from loadwatch_backend.evidence.request_counts import RequestCount, RequestsBy
from loadwatch_backend.evidence.routes.service import RouteTables
from loadwatch_backend.evidence.runs import HeldRun, RunWindow
from loadwatch_backend.evidence.statements.documents import Table, statements_out
from loadwatch_backend.evidence.statements.kept_digest import parse_digest
from loadwatch_backend.evidence.statements.model import StatementSource, lines_of
from loadwatch_backend.evidence.statements.read import read_window
from loadwatch_backend.evidence.statements.schemas import StatementsOut
from loadwatch_backend.series.store.port import Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementTables:
    """Finds the statements of a run."""

    store: Reader
    routes: RouteTables
    digests: KeptDigests

    def of_run(self, held: HeldRun, language: Language) -> StatementsOut:
        """The table of a run, held against another run; of the steady window where it has one.

        Raises:
            ProblemError: of the store.
        """
        run, other = held.run, held.base
        steady = run.steady_ms is not None and not held.whole
        return statements_out(
            self._table(run, steady=steady),
            None if other is None else self._table(other, steady=steady and other.steady_ms is not None),
            language,
        )

    def _table(self, run: RunWindow, *, steady: bool) -> Table:
        span = run.steady_ms if steady and run.steady_ms is not None else run.span
        content = self.digests.content(run.id)
        kept = None
        if content is not None:
            kept = parse_digest(content, (run.to_ms - run.from_ms) / 1_000, run.steady_ms if steady else None)
        moved = False
        if kept is not None and not kept.steady:
            # No part of a digest can be told apart, but for the window for which it was made.
            moved = steady and bool(kept.file)
            steady, span = False, run.span
        counted = kept or read_window(self.store, *span)
        nobody = counted.source is StatementSource.NONE
        return Table(
            run=run.id,
            span=span,
            steady=steady,
            unread=content is not None and kept is None,
            moved=moved,
            counted=counted,
            lines=lines_of(counted),
            faults=read_faults(self.store, STATEMENT_COLLECTORS, *span) if nobody else (),
            requests=self._requests(run, steady=steady),
            plans=read_plans(self.store, *run.span),
        )

    def _requests(self, run: RunWindow, *, steady: bool) -> RequestCount | None:
        """Those of the load tool, else of whoever counted by route."""
        sent = run.steady_requests if steady else run.requests
        if sent is not None:
            return RequestCount(sent, RequestsBy.LOAD_TOOL)
        counted = self.routes.requests(run, steady=steady)
        return None if counted is None else RequestCount(counted, RequestsBy.ROUTES)
