"""Statements of runs; safe to use from any thread."""

from dataclasses import dataclass
from typing import Protocol

from loadwatch_backend.evidence.missing import STATEMENT_COLLECTORS, read_faults
from loadwatch_backend.evidence.plans.read import read_plans
from loadwatch_backend.evidence.request_counts import RequestCount
from loadwatch_backend.evidence.run_windows import RunWindow, RunWindows
from loadwatch_backend.evidence.statements.documents import Table, statements_out
from loadwatch_backend.evidence.statements.kept_digest import KeptDigests, UnreadableDigestError
from loadwatch_backend.evidence.statements.model import Source
from loadwatch_backend.evidence.statements.read import read_window
from loadwatch_backend.evidence.statements.schemas import StatementsOut, StatementsWindow
from loadwatch_backend.evidence.statements.table import lines_of
from loadwatch_backend.kit.language import Language
from loadwatch_backend.store.port import Reader


class RunRequests(Protocol):
    """Who counted the requests of a run."""

    def requests(self, run_id: str, *, steady: bool) -> RequestCount | None:
        """Of the steady window or the whole run; None where nobody counted."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Statements:
    """Finds the statements of a run."""

    store: Reader
    runs: RunWindows
    requests: RunRequests
    digests: KeptDigests

    def of_run(
        self,
        run_id: str,
        base: str | None = None,
        window: StatementsWindow | None = None,
        language: Language = Language.EN,
    ) -> StatementsOut:
        """The table of a run, held against another run; of the steady window where it has one.

        Raises:
            NotFoundError: there is no such run, or no such base.
            ProblemError: of the store.
        """
        run = self.runs.window(run_id)
        steady = run.steady_ms is not None and window is not StatementsWindow.WHOLE
        reference = base or self.runs.reference(run_id)
        other = None if reference is None or reference == run_id else self.runs.window(reference)
        return statements_out(
            self._table(run, steady=steady),
            None if other is None else self._table(other, steady=steady and other.steady_ms is not None),
            language,
        )

    def _table(self, run: RunWindow, *, steady: bool) -> Table:
        span = run.steady_ms if steady and run.steady_ms is not None else (run.from_ms, run.to_ms)
        kept, unread = None, False
        try:
            kept = self.digests.of_run(run.id, (run.to_ms - run.from_ms) / 1_000, run.steady_ms if steady else None)
        except UnreadableDigestError:
            unread = True
        moved = False
        if kept is not None and not kept.steady:
            # No part of a digest can be told apart, but for the window for which it was made.
            moved = steady and bool(kept.file)
            steady, span = False, (run.from_ms, run.to_ms)
        counted = kept or read_window(self.store, *span)
        nobody = counted.source is Source.NONE
        return Table(
            run=run.id,
            span=span,
            steady=steady,
            unread=unread,
            moved=moved,
            counted=counted,
            lines=lines_of(counted),
            faults=read_faults(self.store, STATEMENT_COLLECTORS, *span) if nobody else (),
            requests=self.requests.requests(run.id, steady=steady),
            plans=read_plans(self.store, run.from_ms, run.to_ms),
        )
