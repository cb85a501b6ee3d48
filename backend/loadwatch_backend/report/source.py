"""What a report is made of."""

from collections.abc import Sequence
from dataclasses import dataclass

from loadwatch_backend.annotations.service import AnnotationService
from loadwatch_backend.compare.schemas import FigureRepeats
from loadwatch_backend.compare.service import CompareService
from loadwatch_backend.evidence.cost.schemas import CostOut
from loadwatch_backend.evidence.cost.service import RunCosts
from loadwatch_backend.evidence.files.schemas import EvidenceFile
from loadwatch_backend.evidence.files.service import EvidenceFiles, StoredEvidence
from loadwatch_backend.evidence.log_patterns.schemas import LogPatternList
from loadwatch_backend.evidence.log_patterns.service import LogPatternService
from loadwatch_backend.evidence.routes.schemas import RunRoutes
from loadwatch_backend.evidence.routes.service import RouteTables
from loadwatch_backend.evidence.statements.schemas import StatementsOut
from loadwatch_backend.evidence.statements.service import Statements
from loadwatch_backend.kit.language import Language
from loadwatch_backend.records.model import Seconds
from loadwatch_backend.runs.reviews.schemas import ReviewOut
from loadwatch_backend.runs.reviews.shares import OpenShare
from loadwatch_backend.runs.schemas import RunOut
from loadwatch_backend.runs.service import RunServices
from loadwatch_backend.runs.snapshots.schemas import ConfigurationDifference


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """An annotation beside the run."""

    start_ms: int
    author: str
    text: str
    commit: str = ""
    issue: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSource:
    """Everything about one run, of the services that know it; safe to use from any thread."""

    runs: RunServices
    annotations: AnnotationService
    costs: RunCosts
    route_tables: RouteTables
    statements: Statements
    log_patterns: LogPatternService
    evidence_files: EvidenceFiles
    compare: CompareService

    def read(self, run_id: str) -> RunOut:
        """The run."""
        return self.runs.registry.read(run_id)

    def raw_seconds(self, run_id: str) -> Seconds | None:
        """Its per-second series."""
        return self.runs.registry.raw_seconds(run_id)

    def review(self, run_id: str) -> ReviewOut:
        """Its review."""
        return self.runs.reviews.read(run_id)

    def difference(self, run_id: str, base: str) -> ConfigurationDifference:
        """Its configuration against another run's."""
        return self.runs.configuration.difference(run_id, base)

    def notes(self, start_ms: int, end_ms: int) -> Sequence[Note]:
        """Annotations in its window."""
        found = self.annotations.list(start_ms, end_ms, None)
        return [
            Note(start_ms=one.start_ms, author=one.author, text=one.text, commit=one.commit, issue=one.issue)
            for one in found
        ]

    def cost(self, run_id: str, language: Language) -> CostOut:
        """What its requests cost."""
        return self.costs.read(run_id, language=language)

    def routes(self, run_id: str, language: Language) -> RunRoutes:
        """Its requests by route."""
        return self.route_tables.of_run(run_id, language=language)

    def statement_table(self, run_id: str, language: Language) -> StatementsOut:
        """What its databases were asked."""
        return self.statements.of_run(run_id, language=language)

    def log(self, run_id: str) -> LogPatternList:
        """Its log lines by pattern."""
        return self.log_patterns.of_run(run_id)

    def repeats(self, run: RunOut, language: Language) -> Sequence[FigureRepeats]:
        """How well figures repeat between equal runs of its scenario."""
        return self.compare.repeats([run], language)

    def files(self, run_id: str) -> Sequence[EvidenceFile]:
        """What is kept with it."""
        return self.evidence_files.list(run_id)

    def file(self, file_id: str) -> StoredEvidence:
        """One of these."""
        return self.evidence_files.open(file_id)

    def shared(self, secret: str) -> OpenShare:
        """What a share link opens."""
        return self.runs.shares.open(secret)
