"""Where statements and routes of runs get what they must know of runs and of their files."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from loadwatch_backend.evidence.files.errors import EvidenceNotFoundError
from loadwatch_backend.evidence.files.schemas import EvidenceFile, EvidenceKind
from loadwatch_backend.evidence.files.service import EvidenceFiles
from loadwatch_backend.evidence.request_counts import RequestCount, RequestsBy
from loadwatch_backend.evidence.routes.service import RouteTables
from loadwatch_backend.runs.analyses import Analyses
from loadwatch_backend.runs.errors import RunNotFoundError
from loadwatch_backend.runs.registry.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequestCounts:
    """`evidence.statements.service.RunRequests` over the registry, else over whoever counted by route."""

    registry: Registry
    route_tables: RouteTables

    def requests(self, run_id: str, *, steady: bool) -> RequestCount | None:
        """By the load tool, where its result is there."""
        run = self.registry.read(run_id)
        figures = run.steady
        sent = run.requests if not steady else None if figures is None else figures.requests
        if sent is not None:
            return RequestCount(sent, RequestsBy.LOAD_TOOL)
        counted = self.route_tables.requests(run_id, steady=steady)
        return None if counted is None else RequestCount(counted, RequestsBy.ROUTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewestFiles:
    """Digests that are kept with runs: `KeptFiles` of statements and `KeptLogs` of routes."""

    files: EvidenceFiles
    kind: EvidenceKind

    def newest(self, run_id: str) -> Path | None:
        """The last one that was kept."""
        kept = self.files.list(run_id, self.kind)
        try:
            return self.files.open(kept[-1].id).path if kept else None
        except EvidenceNotFoundError:
            return None


def find_anew(analyses: Analyses, file: EvidenceFile) -> None:
    """Requests of a run are known only once its access log is imported: what is found of it is found again."""
    if file.kind is EvidenceKind.ACCESS_LOG:
        with suppress(RunNotFoundError):
            analyses.refresh(file.run, anew=True)
