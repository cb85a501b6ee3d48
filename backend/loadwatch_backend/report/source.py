"""What a report is made of; the application passes in where it comes from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from loadwatch_backend.compare.schemas import FigureRepeats
from loadwatch_backend.evidence.cost.schemas import CostOut
from loadwatch_backend.evidence.files.schemas import EvidenceFile
from loadwatch_backend.evidence.files.service import StoredEvidence
from loadwatch_backend.evidence.log_patterns.schemas import LogPatternList
from loadwatch_backend.evidence.routes.schemas import RunRoutes
from loadwatch_backend.evidence.statements.schemas import StatementsOut
from loadwatch_backend.kit.language import Language
from loadwatch_backend.records.model import Seconds
from loadwatch_backend.runs.reviews.schemas import ReviewOut
from loadwatch_backend.runs.reviews.shares import OpenShare
from loadwatch_backend.runs.schemas import RunOut
from loadwatch_backend.runs.snapshots.schemas import ConfigurationDifference


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """An annotation beside the run."""

    start_ms: int
    author: str
    text: str
    commit: str = ""
    issue: str = ""


class ReportSource(Protocol):
    """Everything about one run; safe to use from any thread."""

    def read(self, run_id: str) -> RunOut:
        """The run.

        Raises:
            NotFoundError: there is none.
        """
        ...

    def raw_seconds(self, run_id: str) -> Seconds | None:
        """Its per-second series; None before there is a result."""
        ...

    def review(self, run_id: str) -> ReviewOut:
        """Its review, empty before anything was written."""
        ...

    def difference(self, run_id: str, base: str) -> ConfigurationDifference:
        """Its configuration against another run's."""
        ...

    def notes(self, start_ms: int, end_ms: int) -> Sequence[Note]:
        """Annotations in its window."""
        ...

    def cost(self, run_id: str, language: Language) -> CostOut | None:
        """What its requests cost; None where that cannot be read."""
        ...

    def routes(self, run_id: str, language: Language) -> RunRoutes | None:
        """Its requests by route; None where that cannot be read."""
        ...

    def statement_table(self, run_id: str, language: Language) -> StatementsOut | None:
        """What its databases were asked; None where that cannot be read."""
        ...

    def log(self, run_id: str) -> LogPatternList | None:
        """Its log lines by pattern; None where that cannot be read."""
        ...

    def repeats(self, run: RunOut, language: Language) -> Sequence[FigureRepeats]:
        """How well figures repeat between equal runs of its scenario."""
        ...

    def files(self, run_id: str) -> Sequence[EvidenceFile]:
        """What is kept with it."""
        ...

    def file(self, file_id: str) -> StoredEvidence:
        """A file and where its content is.

        Raises:
            NotFoundError: there is none, or its content is gone.
        """
        ...

    def shared(self, secret: str) -> OpenShare:
        """What a share link opens.

        Raises:
            NotFoundError: there is no such link, or it has expired.
        """
        ...
