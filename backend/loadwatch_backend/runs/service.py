"""The services of a run, put together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from loadwatch_backend.evidence.files.service import EvidenceFiles
from loadwatch_backend.findings.opinions.service import Opinions
from loadwatch_backend.kit.clock import Clock
from loadwatch_backend.records.contract import ResultReader
from loadwatch_backend.runs.analyses import Analyser, Analyses
from loadwatch_backend.runs.archive.archives import Archives, Notes
from loadwatch_backend.runs.catch_up import CatchUp
from loadwatch_backend.runs.imports.imports import Imports
from loadwatch_backend.runs.imports.places import Places
from loadwatch_backend.runs.imports.results import Results
from loadwatch_backend.runs.registry.configuration import Configuration, Snapshots
from loadwatch_backend.runs.registry.deletion import PinnedWindows
from loadwatch_backend.runs.registry.registry import Registry
from loadwatch_backend.runs.registry.repository import all_tokens
from loadwatch_backend.runs.reviews.actions.scorer import ActionScorer
from loadwatch_backend.runs.reviews.actions.service import Actions
from loadwatch_backend.runs.reviews.reviews import Reviews
from loadwatch_backend.runs.reviews.shares import Shares
from loadwatch_backend.store.port import Labels, SampleStore
from loadwatch_backend.store.relational import Relational


@dataclass(frozen=True, slots=True, kw_only=True)
class RunServices:
    """What the endpoints call; each has a file of its own."""

    registry: Registry
    imports: Imports
    configuration: Configuration
    reviews: Reviews
    actions: Actions
    scorer: ActionScorer
    shares: Shares
    archives: Archives
    analyses: Analyses
    catch_up: CatchUp

    def close(self) -> None:
        """Wait for the import and the analysis under way."""
        self.catch_up.stop()
        self.scorer.stop()
        self.imports.close()
        self.analyses.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunParts:
    """What runs are made of, given by the application; sizes in bytes."""

    relational: Relational
    store: SampleStore
    places: Places
    pins: PinnedWindows
    analyst: Analyser
    snapshots: Snapshots
    reader: ResultReader
    opinions: Opinions
    evidence_files: EvidenceFiles
    notes: Notes
    admit: Callable[[Sequence[Labels], str], None]
    clock: Clock
    retention_ms: int
    import_bytes: int


def build_run_services(parts: RunParts) -> RunServices:
    """Mend what a killed server left, then put the services together."""
    relational, places, clock = parts.relational, parts.places, parts.clock
    places.mend(lambda: all_tokens(relational))
    analyses = Analyses(relational, places, parts.analyst, clock)
    configuration = Configuration(relational, parts.snapshots, clock)
    results = Results(
        relational=relational,
        places=places,
        analyses=analyses,
        configuration=configuration,
        store=parts.store,
        clock=clock,
    )
    registry = Registry(
        relational,
        places,
        analyses,
        configuration,
        parts.opinions,
        clock,
        parts.retention_ms,
        parts.evidence_files,
    )
    return RunServices(
        analyses=analyses,
        catch_up=CatchUp(relational, analyses, clock),
        registry=registry,
        imports=Imports(
            places=places, results=results, reader=parts.reader, clock=clock, most_bytes=parts.import_bytes
        ),
        configuration=configuration,
        reviews=Reviews(relational, analyses, clock),
        actions=Actions(relational, clock),
        scorer=ActionScorer(relational, analyses, clock),
        shares=Shares(relational, clock),
        archives=Archives(
            relational=relational,
            places=places,
            store=parts.store,
            registry=registry,
            analyses=analyses,
            pins=parts.pins,
            evidence_files=parts.evidence_files,
            notes=parts.notes,
            admit=parts.admit,
            clock=clock,
            most_bytes=parts.import_bytes,
        ),
    )
