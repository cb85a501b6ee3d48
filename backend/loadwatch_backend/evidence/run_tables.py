"""Tables of runs, each held against a base run."""

from dataclasses import dataclass

from loadwatch_backend.evidence.cost.service import RunCosts
from loadwatch_backend.evidence.log_patterns import LogPatternList, LogPatternService
from loadwatch_backend.evidence.routes import RouteTables
from loadwatch_backend.evidence.runs import HeldRun, Runs
from loadwatch_backend.evidence.statements import StatementTables


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTables:
    """Tables of runs by `of_run`, from the runs that `held` finds; safe to use from any thread."""

    runs: Runs
    routes: RouteTables
    statements: StatementTables
    costs: RunCosts
    log_lines: LogPatternService

    def held(self, run_id: str, base: str | None = None, *, whole: bool = False) -> HeldRun:
        """A run beside `base`, by default what it is held against.

        Raises:
            NotFoundError: there is no such run, or no such base.
        """
        run = self.runs.window(run_id)
        against = base or self.runs.reference(run_id)
        other = None if against is None or against == run_id else self.runs.window(against)
        return HeldRun(run=run, base=other, whole=whole)

    def log_patterns(self, run_id: str) -> LogPatternList:
        """Log lines, held against those before the run.

        Raises:
            NotFoundError: there is no such run.
        """
        return self.log_lines.of_span(*self.runs.window(run_id).span)
