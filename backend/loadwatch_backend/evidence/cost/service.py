"""What the requests of runs cost; safe to use from any thread."""

import threading
from collections import OrderedDict
from pathlib import Path

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.language import Language
from loadwatch_backend.evidence.cost.assemble import cost_of
from loadwatch_backend.evidence.cost.documents import Held, cost_out
from loadwatch_backend.evidence.cost.functions import cpu_functions
from loadwatch_backend.evidence.cost.model import Cost
from loadwatch_backend.evidence.cost.read import has_counts, read_window
from loadwatch_backend.evidence.cost.schemas import CostOut, CostWindow
from loadwatch_backend.evidence.kept_digests import KeptDigests, read_content
from loadwatch_backend.evidence.missing import PROFILE_COLLECTORS, profile_remarks, read_faults
from loadwatch_backend.evidence.plans.read import read_plans
from loadwatch_backend.evidence.profiles.views.service import Profiles
from loadwatch_backend.evidence.routes.kept_digest import parse_seconds
from loadwatch_backend.evidence.runs import HeldRun, RunWindow
from loadwatch_backend.series.store.port import Reader

KEPT = 32
FRESH_MS = 15_000
"""Samples of agents may come so late: what was found before is found again."""
SETTLED_MS = 600_000


class Costs:
    """Finds costs of any time, and keeps the newest of them."""

    def __init__(self, store: Reader, clock: Clock, logs: KeptDigests | None = None) -> None:
        """`logs`: access logs that were imported for runs."""
        self._store, self._clock, self._logs = store, clock, logs
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[int, int, int, int, Path | None], tuple[int, Cost]] = OrderedDict()

    def of_span(self, span: tuple[int, int], figures_ms: tuple[int, int] | None = None, run_id: str = "") -> Cost:
        """What the requests of a time cost, ms; totals are of `figures_ms` or of all of it.

        Where nobody counted requests then, they are those of the log that was imported for the run.

        Raises:
            ProblemError: of the store.
        """
        first, last = figures_ms or span
        log = self._log(run_id)
        key = (*span, first, last, log)
        now_ms = self._clock()
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None and (now_ms - kept[0] < FRESH_MS or kept[0] - span[1] > SETTLED_MS):
                self._kept.move_to_end(key)
                return kept[1]
        seconds = None if log is None else parse_seconds(read_content(log))
        cost = cost_of(read_window(self._store, span, (first, last), seconds), first, last)
        with self._lock:
            self._kept[key] = (now_ms, cost)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return cost

    def counted(self, span: tuple[int, int], run_id: str = "") -> Cost | None:
        """The same; None where nobody counted requests or statements.

        Raises:
            ProblemError: of the store.
        """
        if not has_counts(self._store, *span) and self._log(run_id) is None:
            return None
        cost = self.of_span(span, run_id=run_id)
        return cost if cost.statements or cost.routes else None

    def _log(self, run_id: str) -> Path | None:
        return self._logs.newest(run_id) if self._logs is not None and run_id else None


class RunCosts:
    """Costs of runs, each held against another."""

    def __init__(self, costs: Costs, profiles: Profiles, store: Reader) -> None:
        self._costs, self._profiles, self._store = costs, profiles, store

    def of_run(self, held: HeldRun, language: Language) -> CostOut:
        """What the requests of a run cost; the steady window where it has one.

        Raises:
            ProblemError: of the store.
        """
        run, other = held.run, held.base
        covered = CostWindow.WHOLE if held.whole or run.steady_ms is None else CostWindow.STEADY
        functions = cpu_functions(self._profiles, held, language)
        faults = [] if functions else read_faults(self._store, PROFILE_COLLECTORS, *run.span)
        return cost_out(
            Held(
                run=run,
                window=covered,
                cost=self._cost(run, covered),
                base=other,
                base_cost=None if other is None else self._cost(other, covered),
                functions=functions,
                profile_remarks=[] if functions else profile_remarks(faults, language),
                plans=read_plans(self._store, *run.span),
            )
        )

    def _cost(self, run: RunWindow, window: CostWindow) -> Cost:
        figures = run.steady_ms if window is CostWindow.STEADY else None
        return self._costs.of_span((run.from_ms, max(run.to_ms, run.from_ms + 1_000)), figures, run.id)
